//! Round robin against the bundled directors' own, and against exact shares.
#![allow(clippy::unwrap_used)]

use policy::{Plan, RoundRobin};
use proptest::prelude::*;

/// The bundled `round_robin`: its cursor is a place in the list.
#[derive(Default)]
struct Naive {
    members: Vec<u32>,
    next: usize,
}

impl Naive {
    fn pick(&mut self, healthy: impl Fn(u32) -> bool) -> Option<u32> {
        // It dies here if the place is past the end.
        if self.next >= self.members.len() {
            self.next = 0;
        }
        for _ in 0..self.members.len() {
            let member = self.members[self.next];
            self.next = (self.next + 1) % self.members.len();
            if healthy(member) {
                return Some(member);
            }
        }
        None
    }
}

fn picks(weights: &[f64], n: usize) -> Vec<usize> {
    let plan = RoundRobin::empty().with_members(weights);
    (0..n).map(|_| plan.pick(weights, |_| true).unwrap()).collect()
}

fn counts(picks: &[usize], members: usize) -> Vec<usize> {
    let mut counts = vec![0; members];
    picks.iter().for_each(|p| counts[*p] += 1);
    counts
}

#[derive(Debug, Clone)]
enum Step {
    Pick,
    Add,
    Remove(usize),
    Flip(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => Just(Step::Pick),
        2 => Just(Step::Add),
        1 => (0..50_usize).prop_map(Step::Remove),
        2 => (0..50_usize).prop_map(Step::Flip),
    ];
    prop::collection::vec(step, 0..200)
}

fn some_weight() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), 0.01..10.0_f64, (-3..4_i32).prop_map(|e| 10_f64.powi(e))]
}

#[derive(Debug, Clone)]
enum Change {
    To(f64),
    /// As reports change it.
    By(f64),
}

impl Change {
    fn of(&self, weight: f64) -> f64 {
        match self {
            Change::To(new) => *new,
            Change::By(factor) => weight * factor,
        }
    }
}

