//! The ring of the shard director: consistent hashing.
//!
//! Each host has a number of *points* on a ring of 2^32 places, at the keys of its name followed by 0, 1, 2, ... A key
//! belongs to the host of the next point. So when a host gets or loses points, only keys next to those move.

use std::ops::Range;

use sha2::{Digest, Sha256};

/// The most points that a host can have. With the usual 67 replicas that is a weight of 15650: there to bound memory
/// (8 bytes a point) and time (about 0.2 us a point), whatever weight somebody sets.
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

/// All points. Immutable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ring {
    /// In the order of places, and of hosts at the same place.
    points: Box<[Point]>,
    /// How many hosts have points.
    hosts: usize,
}

impl Ring {
    /// The ring of hosts 0, 1, 2, ..., each with its name and number of points.
    pub fn new<'a>(hosts: impl IntoIterator<Item = (&'a [u8], u32)>) -> Self {
        let mut points = Vec::new();
        let mut with_points = 0;
        for (host, (name, count)) in hosts.into_iter().enumerate() {
            append(&mut points, host, name, 0..count);
            with_points += usize::from(count > 0);
        }
        points.sort_unstable();
        Ring { points: points.into(), hosts: with_points }
    }

    /// The ring where one host, that of this name, has another number of points. Points that stay are where they are.
    ///
    /// The points that come or go are all that is hashed and searched for; the rest is copied.
    #[must_use]
    pub fn resized(&self, host: usize, name: &[u8], count: u32) -> Self {
        let had = self.points.iter().filter(|point| point.host as usize == host).count();
        // A ring has no more points of a host than this type has numbers
        let (more, had) = (count as usize > had, had as u32);
        let mut changed = Vec::new();
        append(&mut changed, host, name, if more { had..count } else { count..had });
        changed.sort_unstable();
        // Exactly, so that nothing is given back: a ring is large, and small things would settle in what is left over
        let size = if more { self.points.len() + changed.len() } else { self.points.len() - changed.len() };
        let mut points = Vec::with_capacity(size);
        let mut rest = &self.points[..];
        for point in changed {
            let (before, after) = rest.split_at(rest.partition_point(|p| *p < point));
            points.extend_from_slice(before);
            if more {
                points.push(point);
                rest = after;
            } else {
                rest = after.split_first().map_or(after, |(_, after)| after);
            }
        }
        points.extend_from_slice(rest);
        debug_assert_eq!(points.len(), size);
        let hosts = self.hosts - usize::from(had > 0) + usize::from(count > 0);
        Ring { points: points.into(), hosts }
    }

    /// How many hosts have points.
    #[must_use]
    pub fn hosts(&self) -> usize {
        self.hosts
    }

    /// All points, in the order of the ring.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Which of [`Ring::points`] a key belongs to. `None` if there are none.
    ///
    /// This is the search of the bundled directors, step by step, since the same keys have to give the same host: it
    /// gives the first point at or after the key, but the last point of the ring, not the first, for keys beyond it;
    /// any of several points at the place of the key itself; and of two points always the second.
    #[must_use]
    pub fn find(&self, key: u32) -> Option<usize> {
        let n = self.points.len();
        let (mut low, mut high) = (0, n);
        while low < high {
            let i = (low + high) / 2;
            let here = self.points.get(i)?.point;
            if here == key || i == n - 1 {
                return Some(i);
            }
            if here < key {
                if self.points.get(i + 1)?.point >= key {
                    return Some(i + 1);
                }
                low = i;
            } else {
                if i == 0 {
                    return Some(0);
                }
                high = i;
            }
        }
        None
    }
}

/// Those points of a host that have these numbers.
fn append(points: &mut Vec<Point>, host: usize, name: &[u8], numbers: Range<u32>) {
    let mut named = Sha256::new();
    named.update(name);
    // Numbers of hosts fit: a host takes far more than one byte.
    let host = host as u32;
    points.extend(numbers.map(|number| {
        let mut hash = named.clone();
        hash.update(number.to_string());
        Point { point: last_four(hash), host }
    }));
}

#[cfg(test)]
mod tests {
    use super::{Point, Ring};

    fn find(places: &[u32], key: u32) -> Option<usize> {
        let points = places.iter().map(|point| Point { point: *point, host: 0 }).collect();
        Ring { points, hosts: 1 }.find(key)
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
                assert!(find(&places, key).is_some());
            }
        }
    }
}
