//! The ring of the shard director: consistent hashing.
//!
//! Each host has a number of *points* on a ring of 2^32 places, at the keys of its name followed by 0, 1, 2, ... A key
//! belongs to the host of the next point. So when a host gets or loses points, only keys next to those move.

use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest, Sha256};

/// The most points that a host can have. With the usual 67 replicas that is a weight of 15650: there to bound memory
/// (14 bytes a slot, and up to four slots a point) and time (about 0.2 us a point), whatever weight somebody sets.
pub const MAX_POINTS: u32 = 1 << 20;

/// The place on the ring of the concatenation of `parts`: the last four bytes of its SHA-256, little-endian.
///
/// This is `VRT_HashStrands32` of the server, hence the bundled directors'.
pub fn key<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u32 {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    last_four(hash)
}

fn last_four(hash: Sha256) -> u32 {
    let digest = hash.finalize();
    digest.iter().rev().take(4).fold(0, |key, byte| key << 8 | u32::from(*byte))
}

/// How many points a host of this weight has: `replicas` times `weight`, rounded down, as in the bundled directors;
/// but at least one, unless the weight is 0, and at most [`MAX_POINTS`]. `weight` is valid.
#[must_use]
pub fn points(replicas: u32, weight: f64) -> u32 {
    if weight <= 0.0 {
        return 0;
    }
    // A product too large for a number is infinite, and the conversion saturates.
    ((f64::from(replicas) * weight) as u32).clamp(1, MAX_POINTS)
}

/// A place on the ring, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// The place.
    pub point: u32,
    /// The number of the host.
    pub host: u32,
}

/// All points, as a table of *slots* in the order of places, and of hosts at the same place.
///
/// The points of a host are numbered, and one that has fewer of them has the first ones. So the table may as well have
/// slots for more points than there are: those that count are the ones whose number is less than what their host has.
/// A change of weight then changes one number, and clones share the table. It is made anew when a host wants a point
/// that it has no slot for, and when most slots do not count.
#[derive(Clone, Debug, Default)]
pub struct Ring {
    table: Arc<Table>,
    /// How many points each host has.
    counts: Arc<[u32]>,
    /// The sum of `counts`.
    points: usize,
    /// How many hosts have points.
    hosts: usize,
}

