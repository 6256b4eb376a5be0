//! The ring and the walk along it against the bundled directors' own code, written down naively.
#![allow(clippy::unwrap_used)]

use policy::ring::{key, points, Ring, MAX_POINTS};
use policy::shard::{pick, Ask, Healthy, World};
use policy::warmup::{is_alternative, Candidate};
use proptest::prelude::*;

/// `shard_lookup`, with the assumption of the bundled VMOD that there are points.
fn naive_lookup(circle: &[(u32, usize)], key: u32) -> usize {
    let n = circle.len();
    let (mut low, mut high) = (0, n);
    loop {
        let i = (high + low) / 2;
        if circle[i].0 == key {
            return i;
        } else if i == n - 1 {
            return n - 1;
        } else if circle[i].0 < key && circle[i + 1].0 >= key {
            return i + 1;
        } else if circle[i].0 > key {
            if i == 0 {
                return 0;
            }
            high = i;
        } else {
            low = i;
        }
    }
}

/// `struct shard_state`: host and time of change of the two that were seen last.
struct State<'a> {
    circle: &'a [(u32, usize)],
    n_backend: usize,
    idx: usize,
    picklist: Vec<bool>,
    pickcount: usize,
    previous: Option<(usize, f64)>,
    last: Option<(usize, f64)>,
}

/// `shard_next`, line by line.
fn naive_next(state: &mut State<'_>, mut skip: i64, healthy: bool, health: &[(bool, f64)]) -> bool {
    let mut chosen = false;
    if state.pickcount >= state.n_backend {
        return false;
    }
    while state.pickcount < state.n_backend && skip >= 0 {
        let c = state.circle[state.idx].1;
        if !state.picklist[c] {
            state.picklist[c] = true;
            state.pickcount += 1;
            let mut to_last = None;
            let (h, changed) = health[c];
            if h {
                let zero = skip == 0;
                skip -= 1;
                if zero {
                    chosen = true;
                    to_last = Some(true);
                } else {
                    to_last = Some(false);
                }
            } else if !healthy {
                let zero = skip == 0;
                skip -= 1;
                if zero {
                    chosen = true;
                    to_last = Some(true);
                }
            }
            if to_last == Some(true) && state.last.is_some() {
                state.previous = state.last;
            }
            match to_last {
                Some(true) => state.last = Some((c, changed)),
                Some(false) => state.previous = Some((c, changed)),
                None => {}
            }
            if chosen {
                break;
            }
        }
        state.idx += 1;
        if state.idx == state.circle.len() {
            state.idx = 0;
        }
    }
    chosen
}

/// `sharddir_pick_be_locked`, with times as ages.
fn naive_pick(
    circle: &[(u32, usize)],
    n_backend: usize,
    ask: &Ask,
    health: &[(bool, f64)],
    rampup: &[f64],
    draw: f64,
) -> Option<usize> {
    let mut state = State {
        circle,
        n_backend,
        idx: naive_lookup(circle, ask.key),
        picklist: vec![false; health.len()],
        pickcount: 0,
        previous: None,
        last: None,
    };
    if ask.alt > 0 && !naive_next(&mut state, ask.alt as i64 - 1, ask.healthy == Healthy::All, health) {
        return state.previous.map(|p| p.0);
    }
    if !naive_next(&mut state, 0, ask.healthy != Healthy::Ignore, health) {
        return state.previous.map(|p| p.0);
    }
    let be = state.last.unwrap().0;
    if ask.alt > 0
        || ask.healthy == Healthy::Ignore
        || (!ask.rampup && ask.warmup == 0.0)
        || !naive_next(&mut state, 0, true, health)
    {
        return Some(be);
    }
    let (previous, last) = (state.previous.unwrap(), state.last.unwrap());
    assert_ne!(previous.0, last.0);
    assert_eq!(be, previous.0);
    let (chosen_r, alt_r) = (rampup[previous.0], rampup[last.0]);
    if previous.1 < chosen_r {
        if !ask.rampup || last.1 < alt_r || draw * chosen_r < previous.1 {
            return Some(be);
        }
    } else if ask.warmup == 0.0 || draw > ask.warmup {
        return Some(be);
    }
    Some(last.0)
}

struct Fixed<'a> {
    health: &'a [(bool, f64)],
    rampup: &'a [f64],
    draw: f64,
    asked: Vec<bool>,
}

impl World for Fixed<'_> {
    fn health(&mut self, host: usize) -> (bool, f64) {
        assert!(!std::mem::replace(&mut self.asked[host], true), "asked twice");
        self.health[host]
    }

    fn rampup(&mut self, host: usize) -> f64 {
        self.rampup[host]
    }

    fn draw(&mut self) -> f64 {
        self.draw
    }
}

