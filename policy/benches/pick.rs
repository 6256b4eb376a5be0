//! A pick, all members healthy, and a change of one weight: `cargo bench -p policy`.

use std::hint::black_box;

use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion};
use policy::ring::{points, Ring};
use policy::{Fallback, Hash, Least, Plan, Random, RoundRobin};

const MEMBERS: [usize; 4] = [2, 10, 100, 1000];
/// Points of a host of weight 1, if nobody says otherwise.
const REPLICAS: u32 = 67;

fn unequal(n: usize) -> Vec<f64> {
    (0..n).map(|i| 1.0 + (i % 7) as f64).collect()
}

fn splitmix(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / 9_007_199_254_740_992.0
}

/// Of the hosts "0", "1", ..., with as many points as weight 1 gives.
fn ring(n: usize) -> Ring {
    let names: Vec<String> = (0..n).map(|i| i.to_string()).collect();
    Ring::new(names.iter().map(|name| (name.as_bytes(), points(REPLICAS, 1.0))))
}

fn pick(c: &mut Criterion) {
    let mut group = c.benchmark_group("pick");
    for n in MEMBERS {
        for (kind, weights) in [("equal", vec![1.0; n]), ("unequal", unequal(n))] {
            let plan = RoundRobin::empty().with_members(&weights);
            group.bench_function(BenchmarkId::new(format!("round_robin/{kind}"), n), |b| {
                b.iter(|| plan.pick(black_box(&weights), |_| true));
            });
        }
        let weights = unequal(n);
        let plan = Random::empty().with_members(&weights);
        let mut state = 1;
        group.bench_function(BenchmarkId::new("random", n), |b| {
            b.iter(|| plan.pick(black_box(&weights), || splitmix(&mut state), |_| true));
        });
        let plan = Least::empty().with_members(&weights);
        group.bench_function(BenchmarkId::new("least", n), |b| {
            b.iter(|| plan.pick(black_box(&weights), 2, || splitmix(&mut state), |_| true, |i| black_box(i as u64)));
        });
        let ring = ring(n);
        group.bench_function(BenchmarkId::new("shard/find", n), |b| {
            let mut key = 1_u32;
            b.iter(|| {
                key = key.wrapping_mul(2_654_435_761).wrapping_add(1);
                ring.find(black_box(key))
            });
        });
        let plan = Hash::empty().with_members(&weights);
        let mut key = 1_u32;
        group.bench_function(BenchmarkId::new("hash", n), |b| {
            b.iter(|| {
                key = key.wrapping_mul(2_654_435_761).wrapping_add(1);
                // It asks all members: not to be left out.
                plan.pick(black_box(&weights), key, |i| black_box(i) < n)
            });
        });
        let plan = Fallback::empty().with_members(&weights);
        for (kind, sticky) in [("first", false), ("sticky", true)] {
            group.bench_function(BenchmarkId::new(format!("fallback/{kind}"), n), |b| {
                b.iter(|| plan.pick(sticky, black_box(&weights), |i| black_box(i) + 1 == n));
            });
        }
    }
    group.finish();
}

fn reweigh(c: &mut Criterion) {
    let mut group = c.benchmark_group("with_weights");
    for n in MEMBERS {
        let weights = unequal(n);
        let mut changed = weights.clone();
        changed[n / 2] *= 1.04;
        let round_robin = RoundRobin::empty().with_members(&weights);
        group.bench_function(BenchmarkId::new("round_robin", n), |b| {
            b.iter(|| round_robin.with_weights(black_box(&changed)))
        });
        group.bench_function(BenchmarkId::new("round_robin/anew", n), |b| {
            b.iter(|| round_robin.with_members(black_box(&changed)))
        });
        let random = Random::empty().with_members(&weights);
        group.bench_function(BenchmarkId::new("random", n), |b| b.iter(|| random.with_weights(black_box(&changed))));
        let mut ring = ring(n);
        group.bench_function(BenchmarkId::new("shard/more", n), |b| {
            // A change of about 4 %, for the first time: there are no slots
            b.iter(|| {
                let mut ring = ring.clone();
                ring.resize(0, b"0", black_box(points(REPLICAS, 1.04)));
                ring
            });
        });
        ring.resize(0, b"0", points(REPLICAS, 1.04));
        group.bench_function(BenchmarkId::new("shard", n), |b| {
            b.iter(|| {
                let mut ring = ring.clone();
                ring.resize(0, b"0", black_box(REPLICAS));
                ring
            });
        });
    }
    group.finish();
}

criterion_group!(benches, pick, reweigh);
criterion_main!(benches);
