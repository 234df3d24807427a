//! Measures retrieval and merging on data of one's own, through the playbook as a host uses it.
//!
//! ```text
//! cargo run --release --example evaluate -- FOLDER [--unrelated FILE]... [--books N] [--draws K] [--seed S] [--json]
//! cargo run --release --example evaluate -- FOLDER [--unrelated FILE]... --features FILE [--books N] [--draws K] [--seed S]
//! cargo run --release --example evaluate -- --dups FILE [--show] [--json]
//! ```
//!
//! FOLDER holds `corpus.jsonl` (`id`, `trigger`, `why`, `anti_pattern`, `correct_pattern`, or `id`, `title`, `text`),
//! `queries.jsonl` (`id`, `text`) and `qrels.jsonl` (`query`, `doc`); or `lessons.jsonl` (`id`, `trigger`, `mistake`, `solution`,
//! `anti_pattern`, with the questions `plain`, `plain2`, `oblique`) and `none.jsonl` (`id`, `kind`, `text`). FILE of `--unrelated`
//! holds questions (`text`) that no lesson answers; FILE of `--dups` pairs (`a`, `b`, `dup` 0 or 1); `--show` prints the pairs
//! that are decided wrongly. `--vectors FILE` keeps the vectors of all texts for the next run.
//!
//! Printed for the classic rule, by vectors and by words, and for the default: nDCG@10, recall@5, MRR@10 of the ranking with the
//! gate open; the share of questions whose right lesson the gate cuts; the share of unrelated ones answered; latency of a recall,
//! embedding excluded. For the default also how often the right lesson is among the first three, lessons shown per answer, the
//! share of questions that would lose their lesson if 2% and 5% of all unrelated ones were answered, and the calibration error.
//! With `--books N` lessons are drawn at random, `--draws` times, and the sums are over all books.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program of its own, whose input has the shape that its head describes"
)]

use std::error::Error;
use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use adage::config::DedupPolicy;
use adage::embed::{Engine, Model};
use adage::{Config, Embedder, OnnxEmbedder};
use adage_eval::{
    CachedEmbedder, ClassicTally, Data, DefaultTally, Sampling, measure_duplicates, rows, write_features,
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

    fn draws(&self) -> Sampling {
        Sampling { n_lessons: self.books, n_draws: self.draws.unwrap_or(1), seed: self.seed }
    }

    fn embedder(&self) -> Result<Arc<CachedEmbedder>, Failure> {
        Ok(Arc::new(CachedEmbedder::new(model(), self.vectors.as_deref())?))
    }

    /// The data, with all questions that want no lesson.
    fn data(&self, folder: &Path) -> Result<Data, Failure> {
        let mut data = Data::read(folder)?;
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

/// Writes the evidence of all candidates to a file, and measures nothing.
fn features(folder: &Path, file: &Path, options: &Options) -> Result<(), Failure> {
    let (data, embedder) = (options.data(folder)?, options.embedder()?);
    let set = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut out = BufWriter::new(OpenOptions::new().create(true).append(true).open(file)?);
    for (number, book) in (0..).zip(options.draws().books(&data, &embedder)) {
        write_features(&book?, &set, options.seed + number, &mut out)?;
    }
    Ok(out.flush()?)
}

fn retrieval(folder: &Path, options: &Options) -> Result<(), Failure> {
    let (data, embedder, draws) = (options.data(folder)?, options.embedder()?, options.draws());
    let (mut default, mut classic, mut n_lessons) = (DefaultTally::default(), ClassicTally::default(), 0);
    for book in draws.books(&data, &embedder) {
        let book = book?;
        n_lessons = book.ids.len();
        default.add(&book)?;
        if options.books.is_none() {
            classic.add(&book)?;
        }
    }
    for report in classic.reports() {
        options.print(&report);
    }
    options.print(&default.report(n_lessons, draws.n_draws));
    Ok(())
}

/// Learns both texts of each pair, and sees whether they merged.
fn duplicates(file: &Path, options: &Options) -> Result<(), Failure> {
    let pairs = rows(file)?;
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
