//! The weighted rotation: which member a sequence number stands for.
//!
//! This is the static stride scheduler of gRPC's `weighted_round_robin` (gRFC A58) with two changes.
//!
//! A sequence number `s` over `m` slots is the slot `s % m` in round `s / m`. The slot of the largest weight *fires*
//! in every round, one with half of that weight in every other round, and so on: a slot of the relative weight `f`
//! fires in round `g` if `f * g + offset` passes a whole number on the way to round `g + 1`. Sequence numbers whose
//! slot does not fire are skipped. So one counter that threads can share without a lock gives exact shares, and equal
//! weights give plain round robin.
//!
//! - gRPC gives every member a slot of its own, which takes `n * max / sum` tries for a pick. Here members that weigh
//!   at most half of the largest share a slot, as many as fit. All slots but one are then more than half full, and a
//!   pick takes about three tries at the most, whatever the weights are. The firings of a shared slot are dealt out
//!   to its members by halving: of `k` firings, the left half of the members has had `floor(k * p)`, `p` being its
//!   part of the weight.
//! - Relative weights are 64-bit fractions, where gRPC has 16 bits and raises small weights to a minimum.
//!
//! Where one weight has changed, `reweigh` changes what depends on it in a copy. Who shares a slot with whom then
//! depends on what the weights were before; the shares do not.

mod reweigh;

use std::sync::Arc;

use crate::splitmix;

/// Which member a sequence number stands for.
#[derive(Debug)]
pub struct Stride {
    /// First those of one member, then the shared ones.
    slots: Box<[Slot]>,
    /// How many slots have one member that weighs more than half of the largest.
    heavy: usize,
    /// Members in the order of their slots: each slot has a range of it. Ascending among those that have a slot of
    /// their own, and among the others.
    order: Arc<[u32]>,
    /// For shared slots: at the position where a range is halved.
    halves: Arc<[Half]>,
    /// What it was made from.
    weights: Box<[f64]>,
    max: f64,
    /// How many weights are the largest.
    at_max: usize,
    /// One slot as a part of all of them, times 2^64, rounded up.
    part: u64,
}

/// A range of members in a shared slot, in two halves.
#[derive(Clone, Copy, Debug, Default)]
struct Half {
    /// The part of the weight of the left half, times 2^64.
    part: u64,
    /// The weight of both.
    sum: f64,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Relative weight times 2^64. 0 stands for 2^64: a slot that fires in every round.
    step: u64,
    first: u32,
    last: u32,
}

const TWO_64: f64 = 18_446_744_073_709_551_616.0;

impl Stride {
    /// The rotation for `weights`, all of which are valid weights. Members of weight 0 have no place in it.
    #[must_use]
    pub fn new(weights: &[f64]) -> Self {
        let max = weights.iter().copied().fold(0.0, f64::max);
        let mut slots = Vec::with_capacity(weights.len());
        let mut order = Vec::with_capacity(weights.len());
        let mut at_max = 0;
        // Positions and counts fit: a member takes far more than one byte.
        let mut light = Vec::new();
        for (i, w) in weights.iter().enumerate() {
            if *w > max / 2.0 {
                let first = order.len() as u32;
                order.push(i as u32);
                slots.push(Slot { step: fraction(*w, max), first, last: first + 1 });
                at_max += usize::from(*w == max);
            } else if *w > 0.0 {
                light.push(i as u32);
            }
        }
        let heavy = slots.len();
        let mut halves = Vec::new();
        if !light.is_empty() {
            halves = vec![Half::default(); order.len() + light.len()];
            let mut rest = &light[..];
            while !rest.is_empty() {
                let (taken, sum) = fill(rest, weights, max);
                let first = order.len() as u32;
                order.extend_from_slice(&rest[..taken]);
                slots.push(Slot { step: fraction(sum, max), first, last: order.len() as u32 });
                halve(&order, weights, &mut halves, first as usize, order.len());
                rest = &rest[taken..];
            }
        }
        Stride {
            part: part(slots.len()),
            slots: slots.into(),
            heavy,
            order: order.into(),
            halves: halves.into(),
            weights: weights.into(),
            max,
            at_max,
        }
    }

    /// The number of slots. 0 if no member has weight.
    #[must_use]
    pub fn slots(&self) -> u64 {
        self.slots.len() as u64
    }

