//! The weight policy against one that keeps every report, and the limits of each rule.

use policy::reported::{ramp, Effect, Fault, Reported, WeightPolicy};
use proptest::prelude::*;

const NONE: WeightPolicy =
    WeightPolicy { smoothing: 1.0, ttl: 0.0, slow_start: 0.0, min: 0.0, max: 0.0, hysteresis: 0.0 };

#[derive(Clone, Debug)]
enum Event {
    Report(f64),
    Wait(f64),
}

/// Keeps all reports, and works out the weight from the beginning each time.
fn naive(policy: &WeightPolicy, base: f64, events: &[Event]) -> f64 {
    let mut now = 0.0;
    let mut reports: Vec<(f64, f64)> = Vec::new();
    let mut weight = base;
    for event in events {
        match event {
            Event::Wait(time) => {
                now += time;
                if let Some((_, last)) = reports.last() {
                    if policy.ttl > 0.0 && last + policy.ttl <= now {
                        reports.clear();
                        weight = base;
                    }
                }
            }
            Event::Report(value) => {
                reports.push((*value, now));
                // Those since the last 0
                let from = reports.iter().rposition(|(v, _)| *v == 0.0).map_or(0, |zero| zero + 1);
                let mut values = reports[from..].iter().map(|(v, _)| *v);
                let Some(first) = values.next() else {
                    weight = 0.0;
                    continue;
                };
                let mut average =
                    values.fold(first, |a, v| ((1.0 - policy.smoothing) * a + policy.smoothing * v).min(f64::MAX));
                if average < policy.min {
                    average = policy.min;
                }
                if policy.max > 0.0 && average > policy.max {
                    average = policy.max;
                }
                let change = (average - weight).abs();
                if weight == 0.0 || change >= policy.hysteresis * weight {
                    weight = average;
                }
            }
        }
    }
    weight
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        4 => (0.0..10.0f64).prop_map(Event::Report),
        1 => Just(Event::Report(0.0)),
        1 => Just(Event::Report(f64::MAX)),
        2 => (0.0..3.0f64).prop_map(Event::Wait),
    ];
    proptest::collection::vec(event, 0..40)
}

fn policies() -> impl Strategy<Value = WeightPolicy> {
    let off = |range: std::ops::Range<f64>| prop_oneof![Just(0.0), range];
    (0.01..=1.0f64, off(0.1..5.0), off(0.1..2.0), off(2.0..9.0), off(0.01..0.5)).prop_map(
        |(smoothing, ttl, min, max, hysteresis)| WeightPolicy { smoothing, ttl, slow_start: 0.0, min, max, hysteresis },
    )
}

proptest! {
    #[test]
    fn as_the_naive_one(policy in policies(), base in 0.0..10.0f64, events in events()) {
        prop_assert_eq!(policy.fault(), None);
        let mut member = Reported::new(base);
        let mut now = 0.0;
        for event in &events {
            match event {
                Event::Report(value) => member.report(&policy, *value, now),
                Event::Wait(time) => {
                    now += time;
                    member.expire(&policy, now);
                }
            }
            prop_assert!(member.weight().is_finite() && member.weight() >= 0.0);
        }
        prop_assert_eq!(member.weight(), naive(&policy, base, &events));
    }

    /// Without a policy, a report is the weight.
    #[test]
    fn no_policy(base in 0.0..10.0f64, values in proptest::collection::vec(0.0..10.0f64, 1..10)) {
        let mut member = Reported::new(base);
        for value in values {
            member.report(&WeightPolicy::default(), value, 0.0);
            prop_assert_eq!(member.weight(), value);
            prop_assert_eq!(member.expiry(&WeightPolicy::default()), None);
        }
    }

    #[test]
    fn a_ramp_rises(age in -1.0..20.0f64, more in 0.0..5.0f64, slow_start in 0.0..10.0f64) {
        let (now, later) = (ramp(age, slow_start), ramp(age + more, slow_start));
        prop_assert!((0.1..=1.0).contains(&now));
        prop_assert!(later >= now);
    }
}

#[test]
fn the_first_report_is_taken_whole() {
    let policy = WeightPolicy { smoothing: 0.25, ..NONE };
    let mut member = Reported::new(1.0);
    member.report(&policy, 8.0, 0.0);
    assert_eq!(member.weight(), 8.0);
    member.report(&policy, 4.0, 0.0);
    assert_eq!(member.weight(), 7.0);
}

