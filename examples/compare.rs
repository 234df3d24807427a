//! Compares the kinds of vector index: recall, CPU time a query and for the build, bytes.
//!
//! ```text
//! cargo run --release --example compare -- --vectors DIR [--rows 1000,10000,100000] [--json]
//! cargo run --release --example compare -- --texts FILE [--save DIR]
//! cargo run --release --example compare -- --synthetic 1000000
//! ```
//!
//! `DIR` holds `queries.npy` (f32) and `base_f32.npy` (one row a vector), or `base_i8.npy` (codes) and `base_scale.npy` (one f32 a
//! row). `FILE` has a text a line, embedded with the bundled model, every tenth of them a query; `--save` writes the vectors to
//! `DIR` and measures nothing. Synthetic vectors form clusters.
//!
//! Further options: `--kinds default,exact,coarse,graph` (and `hnsw_rs`, built with that feature), `--ef 16,32,64,128,256`, `--repeats 7`,
//! `--together 1,16,1000` (queries of one call, one unless said otherwise), `--more 1000000` (so many rows made from those in `DIR`: each is
//! one of them with half of another one and noise added), `--shift 1` (a vector of this
//! length, the same for all and spread over four components, is added to each), `--filters` (searches among 50 %, 10 %, 1 % and 0.1 % of
//! the rows), `--deletions` (of 10 %, 30 %, 50 % and 90 %).
//!
//! Recall is the share of the exact ten nearest that are found; what is as near as the tenth counts. Time is CPU time of one
//! thread: the median of the repeats, and the lowest and the highest. Of the bytes, those of `hnsw_rs` are reckoned from its
//! structures, its own copy of the vectors included.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used
)]
#![allow(missing_docs)]

use std::path::{Path, PathBuf};
use std::time::Duration;

use adage::index::{IndexConfig, IndexKind, KeySet, SearchResult, SearchScope, UnitVector, VectorIndex};
use cpu_time::ThreadTime;

type Failure = Box<dyn std::error::Error>;

/// Neighbours asked for.
const K: usize = 10;

struct Options {
    source: Source,
    rows: Vec<usize>,
    kinds: Vec<Option<IndexKind>>,
    efs: Vec<usize>,
    together: Vec<usize>,
    repeats: usize,
    filters: bool,
    deletions: bool,
    json: bool,
    save: Option<PathBuf>,
    more: usize,
    shift: f32,
}

impl Options {
    fn together(&self, queries: &[UnitVector]) -> impl Iterator<Item = usize> {
        self.together.iter().map(|n| *n.min(&queries.len()))
    }
}

enum Source {
    Vectors(PathBuf),
    Texts(PathBuf),
    Synthetic(usize),
}

fn main() -> Result<(), Failure> {
    let options = options()?;
    let vectors = match &options.source {
        Source::Vectors(folder) => vectors(folder)?,
        Source::Texts(file) => texts(file)?,
        Source::Synthetic(n) => synthetic(*n)?,
    };
    if let Some(folder) = &options.save {
        return save(folder, &vectors);
    }
    let (mut base, mut queries) = vectors;
    if options.shift > 0.0 {
        for vector in base.iter_mut().chain(&mut queries) {
            *vector = shifted(vector, options.shift)?;
        }
    }
    let base = if options.more > base.len() { more(&base, options.more)? } else { base };
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
    let truth = truth(base, queries, &vec![true; rows]);
    for kind in options.kinds.iter().copied() {
        let mut index = empty(kind);
        let (built, ()) = cpu(|| fill(&mut index, base));
        let bytes = index.bytes().1 as f64 / rows as f64;
        for ef in efs(options, kind) {
            index.set_ef(*ef);
            for together in options.together(queries) {
                let measured = measure(&index, queries, &truth, options.repeats, SearchScope::All, together);
                let line = Line { kind, rows, ef: *ef, together, what: String::new() };
                line.report(&measured, built, bytes, options.json);
            }
        }
        if options.filters {
            filtered(options, &mut index, kind, base, queries);
        }
        if options.deletions {
            deleted(options, kind, base, queries);
        }
    }
}

