//! The rotation after a change of weights. Making it anew takes several times as long as copying it, so that is left to
//! changes that make themselves felt everywhere.

use std::sync::Arc;

use super::{fraction, Half, Slot, Stride};

impl Stride {
    /// The rotation for other weights of the same members.
    #[must_use]
    pub fn reweighed(&self, weights: &[f64]) -> Self {
        self.with_one(weights).unwrap_or_else(|| Stride::new(weights))
    }

    /// If just one weight is another one, and neither the largest nor who has a slot of his own, and shared slots
    /// remain full enough.
    fn with_one(&self, weights: &[f64]) -> Option<Self> {
        let member = only_difference(&self.weights, weights)?;
        let (old, new) = (*self.weights.get(member)?, *weights.get(member)?);
        let at_max = (self.at_max + usize::from(new == self.max)).checked_sub(usize::from(old == self.max))?;
        let is_heavy = |w: f64| w > self.max / 2.0;
        if new > self.max || at_max == 0 || old == 0.0 || new == 0.0 || is_heavy(old) != is_heavy(new) {
            return None;
        }
        let (own, shared) = self.order.split_at_checked(self.heavy)?;
        let member = u32::try_from(member).ok()?;
        let mut changed = None;
        let (place, step) = if is_heavy(new) {
            // The slots of one member are in the order of the members
            (own.binary_search(&member).ok()?, fraction(new, self.max))
        } else {
            let position = self.heavy + shared.binary_search(&member).ok()?;
            let place = self.slots.partition_point(|slot| slot.last as usize <= position);
            let slot = self.slots.get(place)?;
            let mut halves: Arc<[Half]> = Arc::from(&self.halves[..]);
            let sum = self.halve_anew(
                Arc::get_mut(&mut halves)?,
                weights,
                slot.first as usize,
                slot.last as usize,
                position,
            )?;
            let is_last = place + 1 == self.slots.len();
            if sum > self.max || !(is_heavy(sum) || is_last) {
                return None;
            }
            changed = Some(halves);
            (place, fraction(sum, self.max))
        };
        let mut slots = self.slots.clone();
        *slots.get_mut(place)? = Slot { step, ..*self.slots.get(place)? };
        Some(Stride {
            slots,
            heavy: self.heavy,
            order: Arc::clone(&self.order),
            halves: changed.unwrap_or_else(|| Arc::clone(&self.halves)),
            weights: weights.into(),
            max: self.max,
            at_max,
            part: self.part,
        })
    }

    /// Notes the halves of the range `first..last` that have `position`. Gives the weight of the range.
    fn halve_anew(
        &self,
        halves: &mut [Half],
        weights: &[f64],
        first: usize,
        last: usize,
        position: usize,
    ) -> Option<f64> {
        if last - first == 1 {
            return weights.get(*self.order.get(first)? as usize).copied();
        }
        let middle = first + (last - first) / 2;
        let (left, right) = if position < middle {
            (self.halve_anew(halves, weights, first, middle, position)?, self.sum(middle, last)?)
        } else {
            (self.sum(first, middle)?, self.halve_anew(halves, weights, middle, last, position)?)
        };
        let half = Half::of(left, right);
        *halves.get_mut(middle)? = half;
        Some(half.sum)
    }

    /// The weight of a range in which nothing changes.
    fn sum(&self, first: usize, last: usize) -> Option<f64> {
        if last - first == 1 {
            self.weights.get(*self.order.get(first)? as usize).copied()
        } else {
            self.halves.get(first + (last - first) / 2).map(|half| half.sum)
        }
    }
}

/// The one place where two lists differ.
fn only_difference(old: &[f64], new: &[f64]) -> Option<usize> {
    // As many at a time as the processor compares at once, several times
    const AT_ONCE: usize = 32;
    if old.len() != new.len() {
        return None;
    }
    let mut found = None;
    for (chunk, (old, new)) in old.chunks(AT_ONCE).zip(new.chunks(AT_ONCE)).enumerate() {
        if old.iter().zip(new).fold(false, |differs, (a, b)| differs | (a != b)) {
            for (place, (a, b)) in old.iter().zip(new).enumerate() {
                if a != b && found.replace(chunk * AT_ONCE + place).is_some() {
                    return None;
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{only_difference, Stride};

    #[test]
    fn uniform_while_all_are_the_same() {
        let stride = Stride::new(&[1.0; 3]);
        let less = stride.reweighed(&[1.0, 0.9, 1.0]);
        assert!(!less.is_uniform());
        assert!(less.reweighed(&[1.0; 3]).is_uniform());
        let shared = Stride::new(&[1.0, 1.0, 0.2, 0.2]).reweighed(&[1.0, 1.0, 0.2, 0.3]);
        assert!(!shared.is_uniform());
    }

    /// Where all are 0, so is the largest, which nobody counts.
    #[test]
    fn out_of_nothing() {
        let nothing = Stride::new(&[0.0, 0.0]);
        assert_eq!(nothing.reweighed(&[0.0, 1.0]).at(0), Some(1));
        assert_eq!(nothing.reweighed(&[0.0, 0.0]).at(0), None);
    }

    #[test]
    fn one_and_no_more() {
        let old = vec![1.0; 100];
        assert_eq!(only_difference(&old, &old), None);
        assert_eq!(only_difference(&old, &old[1..]), None);
        for place in [0, 31, 32, 99] {
            let mut new = old.clone();
            new[place] = 2.0;
            assert_eq!(only_difference(&old, &new), Some(place));
            new[50] = 3.0;
            assert_eq!(only_difference(&old, &new), None);
        }
    }
}
