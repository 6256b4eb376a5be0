//! The shard director: a walk along the ring that passes over sick members.

use crate::ring::Ring;
use crate::warmup::{is_alternative, Candidate};

/// Which sick members are passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Healthy {
    /// Those that could be the result.
    #[default]
    Chosen,
    /// None.
    Ignore,
    /// All, also where members are skipped to get at an alternative.
    All,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// The place on the ring.
    pub key: u32,
    /// How many members to skip. Less than the number of those that have points.
    pub alt: usize,
    /// The part of the requests, from 0 to 1, that the next member gets.
    pub warmup: f64,
    /// Whether members that got healthy a short time ago share with the next one.
    pub rampup: bool,
    /// Which sick members are passed over.
    pub healthy: Healthy,
}

/// What a pick needs to know. Members are known by their number.
pub trait World {
    /// Whether a member is healthy, and for how many seconds that has been so. Asked at most once per pick.
    fn health(&mut self, host: usize) -> (bool, f64);
    /// For how many seconds a member ramps up.
    fn rampup(&mut self, host: usize) -> f64;
    /// A random number from 0 up to 1.
    fn draw(&mut self) -> f64;
    /// Is told what was found on the way.
    fn trace(&mut self, _step: Step) {}
}

/// What was found on the way.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// The key belongs to this point of the ring, and this member.
    Found {
        /// The key.
        key: u32,
        /// The position of the point on the ring.
        at: usize,
        /// The member.
        host: usize,
    },
    /// The member that the key belongs to, and the next one, of which one is to be taken.
    Candidates {
        /// The first one.
        chosen: (usize, Candidate),
        /// The next one.
        alternative: (usize, Candidate),
    },
}

/// Picks a member of the ring, the very one that the bundled directors pick. `members` is more than all of their
/// numbers. `None` if no member will do.
///
/// A member that has no points is not on the ring, and never picked.
pub fn pick(ring: &Ring, members: usize, ask: &Ask, world: &mut impl World) -> Option<usize> {
    let at = ring.find(ask.key)?;
    let host = ring.points().get(at)?.host as usize;
    world.trace(Step::Found { key: ask.key, at, host });

    let mut walk = Walk::new(ring, members, at);
    if let Some(skip) = ask.alt.checked_sub(1) {
        if !walk.advance(skip, ask.healthy == Healthy::All, world) {
            return walk.skipped.map(|seen| seen.host);
        }
    }
    if !walk.advance(0, ask.healthy != Healthy::Ignore, world) {
        return walk.skipped.map(|seen| seen.host);
    }
    let chosen = walk.found?;

    let alone = ask.alt > 0 || ask.healthy == Healthy::Ignore || (!ask.rampup && ask.warmup == 0.0);
    if alone || !walk.advance(0, true, world) {
        return Some(chosen.host);
    }
    let other = walk.found?;
    let chosen_one = Candidate { age: chosen.age, rampup: world.rampup(chosen.host) };
    let other_one = Candidate { age: other.age, rampup: world.rampup(other.host) };
    world.trace(Step::Candidates { chosen: (chosen.host, chosen_one), alternative: (other.host, other_one) });
    let instead = is_alternative(chosen_one, other_one, ask.rampup, ask.warmup, || world.draw());
    Some(if instead { other.host } else { chosen.host })
}

/// A way along the ring that comes to each member once.
struct Walk<'a> {
    ring: &'a Ring,
    at: usize,
    seen: Set,
    seen_count: usize,
    /// The healthy member that was passed over last.
    skipped: Option<Seen>,
    /// Where the last advance ended.
    found: Option<Seen>,
}

#[derive(Clone, Copy)]
struct Seen {
    host: usize,
    age: f64,
}

impl<'a> Walk<'a> {
    fn new(ring: &'a Ring, members: usize, at: usize) -> Self {
        Walk { ring, at, seen: Set::new(members), seen_count: 0, skipped: None, found: None }
    }

    /// Goes on to the next member after `skip` of them; sick ones do not count if it has to be `healthy`. Whether
    /// there was one.
    fn advance(&mut self, mut skip: usize, healthy: bool, world: &mut impl World) -> bool {
        let points = self.ring.points();
        while self.seen_count < self.ring.hosts() {
            let Some(point) = points.get(self.at) else {
                return false;
            };
            let host = point.host as usize;
            if self.seen.insert(host) {
                self.seen_count += 1;
                let (is_healthy, age) = world.health(host);
                if is_healthy || !healthy {
                    if skip == 0 {
                        // What was found before has been passed over now.
                        self.skipped = self.found.or(self.skipped);
                        self.found = Some(Seen { host, age });
                        return true;
                    }
                    skip -= 1;
                    if is_healthy {
                        self.skipped = Some(Seen { host, age });
                    }
                }
            }
            self.at = if self.at + 1 == points.len() { 0 } else { self.at + 1 };
        }
        false
    }
}

/// A set of small numbers, without an allocation unless there are many.
struct Set {
    few: [u64; 4],
    many: Vec<u64>,
}

impl Set {
    fn new(len: usize) -> Self {
        let many = if len <= 256 { Vec::new() } else { vec![0; len.div_ceil(64)] };
        Set { few: [0; 4], many }
    }

    /// Whether it was not in the set before. Numbers that are out of range are in it.
    fn insert(&mut self, n: usize) -> bool {
        let words: &mut [u64] = if self.many.is_empty() { &mut self.few } else { &mut self.many };
        let bit = 1 << (n % 64);
        match words.get_mut(n / 64) {
            Some(word) if *word & bit == 0 => {
                *word |= bit;
                true
            }
            _ => false,
        }
    }
}
