//! The least director: the better of a few drawn members, by what they have to do.

use crate::random::Random;
use crate::Plan;

/// Draws for one more candidate that may find the best so far, or a sick member.
const DRAWS: usize = 4;

/// The plan of a least director: that of a random one.
#[derive(Debug)]
pub struct Least {
    random: Random,
}

impl Plan for Least {
    fn empty() -> Self {
        Least { random: Random::empty() }
    }

    fn with_members(&self, weights: &[f64]) -> Self {
        Least { random: self.random.with_members(weights) }
    }

    fn with_weights(&self, weights: &[f64]) -> Self {
        Least { random: self.random.with_weights(weights) }
    }
}

impl Least {
    /// Picks, of `choices` healthy members that are drawn with a probability in proportion to their weights, the one
    /// for which (`in_flight` + 1) / weight is least; of equals the one that was drawn first. With as many choices as
    /// members, all members that have weight are candidates.
    ///
    /// This is the power of two choices (M. Mitzenmacher, *The Power of Two Choices in Randomized Load Balancing*,
    /// 2001): two give most of what comparing all would give, without all threads running for the same member.
    ///
    /// `draw` gives numbers from 0 up to, but not including, 1.
    pub fn pick(
        &self,
        weights: &[f64],
        choices: usize,
        mut draw: impl FnMut() -> f64,
        mut healthy: impl FnMut(usize) -> bool,
        in_flight: impl Fn(usize) -> u64,
    ) -> Option<usize> {
        let first = self.random.pick(weights, &mut draw, &mut healthy)?;
        let load = |place: usize| (in_flight(place) as f64 + 1.0) / weights.get(place).copied().unwrap_or(0.0);
        let mut best = (first, load(first));
        let mut compare = |place: usize| {
            let load = load(place);
            if load < best.1 {
                best = (place, load);
            }
            best.0
        };
        if choices >= weights.len() {
            for (place, weight) in weights.iter().enumerate() {
                if *weight > 0.0 && place != first && healthy(place) {
                    compare(place);
                }
            }
        } else {
            let mut found = first;
            for _ in 1..choices {
                let other = (0..DRAWS).find_map(|_| self.random.find(draw()).filter(|p| *p != found && healthy(*p)));
                if let Some(other) = other {
                    found = compare(other);
                }
            }
        }
        Some(best.0)
    }
}
