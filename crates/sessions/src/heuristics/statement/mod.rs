//! Whether a turn that a person typed is a correction, a rule, a fact or a preference (docs/spec/capture.md, 2).
//!
//! Each turn has named cues: its words, alone and in pairs, its shape, what was done just before, and what the agent says next.
//! Weights per cue, fitted on labelled turns by `scripts/fit_statements.py`, give the probability that the turn is such a statement,
//! the probability that it holds beyond the session, and, for each of its sentences, the probability that it makes the statement.

mod cues;
mod weights;
mod words;

use std::ops::Range;

use adage_transcript::{Transcript, Turn};
use serde::Serialize;
use unicode_segmentation::UnicodeSegmentation;

use super::error_line::never_ran;
use super::{Sentence, sentences};
use weights::{Probabilities, Weights};

/// A turn that a person typed, with the probability that it is a statement: a correction, a rule, a fact or a preference.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Statement {
    /// The turn, from 0.
    pub turn: usize,
    /// The typed words, without pasted text.
    pub words: String,
    /// The probability that it is a correction, a rule, a fact or a preference; from 0 to 1.
    pub probability: f64,
    /// The probability that it is one that holds beyond the session; from 0 to 1.
    pub durable: f64,
    /// The cues behind the probabilities, sorted.
    pub cues: Vec<String>,
    /// The sentences that a person typed, in order.
    pub sentences: Vec<StatedSentence>,
}

/// A sentence of a turn.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StatedSentence {
    /// Its range in the turn, in bytes.
    pub range: Range<usize>,
    /// The probability that it makes the turn's statement; from 0 to 1.
    pub says: f64,
    /// The cues behind the probability, sorted.
    pub cues: Vec<String>,
}

/// What was done since the previous turn of the person.
#[derive(Clone, Debug, Default)]
struct Before<'t> {
    is_first: bool,
    n_edits: usize,
    n_commands: usize,
    is_interrupted: bool,
    is_refused: bool,
    /// The agent's last text.
    said: Option<&'t str>,
}

/// The most turns that are read as statements; of more, the last ones. Nobody types so many in a session, and each takes
/// kilobytes.
const MAX_READ: usize = 5_000;

/// The turns that a person typed, in order, with their probabilities; of more than 5,000, the last ones. Linear in the length of the
/// transcript.
#[must_use]
pub fn statements(transcript: &Transcript) -> Vec<Statement> {
    let weights = Weights::fitted();
    let mut statements = Vec::new();
    let mut before = Before { is_first: true, ..Before::default() };
    let mut n_unread = transcript.user_turns().count().saturating_sub(MAX_READ);
    for (turn, said) in transcript.turns.iter().enumerate() {
        match said {
            Turn::Assistant(text) => before.said = Some(text),
            Turn::System(text) => before.is_interrupted |= text.contains("[Request interrupted"),
            Turn::ToolCall(call) => {
                let is_refused = call.result.as_deref().is_some_and(never_ran);
                before.is_refused = is_refused;
                before.is_interrupted |= call.result.as_deref().is_some_and(|r| r.contains("[Request interrupted"));
                before.n_edits += usize::from(call.changes_files() && !is_refused);
                before.n_commands += usize::from(call.command().is_some());
            }
            Turn::User(_) if n_unread > 0 => {
                n_unread -= 1;
                before = Before::default();
            }
            Turn::User(text) => {
                let sentences = sentences(text);
                let words = typed(&sentences);
                let mut context = shape(text, &words, sentences.len(), &before);
                context.extend(after(transcript.turns.get(turn + 1..).unwrap_or_default()));
                let cues = with_words(&words, &context);
                let Probabilities { tells, holds, .. } = weights.probabilities(&cues);
                let sentences = sentences.iter().map(|sentence| StatedSentence::read(sentence, &context)).collect();
                statements.push(Statement { turn, words, probability: tells, durable: holds, cues, sentences });
                before = Before::default();
            }
        }
    }
    statements
}

