//! Hash against a naive walk, which is the bundled directors' own, line by line.
#![allow(clippy::unwrap_used)]

mod bundled;

use bundled::pick_by_weight;
use policy::{Hash, Plan};
use proptest::prelude::*;

/// `vmod_hash_backend` of the bundled VMOD.
fn naive(weights: &[f64], healthy: &[bool], hash: u32) -> Option<usize> {
    pick_by_weight(weights, healthy, f64::from(hash) * 2_f64.powi(-32))
}

fn members() -> impl Strategy<Value = (Vec<f64>, Vec<bool>)> {
    let weight = prop_oneof![Just(0.0), Just(1.0), 0.0..10.0_f64, (-3..7_i32).prop_map(|e| 10_f64.powi(e))];
    let member = (weight, prop::bool::weighted(0.8));
    prop::collection::vec(member, 0..50).prop_map(|m| m.into_iter().unzip())
}

fn key() -> impl Strategy<Value = u32> {
    prop_oneof![8 => any::<u32>(), 1 => Just(0), 1 => Just(u32::MAX), 1 => Just(1 << 31)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn same_pick_as_the_walk((weights, healthy) in members(), hashes in prop::collection::vec(key(), 20)) {
        let plan = Hash::empty().with_members(&weights);
        for hash in hashes {
            prop_assert_eq!(plan.pick(&weights, hash, |i| healthy[i]), naive(&weights, &healthy, hash));
        }
    }

    /// A change of weights gives what a director gives that had those weights all along.
    #[test]
    fn no_memory_of_other_weights((old, _) in members(), (weights, healthy) in members(), hash in key()) {
        let plan = Hash::empty().with_members(&old).with_weights(&weights);
        prop_assert_eq!(plan.pick(&weights, hash, |i| healthy[i]), naive(&weights, &healthy, hash));
    }

    #[test]
    fn each_member_is_asked_once((weights, healthy) in members(), hash in key()) {
        let mut asked = vec![0; weights.len()];
        Hash::empty().with_members(&weights).pick(&weights, hash, |i| {
            asked[i] += 1;
            healthy[i]
        });
        let expected: Vec<_> = weights.iter().map(|w| i32::from(*w > 0.0)).collect();
        prop_assert_eq!(asked, expected);
    }

    #[test]
    fn any_weights_give_a_healthy_member_that_has_weight(
        bits in prop::collection::vec((any::<u64>(), any::<bool>()), 0..20),
        hash in key(),
    ) {
        let weights: Vec<f64> = bits.iter().map(|(b, _)| f64::from_bits(*b).abs())
            .map(|w| if w.is_finite() { w } else { f64::MAX }).collect();
        let picked = Hash::empty().with_weights(&weights).pick(&weights, hash, |i| bits[i].1);
        let possible = weights.iter().zip(&bits).any(|(w, (_, h))| *w > 0.0 && *h);
        prop_assert_eq!(picked.is_some(), possible);
        if let Some(i) = picked {
            prop_assert!(weights[i] > 0.0 && bits[i].1);
        }
    }
}

#[test]
fn the_ends_of_the_range() {
    let weights = [1.0, 1.0, 2.0];
    let plan = Hash::empty().with_members(&weights);
    let pick = |hash| plan.pick(&weights, hash, |_| true).unwrap();
    assert_eq!([pick(0), pick((1 << 30) - 1), pick(1 << 30), pick(1 << 31), pick(u32::MAX)], [0, 0, 1, 2, 2]);
}