/// What is worth trying: a scan does not heed it.
fn efs(options: &Options, kind: Option<IndexKind>) -> &[usize] {
    if matches!(kind, None | Some(IndexKind::Exact | IndexKind::Coarse)) { &options.efs[..1] } else { &options.efs }
}

fn empty(kind: Option<IndexKind>) -> VectorIndex {
    let config = IndexConfig { kind, ..IndexConfig::default() };
    VectorIndex::new(config)
}

fn fill(index: &mut VectorIndex, base: &[UnitVector]) {
    index.put_all((0_u32..).zip(base)).expect("all of one dimension");
}

struct Measured {
    recall: f64,
    micros: f64,
    low: f64,
    high: f64,
    by: IndexKind,
}

/// So many queries at a time: with one, each is a call.
fn measure(
    index: &VectorIndex,
    queries: &[UnitVector],
    truth: &[Exact],
    repeats: usize,
    among: SearchScope<'_>,
    together: usize,
) -> Measured {
    let single = |query| index.search(query, K, among).expect("of the same dimension");
    let batch = |queries| index.search_many(queries, K, among).expect("of the same dimension");
    if together == 1 {
        measure_by(queries, truth, repeats, || queries.iter().map(single).collect())
    } else {
        measure_by(queries, truth, repeats, || queries.chunks(together).flat_map(batch).collect())
    }
}

