//! Measures retrieval and merging on data sets, through the calls that a host makes.
//!
//! ```text
//! cargo run --release --example evaluate -- FOLDER [--unrelated FILE]... [--ways-in FILE]... [--books N] [--draws K] [--seed S] [--json]
//! cargo run --release --example evaluate -- FOLDER [--unrelated FILE]... [--ways-in FILE]... --features FILE [--books N] [--draws K] [--seed S]
//! cargo run --release --example evaluate -- --dups FILE [--show] [--json]
//! ```
//!
//! FOLDER holds `corpus.jsonl` (`id`, `trigger`, `why`, `anti_pattern`, `correct_pattern`, or `id`, `title`, `text`),
//! `queries.jsonl` (`id`, `text`) and `qrels.jsonl` (`query`, `doc`); or `lessons.jsonl` (`id`, `trigger`, `mistake`, `solution`,
//! `anti_pattern`, with the questions `plain`, `plain2`, `oblique`) and `none.jsonl` (`id`, `kind`, `text`). FILE of `--unrelated`
//! holds questions (`text`) that no lesson answers; FILE of `--ways-in` names, situations and signs by the `id` of a lesson; FILE of `--dups` pairs (`a`, `b`, `dup` 0 or 1); `--show` prints the pairs
//! with a wrong result. `--vectors FILE` caches the vectors of all texts for the next run.
//!
//! Prints the fields of `ClassicReport` for the classic rule, in the vector and the lexical tier, and of `DefaultReport` for the
//! default rule. With `--books N`, playbooks of N lessons are drawn at random, `--draws` times, and only the default rule is
//! measured. `--features FILE` measures nothing and writes the evidence of all candidates for `scripts/fit_gate.py`.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods, reason = "a program, not a library")]

use std::error::Error;
use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use adage::config::DedupPolicy;
use adage::embed::{Engine, Model};
use adage::{Config, Embedder, OnnxEmbedder};
use adage_eval::{
    CachedEmbedder, ClassicTally, Dataset, DefaultTally, Sampling, measure_duplicates, read_rows, write_features,
};
use serde::Serialize;
use serde_json::json;

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let options = Options::parse(std::env::args().skip(1))?;
    if let Some(folder) = &options.folder {
        match &options.features {
            Some(file) => features(folder, file, &options)?,
            None => retrieval(folder, &options)?,
        }
    }
    for file in &options.dups {
        duplicates(file, &options)?;
    }
    Ok(())
}

#[derive(Default)]
struct Options {
    folder: Option<PathBuf>,
    unrelated: Vec<PathBuf>,
    ways_in: Vec<PathBuf>,
    dups: Vec<PathBuf>,
    features: Option<PathBuf>,
    vectors: Option<PathBuf>,
    books: Option<usize>,
    draws: Option<usize>,
    seed: u64,
    json: bool,
    show: bool,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--unrelated" => options.unrelated.push(value()?.into()),
                "--ways-in" => options.ways_in.push(value()?.into()),
                "--dups" => options.dups.push(value()?.into()),
                "--features" => options.features = Some(value()?.into()),
                "--vectors" => options.vectors = Some(value()?.into()),
                "--books" => options.books = Some(value()?.parse()?),
                "--draws" => options.draws = Some(value()?.parse()?),
                "--seed" => options.seed = value()?.parse()?,
                "--json" => options.json = true,
                "--show" => options.show = true,
                flag if flag.starts_with('-') => return Err(format!("unknown option {flag}").into()),
                folder => options.folder = Some(folder.into()),
            }
        }
        if options.folder.is_none() && options.dups.is_empty() {
            return Err("name a folder with corpus.jsonl, queries.jsonl and qrels.jsonl, or --dups FILE".into());
        }
        Ok(options)
    }

    fn sampling(&self) -> Sampling {
        Sampling { n_lessons: self.books, n_draws: self.draws.unwrap_or(1), seed: self.seed }
    }

    fn embedder(&self) -> Result<Arc<CachedEmbedder>, Failure> {
        Ok(Arc::new(CachedEmbedder::new(model(), self.vectors.as_deref())?))
    }

    /// The data set of a folder, with the questions of all files of `--unrelated`.
    fn data(&self, folder: &Path) -> Result<Dataset, Failure> {
        let mut data = Dataset::read(folder)?;
        for file in &self.ways_in {
            data.add_ways_in(file)?;
        }
        for file in &self.unrelated {
            data.add_unrelated(file)?;
        }
        Ok(data)
    }

    fn print(&self, report: &impl Serialize) {
        let report = json!(report);
        if self.json { println!("{report}") } else { println!("{report:#}") }
    }
}

fn model() -> Arc<dyn Embedder> {
    Arc::new(OnnxEmbedder::new(Model::bundled(), Engine::BuiltIn))
}

/// Writes the evidence of all candidates to a file.
fn features(folder: &Path, file: &Path, options: &Options) -> Result<(), Failure> {
    let (data, embedder) = (options.data(folder)?, options.embedder()?);
    let set = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut out = BufWriter::new(OpenOptions::new().create(true).append(true).open(file)?);
    for (number, playbook) in (0..).zip(options.sampling().playbooks(&data, &embedder)) {
        write_features(&playbook?, &set, options.seed + number, &mut out)?;
    }
    Ok(out.flush()?)
}

fn retrieval(folder: &Path, options: &Options) -> Result<(), Failure> {
    let (data, embedder, sampling) = (options.data(folder)?, options.embedder()?, options.sampling());
    let (mut default, mut classic, mut n_lessons) = (DefaultTally::default(), ClassicTally::default(), 0);
    for playbook in sampling.playbooks(&data, &embedder) {
        let playbook = playbook?;
        n_lessons = playbook.ids.len();
        default.add(&playbook)?;
        if options.books.is_none() {
            classic.add(&playbook)?;
        }
    }
    for report in classic.reports() {
        options.print(&report);
    }
    options.print(&default.report(n_lessons, sampling.n_draws));
    Ok(())
}

/// Measures which pairs of texts merge, without and with the merge guard.
fn duplicates(file: &Path, options: &Options) -> Result<(), Failure> {
    let pairs = read_rows(file)?;
    for (name, policy) in [("plain", DedupPolicy::Plain), ("guarded", DedupPolicy::Guarded)] {
        let mut config = Config::default();
        config.learn.dedup = policy;
        let (report, outcomes) = measure_duplicates(&pairs, &config, &model())?;
        for outcome in outcomes.iter().filter(|outcome| options.show && !outcome.is_right) {
            eprintln!("{name}: {} {}: {}", outcome.kind, outcome.id, outcome.outcome);
        }
        if options.json {
            println!(
                "{}",
                json!({"dedup": name, "pairs": report.pairs, "precision": report.precision, "recall": report.recall})
            );
        } else {
            println!("{name:8} {} pairs: precision {:.3}, recall {:.3}", report.pairs, report.precision, report.recall);
        }
    }
    Ok(())
}