fn naive_circle(counts: &[u32]) -> Vec<(u32, usize)> {
    let mut circle = Vec::new();
    for (host, count) in counts.iter().enumerate() {
        for number in 0..*count {
            circle.push((key([name(host).as_bytes(), number.to_string().as_bytes()]), host));
        }
    }
    circle.sort_by_key(|(point, _)| *point);
    circle
}

fn name(host: usize) -> String {
    format!("b{host}")
}

fn ring(counts: &[u32]) -> Ring {
    let names: Vec<String> = (0..counts.len()).map(name).collect();
    Ring::new(names.iter().map(|n| n.as_bytes()).zip(counts.iter().copied()))
}

fn circle_of(ring: &Ring) -> Vec<(u32, usize)> {
    ring.points().map(|p| (p.point, p.host as usize)).collect()
}

fn assert_same(ring: &Ring, other: &Ring) {
    assert_eq!(circle_of(ring), circle_of(other));
    assert_eq!(ring.hosts(), other.hosts());
}

fn healthies() -> impl Strategy<Value = Healthy> {
    prop_oneof![Just(Healthy::Chosen), Just(Healthy::Ignore), Just(Healthy::All)]
}

type Host = (u32, (bool, f64), f64);

fn hosts() -> impl Strategy<Value = Vec<Host>> {
    let age = prop_oneof![Just(0.0), 0.0..20.0_f64, -1.0..0.0_f64];
    let rampup = prop_oneof![Just(0.0), 0.0..20.0_f64];
    prop::collection::vec((0..40_u32, (any::<bool>(), age), rampup), 1..30)
}

proptest! {
    #[test]
    fn picks_of_the_bundled_director(
        hosts in hosts(),
        (key, alt, healthy) in (any::<u32>(), 0..30_usize, healthies()),
        (warmup, rampup, draw) in (prop_oneof![Just(0.0), Just(1.0), 0.0..1.0], any::<bool>(), 0.0..1.0),
    ) {
        let counts: Vec<u32> = hosts.iter().map(|h| h.0).collect();
        let health: Vec<_> = hosts.iter().map(|h| h.1).collect();
        let ramps: Vec<_> = hosts.iter().map(|h| h.2).collect();
        let ring = ring(&counts);
        let circle = naive_circle(&counts);
        prop_assert_eq!(&circle_of(&ring), &circle);
        let on_ring = counts.iter().filter(|c| **c > 0).count();
        prop_assert_eq!(ring.hosts(), on_ring);
        let ask = Ask { key, alt: alt.min(on_ring.saturating_sub(1)), warmup, rampup, healthy };
        let mut world = Fixed { health: &health, rampup: &ramps, draw, asked: vec![false; counts.len()] };
        let picked = pick(&ring, &ask, &mut world);
        if on_ring == 0 {
            prop_assert_eq!(picked, None);
            return Ok(());
        }
        prop_assert_eq!(picked, naive_pick(&circle, on_ring, &ask, &health, &ramps, draw));
        // What upstream's ticket 2823 was about, and what draining is for
        if let Some(host) = picked {
            prop_assert!(health[host].0 || healthy == Healthy::Ignore);
            prop_assert!(counts[host] > 0);
        }
        if alt == 0 && healthy != Healthy::Ignore {
            prop_assert_eq!(picked.is_some(), health.iter().zip(&counts).any(|(h, c)| h.0 && *c > 0));
        }
    }

    #[test]
    fn resizing_is_building_anew(
        counts in prop::collection::vec(0..20_u32, 1..8),
        changes in prop::collection::vec((any::<usize>(), 0..50_u32), 1..12),
        keys in prop::collection::vec(any::<u32>(), 5),
    ) {
        let mut counts = counts;
        let mut resized = ring(&counts);
        for (at, n) in changes {
            let at = at % counts.len();
            let shared = resized.clone();
            let before = circle_of(&shared);
            counts[at] = n;
            resized.resize(at, name(at).as_bytes(), n);
            let anew = ring(&counts);
            assert_same(&resized, &anew);
            prop_assert_eq!(circle_of(&shared), before);
            let total: u32 = counts.iter().sum();
            prop_assert!(resized.slots() <= 4 * total as usize, "memory is bounded");
            // The same picks also for the walk, which passes over slots that do not count
            let health = vec![(true, 0.0); counts.len()];
            let ramps = vec![0.0; counts.len()];
            for key in keys.iter().copied() {
                let at = |ring: &Ring| ring.find(key).map(|slot| ring.position(slot));
                prop_assert_eq!(at(&resized), at(&anew));
                for alt in 0..resized.hosts() {
                    let ask = Ask { key, alt, warmup: 0.0, rampup: false, healthy: Healthy::Chosen };
                    let pick = |ring| {
                        let asked = vec![false; counts.len()];
                        let mut world = Fixed { health: &health, rampup: &ramps, draw: 0.0, asked };
                        pick(ring, &ask, &mut world)
                    };
                    prop_assert_eq!(pick(&resized), pick(&anew));
                }
            }
        }
    }

    #[test]
    fn any_weight_gives_points(replicas in 1..u32::MAX, bits in any::<u64>()) {
        let weight = policy::weight::checked(f64::from_bits(bits).abs());
        if let Some(weight) = weight {
            let n = points(replicas, weight);
            prop_assert!(n <= MAX_POINTS);
            prop_assert_eq!(n == 0, weight == 0.0);
        }
    }
}

