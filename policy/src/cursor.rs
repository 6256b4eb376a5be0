//! The sequence number of a round robin, and how it survives a change of members.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A sequence number that threads share. Needs no lock: each number is handed out once, and nothing else depends on
/// the order in which threads see it.
///
/// Nothing that others read should be beside it, as each pick writes it.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Cursor {
    next: AtomicU64,
    /// What `next` was at first.
    start: u64,
    /// The place that `start` should have had. It may be past the end, see [`Cursor::carry`].
    wanted: u64,
}

impl Cursor {
    /// The next sequence number.
    pub fn next(&self) -> u64 {
        self.next.fetch_add(1, Relaxed)
    }

    /// The cursor for another number of slots.
    ///
    /// As in the bundled `directors` VMOD the *place* stays: with members a, b, c and b next, c is next after a was
    /// removed. A place past the end (where that VMOD dies) reads as the first, but it is kept until there was a
    /// pick: to remove the member that is next and to add it again changes nothing. The round goes on too, or
    /// frequent changes would keep light members from ever having a turn.
    #[must_use]
    pub fn carry(&self, old_slots: u64, new_slots: u64) -> Self {
        let now = self.next.load(Relaxed);
        let (round, place) = if now == self.start {
            (now.checked_div(old_slots).unwrap_or(0), self.wanted)
        } else {
            (now.checked_div(old_slots).unwrap_or(0), now.checked_rem(old_slots).unwrap_or(0))
        };
        let start = round.wrapping_mul(new_slots).wrapping_add(if place < new_slots { place } else { 0 });
        Cursor { next: AtomicU64::new(start), start, wanted: place }
    }
}

#[cfg(test)]
mod tests {
    use super::Cursor;

    fn at(place: u64, slots: u64) -> Cursor {
        let mut cursor = Cursor::default().carry(0, slots);
        for _ in 0..place {
            cursor.next();
        }
        cursor = cursor.carry(slots, slots);
        cursor
    }

    #[test]
    fn the_place_stays() {
        assert_eq!(at(1, 3).carry(3, 2).next() % 2, 1);
        assert_eq!(at(2, 3).carry(3, 7).next() % 7, 2);
    }

    #[test]
    fn past_the_end_is_the_first() {
        assert_eq!(at(2, 3).carry(3, 2).next() % 2, 0);
        assert_eq!(at(2, 3).carry(3, 0).carry(0, 1).next(), 0);
    }

    #[test]
    fn removed_and_added_again_changes_nothing() {
        assert_eq!(at(2, 3).carry(3, 2).carry(2, 3).next() % 3, 2);
        assert_eq!(at(2, 3).carry(3, 0).carry(0, 1).carry(1, 2).carry(2, 3).next() % 3, 2);
    }

    #[test]
    fn the_round_goes_on() {
        let cursor = Cursor::default().carry(0, 3);
        for _ in 0..10 {
            cursor.next();
        }
        assert_eq!(cursor.carry(3, 4).next(), 3 * 4 + 1);
    }
}
