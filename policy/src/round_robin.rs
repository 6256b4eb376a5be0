//! The round robin director: a weighted rotation that passes over sick members.

use std::sync::Arc;

use crate::cursor::Cursor;
use crate::random::healthy_sums;
use crate::splitmix;
use crate::stride::Stride;
use crate::Plan;

/// Sequence numbers that may stand for no member, or for a sick one, before all members are asked.
const TRIES: u64 = 32;

/// The plan of a round robin director.
#[derive(Debug)]
pub struct RoundRobin {
    stride: Stride,
    /// Shared with the plans for other weights of the same members.
    cursor: Arc<Cursor>,
}

impl Plan for RoundRobin {
    fn empty() -> Self {
        RoundRobin { stride: Stride::new(&[]), cursor: Arc::default() }
    }

    fn with_members(&self, weights: &[f64]) -> Self {
        let stride = Stride::new(weights);
        let cursor = Arc::new(self.cursor.carry(self.stride.slots(), stride.slots()));
        RoundRobin { stride, cursor }
    }

    fn with_weights(&self, weights: &[f64]) -> Self {
        RoundRobin { stride: self.stride.reweighed(weights), cursor: Arc::clone(&self.cursor) }
    }
}

impl RoundRobin {
    /// Picks the next healthy member.
    ///
    /// Each sequence number that is looked at is used up, also one of a sick member: with equal weights and the
    /// second of three members sick the order is 1, 3, 1, 3, as it is in the bundled `directors` VMOD.
    ///
    /// Since other threads use up numbers in between, a thread may see none but those of sick members. So all are
    /// asked in the end, and `None` means that no member that has weight was healthy.
    #[inline]
    pub fn pick(&self, weights: &[f64], mut healthy: impl FnMut(usize) -> bool) -> Option<usize> {
        if self.stride.slots() == 0 {
            return None;
        }
        let seq = self.cursor.next();
        match self.stride.at(seq) {
            Some(found) if healthy(found) => Some(found),
            _ => self.pick_after(seq, weights, healthy),
        }
    }

    /// Goes on after `seq` was looked at.
    fn pick_after(&self, mut seq: u64, weights: &[f64], mut healthy: impl FnMut(usize) -> bool) -> Option<usize> {
        let slots = self.stride.slots();
        let tries = if self.stride.is_uniform() { slots } else { TRIES };
        for _ in 1..tries {
            seq = self.cursor.next();
            if let Some(found) = self.stride.at(seq) {
                if healthy(found) {
                    return Some(found);
                }
            }
        }
        if self.stride.is_uniform() {
            return (1..=slots).filter_map(|k| self.stride.at(seq.wrapping_add(k))).find(|i| healthy(*i));
        }
        healthy_sums(weights, healthy).find(spread(seq))
    }
}

/// Maps successive numbers to points from 0 up to, but not including, 1, which cover any interval in proportion to
/// its length: multiples of the golden ratio.
fn spread(seq: u64) -> f64 {
    splitmix::fraction(seq.wrapping_mul(splitmix::STEP))
}
