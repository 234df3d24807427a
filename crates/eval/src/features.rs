//! The evidence for each candidate of each question, one line of JSON per question and book: what `scripts/fit_gate.py` reads.

use std::collections::BTreeMap;
use std::io::Write;

use adage::{Request, TextHash};
use serde_json::{Value, json};

use crate::books::Book;
use crate::data::Question;
use crate::{Error, Random};

/// Candidates per question: the best by the product's own score, and the right ones.
const CANDIDATES: usize = 40;

/// Questions of one kind that want no lesson, per book.
const UNRELATED: usize = 150;

/// Writes the lines of one book; `set` is the name of the data, and the seed draws among unrelated questions.
///
/// # Errors
/// [`Error::Playbook`]; [`Error::Io`] with the name of the set for what cannot be written.
pub fn write_features(book: &Book, set: &str, seed: u64, out: &mut impl Write) -> Result<(), Error> {
    let playbook = book.open(|config| config.retrieval.candidates = 50)?;
    let mut by_kind: BTreeMap<&str, Vec<&Question>> = BTreeMap::new();
    for question in &book.questions {
        by_kind.entry(&question.kind).or_default().push(question);
    }
    let names: BTreeMap<_, &str> = book.ids.iter().map(|(name, id)| (*id, name.as_str())).collect();
    for questions in by_kind.into_values() {
        let is_unrelated = questions.first().is_some_and(|question| question.right.is_empty());
        let n = if is_unrelated { UNRELATED } else { questions.len() };
        for question in Random(seed).some(&questions, n) {
            let vector = book.embedder.vector(&question.text)?;
            let request = Request::about(question.text.clone()).with_vector(vector.clone()).peek().explain();
            let context = playbook.get_playbook_context(request)?;
            let right = book.right(question);
            let candidates: Vec<Value> = (context.considered.iter().enumerate())
                .filter(|(place, scored)| *place < CANDIDATES || right.contains(&scored.id))
                .filter_map(|(_, scored)| {
                    let (name, evidence) = (*names.get(&scored.id)?, scored.evidence?);
                    Some(json!({
                        "lesson": name, "relevant": right.contains(&scored.id),
                        "t": round(evidence.trigger?), "x": round(evidence.whole?), "f": round(evidence.words),
                        "g": round(evidence.grams), "c": round(evidence.coverage),
                        "m": round(evidence.mistake?),
                    }))
                })
                .collect();
            let split_by = question.right.first().map_or(question.id.as_str(), String::as_str);
            let half = TextHash::of(&[split_by]).as_bytes().first().map_or(0, |byte| byte % 2);
            let line = json!({
                "query": question.id, "kind": question.kind, "set": set, "n": book.ids.len(), "half": half,
                "n_words": question.text.split_whitespace().count(), "candidates": candidates,
            });
            writeln!(out, "{line}").map_err(Error::io(set))?;
        }
    }
    Ok(())
}

fn round(value: f32) -> f64 {
    (f64::from(value) * 1e4).round() / 1e4
}