    /// Whether all members that have weight have the same: every sequence number then stands for a member.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        self.at_max == self.slots.len()
    }

    /// The member that `seq` stands for, or `None` if it is to be skipped.
    #[inline]
    #[must_use]
    pub fn at(&self, seq: u64) -> Option<usize> {
        if !self.is_uniform() {
            return self.weighted_at(seq);
        }
        let place = self.place(seq)? as usize;
        if self.order.len() == self.weights.len() {
            // Each member has a slot, in their order
            return Some(place);
        }
        self.order.get(place).map(|i| *i as usize)
    }

    /// `seq` modulo the number of slots; `None` if there are none.
    fn place(&self, seq: u64) -> Option<u64> {
        let m = self.slots();
        match (u32::try_from(seq), u32::try_from(m)) {
            // Lemire, Kaser, Kurz: Faster remainder by direct computation (2019): exact for numbers of 32 bits
            (Ok(seq), Ok(1..)) => {
                let fraction = self.part.wrapping_mul(seq.into());
                Some(((u128::from(fraction) * u128::from(m)) >> 64) as u64)
            }
            _ => seq.checked_rem(m),
        }
    }

    fn weighted_at(&self, seq: u64) -> Option<usize> {
        let m = self.slots();
        if m == 0 {
            return None;
        }
        let (round, place) = divide(seq, m);
        let slot = self.slots.get(place as usize)?;
        let mut firing = round;
        if slot.step != 0 {
            // Offsets of the slots are multiples of a step that spreads any number of them evenly.
            // Cannot overflow: (2^64 - 1)^2 + 2^64 - 1 < 2^128.
            let passed = u128::from(slot.step) * u128::from(round) + u128::from(place.wrapping_mul(splitmix::STEP));
            firing = (passed >> 64) as u64;
            let (_, fires) = (passed as u64).overflowing_add(slot.step);
            if !fires {
                return None;
            }
        }
        let position = if slot.last - slot.first == 1 { slot.first } else { self.deal(slot, firing) };
        self.order.get(position as usize).map(|i| *i as usize)
    }

    /// Whose turn the firing number `k` of a shared slot is.
    fn deal(&self, slot: &Slot, mut k: u64) -> u32 {
        let (mut first, mut last) = (slot.first, slot.last);
        while last - first > 1 {
            let middle = first + (last - first) / 2;
            let part = self.halves.get(middle as usize).map_or(0, |half| half.part);
            let product = u128::from(part) * u128::from(k);
            let left = (product >> 64) as u64;
            let (_, is_left) = (product as u64).overflowing_add(part);
            if is_left {
                k = left;
                last = middle;
            } else {
                k -= left;
                first = middle;
            }
        }
        first
    }
}

/// 1 / `n`, times 2^64, rounded up: 0 for 1, as it is to be multiplied modulo 2^64.
fn part(n: usize) -> u64 {
    u64::MAX.checked_div(n as u64).map_or(0, |part| part.wrapping_add(1))
}

/// Quotient and remainder. Most numbers are small, and a division of those is several times as fast on many
/// processors.
fn divide(a: u64, b: u64) -> (u64, u64) {
    match (u32::try_from(a), u32::try_from(b)) {
        (Ok(a), Ok(b)) => (u64::from(a / b), u64::from(a % b)),
        _ => (a / b, a % b),
    }
}

/// How many of `members` fit into one slot, at least one, and what they weigh.
fn fill(members: &[u32], weights: &[f64], max: f64) -> (usize, f64) {
    let mut sum = 0.0;
    for (taken, i) in members.iter().enumerate() {
        let more = sum + weights[*i as usize];
        if more > max {
            return (taken, sum);
        }
        sum = more;
    }
    (members.len(), sum)
}

/// Notes the halves of the range `first..last` of `order` and of all ranges in it. Gives the weight of the range.
fn halve(order: &[u32], weights: &[f64], halves: &mut [Half], first: usize, last: usize) -> f64 {
    if last - first == 1 {
        return weights[order[first] as usize];
    }
    let middle = first + (last - first) / 2;
    let left = halve(order, weights, halves, first, middle);
    let right = halve(order, weights, halves, middle, last);
    halves[middle] = Half::of(left, right);
    left + right
}

impl Half {
    /// Of the weights of the halves, not both of which are 0.
    fn of(left: f64, right: f64) -> Self {
        let sum = left + right;
        // A float that is out of range is cast to the nearest integer.
        Half { part: (left / sum * TWO_64) as u64, sum }
    }
}

/// `w / max` as a step: times 2^64, with 0 for all of it.
fn fraction(w: f64, max: f64) -> u64 {
    if w >= max {
        return 0;
    }
    // At least 1, since 0 stands for 2^64.
    ((w / max * TWO_64) as u64).max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Stride;

    /// Also where numbers no longer fit into 32 bits.
    fn sequence_numbers() -> impl Strategy<Value = u64> {
        let limit = u64::from(u32::MAX);
        prop_oneof![0..10_000_u64, limit - 2000..limit + 2000, any::<u64>()]
    }

    proptest! {
        #[test]
        fn equal_weights_in_turn(
            weights in prop::collection::vec(prop_oneof![3 => Just(0.7), 1 => Just(0.0)], 0..2000),
            seqs in prop::collection::vec(sequence_numbers(), 20),
        ) {
            let stride = Stride::new(&weights);
            let members: Vec<usize> = (0..weights.len()).filter(|i| weights[*i] > 0.0).collect();
            for seq in seqs {
                let turn = seq.checked_rem(members.len() as u64).map(|place| members[place as usize]);
                prop_assert_eq!(stride.at(seq), turn);
            }
        }

        #[test]
        fn equal_weights_of_all_in_turn(members in 1..5000_usize, seqs in prop::collection::vec(sequence_numbers(), 20)) {
            let stride = Stride::new(&vec![1.0; members]);
            for seq in seqs {
                prop_assert_eq!(stride.at(seq), Some((seq % members as u64) as usize));
            }
        }
    }
}