impl Ring {
    /// The ring of hosts 0, 1, 2, ..., each with its name and number of points.
    pub fn new<'a>(hosts: impl IntoIterator<Item = (&'a [u8], u32)>) -> Self {
        let mut slots = Vec::new();
        let mut counts = Vec::new();
        for (host, (name, count)) in hosts.into_iter().enumerate() {
            append(&mut slots, host, name, 0..count);
            counts.push(count);
        }
        slots.sort_unstable();
        Ring {
            points: slots.len(),
            hosts: counts.iter().filter(|count| **count > 0).count(),
            table: Arc::new(Table::new(&slots, counts.clone())),
            counts: counts.into(),
        }
    }

    /// Gives one host, that of this name, another number of points. Points that stay are where they are.
    pub fn resize(&mut self, host: usize, name: &[u8], count: u32) {
        let Some(had) = Arc::make_mut(&mut self.counts).get_mut(host) else { return };
        let had = std::mem::replace(had, count);
        self.points = self.points - had as usize + count as usize;
        self.hosts = self.hosts - usize::from(had > 0) + usize::from(count > 0);
        let slots = self.table.capacity(host);
        if count > slots {
            // Some more, so that a weight that grows step by step does not come here at each of them
            let enough = count.saturating_add(count / 4).min(MAX_POINTS).max(count);
            self.table = Arc::new(self.table.with_more(host, name, slots..enough));
        }
        // Their memory, and the time to pass over them, is bounded
        if self.table.len() > self.points.saturating_mul(4) {
            self.table = Arc::new(self.table.with_only(&self.counts));
        }
    }

    /// How many hosts have points.
    #[must_use]
    pub fn hosts(&self) -> usize {
        self.hosts
    }

    /// All points, in the order of the ring.
    pub fn points(&self) -> impl Iterator<Item = Point> + '_ {
        let all = self.table.places.iter().zip(&self.table.owners);
        all.filter(|(_, owner)| self.counts(owner)).map(|(place, owner)| Point { point: *place, host: owner.host })
    }

    /// How many slots there are, of points that count and of others.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.table.len()
    }

    /// The host whose point is in a slot. `None` if that point does not count.
    #[inline]
    #[must_use]
    pub fn host(&self, slot: usize) -> Option<usize> {
        let owner = self.table.owners.get(slot)?;
        self.counts(owner).then_some(owner.host as usize)
    }

    /// Which of [`Ring::points`] is in a slot. To be shown: it takes a look at all slots before.
    #[must_use]
    pub fn position(&self, slot: usize) -> usize {
        self.table.owners.iter().take(slot).filter(|owner| self.counts(owner)).count()
    }

    /// The slot of the point that a key belongs to, one that counts. `None` if there are none.
    ///
    /// It is the point that the search of the bundled directors gives, since the same keys have to give the same host:
    /// the first point at or after the key, but the last point of the ring, not the first, for keys beyond it; of two
    /// points always the second; and one of several points at the place of the key itself, see [`Ring::find_among`].
    #[inline]
    #[must_use]
    pub fn find(&self, key: u32) -> Option<usize> {
        if self.points == 2 {
            return self.last();
        }
        let Some(slot) = self.next(self.table.find(key)) else { return self.last() };
        if self.table.places.get(slot + 1) == Some(&key) {
            return self.find_among(slot, key);
        }
        Some(slot)
    }

    /// Which one of the points at the place of the key, the first of which is in this slot.
    ///
    /// It is the one that the bundled search comes across, which depends on how many points there are. So this is that
    /// search, step by step, with positions for points. It takes a look at all slots, but few keys are the place of two
    /// points.
    #[cold]
    fn find_among(&self, first: usize, key: u32) -> Option<usize> {
        let at_key = (first..).take_while(|slot| self.table.places.get(*slot) == Some(&key));
        let mut alike = at_key.filter(|slot| self.host(*slot).is_some());
        let start = self.position(first);
        let end = start + alike.clone().count();
        let (mut low, mut high) = (0, self.points);
        let found = loop {
            let i = (low + high) / 2;
            if i + 1 == start {
                break start;
            } else if i < start {
                low = i;
            } else if i < end {
                break i;
            } else {
                high = i;
            }
        };
        alike.nth(found - start)
    }

    /// This slot, or the next one, that counts. `None` if there is none before the end of the table.
    #[inline]
    fn next(&self, slot: usize) -> Option<usize> {
        let rest = self.table.owners.get(slot..)?;
        rest.iter().position(|owner| self.counts(owner)).map(|n| slot + n)
    }

    /// The last slot that counts.
    #[cold]
    fn last(&self) -> Option<usize> {
        self.table.owners.iter().rposition(|owner| self.counts(owner))
    }

    #[inline]
    fn counts(&self, owner: &Owner) -> bool {
        self.counts.get(owner.host as usize).is_some_and(|count| owner.number < *count)
    }
}

/// Whose a slot is.
#[derive(Clone, Copy, Debug)]
struct Owner {
    host: u32,
    /// Which of the host's points.
    number: u32,
}

/// The slots. Immutable.
#[derive(Debug, Default)]
struct Table {
    /// By themselves, so that a search reads nothing else.
    places: Box<[u32]>,
    owners: Box<[Owner]>,
    /// How many slots each host has.
    capacities: Box<[u32]>,
    index: Index,
}

/// A place, a host, and the number of the host's point.
type Slot = (u32, u32, u32);

impl Table {
    /// `slots` are in order.
    fn new(slots: &[Slot], capacities: Vec<u32>) -> Self {
        let places: Box<[u32]> = slots.iter().map(|slot| slot.0).collect();
        let owners = slots.iter().map(|(_, host, number)| Owner { host: *host, number: *number }).collect();
        Table { index: Index::new(&places), places, owners, capacities: capacities.into() }
    }

    fn len(&self) -> usize {
        self.places.len()
    }

    fn capacity(&self, host: usize) -> u32 {
        self.capacities.get(host).copied().unwrap_or(0)
    }

    fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        self.places.iter().zip(&self.owners).map(|(place, owner)| (*place, owner.host, owner.number))
    }

    /// The table with slots for those points of a host, that of this name, which follow the ones it has slots for.
    ///
    /// They are all that is hashed and searched for; the rest is copied.
    fn with_more(&self, host: usize, name: &[u8], numbers: Range<u32>) -> Self {
        let mut capacities = self.capacities.clone();
        if let Some(capacity) = capacities.get_mut(host) {
            *capacity = numbers.end;
        }
        let mut more = Vec::new();
        append(&mut more, host, name, numbers);
        more.sort_unstable();
        let before = |slot: &Slot| {
            let start = self.find(slot.0);
            let owners = self.owners.get(start..).unwrap_or_default();
            let at_place = self.places.get(start..).unwrap_or_default().iter().take_while(|place| **place == slot.0);
            start + at_place.zip(owners).take_while(|(_, owner)| (owner.host, owner.number) < (slot.1, slot.2)).count()
        };
        let at: Vec<usize> = more.iter().map(before).collect();
        let places = with_inserted(&self.places, at.iter().copied().zip(more.iter().map(|slot| slot.0)));
        let owners = more.iter().map(|(_, host, number)| Owner { host: *host, number: *number });
        let owners = with_inserted(&self.owners, at.iter().copied().zip(owners));
        Table { index: self.index.with_more(&places, &more), places, owners, capacities }
    }

    /// The table with slots for as many points of each host.
    fn with_only(&self, counts: &[u32]) -> Self {
        let is_one = |(_, host, number): &Slot| counts.get(*host as usize).is_some_and(|count| number < count);
        Table::new(&self.slots().filter(is_one).collect::<Vec<_>>(), counts.to_vec())
    }

    /// The first slot whose place is that of the key or after it; the number of slots if there is none.
    #[inline]
    fn find(&self, key: u32) -> usize {
        let range = self.index.range(key);
        let start = range.start;
        start + self.places.get(range).map_or(0, |places| places.partition_point(|place| *place < key))
    }
}

/// What is there, with more of it, each before what is at its place now.
fn with_inserted<T: Copy>(there: &[T], more: impl ExactSizeIterator<Item = (usize, T)>) -> Box<[T]> {
    let mut all = Vec::with_capacity(there.len() + more.len());
    let mut copied = 0;
    for (at, one) in more {
        all.extend_from_slice(there.get(copied..at).unwrap_or_default());
        all.push(one);
        copied = at;
    }
    all.extend_from_slice(there.get(copied..).unwrap_or_default());
    all.into()
}

/// Where to search. Places are hashes: a part of them that is cut off by their upper bits has about as many as others.
#[derive(Debug)]
struct Index {
    /// How far the upper bits are to be shifted.
    shift: u32,
    /// The first slot of each part, and the number of slots. A ring with more slots than fit would not fit into memory.
    starts: Box<[u32]>,
}

/// How many slots a part has about, at least.
const PART: usize = 2;

impl Index {
    fn new(places: &[u32]) -> Self {
        let shift = Self::shift(places.len());
        let parts = 1 << (u32::BITS - shift);
        let mut starts = Vec::with_capacity(parts + 1);
        for (slot, place) in places.iter().enumerate() {
            let part = (u64::from(*place) >> shift) as usize;
            // Also of those before it that have none
            while starts.len() <= part {
                starts.push(slot as u32);
            }
        }
        starts.resize(parts + 1, places.len() as u32);
        Index { shift, starts: starts.into() }
    }

    fn shift(slots: usize) -> u32 {
        u32::BITS - (slots / PART).checked_ilog2().unwrap_or(0)
    }

    /// The index of `places`, which are those of this one and of `more`.
    fn with_more(&self, places: &[u32], more: &[Slot]) -> Self {
        if self.shift != Self::shift(places.len()) {
            return Index::new(places);
        }
        let mut added = more.iter().map(|slot| (u64::from(slot.0) >> self.shift) as usize).peekable();
        let mut before = 0;
        let moved = self.starts.iter().enumerate().map(|(part, start)| {
            while added.next_if(|one| *one < part).is_some() {
                before += 1;
            }
            start + before
        });
        Index { shift: self.shift, starts: moved.collect() }
    }

    /// The slots of the part that the key is in.
    #[inline]
    fn range(&self, key: u32) -> Range<usize> {
        let part = (u64::from(key) >> self.shift) as usize;
        match self.starts.get(part..part + 2) {
            Some([start, end]) => *start as usize..*end as usize,
            _ => 0..0,
        }
    }
}

impl Default for Index {
    fn default() -> Self {
        Index::new(&[])
    }
}

