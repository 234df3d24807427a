//! Measures the time of learning, retrieving and opening in large playbooks, or in large vector memories.
//!
//! ```text
//! cargo run --release --no-default-features --example large -- [exact] 1000 10000 100000
//! cargo run --release --no-default-features --example large -- documents 1000 10000 100000
//! ```
//!
//! The numbers are sizes. `exact` uses the exact scan at every size; `documents` measures a `VectorMemory`. The playbook is full, so
//! that each new lesson evicts one. Vectors of 384 components in 50 clusters are computed from a hash of the text, so that the time of
//! the model is excluded. `learn, durable` is one lesson with its commit; `learn, the decision` is one more lesson in a batch.

#![allow(clippy::print_stdout, clippy::cast_possible_truncation, reason = "a program, not a library")]

use std::sync::Arc;
use std::time::Duration;

use adage::embed::{EmbedError, Role};
use adage::index::IndexKind;
use adage::ndarray::Array2;
use adage::retrieve::TierChoice;
use adage::{Config, Document, Embedder, LearnOutcome, LessonDraft, Lookup, Playbook, Request, TextHash, VectorMemory};
use adage_eval::Random;
use adage_eval::synthetic::{draft, solution, trigger, write_playbook};
use adage_eval::timing::timed;

type Failure = Box<dyn std::error::Error>;

const DIMENSION: usize = 384;
const N_CLUSTERS: u64 = 50;

/// A vector is the centre of a cluster plus noise, both derived from a hash of the text.
struct Clusters;

