//! The evidence for each candidate of each question, one line of JSON per question and playbook: the input of
//! `scripts/fit_gate.py`.

use std::collections::BTreeMap;
use std::io::Write;

use adage::{Request, TextHash};
use serde_json::{Value, json};

use crate::dataset::Question;
use crate::sampling::SampledPlaybook;
use crate::{Error, Random};

/// Candidates per question: the best by the score of the library, and all relevant ones.
const N_CANDIDATES: usize = 40;

/// Unrelated questions of one kind, per playbook.
const N_UNRELATED: usize = 150;

/// Writes the lines of one playbook. `set` is the name of the data set; `seed` draws unrelated questions, at most 150 of each kind.
///
/// # Errors
/// [`Error::Playbook`]; [`Error::Io`], with `set` as its path, if `out` cannot be written.
pub fn write_features(playbook: &SampledPlaybook, set: &str, seed: u64, out: &mut impl Write) -> Result<(), Error> {
    let handle = playbook.open(|config| config.retrieval.candidates = 50)?;
    let mut by_kind: BTreeMap<&str, Vec<&Question>> = BTreeMap::new();
    for question in &playbook.questions {
        by_kind.entry(&question.kind).or_default().push(question);
    }
    let names: BTreeMap<_, &str> = playbook.ids.iter().map(|(name, id)| (*id, name.as_str())).collect();
    for questions in by_kind.into_values() {
        let is_unrelated = questions.first().is_some_and(|question| question.relevant.is_empty());
        let n = if is_unrelated { N_UNRELATED } else { questions.len() };
        for question in Random(seed).sample(&questions, n) {
            let vector = playbook.embedder.vector(&question.text)?;
            let request = Request::about(question.text.clone()).with_vector(vector.clone()).peek().explain();
            let context = handle.get_playbook_context(request)?;
            let relevant = playbook.relevant(question);
            let candidates: Vec<Value> = (context.considered.iter().enumerate())
                .filter(|(place, scored)| *place < N_CANDIDATES || relevant.contains(&scored.id))
                .filter_map(|(_, scored)| {
                    let (name, signals) = (*names.get(&scored.id)?, scored.signals?);
                    Some(json!({
                        "lesson": name, "relevant": relevant.contains(&scored.id),
                        "t": round(signals.trigger?), "x": round(signals.whole?), "f": round(signals.words),
                        "g": round(signals.grams), "c": round(signals.coverage),
                        "m": round(signals.mistake?), "name": round(signals.name),
                    }))
                })
                .collect();
            let split_by = question.relevant.first().map_or(question.id.as_str(), String::as_str);
            let half = TextHash::of(&[split_by]).as_bytes().first().map_or(0, |byte| byte % 2);
            let line = json!({
                "query": question.id, "kind": question.kind, "set": set, "n": playbook.ids.len(), "half": half,
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
