//! Measures retrieval and merging on data of one's own, through the playbook as a host uses it.
//!
//! ```text
//! cargo run --release --example evaluate -- FOLDER [--unrelated FILE]... [--dups FILE]... [--show] [--json]
//! ```
//!
//! FOLDER holds `corpus.jsonl` (`id`, `trigger`, `why`, `anti_pattern`, `correct_pattern`), `queries.jsonl` (`id`, `text`)
//! and `qrels.jsonl` (`query`, `doc`). FILE of `--unrelated` holds queries (`text`) that no lesson answers; FILE of `--dups`
//! pairs (`a`, `b`, `dup` 0 or 1); `--show` prints the pairs that are decided wrongly. Printed for the vector tier, the lexical tier and the two fused by reciprocal rank
//! (k = 60): nDCG@10, recall@5, MRR@10 of the ranking with the gate open; the share of queries whose right lesson the gate
//! cuts; the share of unrelated queries answered; latency of a recall, embedding included.

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
mod data;
mod embedder;
mod features;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;
use std::hash::Hash;
use std::fs::OpenOptions;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::Instant;

use std::sync::Arc;

use adage::config::DedupPolicy;
use adage::embed::{Engine, Model, Role};
use adage::retrieve::TierChoice;
use adage::{Config, Embedder, LearnOutcome, LessonId, OnnxEmbedder, Playbook, Request, build_lesson};
use serde_json::json;

use books::Draws;
use data::{Data, rows, text};
use embedder::Kept;

/// Ranks that count for nDCG and MRR.
const DEPTH: usize = 10;
/// Ranks that count for recall.
const RECALL_DEPTH: usize = 5;
/// Ranks that go into the fusion.
const FUSED_DEPTH: usize = 50;

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

    fn draws(&self) -> Draws {
        Draws { n_lessons: self.books, n_draws: self.draws.unwrap_or(1), seed: self.seed }
    }
}

/// What one tier answers: a ranking with the gate open, and how many pass the gate.
#[derive(Clone, Default)]
struct Answer {
    ranking: Vec<LessonId>,
    passed: BTreeSet<LessonId>,
    micros: f64,
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Vector,
    Lexical,
}

/// Two handles on one folder: the gate as it is, and the gate open.
struct Subject {
    embedder: Arc<OnnxEmbedder>,
    gated: Playbook,
    open: Playbook,
}

/// Asks once with the gate as it is and once with it open.
fn ask(subject: &Subject, query: &str, way: Way, depth: usize) -> Result<Answer, Failure> {
    let tier = if way == Way::Vector { TierChoice::Vector } else { TierChoice::Lexical };
    let request = Request::about(query).tier(tier).max_tokens(usize::MAX).limit(depth).peek();
    let start = Instant::now();
    let gated = subject.gated.get_playbook_context(request.clone())?;
    let micros = start.elapsed().as_secs_f64() * 1e6;
    let request = match way {
        Way::Vector => {
            let vector = subject.embedder.embed(&[query], Role::Query)?;
            request.distance_threshold(2.0).with_vector(vector.into_iter().collect())
        }
        Way::Lexical => request,
    };
    let ranked = subject.open.get_playbook_context(request)?;
    let ids = |context: &adage::Context| context.lessons.iter().map(|lesson| lesson.id).collect::<Vec<_>>();
    Ok(Answer { ranking: ids(&ranked), passed: ids(&gated).into_iter().collect(), micros })
}

#[derive(Default)]
struct Scores {
    ndcg: f64,
    recall: f64,
    mrr: f64,
    cut: f64,
    micros: Vec<f64>,
    answered: BTreeMap<String, f64>,
}