fn measure_by(
    queries: &[UnitVector],
    truth: &[Exact],
    repeats: usize,
    search: impl Fn() -> Vec<SearchResult>,
) -> Measured {
    let mut by = IndexKind::Exact;
    let mut found = 0;
    let mut wanted = 0;
    for (answer, exact) in search().iter().zip(truth) {
        by = answer.by;
        wanted += exact.n;
        found += answer.neighbours.iter().filter(|near| near.distance <= exact.distance + 1e-6).count().min(exact.n);
    }
    let mut times: Vec<f64> = (0..repeats)
        .map(|_| {
            let (time, _) = cpu(|| std::hint::black_box(search()));
            time.as_secs_f64() * 1e6 / queries.len() as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let recall = found as f64 / wanted.max(1) as f64;
    Measured { recall, micros: times[times.len() / 2], low: times[0], high: times[times.len() - 1], by }
}

/// What was measured.
struct Line {
    kind: Option<IndexKind>,
    rows: usize,
    ef: usize,
    together: usize,
    what: String,
}

impl Line {
    fn report(&self, measured: &Measured, built: Duration, bytes: f64, json: bool) {
        let Self { kind, rows, ef, together, what } = self;
        let name = match kind {
            #[cfg(feature = "hnsw_rs")]
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
                "{name} {what:24} rows {rows:7}  ef {ef:4}  {together:4} at a time  recall {recall:.4}  \
                 {micros:8.1} µs ({low:.1} to {high:.1})  built in {built:.2} s  {bytes:.0} B a vector beside the floats  by {by:?}"
            );
        }
    }
}

/// Searches among a share of the rows, beside an exact index of those rows alone.
fn filtered(
    options: &Options,
    index: &mut VectorIndex,
    kind: Option<IndexKind>,
    base: &[UnitVector],
    queries: &[UnitVector],
) {
    let rows = base.len();
    for share in [0.5, 0.1, 0.01, 0.001] {
        let mut chance = Chance(7);
        let wanted: Vec<bool> = base.iter().map(|_| chance.unit() < share).collect();
        let keys: KeySet = (0_u32..).zip(&wanted).filter(|(_, wanted)| **wanted).map(|(key, _)| key).collect();
        let truth = truth(base, queries, &wanted);
        let mut exact = empty(Some(IndexKind::Exact));
        exact.put_all(keys.iter().map(|key| (key, &base[key as usize]))).expect("all of one dimension");
        for together in options.together(queries) {
            let alone = measure(&exact, queries, &truth, options.repeats, SearchScope::All, together);
            let what = format!("{}% alone", share * 100.0);
            let line = Line { kind: Some(IndexKind::Exact), rows, ef: 0, together, what };
            line.report(&alone, Duration::ZERO, 0.0, options.json);
            for ef in efs(options, kind) {
                index.set_ef(*ef);
                let measured = measure(index, queries, &truth, options.repeats, SearchScope::Only(&keys), together);
                let what = format!("among {}%", share * 100.0);
                let line = Line { kind, rows, ef: *ef, together, what };
                line.report(&measured, Duration::ZERO, 0.0, options.json);
            }
        }
    }
}

/// Searches after a share of the rows was removed, and after a compaction.
fn deleted(options: &Options, kind: Option<IndexKind>, base: &[UnitVector], queries: &[UnitVector]) {
    for share in [0.1, 0.3, 0.5, 0.9] {
        let mut index = empty(kind);
        fill(&mut index, base);
        let mut chance = Chance(11);
        let stays: Vec<bool> = base.iter().map(|_| chance.unit() >= share).collect();
        let (time, ()) = cpu(|| {
            for (key, _) in (0_u32..).zip(&stays).filter(|(_, stays)| !**stays) {
                index.remove(key);
            }
        });
        let truth = truth(base, queries, &stays);
        for compacted in [false, true] {
            if compacted {
                index.compact();
            }
            for ef in &options.efs {
                index.set_ef(*ef);
                let measured = measure(&index, queries, &truth, options.repeats, SearchScope::All, 1);
                let what = format!("without {}%{}", share * 100.0, if compacted { ", compacted" } else { "" });
                let line = Line { kind, rows: base.len(), ef: *ef, together: 1, what };
                line.report(&measured, time, 0.0, options.json);
            }
        }
    }
}

/// What the exact answer has: how many, and how far the last of them is.
struct Exact {
    n: usize,
    distance: f32,
}

fn truth(base: &[UnitVector], queries: &[UnitVector], wanted: &[bool]) -> Vec<Exact> {
    const TOGETHER: usize = 20;
    let mut truth = Vec::with_capacity(queries.len());
    for queries in queries.chunks(TOGETHER) {
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
        truth.extend(nearest.iter().map(|near: &Vec<f32>| Exact {
            n: near.len(),
            distance: near.last().map_or(0.0, |product| 1.0 - product),
        }));
    }
    truth
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

fn cpu<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = ThreadTime::now();
    let value = work();
    (start.elapsed(), value)
}

type Vectors = (Vec<UnitVector>, Vec<UnitVector>);

fn vectors(folder: &Path) -> Result<Vectors, Failure> {
    let float = folder.join("base_f32.npy");
    let base = if float.exists() { float_vectors(&float)? } else { decoded(folder)? };
    Ok((base, float_vectors(&folder.join("queries.npy"))?))
}

fn float_vectors(path: &Path) -> Result<Vec<UnitVector>, Failure> {
    let (bytes, width) = npy(path, "<f4")?;
    Ok(floats(&bytes).chunks_exact(width).map(UnitVector::new).collect::<Result<_, _>>()?)
}

fn decoded(folder: &Path) -> Result<Vec<UnitVector>, Failure> {
    let (codes, width) = npy(&folder.join("base_i8.npy"), "|i1")?;
    let (scales, _) = npy(&folder.join("base_scale.npy"), "<f4")?;
    let row = |(codes, scale): (&[u8], f32)| {
        let row: Vec<f32> = codes.iter().map(|code| f32::from(code.cast_signed()) * scale).collect();
        UnitVector::new(&row)
    };
    Ok(codes.chunks_exact(width).zip(floats(&scales)).map(row).collect::<Result<_, _>>()?)
}

/// Writes what [`vectors`] reads.
fn save(folder: &Path, (base, queries): &Vectors) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)?;
    for (name, rows) in [("base_f32.npy", base), ("queries.npy", queries)] {
        let width = rows.first().map_or(0, |row| row.as_slice().len());
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {width}), }}", rows.len());
        let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        bytes.extend(format!("{header:117}\n").as_bytes());
        bytes.extend(rows.iter().flat_map(UnitVector::as_slice).flat_map(|component| component.to_le_bytes()));
        std::fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// The data of a `NumPy` file of version 1, and the length of its last axis.
