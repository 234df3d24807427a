//! The vector index: putting and searching, at 50, 1,000, 10,000 and 30,000 vectors of 384 components.
//!
//! `cargo bench -p adage-index`. On vectors of one's own, and beside other libraries: the example `compare` and
//! `benches/peers.py`.

#![allow(missing_docs, clippy::expect_used, clippy::indexing_slicing, reason = "a benchmark")]

use std::hint::black_box;

use adage_index::{IndexConfig, IndexKind, KeySet, SearchScope, UnitVector, VectorIndex};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const DIMENSION: u64 = 384;

/// Vectors in clusters of about fifty.
fn vectors(n: u64) -> Vec<UnitVector> {
    // SplitMix64, as a stream that can be entered anywhere.
    let chance = |n: u64| {
        let mut z = n.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    let clusters = n / 50 + 1;
    (0..n)
        .map(|row| {
            let cluster = row % clusters;
            let component = |nth| chance(cluster * DIMENSION + nth) + chance((1 << 40) + row * DIMENSION + nth);
            UnitVector::new(&(0..DIMENSION).map(component).collect::<Vec<f32>>()).expect("it has a direction")
        })
        .collect()
}

fn filled(kind: IndexKind, vectors: &[UnitVector]) -> VectorIndex {
    let config = IndexConfig { kind: Some(kind), ..IndexConfig::default() };
    let mut index = VectorIndex::new(config);
    index.put_all((0_u32..).zip(vectors)).expect("of one dimension");
    index
}

fn search(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("search");
    for n in [50, 1_000, 10_000, 30_000] {
        let vectors = vectors(n + 100);
        let (base, queries) = vectors.split_at(vectors.len() - 100);
        let half: KeySet = (0..u32::try_from(n).expect("small")).filter(|key| key % 2 == 0).collect();
        for kind in [IndexKind::Exact, IndexKind::Graph] {
            if kind == IndexKind::Graph && n < 10_000 {
                continue;
            }
            let index = filled(kind, base);
            for (what, among) in [("all", SearchScope::All), ("half", SearchScope::Only(&half))] {
                let mut queries = queries.iter().cycle();
                group.bench_function(BenchmarkId::new(format!("{kind:?} {what}"), n), |bencher| {
                    bencher.iter(|| {
                        let query = queries.next().expect("a cycle has no end");
                        black_box(index.search(query, 10, among).expect("of one dimension"))
                    });
                });
            }
        }
    }
    group.finish();
}

fn build(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("build");
    group.sample_size(10);
    for n in [1_000, 10_000] {
        let vectors = vectors(n);
        group.throughput(Throughput::Elements(n));
        for kind in [IndexKind::Exact, IndexKind::Graph] {
            group.bench_function(BenchmarkId::new(format!("{kind:?}"), n), |bencher| {
                bencher.iter(|| filled(kind, &vectors));
            });
        }
    }
    group.finish();
}

/// One more vector while somebody holds the index as it was: the price of not making readers wait.
fn put(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("put into a shared index");
    for n in [1_000, 10_000, 30_000] {
        let vectors = vectors(n);
        let index = filled(IndexKind::Exact, &vectors);
        let key = u32::try_from(n).expect("small");
        group.bench_function(BenchmarkId::from_parameter(n), |bencher| {
            bencher.iter_batched(
                || index.clone(),
                |mut index| {
                    index.put(key, &vectors[0]).expect("of one dimension");
                    index
                },
                criterion::BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, search, build, put);
criterion_main!(benches);
