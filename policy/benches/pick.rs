//! One pick, all members healthy: `cargo bench -p policy`.

use std::hint::black_box;

use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion};
use policy::{Fallback, Hash, Plan, Random, RoundRobin};

const MEMBERS: [usize; 4] = [2, 10, 100, 1000];

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
        let round_robin = RoundRobin::empty().with_members(&weights);
        group.bench_function(BenchmarkId::new("round_robin", n), |b| {
            b.iter(|| round_robin.with_weights(black_box(&weights)))
        });
        let random = Random::empty().with_members(&weights);
        group.bench_function(BenchmarkId::new("random", n), |b| b.iter(|| random.with_weights(black_box(&weights))));
    }
    group.finish();
}

criterion_group!(benches, pick, reweigh);
criterion_main!(benches);