fn npy(path: &Path, kind: &str) -> Result<(Vec<u8>, usize), Failure> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let start = bytes.strip_prefix(b"\x93NUMPY\x01\x00").ok_or_else(|| format!("{} is not npy 1.0", path.display()))?;
    let (length, rest) = start.split_first_chunk::<2>().ok_or("cut npy header")?;
    let (header, data) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length))).ok_or("cut npy header")?;
    let header = std::str::from_utf8(header)?;
    if !header.contains(kind) || header.contains("'fortran_order': True") {
        return Err(format!("{} has {header}, expected {kind} in C order", path.display()).into());
    }
    let shape = header.split('(').nth(1).and_then(|rest| rest.split(')').next()).ok_or("npy header without a shape")?;
    let width = shape.split(',').map(str::trim).rfind(|axis| !axis.is_empty()).ok_or("npy header without a shape")?;
    Ok((data.to_vec(), width.parse()?))
}

#[cfg(feature = "bundled-model")]
fn texts(file: &Path) -> Result<Vectors, Failure> {
    use adage::embed::{Engine, Model, Role};
    use adage::{Embedder, OnnxEmbedder};
    let embedder = OnnxEmbedder::new(Model::bundled(), Engine::BuiltIn);
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let (mut base, mut queries) = (Vec::new(), Vec::new());
    for (nth, lines) in lines.chunks(64).enumerate() {
        eprint!("\r{} of {} texts embedded", nth * 64, text.lines().count());
        for (nth, row) in embedder.embed(lines, Role::Document)?.outer_iter().enumerate() {
            let into = if nth % 10 == 9 { &mut queries } else { &mut base };
            into.push(UnitVector::new(&row.to_vec())?);
        }
    }
    eprintln!();
    Ok((base, queries))
}

#[cfg(not(feature = "bundled-model"))]
fn texts(_: &Path) -> Result<Vectors, Failure> {
    Err("built without the model that embeds texts".into())
}

/// Vectors of 384 components, and as many queries drawn alike: around 2,000 centres whose sizes fall as 1/rank, spread in 32
/// directions that all share, as what a model makes of texts does not fill its space either, and a little in all others.
fn synthetic(n: usize) -> Result<Vectors, Failure> {
    const DIMENSION: usize = 384;
    const CENTRES: usize = 2_000;
    const DIRECTIONS: usize = 32;
    let mut chance = Chance(3);
    let mut gauss =
        |n: usize| -> Vec<Vec<f32>> { (0..n).map(|_| (0..DIMENSION).map(|_| chance.normal()).collect()).collect() };
    let (centres, directions) = (gauss(CENTRES), gauss(DIRECTIONS));
    let mut mass = 0.0;
    let masses: Vec<f64> = (1..=CENTRES)
        .map(|rank| {
            mass += 1.0 / rank as f64;
            mass
        })
        .collect();
    let mut draw = || {
        let at = chance.unit() * mass;
        let mut row = centres[masses.partition_point(|upto| *upto < at).min(CENTRES - 1)].clone();
        for direction in &directions {
            let weight = 0.3 * chance.normal();
            for (component, direction) in row.iter_mut().zip(direction) {
                *component += weight * direction;
            }
        }
        for component in &mut row {
            *component += 0.1 * chance.normal();
        }
        UnitVector::new(&row)
    };
    let queries = (0..1_000).map(|_| draw()).collect::<Result<_, _>>()?;
    Ok(((0..n).map(|_| draw()).collect::<Result<_, _>>()?, queries))
}