impl Scores {
    fn add(&mut self, answer: &Answer, right: &BTreeSet<LessonId>) {
        let gain = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
        let hits: Vec<usize> = (answer.ranking.iter().take(DEPTH).enumerate())
            .filter(|(_, id)| right.contains(id))
            .map(|(rank, _)| rank)
            .collect();
        let ideal: f64 = (0..right.len().min(DEPTH)).map(gain).sum();
        self.ndcg += hits.iter().map(|rank| gain(*rank)).sum::<f64>() / ideal;
        self.recall += hits.iter().filter(|rank| **rank < RECALL_DEPTH).count() as f64 / right.len() as f64;
        self.mrr += hits.first().map_or(0.0, |rank| 1.0 / (*rank as f64 + 1.0));
        self.cut += f64::from(u8::from(right.is_disjoint(&answer.passed)));
        self.micros.push(answer.micros);
    }

    fn percentile(&self, share: f64) -> f64 {
        let mut sorted = self.micros.clone();
        sorted.sort_by(f64::total_cmp);
        let place = ((sorted.len().saturating_sub(1)) as f64 * share).round() as usize;
        sorted.get(place).copied().unwrap_or_default()
    }
}

/// Writes the evidence of all candidates to a file, and measures nothing.
fn features(folder: &Path, file: &Path, options: &Options) -> Result<(), Failure> {
    let mut data = Data::read(folder)?;
    for file in &options.unrelated {
        data.add_unrelated(file)?;
    }
    let embedder = Arc::new(Kept::open(options.vectors.as_deref())?);
    let set = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut out = BufWriter::new(OpenOptions::new().create(true).append(true).open(file)?);
    for (number, book) in (0..).zip(options.draws().books(&data, &embedder)) {
        features::write(&book?, &data, &set, options.seed + number, &mut out)?;
    }
    Ok(())
}

fn retrieval(folder: &Path, options: &Options) -> Result<(), Failure> {
    let corpus = rows(&folder.join("corpus.jsonl"))?;
    let queries = rows(&folder.join("queries.jsonl"))?;
    let mut qrels: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows(&folder.join("qrels.jsonl"))? {
        qrels.entry(text(&row, "query").to_owned()).or_default().push(text(&row, "doc").to_owned());
    }

    let embedder = Arc::new(OnnxEmbedder::new(Model::bundled(), Engine::Portable));
    let home = tempfile::tempdir()?;
    let mut config = Config::default();
    config.learn.dedup = DedupPolicy::Off;
    config.retention.capacity = corpus.len().max(1);
    let open_with = |config| {
        Playbook::builder(home.path()).with_embedder(Arc::<OnnxEmbedder>::clone(&embedder)).with_config(config).open()
    };
    let playbook = open_with(config.clone())?;
    let start = Instant::now();
    let drafts = corpus.iter().map(|row| {
        build_lesson(text(row, "trigger"), text(row, "correct_pattern"))
            .solution(if text(row, "correct_pattern").is_empty() {
                text(row, "why")
            } else {
                text(row, "correct_pattern")
            })
            .mistake(text(row, "why"))
            .anti_pattern(text(row, "anti_pattern"))
    });
    let learned = playbook.learn_lessons(drafts)?;
    let ids: BTreeMap<&str, LessonId> =
        corpus.iter().zip(&learned).filter_map(|(row, learned)| Some((text(row, "id"), learned.id()?))).collect();
    eprintln!("learned {} of {} lessons in {:.1} s", ids.len(), corpus.len(), start.elapsed().as_secs_f64());
    config.retrieval.lexical_floor = 0.0;
    config.retrieval.min_neighbours = FUSED_DEPTH;
    let subject = Subject { open: open_with(config)?, gated: playbook, embedder: Arc::clone(&embedder) };
    ask_all(&subject, "a first question, which prepares the indexes")?;

    let mut scores: BTreeMap<&str, Scores> = BTreeMap::new();
    let mut n_queries = 0;
    for row in &queries {
        let right: BTreeSet<LessonId> = (qrels.get(text(row, "id")).into_iter().flatten())
            .filter_map(|doc| ids.get(doc.as_str()).copied())
            .collect();
        if right.is_empty() {
            continue;
        }
        n_queries += 1;
        let [vector, lexical, fused] = ask_all(&subject, text(row, "text"))?;
        scores.entry("vector").or_default().add(&vector, &right);
        scores.entry("lexical").or_default().add(&lexical, &right);
        scores.entry("fused").or_default().add(&fused, &right);
    }
    for file in &options.unrelated {
        let unrelated = rows(file)?;
        let name = file.display().to_string();
        for row in &unrelated {
            let [vector, lexical, fused] = ask_all(&subject, text(row, "text"))?;
            for (tier, answer) in [("vector", vector), ("lexical", lexical), ("fused", fused)] {
                let share = f64::from(u8::from(!answer.passed.is_empty())) / unrelated.len() as f64;
                *scores.entry(tier).or_default().answered.entry(name.clone()).or_default() += share;
            }
        }
    }
    report(&scores, n_queries, options.json);
    Ok(())
}

