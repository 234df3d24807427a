//! What learning and recalling cost in large playbooks.
//!
//! `cargo run --release --no-default-features --example large -- 1000 10000 100000`, with `exact` before the sizes for the exact
//! scan at every size, or with `documents` for a `VectorMemory` of as many.
//!
//! The playbook is full: each lesson that is learned pushes one out. Vectors are made of the text by arithmetic, 384
//! components in 50 clusters, so that what is measured is everything but the model. A commit writes the whole file, which is
//! most of a single learn in a large playbook: the decision is what a lesson more in a batch costs.

#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::cast_possible_truncation, reason = "a measurement")]

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use adage::embed::{EmbedError, Role};
use adage::index::IndexKind;
use adage::ndarray::Array2;
use adage::retrieve::TierChoice;
use adage::{
    Config, Document, Embedder, LearnOutcome, LessonDraft, Lookup, Playbook, Request, TextHash, VectorMemory,
    build_lesson,
};

const DIMENSION: usize = 384;
const CLUSTERS: u64 = 50;

/// A text's vector: the centre of one of the clusters, and noise.
struct Clusters;

impl Embedder for Clusters {
    fn embed(&self, texts: &[&str], _: Role) -> Result<Array2<f32>, EmbedError> {
        let mut rows = Array2::zeros((texts.len(), DIMENSION));
        for (mut row, text) in rows.outer_iter_mut().zip(texts) {
            let seed = u64::from_le_bytes(TextHash::of(&[text]).as_bytes().first_chunk().copied().unwrap_or_default());
            let (mut centre, mut noise) = (seed % CLUSTERS + 1, seed | 1);
            for cell in &mut row {
                *cell = uniform(&mut centre) + uniform(&mut noise);
            }
        }
        Ok(rows)
    }

    fn fingerprint(&self) -> TextHash {
        TextHash::of(&["clusters"])
    }

    fn dimension(&self) -> Result<usize, EmbedError> {
        Ok(DIMENSION)
    }
}

/// The next of a sequence of numbers in [-1, 1) (splitmix64).
fn uniform(state: &mut u64) -> f32 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 40) as f32 / (1 << 23) as f32 - 1.0
}

/// A trigger and a solution, of which no two say the same.
fn texts(number: usize) -> (String, String) {
    const WORDS: [&str; 16] = [
        "dates",
        "locks",
        "exports",
        "ports",
        "caches",
        "threads",
        "paths",
        "tokens",
        "migrations",
        "retries",
        "queues",
        "schemas",
        "sessions",
        "certificates",
        "indexes",
        "streams",
    ];
    let word = |shift: u32| WORDS.get(number / 16_usize.pow(shift) % 16).copied().unwrap_or_default();
    let trigger = format!("handle {} with {} under {} near {} case{number}", word(0), word(1), word(2), word(3));
    (trigger, format!("check {} first, then {}; note{number}", word(1), word(0)))
}

fn draft(number: usize) -> LessonDraft {
    let (trigger, solution) = texts(number);
    build_lesson(trigger, solution)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1).peekable();
    let kind = words.next_if(|word| word == "exact").map(|_| IndexKind::Exact);
    let is_of_documents = words.next_if(|word| word == "documents").is_some();
    let sizes: Vec<usize> = words.map(|size| size.parse()).collect::<Result<_, _>>()?;
    if is_of_documents {
        println!("documents | added | open | first query | query | add");
        return sizes.into_iter().try_for_each(documents);
    }
    println!(
        "lessons | first learn | learn, durable | learn, the decision | first recall | recall | by words | cold start | open | first recall, stored"
    );
    for size in if sizes.is_empty() { vec![1_000, 10_000] } else { sizes } {
        measure(size, kind)?;
    }
    Ok(())
}

