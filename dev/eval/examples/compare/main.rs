//! Compares the kinds of vector index: recall, CPU time of a query and of the build, bytes.
//!
//! ```text
//! cargo run --release --example compare -- --vectors DIR [--rows 1000,10000,100000] [--json]
//! cargo run --release --example compare -- --texts FILE [--save DIR]
//! cargo run --release --example compare -- --synthetic 1000000
//! ```
//!
//! `DIR` holds `queries.npy` (f32) and `base_f32.npy` (one row per vector), or `base_i8.npy` (codes) and `base_scale.npy` (one f32 per
//! row). `FILE` has one text per line, embedded with the bundled model; every tenth is a query. `--save` writes the vectors to `DIR`
//! and measures nothing. `--synthetic N` makes N vectors in clusters.
//!
//! | option | meaning | default |
//! |---|---|---|
//! | `--kinds` | `default` (what the size suggests), `exact`, `coarse`, `graph`, and `hnsw_rs` | `default,exact,coarse,graph` |
//! | `--ef` | breadths of a search in a graph | `16,32,64,128,256` |
//! | `--repeats` | repeats of each measurement | `7` |
//! | `--together` | queries per call | `1` |
//! | `--more N` | enlarge the rows of `DIR` to N: each is one of them plus half of another one and noise | |
//! | `--shift L` | add the same vector of length L, spread over four components, to every vector | |
//! | `--filters` | search among 50 %, 10 %, 1 % and 0.1 % of the rows too | |
//! | `--deletions` | search after 10 %, 30 %, 50 % and 90 % of the rows were removed too | |
//!
//! Recall is the share of the exact ten nearest that are found; a row as near as the tenth counts. Time is CPU time of one thread: the
//! median of the repeats, and the lowest and the highest. The bytes of `hnsw_rs` are estimated from its structures, including its own
//! copy of the vectors.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::expect_used,
    missing_docs,
    reason = "a program, not a library"
)]

mod measuring;
mod npy;
mod options;
mod vectors;

use std::time::Duration;

use adage::index::{IndexConfig, IndexKind, KeySet, SearchScope, UnitVector, VectorIndex};
use adage_eval::Random;

use measuring::{MeasuredLine, cpu_time, exact_results, measure};
use options::{Options, Source};

type Failure = Box<dyn std::error::Error>;

/// Neighbours per query.
const K: usize = 10;

fn main() -> Result<(), Failure> {
    let options = Options::parse(std::env::args().skip(1))?;
    let vectors = match &options.source {
        Source::Vectors(folder) => vectors::read(folder)?,
        Source::Texts(file) => vectors::embed(file)?,
        Source::Synthetic(n) => vectors::synthetic(*n)?,
    };
    if let Some(folder) = &options.save {
        return vectors::save(folder, &vectors);
    }
    let vectors::Vectors { mut base, mut queries } = vectors;
    if options.shift > 0.0 {
        for vector in base.iter_mut().chain(&mut queries) {
            *vector = vectors::shifted(vector, options.shift)?;
        }
    }
    if options.more > base.len() {
        base = vectors::enlarge(&base, options.more)?;
    }
    if !options.json {
        println!("{} rows, {} queries, {} components", base.len(), queries.len(), base[0].as_slice().len());
    }
    for n in options.rows.iter().map(|n| *n.min(&base.len())) {
        compare(&options, &base[..n], &queries);
    }
    Ok(())
}

fn compare(options: &Options, base: &[UnitVector], queries: &[UnitVector]) {
    let rows = base.len();
    let exact = exact_results(base, queries, &vec![true; rows]);
    for kind in options.kinds.iter().copied() {
        let mut index = empty(kind);
        let (built, ()) = cpu_time(|| fill(&mut index, base));
        let bytes = index.bytes().1 as f64 / rows as f64;
        for ef in options.breadths(kind) {
            index.set_ef(*ef);
            for together in options.queries_per_call(queries) {
                let measured = measure(&index, queries, &exact, options.repeats, SearchScope::All, together);
                let line = MeasuredLine { kind, rows, ef: *ef, together, what: String::new() };
                line.print(&measured, built, bytes, options.json);
            }
        }
        if options.filters {
            compare_filtered(options, &mut index, kind, base, queries);
        }
        if options.deletions {
            compare_after_removals(options, kind, base, queries);
        }
    }
}

