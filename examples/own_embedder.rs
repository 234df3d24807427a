//! Implements `Embedder`: a small one, which knows some concepts of software operations and the words for them. Shows synonyms,
//! a faulty embedder, and a new fingerprint.
//!
//! ```text
//! cargo run --no-default-features --example own_embedder
//! ```
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error as StdError;
use std::path::Path;
use std::sync::Arc;

use adage::embed::{EmbedError, Role};
use adage::index::VectorError;
use adage::retrieve::TierChoice;
use adage::{Embedder, Error, Playbook, Request, TextHash, Tier, build_lesson};
use ndarray::Array2;

/// Each concept is one component of a vector; a word that begins with one of these adds to it.
const CONCEPTS: [&[&str]; 6] = [
    &["deploy", "release", "rollout", "ship", "publish"],
    &["cluster", "kubernetes", "k8s", "node", "server"],
    &["database", "postgres", "sql", "table", "schema"],
    &["migrat", "alter", "upgrade", "convert"],
    &["credential", "secret", "password", "token", "key"],
    &["log", "trace", "print", "output"],
];

/// Counts concepts. Other words count a little, by their first letter, so that no text has a zero vector and unknown texts differ.
struct Concepts {
    /// Words of a newer version, each with its component.
    more_words: &'static [(&'static str, usize)],
}

impl Concepts {
    fn component(&self, word: &str) -> Option<usize> {
        let known = CONCEPTS.iter().position(|concept| concept.iter().any(|known| word.starts_with(known)));
        known.or_else(|| {
            self.more_words.iter().find(|(more, _)| word.starts_with(more)).map(|(_, component)| *component)
        })
    }
}

impl Embedder for Concepts {
    fn embed(&self, texts: &[&str], _: Role) -> Result<Array2<f32>, EmbedError> {
        let mut rows = Array2::zeros((texts.len(), self.dimension()?));
        for (mut row, text) in rows.outer_iter_mut().zip(texts) {
            let text = text.to_lowercase();
            for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
                let letter = word.bytes().next().map_or(0, usize::from) % 26;
                let (component, weight) =
                    self.component(word).map_or((CONCEPTS.len() + letter, 0.1), |component| (component, 1.0));
                if let Some(cell) = row.get_mut(component) {
                    *cell += weight;
                }
            }
        }
        Ok(rows)
    }

    /// It must change whenever the vectors of a text change.
    fn fingerprint(&self) -> TextHash {
        TextHash::of(&[format!("concepts, first letters, {CONCEPTS:?}, {:?}", self.more_words)])
    }

    fn dimension(&self) -> Result<usize, EmbedError> {
        Ok(CONCEPTS.len() + 26)
    }
}

/// An embedder with a fault: its vectors are one component short, or hold a NaN.
enum Faulty {
    Short,
    NotANumber,
}

impl Embedder for Faulty {
    fn embed(&self, texts: &[&str], _: Role) -> Result<Array2<f32>, EmbedError> {
        Ok(match self {
            Self::Short => Array2::ones((texts.len(), 31)),
            Self::NotANumber => Array2::from_elem((texts.len(), 32), f32::NAN),
        })
    }

    fn fingerprint(&self) -> TextHash {
        TextHash::of(&["faulty"])
    }

    fn dimension(&self) -> Result<usize, EmbedError> {
        Ok(32)
    }
}

fn main() -> Result<(), Box<dyn StdError>> {
    let folder = tempfile::tempdir()?;
    let playbook = open(folder.path(), Concepts { more_words: &[] })?;
    playbook.learn_lessons([
        build_lesson("releasing to the cluster", "Wait for the readiness probe before sending traffic."),
        build_lesson("altering a large table", "Add the column without a default, then fill it in batches."),
        build_lesson("passwords in the output", "Mask them where the line is written, not where it is read."),
    ])?;
    find_synonyms(&playbook)?;
    report_faults(folder.path())?;
    change_the_fingerprint(&playbook, folder.path())
}

fn open(folder: &Path, embedder: impl Embedder + 'static) -> Result<Playbook, Error> {
    Playbook::builder(folder).with_embedder(Arc::new(embedder)).open()
}

fn find_synonyms(playbook: &Playbook) -> Result<(), Box<dyn StdError>> {
    println!("Synonyms, which words alone do not find:");
    for (query, trigger) in [
        ("how do I ship this to kubernetes?", "releasing to the cluster"),
        ("migrate the postgres schema", "altering a large table"),
        ("an API token was printed", "passwords in the output"),
    ] {
        let by_vector = playbook.get_playbook_context(Request::about(query).peek())?;
        let by_words = playbook.get_playbook_context(Request::about(query).tier(TierChoice::Lexical).peek())?;
        let (first, distance) = match by_vector.lessons.first() {
            Some(first) => (first.trigger.as_str(), first.distance.unwrap_or(f32::NAN)),
            None => return Err(format!("nothing was found for {query:?}").into()),
        };
        assert_eq!((by_vector.tier, first), (Tier::Vector, trigger));
        assert!(by_words.lessons.is_empty(), "{query:?} shares no word with the lesson");
        println!("  {distance:.3}  {query:34}  {trigger}");
    }
    Ok(())
}

/// A request that requires vectors fails; any other is answered by words.
fn report_faults(folder: &Path) -> Result<(), Box<dyn StdError>> {
    println!("\nA faulty embedder, in a request that requires vectors and in one that does not:");
    let query = "releasing a new cluster";
    for (faulty, expected) in [
        (Faulty::Short, VectorError::Dimension { found: 31, expected: 32 }),
        (Faulty::NotANumber, VectorError::NotFinite { position: 0 }),
    ] {
        let playbook = open(folder, faulty)?;
        match playbook.get_playbook_context(Request::about(query).tier(TierChoice::Vector)) {
            Err(Error::Embed(error @ EmbedError::BadRow { reason, .. })) => {
                assert_eq!(reason, expected);
                println!("  error     {error}");
            }
            other => return Err(format!("a bad vector was accepted: {other:?}").into()),
        }
        let by_words = playbook.get_playbook_context(query)?;
        assert_eq!((by_words.tier, by_words.lessons.len()), (Tier::Lexical, 1), "words answer instead");
        println!("  by words  {}", by_words.lessons.iter().map(|lesson| lesson.trigger.as_str()).collect::<String>());
    }
    Ok(())
}

/// Vectors of two fingerprints are never compared: a newer version of the embedder embeds all texts again.
fn change_the_fingerprint(playbook: &Playbook, folder: &Path) -> Result<(), Box<dyn StdError>> {
    println!("\nA new fingerprint, for two more words:");
    assert_eq!(playbook.warm_up()?, 0, "all vectors are stored");
    let request = Request::about("bump the db").peek();
    assert!(playbook.get_playbook_context(request.clone())?.lessons.is_empty(), "the first version knows neither word");
    let newer = open(folder, Concepts { more_words: &[("db", 2), ("bump", 3)] })?;
    let n_embedded = newer.warm_up()?;
    assert_eq!(n_embedded, 6, "the trigger and the whole text of each lesson");
    let context = newer.get_playbook_context(request)?;
    assert_eq!(context.lessons.first().map(|first| first.trigger.as_str()), Some("altering a large table"));
    println!("  {n_embedded} texts embedded again; \"bump the db\" now finds \"altering a large table\"");
    Ok(())
}
