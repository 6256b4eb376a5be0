//! Random against a naive walk, which is the bundled directors' own, line by line.
#![allow(clippy::unwrap_used)]

mod bundled;

use bundled::pick_by_weight;
use policy::random::pick_exactly;
use policy::{Plan, Random};
use proptest::prelude::*;

fn members() -> impl Strategy<Value = (Vec<f64>, Vec<bool>)> {
    let weight = prop_oneof![Just(0.0), Just(1.0), 0.0..10.0_f64, (-3..7_i32).prop_map(|e| 10_f64.powi(e))];
    prop::collection::vec((weight, prop::bool::weighted(0.7)), 0..40).prop_map(|m| m.into_iter().unzip())
}

fn draw() -> impl Strategy<Value = f64> {
    (0..1_u64 << 31).prop_map(|r| r as f64 / (1_u64 << 31) as f64)
}

proptest! {
    #[test]
    fn same_draw_as_the_walk((weights, healthy) in members(), r in draw()) {
        prop_assert_eq!(pick_exactly(&weights, r, |i| healthy[i]), pick_by_weight(&weights, &healthy, r));
    }

    #[test]
    fn with_all_healthy_the_first_draw_decides((weights, _) in members(), r in draw()) {
        let plan = Random::empty().with_members(&weights);
        let all = vec![true; weights.len()];
        prop_assert_eq!(plan.pick(&weights, || r, |_| true), pick_by_weight(&weights, &all, r));
    }

    #[test]
    fn any_weights_give_a_healthy_member_that_has_weight(
        bits in prop::collection::vec((any::<u64>(), any::<bool>()), 0..20),
        r in draw(),
    ) {
        let weights: Vec<f64> = bits.iter().map(|(b, _)| f64::from_bits(*b).abs())
            .map(|w| if w.is_finite() { w } else { f64::MAX }).collect();
        let picked = Random::empty().with_weights(&weights).pick(&weights, || r, |i| bits[i].1);
        let possible = weights.iter().zip(&bits).any(|(w, (_, h))| *w > 0.0 && *h);
        prop_assert_eq!(picked.is_some(), possible);
        if let Some(i) = picked {
            prop_assert!(weights[i] > 0.0 && bits[i].1);
        }
    }
}

/// The largest draw times the sum of all weights may be the sum itself, of which nobody has a part (vc#1324).
#[test]
fn the_ends_of_the_range() {
    let most = 1.0 - f64::EPSILON / 2.0;
    for weights in [vec![1.0; 3], vec![0.1; 10], vec![1e-300, 3e-300], vec![f64::MAX; 2], vec![7.0, 0.0], vec![5e-324]]
    {
        let plan = Random::empty().with_members(&weights);
        let with_weight = weights.iter().rposition(|w| *w > 0.0);
        assert_eq!(plan.pick(&weights, || most, |_| true), with_weight, "{weights:?}");
        assert_eq!(pick_exactly(&weights, most, |_| true), with_weight, "{weights:?}");
        assert_eq!(plan.pick(&weights, || 0.0, |_| true), Some(0), "{weights:?}");
        assert_eq!(pick_exactly(&weights, 0.0, |_| true), Some(0), "{weights:?}");
    }
}

#[test]
fn shares_are_kept_when_members_are_sick() {
    let weights = [5.0, 1.0, 3.0, 1.0, 10.0];
    let healthy = [true, true, true, true, false];
    let plan = Random::empty().with_members(&weights);
    let mut state = 1_u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut counts = [0_f64; 5];
    for _ in 0..200_000 {
        counts[plan.pick(&weights, &mut draw, |i| healthy[i]).unwrap()] += 1.0;
    }
    for (i, expected) in [0.5, 0.1, 0.3, 0.1, 0.0].iter().enumerate() {
        assert!((counts[i] / 200_000.0 - expected).abs() < 0.005, "{counts:?}");
    }
}