fn empty(kind: Option<IndexKind>) -> VectorIndex {
    let config = IndexConfig { kind, ..IndexConfig::default() };
    VectorIndex::new(config)
}

fn fill(index: &mut VectorIndex, base: &[UnitVector]) {
    index.put_all((0_u32..).zip(base)).expect("all of one dimension");
}

/// Searches among a share of the rows, compared with an exact index of those rows alone.
fn compare_filtered(
    options: &Options,
    index: &mut VectorIndex,
    kind: Option<IndexKind>,
    base: &[UnitVector],
    queries: &[UnitVector],
) {
    let rows = base.len();
    for share in [0.5, 0.1, 0.01, 0.001] {
        let wanted = random_mask(7, rows, share);
        let keys: KeySet = (0_u32..).zip(&wanted).filter(|(_, wanted)| **wanted).map(|(key, _)| key).collect();
        let exact = exact_results(base, queries, &wanted);
        let mut alone = empty(Some(IndexKind::Exact));
        alone.put_all(keys.iter().map(|key| (key, &base[key as usize]))).expect("all of one dimension");
        for together in options.queries_per_call(queries) {
            let measured = measure(&alone, queries, &exact, options.repeats, SearchScope::All, together);
            let what = format!("{}% alone", share * 100.0);
            let line = MeasuredLine { kind: Some(IndexKind::Exact), rows, ef: 0, together, what };
            line.print(&measured, Duration::ZERO, 0.0, options.json);
            for ef in options.breadths(kind) {
                index.set_ef(*ef);
                let measured = measure(index, queries, &exact, options.repeats, SearchScope::Only(&keys), together);
                let what = format!("among {}%", share * 100.0);
                let line = MeasuredLine { kind, rows, ef: *ef, together, what };
                line.print(&measured, Duration::ZERO, 0.0, options.json);
            }
        }
    }
}

/// Searches after a share of the rows was removed, and again after a compaction. The printed build time is that of the removals.
fn compare_after_removals(options: &Options, kind: Option<IndexKind>, base: &[UnitVector], queries: &[UnitVector]) {
    for share in [0.1, 0.3, 0.5, 0.9] {
        let mut index = empty(kind);
        fill(&mut index, base);
        let is_removed = random_mask(11, base.len(), share);
        let (time, ()) = cpu_time(|| {
            for (key, _) in (0_u32..).zip(&is_removed).filter(|(_, is_removed)| **is_removed) {
                index.remove(key);
            }
        });
        let is_kept: Vec<bool> = is_removed.iter().map(|is_removed| !is_removed).collect();
        let exact = exact_results(base, queries, &is_kept);
        for is_compacted in [false, true] {
            if is_compacted {
                index.compact();
            }
            for ef in &options.breadths {
                index.set_ef(*ef);
                let measured = measure(&index, queries, &exact, options.repeats, SearchScope::All, 1);
                let what = format!("without {}%{}", share * 100.0, if is_compacted { ", compacted" } else { "" });
                let line = MeasuredLine { kind, rows: base.len(), ef: *ef, together: 1, what };
                line.print(&measured, time, 0.0, options.json);
            }
        }
    }
}

/// True for about this share of the rows; the same seed chooses the same rows.
fn random_mask(seed: u64, n_rows: usize, share: f64) -> Vec<bool> {
    let mut random = Random(seed);
    (0..n_rows).map(|_| random.unit() < share).collect()
}
