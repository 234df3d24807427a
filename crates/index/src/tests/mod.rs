//! Every kind of index against a naive search. This file has the naive search, the comparison, and the data.

mod clones;
mod coarse;
mod every_kind;
mod graph;
mod many;
mod model;

use std::collections::BTreeMap;

use crate::kernels::Kernel;
use crate::{IndexConfig, IndexKind, Neighbour, SearchScope, UnitVector, VectorIndex};

const KINDS: &[IndexKind] = &[
    IndexKind::Exact,
    IndexKind::Coarse,
    IndexKind::Graph,
    #[cfg(feature = "hnsw_rs")]
    IndexKind::HnswRs,
];

/// The kinds that link their rows.
const GRAPHS: &[IndexKind] = KINDS.split_at(2).1;

/// How many rows join the graph together: few, so that small indexes have a graph, and a rest that is scanned.
const BATCH: usize = 32;

/// The kind that answers if there are a few hundred rows: too few to compare signs.
fn among_few(kind: IndexKind) -> IndexKind {
    if kind == IndexKind::Coarse { IndexKind::Exact } else { kind }
}

fn config(kind: IndexKind) -> IndexConfig {
    IndexConfig { kind: Some(kind), ..IndexConfig::default() }
}

fn filled(kind: IndexKind, vectors: &[UnitVector]) -> VectorIndex {
    let mut index = VectorIndex::new(config(kind)).with_batch(BATCH);
    index.put_all((0..).zip(vectors)).unwrap();
    index
}

fn unit(components: &[f32]) -> UnitVector {
    UnitVector::new(components).unwrap()
}

/// Every key's vector; a search sorts all of them.
#[derive(Clone, Debug, Default)]
struct Naive(BTreeMap<u32, UnitVector>);

impl Naive {
    fn of(vectors: &[UnitVector]) -> Self {
        Self((0..).zip(vectors.iter().cloned()).collect())
    }

    fn nearest(&self, query: &UnitVector, k: usize, among: SearchScope<'_>) -> Vec<Neighbour> {
        let wanted = self.0.iter().filter(|(key, _)| is_wanted(among, **key));
        let mut found: Vec<Neighbour> = wanted
            .map(|(key, vector)| {
                let product = Kernel::Portable.dot(query.as_slice(), vector.as_slice());
                Neighbour { key: *key, distance: (1.0 - product).clamp(0.0, 2.0) }
            })
            .collect();
        found.sort_by(|one, other| one.distance.total_cmp(&other.distance).then(one.key.cmp(&other.key)));
        found.truncate(k);
        found
    }
}

fn is_wanted(among: SearchScope<'_>, key: u32) -> bool {
    match among {
        SearchScope::All => true,
        SearchScope::Only(keys) => keys.contains(key),
    }
}

/// Asserts what holds for every answer, and that an exact one is equal to the naive one. Returns the share of the nearest that
/// it contains, and the kind that answered.
fn check(index: &VectorIndex, naive: &Naive, query: &UnitVector, k: usize, among: SearchScope<'_>) -> (f64, IndexKind) {
    let answer = index.search(query, k, among).unwrap();
    let everything = naive.nearest(query, usize::MAX, among);
    let expected = &everything[..k.min(everything.len())];
    if answer.by == IndexKind::Exact {
        assert_eq!(answer.neighbours, expected);
        return (1.0, answer.by);
    }
    assert_eq!(answer.neighbours.len(), expected.len(), "all {k} there are, by {:?}", answer.by);
    let truth: BTreeMap<u32, f32> = everything.iter().map(|near| (near.key, near.distance)).collect();
    for near in &answer.neighbours {
        assert_eq!(truth.get(&near.key), Some(&near.distance), "live, wanted, at its distance: {near:?}");
    }
    assert!(
        answer.neighbours.is_sorted_by(|one, other| (one.distance, one.key) < (other.distance, other.key)),
        "nearest first, ties by key, none twice: {:?}",
        answer.neighbours
    );
    let Some(last) = expected.last() else { return (1.0, answer.by) };
    let n_found = answer.neighbours.iter().filter(|near| near.distance <= last.distance + 1e-6).count();
    (n_found as f64 / expected.len() as f64, answer.by)
}

/// The mean share of the ten nearest that is found, and the kind that answered: exact if it was a scan each time.
fn recall(index: &VectorIndex, naive: &Naive, queries: &[UnitVector], among: SearchScope<'_>) -> (f64, IndexKind) {
    assert_eq!(index.len(), naive.0.len());
    let checked: Vec<(f64, IndexKind)> = queries.iter().map(|query| check(index, naive, query, 10, among)).collect();
    let by = checked.iter().map(|(_, by)| *by).find(|by| *by != IndexKind::Exact).unwrap_or(IndexKind::Exact);
    (checked.iter().map(|(recall, _)| recall).sum::<f64>() / queries.len() as f64, by)
}

/// A small random number generator (`SplitMix64`).
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    #[expect(clippy::cast_possible_truncation, reason = "a random component needs no more digits")]
    fn component(&mut self) -> f32 {
        (2.0 * self.unit() - 1.0) as f32
    }
}

/// Vectors in clusters of about thirty, and queries drawn alike.
fn clusters(n: usize, dimension: usize) -> (Vec<UnitVector>, Vec<UnitVector>) {
    const QUERIES: usize = 60;
    let mut random = Random(5);
    let mut draw =
        |n: usize| -> Vec<Vec<f32>> { (0..n).map(|_| (0..dimension).map(|_| random.component()).collect()).collect() };
    let centres = draw(n.div_ceil(30));
    let noise = draw(n + QUERIES);
    let mut all: Vec<UnitVector> = noise
        .iter()
        .zip(centres.iter().cycle())
        .map(|(noise, centre)| unit(&centre.iter().zip(noise).map(|(c, n)| c + 0.6 * n).collect::<Vec<_>>()))
        .collect();
    let queries = all.split_off(n);
    (all, queries)
}