#[test]
fn a_silent_one_returns_to_its_base() {
    let policy = WeightPolicy { ttl: 10.0, smoothing: 0.5, ..NONE };
    let mut member = Reported::new(3.0);
    assert_eq!(member.expiry(&policy), None);
    member.report(&policy, 0.0, 100.0);
    assert_eq!(member.expiry(&policy), Some(110.0));
    assert!(!member.expire(&policy, 109.9));
    assert_eq!(member.weight(), 0.0);
    assert!(member.expire(&policy, 110.0));
    assert_eq!((member.weight(), member.base()), (3.0, 3.0));
    assert!(!member.expire(&policy, 1e9), "once");
    member.report(&policy, 9.0, 120.0);
    assert_eq!(member.weight(), 9.0, "the first one again");
}

#[test]
fn min_does_not_lift_a_zero() {
    let policy = WeightPolicy { min: 0.5, max: 2.0, ..NONE };
    let mut member = Reported::new(9.0);
    assert_eq!(member.weight(), 9.0, "the base weight is as it is");
    for (value, weight) in [(0.1, 0.5), (7.0, 2.0), (1.5, 1.5), (0.0, 0.0), (0.1, 0.5)] {
        member.report(&policy, value, 0.0);
        assert_eq!(member.weight(), weight, "{value}");
    }
}

#[test]
fn small_changes_wait_until_they_add_up() {
    let policy = WeightPolicy { hysteresis: 0.1, ..NONE };
    let mut member = Reported::new(1.0);
    for (value, weight) in
        [(1.05, 1.0), (0.95, 1.0), (1.09, 1.0), (1.125, 1.125), (1.1, 1.125), (0.0, 0.0), (1e-9, 1e-9)]
    {
        member.report(&policy, value, 0.0);
        assert_eq!(member.weight(), weight, "{value}");
    }
}

#[test]
fn what_a_policy_does_can_be_told() {
    let policy = WeightPolicy { smoothing: 0.5, ttl: 10.0, min: 0.5, max: 2.0, hysteresis: 0.1, ..NONE };
    let mut member = Reported::new(1.0);
    let effects = |m: &Reported| m.effects(&policy).collect::<Vec<_>>();
    assert_eq!(effects(&member), []);
    for (value, weight, why) in [
        (1.5, 1.5, vec![]),
        (1.5, 1.5, vec![]),
        (1.6, 1.5, vec![Effect::Smoothing, Effect::Hysteresis]),
        (9.0, 2.0, vec![Effect::Smoothing, Effect::Max]),
        (0.0, 0.0, vec![]),
        (0.1, 0.5, vec![Effect::Min]),
    ] {
        member.report(&policy, value, 0.0);
        assert_eq!((member.weight(), effects(&member)), (weight, why), "{value}");
    }
    assert!(member.expire(&policy, 10.0));
    assert_eq!(effects(&member), [Effect::Ttl]);
    member.report(&policy, 1.0, 11.0);
    assert_eq!(effects(&member), []);
}

#[test]
fn a_report_from_the_past_does_not_shorten_the_time() {
    let policy = WeightPolicy { ttl: 10.0, ..NONE };
    let mut member = Reported::new(1.0);
    member.report(&policy, 2.0, 100.0);
    member.report(&policy, 3.0, 95.0);
    assert_eq!((member.weight(), member.expiry(&policy)), (3.0, Some(110.0)));
}

#[test]
fn a_ramp_begins_with_a_tenth() {
    for (age, part) in [(-1.0, 0.1), (0.0, 0.1), (5.0, 0.55), (10.0, 1.0), (99.0, 1.0)] {
        assert_eq!(ramp(age, 10.0), part, "{age}");
    }
    assert_eq!(ramp(0.0, 0.0), 1.0);
}

#[test]
fn faults() {
    for (policy, fault) in [
        (WeightPolicy { smoothing: 0.0, ..NONE }, Fault::Smoothing),
        (WeightPolicy { smoothing: 1.1, ..NONE }, Fault::Smoothing),
        (WeightPolicy { smoothing: f64::NAN, ..NONE }, Fault::Smoothing),
        (WeightPolicy { ttl: -1.0, ..NONE }, Fault::Ttl),
        (WeightPolicy { slow_start: f64::NAN, ..NONE }, Fault::SlowStart),
        (WeightPolicy { min: f64::INFINITY, ..NONE }, Fault::Min),
        (WeightPolicy { max: f64::NAN, ..NONE }, Fault::Max),
        (WeightPolicy { min: 2.0, max: 1.0, ..NONE }, Fault::Max),
        (WeightPolicy { hysteresis: -0.1, ..NONE }, Fault::Hysteresis),
    ] {
        assert_eq!(policy.fault(), Some(fault), "{policy:?}");
    }
    assert_eq!(WeightPolicy { min: 2.0, max: 0.0, ..NONE }.fault(), None, "0 is no limit");
}
