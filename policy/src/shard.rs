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
        /// The slot of the ring that has the point.
        slot: usize,
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

/// Picks a member of the ring, the very one that the bundled directors pick. `None` if no member will do.
///
/// A member that has no points is not on the ring, and never picked.
pub fn pick(ring: &Ring, ask: &Ask, world: &mut impl World) -> Option<usize> {
    let slot = ring.find(ask.key)?;
    world.trace(Step::Found { key: ask.key, slot, host: ring.host(slot)? });

    let mut walk = Walk { ring, slot, seen: Set::default(), skipped: None };
    if let Some(skip) = ask.alt.checked_sub(1) {
        if walk.advance(skip, ask.healthy == Healthy::All, world).is_none() {
            return walk.skipped;
        }
    }
    let Some(chosen) = walk.advance(0, ask.healthy != Healthy::Ignore, world) else { return walk.skipped };

    let alone = ask.alt > 0 || ask.healthy == Healthy::Ignore || (!ask.rampup && ask.warmup == 0.0);
    if alone {
        return Some(chosen.host);
    }
    let Some(other) = walk.advance(0, true, world) else { return Some(chosen.host) };
    let chosen_one = Candidate { age: chosen.age, rampup: world.rampup(chosen.host) };
    let other_one = Candidate { age: other.age, rampup: world.rampup(other.host) };
    world.trace(Step::Candidates { chosen: (chosen.host, chosen_one), alternative: (other.host, other_one) });
    let instead = is_alternative(chosen_one, other_one, ask.rampup, ask.warmup, || world.draw());
    Some(if instead { other.host } else { chosen.host })
}

/// A way along the ring that comes to each member once.
struct Walk<'a> {
    ring: &'a Ring,
    slot: usize,
    seen: Set,
    /// The healthy member that was skipped last.
    skipped: Option<usize>,
}

struct Seen {
    host: usize,
    age: f64,
}

impl Walk<'_> {
    /// Goes on to the next member after `skip` of them; sick ones do not count if it has to be `healthy`. `None` if there
    /// is none.
    // Always: what it has to remember stays in registers from one step to the next
    #[inline(always)]
    fn advance(&mut self, mut skip: usize, healthy: bool, world: &mut impl World) -> Option<Seen> {
        while self.seen.len() < self.ring.hosts() {
            let host = self.ring.host(self.slot);
            self.slot = if self.slot + 1 < self.ring.slots() { self.slot + 1 } else { 0 };
            let Some(host) = host.filter(|host| self.seen.insert(*host)) else { continue };
            let (is_healthy, age) = world.health(host);
            if is_healthy || !healthy {
                if skip == 0 {
                    return Some(Seen { host, age });
                }
                skip -= 1;
                if is_healthy {
                    self.skipped = Some(host);
                }
            }
        }
        None
    }
}

/// A set of numbers, without an allocation unless there are many: most walks see two members.
#[derive(Default)]
struct Set {
    len: usize,
    /// The first ones.
    few: [usize; FEW],
    /// A bit for each number, once there are more.
    many: Vec<u64>,
}

const FEW: usize = 8;

impl Set {
    fn len(&self) -> usize {
        self.len
    }

    /// Whether it was not in the set before.
    #[inline]
    fn insert(&mut self, n: usize) -> bool {
        if self.few.get(..self.len).unwrap_or(&self.few).contains(&n) {
            return false;
        }
        if let Some(free) = self.few.get_mut(self.len) {
            *free = n;
        } else if !self.insert_bit(n) {
            return false;
        }
        self.len += 1;
        true
    }

    #[cold]
    fn insert_bit(&mut self, n: usize) -> bool {
        if self.many.len() <= n / 64 {
            self.many.resize(n / 64 + 1, 0);
        }
        let bit = 1 << (n % 64);
        match self.many.get_mut(n / 64) {
            Some(word) if *word & bit == 0 => {
                *word |= bit;
                true
            }
            _ => false,
        }
    }
}