fn some_change() -> impl Strategy<Value = Change> {
    prop_oneof![1 => some_weight().prop_map(Change::To), 4 => (0.8..1.25_f64).prop_map(Change::By)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Members come, go, fall sick and recover: always the member that the bundled VMOD picks.
    #[test]
    fn equal_weights_are_plain_round_robin(steps in steps()) {
        let mut naive = Naive::default();
        let mut plan = RoundRobin::empty();
        let mut sick = Vec::new();
        let mut names = 0;
        for step in steps {
            match step {
                Step::Pick => {
                    let healthy = |m: u32| !sick.contains(&m);
                    let weights = vec![1.0; naive.members.len()];
                    let members = naive.members.clone();
                    let picked = plan.pick(&weights, |i| healthy(members[i])).map(|i| members[i]);
                    prop_assert_eq!(picked, naive.pick(healthy));
                }
                Step::Add => {
                    naive.members.push(names);
                    names += 1;
                    plan = plan.with_members(&vec![1.0; naive.members.len()]);
                }
                Step::Remove(i) if i < naive.members.len() => {
                    naive.members.remove(i);
                    plan = plan.with_members(&vec![1.0; naive.members.len()]);
                }
                Step::Flip(i) if i < naive.members.len() => {
                    let name = naive.members[i];
                    match sick.iter().position(|s| *s == name) {
                        Some(at) => { sick.remove(at); }
                        None => sick.push(name),
                    }
                }
                Step::Remove(_) | Step::Flip(_) => {}
            }
        }
    }

    /// Shares are exact: after any number of picks each member is within a few of what its weight asks for.
    #[test]
    fn shares_are_exact(
        weights in prop::collection::vec(prop_oneof![Just(1.0), 0.01..10.0_f64, (-3..4_i32).prop_map(|e| 10_f64.powi(e))], 1..60),
        n in 1..3000_usize,
    ) {
        let total: f64 = weights.iter().sum();
        let counts = counts(&picks(&weights, n), weights.len());
        // One for the slot, one for each halving of a shared one, and the share that the other slots are ahead or
        // behind.
        let bound = 4.0 + (weights.len() as f64).log2();
        for (count, w) in counts.iter().zip(&weights) {
            let expected = n as f64 * w / total;
            prop_assert!((*count as f64 - expected).abs() <= bound, "{} instead of {}: {:?}", count, expected, weights);
        }
    }

    /// So they are after weights were changed one by one, whatever the rotation was before: shared slots fill and empty,
    /// members get a slot of their own and lose it, drain and come back.
    #[test]
    fn shares_are_exact_after_changes(
        start in prop::collection::vec(some_weight(), 1..60),
        changes in prop::collection::vec((any::<prop::sample::Index>(), some_change()), 1..60),
        n in 1..2000_usize,
    ) {
        let mut weights = start;
        let members = weights.len();
        let mut plan = RoundRobin::empty().with_members(&weights);
        for (member, change) in changes {
            let weight = &mut weights[member.index(members)];
            *weight = change.of(*weight);
            plan = plan.with_weights(&weights);
        }
        let total: f64 = weights.iter().sum();
        let picks: Option<Vec<usize>> = (0..n).map(|_| plan.pick(&weights, |_| true)).collect();
        prop_assert_eq!(picks.is_some(), total > 0.0);
        let bound = 4.0 + (weights.len() as f64).log2();
        for (count, w) in counts(&picks.unwrap_or_default(), weights.len()).iter().zip(&weights) {
            let expected = if total > 0.0 { n as f64 * w / total } else { 0.0 };
            prop_assert!((*count as f64 - expected).abs() <= bound, "{} instead of {}: {:?}", count, expected, weights);
        }
    }

    /// No member comes more often in a row than its weight forces it to, plus once.
    #[test]
    fn picks_are_interleaved(
        weights in prop::collection::vec(prop_oneof![Just(1.0), 0.01..10.0_f64, (0..3_i32).prop_map(|e| 10_f64.powi(e))], 2..30),
    ) {
        let total: f64 = weights.iter().sum();
        let picks = picks(&weights, 3000);
        for run in picks.chunk_by(|a, b| a == b) {
            let w = weights[run[0]];
            let forced = (w / (total - w)).ceil();
            prop_assert!(run.len() as f64 <= forced + 1.0, "{} times {}: {:?}", run.len(), w, weights);
        }
    }

    #[test]
    fn any_weights_give_a_healthy_member_that_has_weight(
        bits in prop::collection::vec((any::<u64>(), any::<bool>()), 0..20),
    ) {
        let weights: Vec<f64> = bits.iter().map(|(b, _)| f64::from_bits(*b).abs())
            .map(|w| if w.is_finite() { w } else { f64::MAX }).collect();
        let plan = RoundRobin::empty().with_weights(&weights);
        let possible = weights.iter().zip(&bits).any(|(w, (_, h))| *w > 0.0 && *h);
        for _ in 0..100 {
            let picked = plan.pick(&weights, |i| bits[i].1);
            prop_assert_eq!(picked.is_some(), possible);
            if let Some(i) = picked {
                prop_assert!(weights[i] > 0.0 && bits[i].1);
            }
        }
    }
}

#[test]
fn four_to_one() {
    let picks = picks(&[2.0, 0.5], 500);
    assert_eq!(counts(&picks, 2), [400, 100]);
    assert!(picks.chunks(5).all(|c| counts(c, 2) == [4, 1]), "interleaved");
}

#[test]
fn weight_zero_is_passed_over() {
    assert_eq!(picks(&[1.0, 0.0, 1.0], 6), [0, 2, 0, 2, 0, 2]);
    assert_eq!(RoundRobin::empty().with_members(&[0.0, 0.0]).pick(&[0.0, 0.0], |_| true), None);
}

#[test]
fn six_orders_of_magnitude() {
    let counts = counts(&picks(&[1e6, 1.0, 1e3], 10_010_010), 3);
    assert!(counts[1].abs_diff(10) <= 1 && counts[2].abs_diff(10_000) <= 2, "{counts:?}");
}

#[test]
fn shares_are_kept_when_members_are_sick() {
    let weights = [1000.0, 3.0, 1.0, 2.0, 2.0];
    let plan = RoundRobin::empty().with_members(&weights);
    let picks: Vec<_> = (0..8000).map(|_| plan.pick(&weights, |i| i != 0).unwrap()).collect();
    for (count, w) in counts(&picks, 5).iter().zip([0, 3000, 1000, 2000, 2000]) {
        assert!(count.abs_diff(w) < 100, "{count} instead of {w}");
    }
}

/// A change of weights goes on with the same sequence, so that frequent changes favour nobody: what members get is
/// the sum of what each of the weights asks for.
#[test]
fn changing_weights_keep_their_shares() {
    let mut state = 1_u64;
    let mut random = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let mut plan = RoundRobin::empty().with_members(&[1.0; 4]);
    let (mut counts, mut asked) = ([0.0; 4], [0.0; 4]);
    for _ in 0..20_000 {
        let weights = [3.0, 1.0, 1.0 + random(5) as f64, 0.1 + random(3) as f64];
        let total: f64 = weights.iter().sum();
        plan = plan.with_weights(&weights);
        for _ in 0..1 + random(9) {
            counts[plan.pick(&weights, |_| true).unwrap()] += 1.0;
            asked.iter_mut().zip(&weights).for_each(|(a, w)| *a += w / total);
        }
    }
    for (count, asked) in counts.iter().zip(&asked) {
        assert!((count / asked - 1.0_f64).abs() < 0.02, "{counts:?} instead of {asked:?}");
    }
}

/// With threads, too, each sequence number is used once: shares are exact, and nobody misses the healthy member.
#[test]
fn threads_share_the_sequence() {
    let weights = [3.0, 1.0, 1.0];
    let plan = RoundRobin::empty().with_members(&weights);
    let all: Vec<usize> = std::thread::scope(|s| {
        let threads: Vec<_> = (0..4)
            .map(|_| s.spawn(|| (0..5000).map(|_| plan.pick(&weights, |_| true).unwrap()).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().flat_map(|t| t.join().unwrap()).collect()
    });
    let counts = counts(&all, 3);
    assert!(counts[0].abs_diff(12_000) <= 2 && counts[1].abs_diff(4000) <= 2, "{counts:?}");

    let plan = RoundRobin::empty().with_members(&[1.0, 1.0]);
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| (0..20_000).for_each(|_| assert_eq!(plan.pick(&[1.0, 1.0], |i| i == 1), Some(1))));
        }
    });
}