impl StatedSentence {
    fn read(sentence: &Sentence<'_>, context: &[String]) -> Self {
        let mut cues = with_words(sentence.text, context);
        cues.push("a_sentence".to_owned());
        Self { range: sentence.start..sentence.end(), says: Weights::fitted().probabilities(&cues).says, cues }
    }
}

/// The cues of words together with others, sorted, each once.
fn with_words(words: &str, others: &[String]) -> Vec<String> {
    let named = cues::of_words(words).map(str::to_owned);
    let mut cues: Vec<String> = named.chain(words::of_words(words)).chain(others.iter().cloned()).collect();
    cues.sort_unstable();
    cues.dedup();
    cues
}

/// The named cues of a text, without single words and pairs.
pub(super) fn cues_of(words: &str) -> impl Iterator<Item = &'static str> {
    cues::of_words(words)
}

/// What was typed, in one line.
fn typed(sentences: &[Sentence<'_>]) -> String {
    let sentences: Vec<&str> = sentences.iter().map(|sentence| sentence.text).collect();
    sentences.join(" ")
}

/// The cues of a turn's shape and of what was done before it.
fn shape(text: &str, words: &str, n_sentences: usize, before: &Before<'_>) -> Vec<String> {
    let n_words = words.unicode_words().count();
    let shapes = [
        ("words_up_to_4", n_words <= 4),
        ("words_5_to_12", (5..=12).contains(&n_words)),
        ("words_13_to_30", (13..=30).contains(&n_words)),
        ("words_31_to_80", (31..=80).contains(&n_words)),
        ("words_over_80", n_words > 80),
        ("mostly_pasted", words.len() * 2 < text.trim().len()),
        ("ends_asking", words.ends_with(['?', '？'])),
        ("asks", words.contains(['?', '？'])),
        ("exclaims", words.contains(['!', '！'])),
        ("shouts", words.unicode_words().any(shouts)),
        ("names_code", words.contains('`') || words.split_whitespace().any(is_name)),
        ("slash_command", text.trim_start().starts_with('/')),
        ("several_sentences", n_sentences > 2),
        ("first_turn", before.is_first),
        ("after_edits", before.n_edits > 0),
        ("after_commands", before.n_commands > 0),
        ("after_nothing", before.n_edits + before.n_commands == 0 && !before.is_first),
        ("interrupted", before.is_interrupted),
        ("refused", before.is_refused),
        ("agent_asked", before.said.is_some_and(|said| said.trim_end().ends_with('?'))),
    ];
    shapes.into_iter().filter(|(_, holds)| *holds).map(|(name, _)| name.to_owned()).collect()
}

/// True for a word in capitals that is longer than most abbreviations.
fn shouts(word: &str) -> bool {
    word.chars().count() > 4 && word.chars().all(char::is_uppercase)
}

/// True for a path, a file, a flag or an identifier.
fn is_name(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-');
    let is_flag = word.starts_with("--") && word.len() > 3;
    let is_path = word.contains('/') && word.len() > 3;
    let is_dotted = word.split_once('.').is_some_and(|(a, b)| a.len() > 1 && b.starts_with(char::is_alphabetic));
    is_flag || is_path || is_dotted || (word.contains('_') && word.len() > 3) || word.contains("::")
}

/// The cues of what the agent says and does before the next turn of the person.
fn after(turns: &[Turn]) -> Vec<String> {
    let mut cues: Vec<String> = Vec::new();
    let mut is_said = false;
    for said in turns {
        match said {
            Turn::User(_) => break,
            Turn::Assistant(text) if !is_said && !text.trim().is_empty() => {
                is_said = true;
                let opening: String = text.chars().take(400).collect();
                cues.extend(cues::of_reply(&opening).map(str::to_owned));
                cues.extend(words::of_reply(&opening));
            }
            Turn::ToolCall(call) if call.changes_files() => cues.push("edits_next".to_owned()),
            Turn::System(text) if text.contains("[Request interrupted") => cues.push("interrupted_next".to_owned()),
            _ => {}
        }
    }
    cues
}

#[cfg(test)]
mod tests;
