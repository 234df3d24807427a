//! Recall and CPU time of searches.

use std::time::Duration;

use adage::index::{IndexKind, SearchResult, SearchScope, UnitVector, VectorIndex};
use cpu_time::ThreadTime;

use crate::K;

/// The exact result of a query: the number of neighbours, at most ten, and the distance of the farthest.
pub(crate) struct ExactResult {
    n: usize,
    distance: f32,
}

/// The exact results by brute force, among the wanted rows.
pub(crate) fn exact_results(base: &[UnitVector], queries: &[UnitVector], wanted: &[bool]) -> Vec<ExactResult> {
    // So many queries are compared with a row while it is in the cache.
    const N_QUERIES: usize = 20;
    let mut results = Vec::with_capacity(queries.len());
    for queries in queries.chunks(N_QUERIES) {
        let mut nearest = vec![Vec::with_capacity(K + 1); queries.len()];
        for (vector, _) in base.iter().zip(wanted).filter(|(_, wanted)| **wanted) {
            for (query, nearest) in queries.iter().zip(&mut nearest) {
                let product = dot(query.as_slice(), vector.as_slice());
                if nearest.len() < K || product > nearest[K - 1] {
                    let at = nearest.partition_point(|other| *other >= product);
                    nearest.insert(at, product);
                    nearest.truncate(K);
                }
            }
        }
        results.extend(nearest.iter().map(|near: &Vec<f32>| ExactResult {
            n: near.len(),
            distance: near.last().map_or(0.0, |product| 1.0 - product),
        }));
    }
    results
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 16];
    for (a, b) in a.chunks_exact(16).zip(b.chunks_exact(16)) {
        for lane in 0..16 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let whole = a.len() / 16 * 16;
    sums.iter().sum::<f32>() + a[whole..].iter().zip(&b[whole..]).map(|(a, b)| a * b).sum::<f32>()
}

pub(crate) fn cpu_time<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = ThreadTime::now();
    let value = work();
    (start.elapsed(), value)
}

/// Recall, and CPU time per query in µs: the median, the least and the greatest.
pub(crate) struct Measured {
    recall: f64,
    micros: f64,
    low: f64,
    high: f64,
    /// The kind that answered: a filter may be faster with another.
    by: IndexKind,
}

/// Searches with `together` queries per call.
pub(crate) fn measure(
    index: &VectorIndex,
    queries: &[UnitVector],
    exact: &[ExactResult],
    repeats: usize,
    among: SearchScope<'_>,
    together: usize,
) -> Measured {
    let single = |query| index.search(query, K, among).expect("of the same dimension");
    let batch = |queries| index.search_many(queries, K, among).expect("of the same dimension");
    if together == 1 {
        measure_by(queries, exact, repeats, || queries.iter().map(single).collect())
    } else {
        measure_by(queries, exact, repeats, || queries.chunks(together).flat_map(batch).collect())
    }
}

fn measure_by(
    queries: &[UnitVector],
    exact: &[ExactResult],
    repeats: usize,
    search: impl Fn() -> Vec<SearchResult>,
) -> Measured {
    let mut by = IndexKind::Exact;
    let mut found = 0;
    let mut wanted = 0;
    for (answer, exact) in search().iter().zip(exact) {
        by = answer.by;
        wanted += exact.n;
        found += answer.neighbours.iter().filter(|near| near.distance <= exact.distance + 1e-6).count().min(exact.n);
    }
    let mut times: Vec<f64> = (0..repeats)
        .map(|_| {
            let (time, _) = cpu_time(|| std::hint::black_box(search()));
            time.as_secs_f64() * 1e6 / queries.len() as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let recall = found as f64 / wanted.max(1) as f64;
    Measured { recall, micros: times[times.len() / 2], low: times[0], high: times[times.len() - 1], by }
}

/// What a line of output is about.
pub(crate) struct MeasuredLine {
    /// `None` is the default for the number of rows.
    pub(crate) kind: Option<IndexKind>,
    pub(crate) rows: usize,
    pub(crate) ef: usize,
    /// Queries per call.
    pub(crate) together: usize,
    /// The filter or the removal; empty for a search of all rows.
    pub(crate) what: String,
}

impl MeasuredLine {
    pub(crate) fn print(&self, measured: &Measured, built: Duration, bytes: f64, json: bool) {
        let Self { kind, rows, ef, together, what } = self;
        let name = match kind {
            Some(IndexKind::HnswRs) => "hnsw_rs".to_owned(),
            Some(kind) => format!("adage-{kind:?}").to_lowercase(),
            None => "adage-default".to_owned(),
        };
        let Measured { recall, micros, low, high, by } = measured;
        let built = built.as_secs_f64();
        if json {
            println!(
                "{{\"kind\": \"{name}\", \"what\": \"{what}\", \"rows\": {rows}, \"ef\": {ef}, \"together\": {together}, \
                 \"recall10\": {recall:.4}, \"cpu_us\": {micros:.2}, \"cpu_us_low\": {low:.2}, \"cpu_us_high\": {high:.2}, \
                 \"build_cpu_s\": {built:.3}, \"bytes_per_vector\": {bytes:.0}}}"
            );
        } else {
            println!(
                "{name} {what:24} rows {rows:7}  ef {ef:4}  {together:4} per call  recall {recall:.4}  \
                 {micros:8.1} µs ({low:.1} to {high:.1})  built in {built:.2} s  {bytes:.0} B per vector, excluding the floats  by {by:?}"
            );
        }
    }
}
