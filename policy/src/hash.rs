//! The hash director: a weighted draw in which the key is the dice.

use crate::random::healthy_sums;
use crate::splitmix;
use crate::sums::Sums;
use crate::Plan;

/// The plan of a hash director: the running sums of its weights.
#[derive(Debug)]
pub struct Hash {
    sums: Sums,
}

impl Plan for Hash {
    fn empty() -> Self {
        Hash { sums: Sums::new(&[]) }
    }

    fn with_members(&self, weights: &[f64]) -> Self {
        Hash { sums: Sums::new(weights) }
    }

    fn with_weights(&self, weights: &[f64]) -> Self {
        Hash { sums: Sums::new(weights) }
    }
}

/// A number from 0 up to, but not including, 1 for a hash and the member at a place: always the same one, and another one
/// for each.
///
/// The numbers are those of [`splitmix`], with both as the state.
#[must_use]
pub fn fraction(hash: u32, place: usize) -> f64 {
    let state = u64::from(hash) | (place as u64) << 32;
    splitmix::fraction(splitmix::mix(state.wrapping_add(splitmix::STEP)))
}

impl Hash {
    /// Picks the healthy member at the point that `hash`, the last 32 bits of the hash of a key, stands for. It is a
    /// fraction of the weights of the healthy members alone, as in the bundled `directors` VMOD: the same hash,
    /// weights and health give the same member.
    ///
    /// Asks every member that has weight for its health, each once: any of them being sick moves the point. While
    /// none is, no memory is needed.
    pub fn pick(&self, weights: &[f64], hash: u32, mut healthy: impl FnMut(usize) -> bool) -> Option<usize> {
        let point = f64::from(hash) / 4_294_967_296.0;
        let Some(sick) = weights.iter().enumerate().position(|(i, w)| *w > 0.0 && !healthy(i)) else {
            return self.sums.find(point);
        };
        healthy_sums(weights, |i| i < sick || (i > sick && healthy(i))).find(point)
    }
}

#[cfg(test)]
mod tests {
    use super::fraction;

    #[test]
    fn fractions_are_spread_over_keys_and_members() {
        for place in [0, 1, 2, 999] {
            let less = (0..10_000).filter(|hash| fraction(hash * 17, place) < 0.1).count();
            assert!((900..1100).contains(&less), "{place}: {less}");
        }
        let both = (0..10_000).filter(|hash| fraction(*hash, 0) < 0.5 && fraction(*hash, 1) < 0.5).count();
        assert!((2300..2700).contains(&both), "{both}");
    }
}
