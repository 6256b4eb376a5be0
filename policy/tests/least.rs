//! The least director against one that looks at everything, and what its picks add up to.

use policy::{Least, Plan};
use proptest::prelude::*;

/// Numbers as a generator would give them, the same ones each time.
fn draws(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / 9_007_199_254_740_992.0
    }
}

fn plan(weights: &[f64]) -> Least {
    Least::empty().with_members(weights)
}

fn load(weights: &[f64], in_flight: &[u64], i: usize) -> f64 {
    (in_flight[i] as f64 + 1.0) / weights[i]
}

/// Members: weight, in flight, healthy.
fn members() -> impl Strategy<Value = Vec<(f64, u64, bool)>> {
    let weight = prop_oneof![Just(0.0), 0.1..10.0f64, Just(f64::MAX), Just(5e-324)];
    proptest::collection::vec((weight, 0..20u64, any::<bool>()), 0..12)
}

proptest! {
    /// With all as candidates it is the best of all.
    #[test]
    fn all_choices_find_the_best(members in members(), seed: u64) {
        let weights: Vec<f64> = members.iter().map(|m| m.0).collect();
        let in_flight: Vec<u64> = members.iter().map(|m| m.1).collect();
        let fit = |i: usize| members[i].2 && weights[i] > 0.0;
        let got = plan(&weights).pick(&weights, usize::MAX, draws(seed), |i| members[i].2, |i| in_flight[i]);
        let best = (0..members.len()).filter(|i| fit(*i)).map(|i| load(&weights, &in_flight, i)).reduce(f64::min);
        match got {
            None => prop_assert_eq!(best, None),
            Some(place) => {
                prop_assert!(fit(place));
                prop_assert_eq!(Some(load(&weights, &in_flight, place)), best);
            }
        }
    }

    /// Whatever the number of choices: somebody who has weight and is healthy, if there is one; and not the worst of
    /// two, if there are only two of them.
    #[test]
    fn a_pick_is_healthy(members in members(), choices in 1..5usize, seed: u64) {
        let weights: Vec<f64> = members.iter().map(|m| m.0).collect();
        let got = plan(&weights).pick(&weights, choices, draws(seed), |i| members[i].2, |i| members[i].1);
        let any = members.iter().any(|m| m.0 > 0.0 && m.2);
        prop_assert_eq!(got.is_some(), any);
        if let Some(place) = got {
            prop_assert!(members[place].0 > 0.0 && members[place].2);
        }
    }
}

/// One choice is a weighted draw.
#[test]
fn one_choice_is_random() {
    let weights = [1.0, 2.0, 7.0];
    let (plan, mut draw, mut counts) = (plan(&weights), draws(1), [0_u32; 3]);
    for _ in 0..10_000 {
        if let Some(place) = plan.pick(&weights, 1, &mut draw, |_| true, |_| 0) {
            counts[place] += 1;
        }
    }
    assert!((900..1100).contains(&counts[0]) && (1850..2150).contains(&counts[1]), "{counts:?}");
}

/// The more choices, the more even: what n requests that never end add up to.
#[test]
fn two_choices_even_out() {
    let weights = [1.0; 20];
    let (plan, mut draw) = (plan(&weights), draws(2));
    let mut worst = |choices| {
        let mut in_flight = [0_u64; 20];
        for _ in 0..2000 {
            if let Some(place) = plan.pick(&weights, choices, &mut draw, |_| true, |i| in_flight[i]) {
                in_flight[place] += 1;
            }
        }
        in_flight.iter().max().copied().unwrap_or(0)
    };
    let (one, two, all) = (worst(1), worst(2), worst(20));
    assert!(one > 110, "{one}");
    assert!(two <= 104, "{two}");
    assert_eq!(all, 100);
}

/// Requests in flight settle in proportion to weights.
#[test]
fn in_flight_follows_weights() {
    let weights = [1.0, 2.0, 4.0];
    let (plan, mut draw, mut in_flight) = (plan(&weights), draws(3), [0_u64; 3]);
    for _ in 0..700 {
        if let Some(place) = plan.pick(&weights, 3, &mut draw, |_| true, |i| in_flight[i]) {
            in_flight[place] += 1;
        }
    }
    assert_eq!(in_flight, [100, 200, 400]);
}

/// A member that does not answer is left alone, once it has its share of what others have.
#[test]
fn who_is_stuck_gets_no_more() {
    let weights = [1.0, 1.0];
    let (plan, mut draw) = (plan(&weights), draws(4));
    for _ in 0..1000 {
        assert_eq!(plan.pick(&weights, 2, &mut draw, |_| true, |i| [9, 1][i]), Some(1));
    }
}
