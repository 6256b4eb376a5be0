//! The random director: a weighted draw.

use crate::sums::Sums;
use crate::Plan;

/// Draws that may find a sick member before all members are asked. With half of the weight sick, one pick in 256 gets
/// that far.
const DRAWS: usize = 8;

/// The plan of a random director: the running sums of its weights.
#[derive(Debug)]
pub struct Random {
    sums: Sums,
}

impl Plan for Random {
    fn empty() -> Self {
        Random { sums: Sums::new(&[]) }
    }

    fn with_members(&self, weights: &[f64]) -> Self {
        Random { sums: Sums::new(weights) }
    }

    fn with_weights(&self, weights: &[f64]) -> Self {
        Random { sums: Sums::new(weights) }
    }
}

impl Random {
    /// The member at the fraction `r` of all weights, whether it is healthy or not.
    pub(crate) fn find(&self, r: f64) -> Option<usize> {
        self.sums.find(r)
    }

    /// Picks a healthy member, with a probability in proportion to its weight. Needs O(log n) steps unless most of
    /// the weight is sick.
    ///
    /// A sick member is answered by another draw, which leaves the proportions of the healthy ones as they are.
    /// `draw` gives numbers from 0 up to, but not including, 1.
    pub fn pick(
        &self,
        weights: &[f64],
        mut draw: impl FnMut() -> f64,
        mut healthy: impl FnMut(usize) -> bool,
    ) -> Option<usize> {
        for _ in 0..DRAWS {
            let found = self.sums.find(draw())?;
            if healthy(found) {
                return Some(found);
            }
        }
        pick_exactly(weights, draw(), healthy)
    }
}

/// The member that the bundled `directors` VMOD picks for the draw `r`: the one at the fraction `r` of the weights of
/// the healthy members alone. Asks every member that has weight for its health, each once.
pub fn pick_exactly(weights: &[f64], r: f64, healthy: impl FnMut(usize) -> bool) -> Option<usize> {
    healthy_sums(weights, healthy).find(r)
}

/// The running sums with sick members counted as 0.
pub(crate) fn healthy_sums(weights: &[f64], mut healthy: impl FnMut(usize) -> bool) -> Sums {
    let effective: Vec<f64> =
        weights.iter().enumerate().map(|(i, w)| if *w > 0.0 && healthy(i) { *w } else { 0.0 }).collect();
    Sums::new(&effective)
}
