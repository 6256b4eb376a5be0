//! Fallback against the bundled directors' own, line by line.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use policy::{Fallback, Plan};
use proptest::prelude::*;

/// The bundled `fallback`. It has no weights: a member that has none is sick to it.
#[derive(Default)]
struct Naive {
    members: Vec<u32>,
    current: usize,
    sticky: bool,
}

impl Naive {
    /// `vmod_fallback_resolve`
    fn pick(&mut self, healthy: impl Fn(u32) -> bool) -> Option<u32> {
        if !self.sticky {
            self.current = 0;
        }
        for _ in 0..self.members.len() {
            let member = self.members[self.current];
            if healthy(member) {
                return Some(member);
            }
            self.current += 1;
            if self.current == self.members.len() {
                self.current = 0;
            }
        }
        None
    }

    /// `vdir_remove_backend`
    fn remove(&mut self, place: usize) {
        self.members.remove(place);
        if place < self.current {
            self.current -= 1;
        } else if self.current == self.members.len() {
            self.current = 0;
        }
    }
}

#[derive(Debug, Clone)]
enum Step {
    Pick,
    Add,
    Remove(usize),
    Flip(usize),
    /// 0, or another weight
    Weigh(usize, f64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let weight = prop_oneof![Just(0.0), Just(1.0), Just(f64::MAX), Just(5e-324)];
    let step = prop_oneof![
        6 => Just(Step::Pick),
        2 => Just(Step::Add),
        1 => (0..20_usize).prop_map(Step::Remove),
        3 => (0..20_usize).prop_map(Step::Flip),
        2 => (0..20_usize, weight).prop_map(|(i, w)| Step::Weigh(i, w)),
    ];
    prop::collection::vec(step, 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Members come, go, are drained, fall sick and recover: always the member that the bundled VMOD picks, and the
    /// same one marked as current.
    #[test]
    fn same_as_the_bundled_one(sticky in any::<bool>(), steps in steps()) {
        let mut naive = Naive { sticky, ..Naive::default() };
        let mut plan = Fallback::empty();
        let (mut weights, mut sick) = (Vec::new(), Vec::new());
        let mut names = 0;
        for step in steps {
            let n = naive.members.len();
            match step {
                Step::Pick => {
                    let members = naive.members.clone();
                    let picked = plan.pick(sticky, &weights, |i| !sick.contains(&members[i])).map(|i| members[i]);
                    let usable = |m: u32| {
                        let at = members.iter().position(|x| *x == m).unwrap();
                        !sick.contains(&m) && weights[at] > 0.0
                    };
                    prop_assert_eq!(picked, naive.pick(usable));
                }
                Step::Add => {
                    naive.members.push(names);
                    weights.push(1.0);
                    names += 1;
                    plan = plan.with_members(&weights);
                }
                Step::Remove(i) if i < n => {
                    naive.remove(i);
                    weights.remove(i);
                    plan = plan.without(i, &weights);
                }
                Step::Flip(i) if i < n => {
                    let name = naive.members[i];
                    match sick.iter().position(|s| *s == name) {
                        Some(at) => { sick.remove(at); }
                        None => sick.push(name),
                    }
                }
                Step::Weigh(i, w) if i < n => {
                    weights[i] = w;
                    plan = plan.with_weights(&weights);
                }
                Step::Remove(_) | Step::Flip(_) | Step::Weigh(..) => {}
            }
            prop_assert_eq!(plan.current(), naive.current);
        }
    }
}

#[test]
fn release_forgets_the_place() {
    let plan = Fallback::empty().with_members(&[1.0; 3]);
    assert_eq!(plan.pick(true, &[1.0; 3], |i| i == 2), Some(2));
    let plan = plan.with_members(&[]);
    assert_eq!(plan.pick(true, &[], |_| true), None);
    assert_eq!(plan.current(), 0);
}

/// Another thread moves the current member from the first to the second while this one, which was asking before,
/// finds the third: it goes with the other.
#[test]
fn an_overtaken_thread_follows() {
    let weights = [1.0; 3];
    let plan = Fallback::empty().with_members(&weights);
    let overtaken = AtomicBool::new(false);
    let picked = plan.pick(true, &weights, |i| {
        if i == 1 && !overtaken.swap(true, SeqCst) {
            assert_eq!(plan.pick(true, &weights, |j| j == 1), Some(1));
            return false;
        }
        i != 0
    });
    assert_eq!((picked, plan.current()), (Some(1), 1));
}

/// While one member is healthy nobody goes without, whatever happens to the others; and all agree in the end.
#[test]
fn threads_stick_together() {
    let weights = [1.0; 5];
    let plan = Fallback::empty().with_members(&weights);
    let down = AtomicUsize::new(0);
    std::thread::scope(|s| {
        let pickers: Vec<_> = (0..4)
            .map(|_| {
                s.spawn(|| {
                    for _ in 0..50_000 {
                        // Two of five are sick.
                        let sick = down.load(SeqCst);
                        let picked = plan.pick(true, &weights, |i| i != sick % 5 && i != (sick + 1) % 5);
                        assert!(picked.is_some());
                    }
                })
            })
            .collect();
        while pickers.iter().any(|p| !p.is_finished()) {
            down.fetch_add(1, SeqCst);
            std::thread::yield_now();
        }
    });
    let last = plan.current();
    assert!((0..10).all(|_| plan.pick(true, &weights, |_| true) == Some(last)));
}