fn measure(size: usize, kind: Option<IndexKind>) -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let rows = (0..size).map(|number| {
        let (trigger, solution) = texts(number);
        serde_json::json!({
            "trigger": trigger, "solution": solution, "id": format!("00000000-0000-7000-8000-{number:012x}"),
            "schema_version": 2, "timestamp": "2026-01-01T00:00:00Z", "confidence": (number % 97) as f64 / 97.0,
        })
    });
    let file = serde_json::to_vec(&rows.collect::<Vec<_>>())?;
    std::fs::File::create(folder.path().join("skills_playbook.json"))?.write_all(&file)?;
    let mut config = Config::default();
    config.retention.capacity = size;
    config.index.kind = kind;
    let playbook = Playbook::builder(folder.path()).with_embedder(Arc::new(Clusters)).with_config(config).open()?;

    let mut next = size;
    let mut learn = |n: usize| -> Result<Duration, Box<dyn std::error::Error>> {
        let drafts: Vec<LessonDraft> = (next..next + n).map(draft).collect();
        next += n;
        let (learned, time) = timed(|| playbook.learn_lessons(drafts))?;
        // Some are kept distinct from a near lesson, which does not matter here.
        let is_in_place = |learned: &&LearnOutcome| match learned {
            LearnOutcome::Inserted { evicted, .. } | LearnOutcome::Distinct { evicted, .. } => evicted.len() == 1,
            _ => false,
        };
        if let Some(other) = learned.iter().find(|learned| !is_in_place(learned)) {
            return Err(format!("a lesson was not inserted in the place of another one: {other:?}").into());
        }
        Ok(time)
    };
    let first_learn = learn(1)?;
    // Twice as many as join a graph at a time.
    let n_more = 2_048;
    let single = (0..5).map(|_| learn(1)).collect::<Result<Vec<_>, _>>()?.into_iter().min().unwrap_or_default();
    // Embedding is part of a batch too: it is measured apart and taken off.
    let embedded: Vec<String> = (0..2 * n_more).map(|number| format!("text {number}")).collect();
    let embedded: Vec<&str> = embedded.iter().map(String::as_str).collect();
    let (_, embedding) = timed(|| Clusters.embed(&embedded, Role::Document))?;
    let decision = learn(n_more + 1)?.saturating_sub(single + embedding) / n_more as u32;

    let about = |number: usize| Request::about(texts(number).0).peek();
    let (_, first_recall) = timed(|| playbook.get_playbook_context(about(3)))?;
    let recall = mean(200, |number| playbook.get_playbook_context(about(7 * number)).map(drop))?;
    let words = |number| about(7 * number).tier(TierChoice::Lexical);
    let by_words = mean(50, |number| playbook.get_playbook_context(words(number)).map(drop))?;
    let cold = mean(50, |_| playbook.get_playbook_context(Request::cold_start().peek()).map(drop))?;
    let config = playbook.config().clone();
    drop(playbook);
    // A file that is younger than two seconds is stored once more.
    std::thread::sleep(Duration::from_secs(2));
    let builder = || Playbook::builder(folder.path()).with_embedder(Arc::new(Clusters)).with_config(config.clone());
    builder().open()?.get_playbook_context(about(5))?;
    let (reopened, open) = timed(|| builder().open())?;
    let (_, stored) = timed(|| reopened.get_playbook_context(about(5)))?;
    println!(
        "{size} | {first_learn:.2?} | {single:.2?} | {decision:.2?} | {first_recall:.2?} | {recall:.2?} | {by_words:.2?} | {cold:.2?} | {open:.2?} | {stored:.2?}"
    );
    Ok(())
}

/// A memory of so many documents, opened again.
fn documents(size: usize) -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let open = || VectorMemory::builder(folder.path()).with_embedder(Arc::new(Clusters)).open();
    let document = |number: usize| {
        let (text, topic) = texts(number);
        Document::new(format!("d{number}"), text).with("topic", topic)
    };
    let ((), added) = timed(|| -> Result<(), Box<dyn std::error::Error>> {
        let memory = open()?;
        for batch in (0..size).collect::<Vec<_>>().chunks(1_000) {
            memory.add_all(batch.iter().map(|number| document(*number)))?;
        }
        Ok(memory.snapshot()?)
    })?;
    let (memory, opened) = timed(open)?;
    let about = |number: usize| Lookup::text(texts(number).0).limit(5);
    let (_, first) = timed(|| memory.query(&about(3)))?;
    let query = mean(200, |number| memory.query(&about(7 * number)).map(drop))?;
    let add = mean(20, |number| memory.add(document(size + number)).map(drop))?;
    println!("{size} | {added:.2?} | {opened:.2?} | {first:.2?} | {query:.2?} | {add:.2?}");
    Ok(())
}

/// The time of one, over some after the first.
fn mean<T, E>(n: usize, mut run: impl FnMut(usize) -> Result<T, E>) -> Result<Duration, E> {
    run(0)?;
    let start = Instant::now();
    for number in 1..=n {
        run(number)?;
    }
    Ok(start.elapsed() / n as u32)
}

fn timed<T, E>(run: impl FnOnce() -> Result<T, E>) -> Result<(T, Duration), E> {
    let start = Instant::now();
    let value = run()?;
    Ok((value, start.elapsed()))
}