/// The two tiers and their fusion, which a host would show where the vector tier passes something.
fn ask_all(subject: &Subject, query: &str) -> Result<[Answer; 3], Failure> {
    let vector = ask(subject, query, Way::Vector, FUSED_DEPTH)?;
    let lexical = ask(subject, query, Way::Lexical, FUSED_DEPTH)?;
    let rankings = [vector.ranking.clone(), lexical.ranking.clone()];
    let fused = Answer {
        ranking: reciprocal_rank_fusion(&rankings, 60.0),
        passed: vector.passed.union(&lexical.passed).copied().collect(),
        micros: vector.micros + lexical.micros,
    };
    Ok([vector, lexical, fused])
}

/// Joins rankings by the sum of `1 / (k + rank)`, ranks from 1 (reciprocal rank fusion; Cormack, Clarke and Büttcher,
/// SIGIR 2009, who use k = 60). Best first; ties keep the order of first appearance.
fn reciprocal_rank_fusion<T: Clone + Eq + Hash>(rankings: &[Vec<T>], k: f64) -> Vec<T> {
    let mut scores: HashMap<&T, (f64, usize)> = HashMap::new();
    for ranking in rankings {
        for (place, item) in ranking.iter().enumerate() {
            let seen = scores.len();
            scores.entry(item).or_insert((0.0, seen)).0 += 1.0 / (k + place as f64 + 1.0);
        }
    }
    let mut fused: Vec<(&T, (f64, usize))> = scores.into_iter().collect();
    fused.sort_by(|(_, a), (_, b)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    fused.into_iter().map(|(item, _)| item.clone()).collect()
}

fn report(scores: &BTreeMap<&str, Scores>, n_queries: usize, is_json: bool) {
    let n = f64::from(u32::try_from(n_queries.max(1)).unwrap_or(u32::MAX));
    let round = |value: f64| (value * 1e4).round() / 1e4;
    if !is_json {
        println!("{n_queries} queries");
        println!(
            "{:8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>9}",
            "tier", "nDCG@10", "recall@5", "MRR@10", "cut", "p50 µs", "p90 µs", "p99 µs"
        );
    }
    for tier in ["vector", "lexical", "fused"] {
        let Some(scores) = scores.get(tier) else { continue };
        let [ndcg, recall, mrr, cut] = [scores.ndcg / n, scores.recall / n, scores.mrr / n, scores.cut / n].map(round);
        let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|share| scores.percentile(share).round());
        if is_json {
            let answered: BTreeMap<&String, f64> =
                scores.answered.iter().map(|(file, share)| (file, round(*share))).collect();
            println!(
                "{}",
                json!({
                    "tier": tier, "ndcg10": ndcg, "recall5": recall, "mrr10": mrr, "cut": cut, "answered": answered,
                    "p50_us": p50, "p90_us": p90, "p99_us": p99, "queries": n_queries,
                })
            );
        } else {
            println!("{tier:8} {ndcg:8.3} {recall:8.3} {mrr:8.3} {cut:8.3} {p50:9} {p90:9} {p99:9}");
            for (file, share) in &scores.answered {
                println!("         answered {:.2}% of {file}", share * 100.0);
            }
        }
    }
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
