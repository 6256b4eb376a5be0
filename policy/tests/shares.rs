//! Shares of many picks against the weights: the chi-square test of goodness of fit.
//!
//! The limits are the values that a correct generator exceeds once in a thousand times (NIST/SEMATECH e-Handbook of
//! Statistical Methods, 1.3.6.7.4). The draws are always the same ones, so that a test passes always or never.
#![allow(clippy::unwrap_used)]

use policy::{Least, Plan, Random, RoundRobin};

/// Upper critical values for p = 0.001 and as many degrees of freedom.
fn critical(degrees: usize) -> f64 {
    match degrees {
        6 => 22.458,
        19 => 43.820,
        _ => panic!("no value for {degrees}"),
    }
}

fn draws() -> impl FnMut() -> f64 {
    let mut state = 0x0123_4567_89ab_cdef_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / 9_007_199_254_740_992.0
    }
}

/// The statistic, of picks that should follow the weights.
fn chi_square(weights: &[f64], picks: usize, mut pick: impl FnMut() -> usize) -> f64 {
    let mut counts = vec![0.0; weights.len()];
    for _ in 0..picks {
        counts[pick()] += 1.0;
    }
    let total: f64 = weights.iter().sum();
    let deviation = |(count, weight): (&f64, &f64)| {
        let expected = picks as f64 * weight / total;
        assert!(expected >= 5.0, "too few picks for the test");
        (count - expected).powi(2) / expected
    };
    counts.iter().zip(weights).map(deviation).sum()
}

fn one_to_twenty() -> Vec<f64> {
    (1..=20).map(f64::from).collect()
}

/// 0.001 to 1000.
fn six_orders() -> Vec<f64> {
    (-3..=3).map(|e| 10_f64.powi(e)).collect()
}

/// Enough for five of the lightest.
const MANY: usize = 6_000_000;

#[test]
fn random() {
    for (weights, picks) in [(one_to_twenty(), 200_000), (six_orders(), MANY)] {
        let (plan, mut draw) = (Random::empty().with_members(&weights), draws());
        let statistic = chi_square(&weights, picks, || plan.pick(&weights, &mut draw, |_| true).unwrap());
        assert!(statistic < critical(weights.len() - 1), "{statistic}");
    }
}

/// With some members sick, the others share in proportion.
#[test]
fn random_with_sick_members() {
    let weights = one_to_twenty();
    let (plan, mut draw) = (Random::empty().with_members(&[&weights[..], &[50.0, 50.0]].concat()), draws());
    let all = [&weights[..], &[50.0, 50.0]].concat();
    let statistic = chi_square(&weights, 200_000, || plan.pick(&all, &mut draw, |i| i < 20).unwrap());
    assert!(statistic < critical(19), "{statistic}");
}

#[test]
fn round_robin() {
    for (weights, picks) in [(one_to_twenty(), 200_000), (six_orders(), MANY)] {
        let plan = RoundRobin::empty().with_members(&weights);
        let statistic = chi_square(&weights, picks, || plan.pick(&weights, |_| true).unwrap());
        // It is even, not random: far below
        assert!(statistic < 1.0, "{statistic}");
    }
}

/// With one choice, least is a weighted draw.
#[test]
fn least_of_one() {
    let weights = one_to_twenty();
    let (plan, mut draw) = (Least::empty().with_members(&weights), draws());
    let statistic = chi_square(&weights, 200_000, || plan.pick(&weights, 1, &mut draw, |_| true, |_| 0).unwrap());
    assert!(statistic < critical(19), "{statistic}");
}