/// Rows made from others: each in turn, and half of one at random, and noise of a quarter of their length.
fn more(base: &[UnitVector], n: usize) -> Result<Vec<UnitVector>, Failure> {
    let mut chance = Chance(5);
    let noise = 0.25 / (base[0].as_slice().len() as f32).sqrt();
    let mut draw = |own: &UnitVector| {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let other = base[(chance.unit() * base.len() as f64) as usize].as_slice();
        let mix = |(own, other): (&f32, &f32)| own + 0.5 * other + noise * chance.normal();
        UnitVector::new(&own.as_slice().iter().zip(other).map(mix).collect::<Vec<f32>>())
    };
    Ok(base.iter().cycle().take(n).map(&mut draw).collect::<Result<_, _>>()?)
}

/// With a vector of this length added that is spread over four components.
fn shifted(vector: &UnitVector, length: f32) -> Result<UnitVector, Failure> {
    let mut components = vector.as_slice().to_vec();
    let step = components.len().div_ceil(4);
    components.iter_mut().step_by(step).for_each(|component| *component += 0.5 * length);
    Ok(UnitVector::new(&components)?)
}

/// A small source of chance (`SplitMix64`), so that each run draws the same.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal, nearly: twelve uniform ones.
    #[allow(clippy::cast_possible_truncation)]
    fn normal(&mut self) -> f32 {
        ((0..12).map(|_| self.unit()).sum::<f64>() - 6.0) as f32
    }
}

fn options() -> Result<Options, Failure> {
    let mut options = Options {
        source: Source::Synthetic(10_000),
        rows: Vec::new(),
        kinds: vec![None, Some(IndexKind::Exact), Some(IndexKind::Coarse), Some(IndexKind::Graph)],
        efs: vec![16, 32, 64, 128, 256],
        together: vec![1],
        repeats: 7,
        filters: false,
        deletions: false,
        json: false,
        save: None,
        more: 0,
        shift: 0.0,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--vectors" => options.source = Source::Vectors(value()?.into()),
            "--texts" => options.source = Source::Texts(value()?.into()),
            "--synthetic" => options.source = Source::Synthetic(value()?.parse()?),
            "--save" => options.save = Some(value()?.into()),
            "--rows" => options.rows = numbers(&value()?)?,
            "--ef" => options.efs = numbers(&value()?)?,
            "--together" => options.together = numbers(&value()?)?,
            "--repeats" => options.repeats = value()?.parse::<usize>()?.max(1),
            "--kinds" => options.kinds = value()?.split(',').map(kind).collect::<Result<_, _>>()?,
            "--more" => options.more = value()?.parse()?,
            "--shift" => options.shift = value()?.parse()?,
            "--filters" => options.filters = true,
            "--deletions" => options.deletions = true,
            "--json" => options.json = true,
            _ => return Err(format!("{argument} is no option of this example; its first lines list them").into()),
        }
    }
    if options.rows.is_empty() {
        options.rows = vec![usize::MAX];
    }
    Ok(options)
}

fn kind(name: &str) -> Result<Option<IndexKind>, Failure> {
    match name {
        "default" => Ok(None),
        "exact" => Ok(Some(IndexKind::Exact)),
        "coarse" => Ok(Some(IndexKind::Coarse)),
        "graph" => Ok(Some(IndexKind::Graph)),
        #[cfg(feature = "hnsw_rs")]
        "hnsw_rs" => Ok(Some(IndexKind::HnswRs)),
        #[cfg(not(feature = "hnsw_rs"))]
        "hnsw_rs" => Err("built without the feature hnsw_rs".into()),
        _ => Err(format!("{name} is no kind of index: default, exact, coarse, graph, hnsw_rs").into()),
    }
}

fn numbers(list: &str) -> Result<Vec<usize>, Failure> {
    Ok(list.split(',').map(|number| number.trim().parse()).collect::<Result<_, _>>()?)
}