impl Embedder for Clusters {
    fn embed(&self, texts: &[&str], _: Role) -> Result<Array2<f32>, EmbedError> {
        let mut rows = Array2::zeros((texts.len(), DIMENSION));
        for (mut row, text) in rows.outer_iter_mut().zip(texts) {
            let seed = u64::from_le_bytes(TextHash::of(&[text]).as_bytes().first_chunk().copied().unwrap_or_default());
            let (mut centre, mut noise) = (Random(seed % N_CLUSTERS + 1), Random(seed | 1));
            for cell in &mut row {
                *cell = 2.0 * (centre.unit() + noise.unit()) as f32 - 2.0;
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

fn main() -> Result<(), Failure> {
    let mut words = std::env::args().skip(1).peekable();
    let kind = words.next_if(|word| word == "exact").map(|_| IndexKind::Exact);
    let is_of_documents = words.next_if(|word| word == "documents").is_some();
    let sizes: Vec<usize> = words.map(|size| size.parse()).collect::<Result<_, _>>()?;
    let sizes = if sizes.is_empty() { vec![1_000, 10_000] } else { sizes };
    if is_of_documents {
        println!("documents | added | open | first query | query | add");
        return sizes.into_iter().try_for_each(measure_vector_memory);
    }
    println!(
        "lessons | first learn | learn, durable | learn, the decision | first recall | recall | by words | cold start | open | first recall, stored"
    );
    sizes.into_iter().try_for_each(|size| measure_playbook(size, kind))
}

fn measure_playbook(size: usize, kind: Option<IndexKind>) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    write_playbook(folder.path(), size)?;
    let mut config = Config::default();
    // A million lessons are longer than what is read by default.
    config.store.max_file_bytes = 4 << 30;
    config.retention.capacity = size;
    config.index.kind = kind;
    let open = || Playbook::builder(folder.path()).with_embedder(Arc::new(Clusters)).with_config(config.clone()).open();
    let playbook = open()?;
    let [first_learn, learn, decision] = learn_times(&playbook, size)?;
    let [first_recall, recall, by_words, cold_start] = recall_times(&playbook)?;
    drop(playbook);
    // The state of a file younger than two seconds is not reused without reading it.
    std::thread::sleep(Duration::from_secs(2));
    open()?.get_playbook_context(about(5))?;
    let (reopened, opened) = timed(open)?;
    let (_, stored) = timed(|| reopened.get_playbook_context(about(5)))?;
    println!(
        "{size} | {first_learn:.2?} | {learn:.2?} | {decision:.2?} | {first_recall:.2?} | {recall:.2?} | {by_words:.2?} | {cold_start:.2?} | {opened:.2?} | {stored:.2?}"
    );
    Ok(())
}

/// The first learn, the fastest of five others, and the decision on one more lesson of a batch.
fn learn_times(playbook: &Playbook, size: usize) -> Result<[Duration; 3], Failure> {
    // Twice the number of rows that are added to a graph at once.
    const N_MORE: usize = 2_048;
    let mut next = size;
    let mut learn = |n: usize| {
        let drafts = (next..next + n).map(draft).collect();
        next += n;
        timed_learn(playbook, drafts)
    };
    let first = learn(1)?;
    let single = (0..5).map(|_| learn(1)).collect::<Result<Vec<_>, _>>()?.into_iter().min().unwrap_or_default();
    // A batch includes embedding, which is measured separately and subtracted.
    let texts: Vec<String> = (0..2 * N_MORE).map(|number| format!("text {number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (_, embedding) = timed(|| Clusters.embed(&texts, Role::Document))?;
    let decision = learn(N_MORE + 1)?.saturating_sub(single + embedding) / N_MORE as u32;
    Ok([first, single, decision])
}

fn timed_learn(playbook: &Playbook, drafts: Vec<LessonDraft>) -> Result<Duration, Failure> {
    let (learned, time) = timed(|| playbook.learn_lessons(drafts))?;
    // Some are kept distinct from a near lesson, which takes as long.
    let is_in_place = |learned: &&LearnOutcome| match learned {
        LearnOutcome::Inserted { evicted, .. } | LearnOutcome::Distinct { evicted, .. } => evicted.len() == 1,
        _ => false,
    };
    match learned.iter().find(|learned| !is_in_place(learned)) {
        Some(other) => Err(format!("a lesson did not evict exactly one other: {other:?}").into()),
        None => Ok(time),
    }
}

/// The first request, and the means of requests in the default tier, in the lexical tier and without a query.
fn recall_times(playbook: &Playbook) -> Result<[Duration; 4], Failure> {
    let (_, first) = timed(|| playbook.get_playbook_context(about(3)))?;
    let recall = mean(200, |number| playbook.get_playbook_context(about(7 * number)))?;
    let words = |number| about(7 * number).tier(TierChoice::Lexical);
    let by_words = mean(50, |number| playbook.get_playbook_context(words(number)))?;
    let cold_start = mean(50, |_| playbook.get_playbook_context(Request::cold_start().peek()))?;
    Ok([first, recall, by_words, cold_start])
}

fn about(number: usize) -> Request {
    Request::about(trigger(number)).peek()
}

/// Fills a vector memory with documents, opens it again and queries it.
fn measure_vector_memory(size: usize) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let open = || VectorMemory::builder(folder.path()).with_embedder(Arc::new(Clusters)).open();
    let document = |number: usize| Document::new(format!("d{number}"), trigger(number)).with("topic", solution(number));
    let ((), added) = timed(|| -> Result<(), Failure> {
        let memory = open()?;
        for batch in (0..size).collect::<Vec<_>>().chunks(1_000) {
            memory.add_all(batch.iter().map(|number| document(*number)))?;
        }
        Ok(memory.snapshot()?)
    })?;
    let (memory, opened) = timed(open)?;
    let about = |number: usize| Lookup::text(trigger(number)).limit(5);
    let (_, first) = timed(|| memory.query(&about(3)))?;
    let query = mean(200, |number| memory.query(&about(7 * number)))?;
    let add = mean(20, |number| memory.add(document(size + number)))?;
    println!("{size} | {added:.2?} | {opened:.2?} | {first:.2?} | {query:.2?} | {add:.2?}");
    Ok(())
}

/// The mean time of `n` calls, after one that is not counted.
fn mean<T, E>(n: usize, mut call: impl FnMut(usize) -> Result<T, E>) -> Result<Duration, E> {
    call(0)?;
    let ((), time) = timed(|| (1..=n).try_for_each(|number| call(number).map(drop)))?;
    Ok(time / n as u32)
}