/// Those points of a host that have these numbers.
fn append(slots: &mut Vec<Slot>, host: usize, name: &[u8], numbers: Range<u32>) {
    let mut named = Sha256::new();
    named.update(name);
    // Numbers of hosts fit: a host takes far more than one byte.
    let host = host as u32;
    slots.extend(numbers.map(|number| {
        let mut hash = named.clone();
        hash.update(number.to_string());
        (last_four(hash), host, number)
    }));
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::{append, Ring, Slot, Table};

    /// The ring with these slots, of which those with a number less than `count` count.
    fn ring(mut slots: Vec<Slot>, count: u32) -> Ring {
        slots.sort_unstable();
        let points = slots.iter().filter(|slot| slot.2 < count).count();
        let hosts = slots.iter().map(|slot| slot.1 as usize + 1).max().unwrap_or(0);
        let counts = vec![count; hosts];
        Ring { table: Arc::new(Table::new(&slots, counts.clone())), counts: counts.into(), points, hosts }
    }

    /// The position of what is found for a key.
    fn find(places: &[u32], key: u32) -> Option<usize> {
        let ring = ring(places.iter().map(|place| (*place, 0, 0)).collect(), 1);
        ring.find(key).map(|slot| ring.position(slot))
    }

    /// `shard_lookup` of the bundled directors.
    fn naive_find(places: &[u32], key: u32) -> Option<usize> {
        let n = places.len();
        let (mut low, mut high) = (0, n);
        while low < high {
            let i = (low + high) / 2;
            if places[i] == key || i == n - 1 {
                return Some(i);
            }
            if places[i] < key && places[i + 1] >= key {
                return Some(i + 1);
            }
            if places[i] > key {
                if i == 0 {
                    return Some(0);
                }
                high = i;
            } else {
                low = i;
            }
        }
        None
    }

    #[test]
    fn the_next_point() {
        let places = [3, 5, 8, 13];
        for (key, at) in [(0, 0), (3, 0), (4, 1), (5, 1), (6, 2), (9, 3), (13, 3)] {
            assert_eq!(find(&places, key), Some(at), "{key}");
        }
    }

    #[test]
    fn odd_cases_of_the_bundled_search() {
        assert_eq!(find(&[], 1), None);
        assert_eq!(find(&[7], 1), Some(0));
        assert_eq!(find(&[3, 5, 8, 13], u32::MAX), Some(3), "not the first");
        assert_eq!(find(&[3, 5], 1), Some(1), "always the second");
        assert_eq!(find(&[2, 4, 4, 4, 6], 4), Some(2), "the middle one");
    }

    #[test]
    fn points_at_the_same_place() {
        for n in 1..40_usize {
            let places: Vec<u32> = (0..n).map(|i| (i / 3) as u32).collect();
            for key in 0..20 {
                assert_eq!(find(&places, key), naive_find(&places, key), "{n} points, key {key}");
            }
        }
    }

    /// Close together at either end and anywhere, so that many meet.
    fn places() -> impl Strategy<Value = u32> {
        prop_oneof![0..12_u32, (0..12_u32).prop_map(|n| u32::MAX - n), (0..12_u32).prop_map(|n| n << 28), any::<u32>()]
    }

    /// All that a table is.
    fn parts(table: &Table) -> (Vec<Slot>, Vec<u32>, u32, Vec<u32>) {
        let index = &table.index;
        (table.slots().collect(), table.capacities.to_vec(), index.shift, index.starts.to_vec())
    }

    proptest! {
        #[test]
        fn a_table_with_more_or_less_is_as_made_anew(
            counts in prop::collection::vec(0..30_u32, 1..6),
            host in any::<usize>(),
            more in 1..60_u32,
        ) {
            // Points of hosts of the same name meet
            let name = |host| if host % 2 == 0 { &b"even"[..] } else { b"odd" };
            let table = |counts: &[u32]| {
                let mut slots = Vec::new();
                for (host, count) in counts.iter().enumerate() {
                    append(&mut slots, host, name(host), 0..*count);
                }
                slots.sort_unstable();
                Table::new(&slots, counts.to_vec())
            };
            let host = host % counts.len();
            let mut larger = counts.clone();
            larger[host] += more;
            let (before, after) = (table(&counts), table(&larger));
            prop_assert_eq!(parts(&before.with_more(host, name(host), counts[host]..larger[host])), parts(&after));
            prop_assert_eq!(parts(&after.with_only(&counts)), parts(&before));
        }

        #[test]
        fn what_the_bundled_search_finds(
            slots in prop::collection::vec((places(), 0..9_u32, 0..4_u32), 0..200),
            count in 0..5_u32,
            keys in prop::collection::vec(places(), 50),
        ) {
            let ring = ring(slots, count);
            let points: Vec<_> = ring.points().collect();
            let flat: Vec<u32> = points.iter().map(|point| point.point).collect();
            for key in keys.into_iter().chain(flat.iter().copied()) {
                let slot = ring.find(key);
                let at = slot.map(|slot| ring.position(slot));
                prop_assert_eq!(at, naive_find(&flat, key));
                let host = at.map(|at| points[at].host as usize);
                prop_assert_eq!(slot.and_then(|slot| ring.host(slot)), host);
            }
        }
    }
}