#[test]
fn slots_of_points_that_are_gone_are_reused_and_bounded() {
    let mut ring = ring(&[67; 20]);
    let mut resize = |host: usize, count| {
        ring.resize(host, name(host).as_bytes(), count);
        ring.slots()
    };
    let more = resize(3, 70);
    assert!(more > 20 * 67 + 3, "room for more");
    for round in 0..100 {
        assert_eq!(resize(3, 40 + round % 40), more, "a weight that goes up and down");
    }
    for host in 0..20 {
        resize(host, 1);
    }
    assert!(resize(7, 2) <= 4 * 21, "most do not count any more");
}

#[test]
fn many_members() {
    let counts = vec![2; 700];
    let ring = ring(&counts);
    let health: Vec<_> = (0..700).map(|i| (i == 699, 0.0)).collect();
    let mut world = Fixed { health: &health, rampup: &[0.0; 700], draw: 0.5, asked: vec![false; 700] };
    let ask = Ask { key: 1, alt: 0, warmup: 0.0, rampup: true, healthy: Healthy::Chosen };
    assert_eq!(pick(&ring, &ask, &mut world), Some(699));
}

#[test]
fn keys_are_those_of_the_server() {
    assert_eq!(key([&b"/hash"[..]]), key([&b"/"[..], b"ha", b"", b"sh"]));
    assert_eq!(key([]), 0x55b8_5278);
    assert_eq!(points(67, 1.5), 100);
    assert_eq!(points(67, 0.001), 1);
    assert_eq!(points(67, f64::MAX), MAX_POINTS);
}

/// The part of the keys whose member is another one, over 100000 keys.
fn moved(before: &Ring, after: &Ring) -> f64 {
    let host = |ring: &Ring, key| ring.host(ring.find(key).unwrap());
    let keys = (0..100_000_u32).map(|i| key([i.to_string().as_bytes()]));
    keys.filter(|k| host(before, *k) != host(after, *k)).count() as f64 / 100_000.0
}

#[test]
fn a_weight_moves_few_keys() {
    let before = ring(&[67; 20]);
    for weight in [1.5, 0.5] {
        let mut after = before.clone();
        after.resize(7, name(7).as_bytes(), points(67, weight));
        let least = (weight / (19.0 + weight) - 1.0 / 20.0_f64).abs();
        let moved = moved(&before, &after);
        assert!((moved - least).abs() < 0.01, "weight {weight}: {moved} moved, {least} have to");
    }
    let mut drained = before.clone();
    drained.resize(7, name(7).as_bytes(), 0);
    assert_eq!(drained.hosts(), 19);
    drained.resize(7, name(7).as_bytes(), 67);
    assert_same(&drained, &before);
}

#[test]
fn ramp_up_and_warm_up() {
    let settled = Candidate { age: 100.0, rampup: 10.0 };
    let young = Candidate { age: 2.0, rampup: 10.0 };
    let never = || -> f64 { panic!("nothing to decide by chance") };
    assert!(!is_alternative(settled, settled, true, 0.0, never));
    assert!(is_alternative(settled, settled, true, 0.3, || 0.29));
    assert!(!is_alternative(settled, settled, true, 0.3, || 0.31));
    assert!(is_alternative(young, settled, true, 0.0, || 0.21));
    assert!(!is_alternative(young, settled, true, 0.0, || 0.19));
    assert!(!is_alternative(young, young, true, 0.5, never));
    assert!(!is_alternative(young, settled, false, 0.5, never));
}
