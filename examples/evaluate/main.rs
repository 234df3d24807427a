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
//! embedding included for the classic rule. For the default also how often the right lesson is among the first three, lessons
//! shown per answer, the share of questions that would lose their lesson if 2% and 5% of all unrelated ones were answered, and
//! the calibration error. With `--books N` lessons are drawn at random, `--draws` times, and the sums are over all books.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a program of its own, whose input has the shape that its head describes"
)]

mod books;
mod classic;
mod data;
mod default_tier;
mod embedder;
mod features;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs::OpenOptions;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use adage::config::DedupPolicy;
use adage::{Config, LearnOutcome, LessonId, Playbook, build_lesson};
use serde_json::json;

use books::Sampling;
use classic::Classic;
use data::{Data, rows, text};
use default_tier::Measured;
use embedder::Kept;

/// Ranks that count for nDCG and MRR.
const DEPTH: usize = 10;
/// Ranks that count for recall.
const RECALL_DEPTH: usize = 5;

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
}

/// Sums over questions.
#[derive(Clone, Default)]
struct Scores {
    ndcg: f64,
    recall: f64,
    mrr: f64,
    cut: f64,
    micros: Vec<f64>,
    answered: BTreeMap<String, f64>,
}

impl Scores {
    fn add_ranking(&mut self, ranking: &[LessonId], right: &BTreeSet<LessonId>) {
        let gain = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
        let hits: Vec<usize> = (ranking.iter().take(DEPTH).enumerate())
            .filter(|(_, id)| right.contains(id))
            .map(|(rank, _)| rank)
            .collect();
        let ideal: f64 = (0..right.len().min(DEPTH)).map(gain).sum();
        self.ndcg += hits.iter().map(|rank| gain(*rank)).sum::<f64>() / ideal;
        self.recall += hits.iter().filter(|rank| **rank < RECALL_DEPTH).count() as f64 / right.len() as f64;
        self.mrr += hits.first().map_or(0.0, |rank| 1.0 / (*rank as f64 + 1.0));
    }

    fn percentile(&self, share: f64) -> f64 {
        let mut sorted = self.micros.clone();
        sorted.sort_by(f64::total_cmp);
        let place = ((sorted.len().saturating_sub(1)) as f64 * share).round() as usize;
        sorted.get(place).copied().unwrap_or_default()
    }
}

/// The data, with all questions that want no lesson.
fn read(folder: &Path, options: &Options) -> Result<Data, Failure> {
    let mut data = Data::read(folder)?;
    for file in &options.unrelated {
        data.add_unrelated(file)?;
    }
    Ok(data)
}

/// Writes the evidence of all candidates to a file, and measures nothing.
fn features(folder: &Path, file: &Path, options: &Options) -> Result<(), Failure> {
    let data = read(folder, options)?;
    let embedder = Arc::new(Kept::open(options.vectors.as_deref())?);
    let set = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut out = BufWriter::new(OpenOptions::new().create(true).append(true).open(file)?);
    for (number, book) in (0..).zip(options.draws().books(&data, &embedder)) {
        features::write(&book?, &set, options.seed + number, &mut out)?;
    }
    Ok(())
}

fn retrieval(folder: &Path, options: &Options) -> Result<(), Failure> {
    let data = read(folder, options)?;
    let embedder = Arc::new(Kept::open(options.vectors.as_deref())?);
    let draws = options.draws();
    let (mut default, mut classic, mut n_lessons) = (Measured::default(), Classic::default(), 0);
    for book in draws.books(&data, &embedder) {
        let book = book?;
        n_lessons = book.ids.len();
        default.add(&book)?;
        if options.books.is_none() {
            classic.add(&book)?;
        }
    }
    classic.report(options.json);
    default.report(n_lessons, draws.n_draws, options.json);
    Ok(())
}

fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// Learns both texts of each pair, each pair in a project of its own, and sees whether they merged.
fn duplicates(file: &Path, options: &Options) -> Result<(), Failure> {
    let pairs = rows(file)?;
    for (name, policy) in [("plain", DedupPolicy::Plain), ("guarded", DedupPolicy::Guarded)] {
        let home = tempfile::tempdir()?;
        let mut config = Config::default();
        config.learn.dedup = policy;
        let playbook = Playbook::builder(home.path()).with_config(config).open()?;
        let drafts = pairs.iter().enumerate().flat_map(|(number, row)| {
            ["a", "b"].map(|side| build_lesson(text(row, side), text(row, side)).project(format!("pair {number}")))
        });
        let learned = playbook.learn_lessons(drafts)?;
        let (mut merged, mut right, mut duplicates) = (0.0, 0.0, 0.0);
        for (row, learned) in pairs.iter().zip(learned.chunks(2)) {
            let is_duplicate = row["dup"].as_i64() == Some(1);
            duplicates += f64::from(u8::from(is_duplicate));
            let is_merged = matches!(learned, [_, LearnOutcome::Merged { .. }]);
            if is_merged {
                merged += 1.0;
                right += f64::from(u8::from(is_duplicate));
            }
            if options.show && is_merged != is_duplicate {
                let what = learned.get(1).map(|learned| format!("{learned:?}")).unwrap_or_default();
                eprintln!("{name}: dup {} {what}\n   a: {}\n   b: {}", row["dup"], text(row, "a"), text(row, "b"));
            }
        }
        let (precision, recall) = (right / f64::max(merged, 1.0), right / f64::max(duplicates, 1.0));
        if options.json {
            println!(
                "{}",
                json!({"dedup": name, "pairs": pairs.len(), "merged": merged, "precision": precision, "recall": recall})
            );
        } else {
            println!("{name:8} merged {merged} of {} pairs: precision {precision:.3}, recall {recall:.3}", pairs.len());
        }
    }
    Ok(())
}
