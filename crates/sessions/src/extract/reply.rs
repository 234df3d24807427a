//! Strict parsing of a model's answer: a decision, then proposals.

use adage_redact::one_line;
use serde::Serialize;

use super::{json, tags};
use adage::lesson::WaysIn;

/// Words by which a model declines to learn.
const DECLINES: [&str; 3] = ["NOTHING", "SKIP", "NONE"];

/// A readable answer.
#[derive(Debug, PartialEq)]
pub(super) enum Reply {
    /// There is something to learn.
    Learn(Proposals),
    /// There is nothing to learn, whatever else the answer contains.
    Nothing,
}

/// What a model proposes, each list in its order.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Proposals {
    /// Lessons that rest on words of the user.
    pub(super) lessons: Vec<Result<Proposal, Malformed>>,
    /// Lessons that rest on a failure, a remedy and a success in the record.
    pub(super) recoveries: Vec<Result<RecoveryProposal, Malformed>>,
}

impl Proposals {
    pub(super) fn is_empty(&self) -> bool {
        self.lessons.is_empty() && self.recoveries.is_empty()
    }
}

/// A lesson as proposed by the model, not checked yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Proposal {
    pub(super) trigger: String,
    pub(super) rule: String,
    pub(super) mistake: String,
    pub(super) confidence: Confidence,
    pub(super) tags: Vec<String>,
    pub(super) ways_in: WaysIn,
    pub(super) evidence: String,
    /// A known lesson, by the number that it was shown with.
    pub(super) supersedes: Option<usize>,
}

/// A recovery as proposed by the model, not checked yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RecoveryProposal {
    pub(super) trigger: String,
    pub(super) mistake: String,
    pub(super) solution: String,
    pub(super) tags: Vec<String>,
    pub(super) ways_in: WaysIn,
    pub(super) failure: Citation,
    pub(super) remedies: Vec<Citation>,
    pub(super) success: Citation,
}

/// A quote of a turn, by the number that the turn was shown with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Citation {
    pub(super) turn: usize,
    pub(super) quote: String,
}

/// How sure the model says that it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Confidence {
    /// The person corrected the assistant directly.
    High,
    /// Any other value.
    #[default]
    Medium,
}

impl Confidence {
    pub(super) fn parse(word: &str) -> Self {
        if word == "high" { Self::High } else { Self::Medium }
    }

    /// As a lesson's confidence; the earlier extractor's numbers.
    pub(super) fn value(self) -> f64 {
        match self {
            Self::High => 0.9,
            Self::Medium => 0.6,
        }
    }
}

/// A proposal that does not have the requested form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Malformed {
    pub(super) excerpt: String,
    pub(super) reason: String,
}

/// Why an answer cannot be parsed. None of it is used then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Unreadable {
    /// There is no text in it.
    #[error("it is empty")]
    Empty,
    /// It exceeds the maximum size.
    #[error("it has {n_bytes} bytes, at most {max} are read")]
    TooLong {
        /// Its length.
        n_bytes: usize,
        /// The maximum size in bytes.
        max: usize,
    },
    /// It is neither a JSON object with a decision nor in the older format with tags.
    #[error("it has no decision: {reason}")]
    NoDecision {
        /// What was found instead.
        reason: String,
    },
    /// Its decision is not one of the requested words.
    #[error("its decision is {word:?}, which is neither LEARN nor NOTHING")]
    OtherDecision {
        /// The word.
        word: String,
    },
    /// It decides more than once.
    #[error("it decides more than once")]
    Undecided,
    /// Its `lessons` and its `recoveries` are not lists.
    #[error("it decides LEARN, and its lessons are not a list")]
    NoList,
}

/// Reads an answer: one JSON object, alone or in a code fence or after some words, else the older form with tags.
pub(super) fn read(reply: &str) -> Result<Reply, Unreadable> {
    let reply = without_thoughts(reply);
    if reply.trim().is_empty() {
        return Err(Unreadable::Empty);
    }
    match json::read(reply) {
        Err(Unreadable::NoDecision { reason }) => tags::read(reply).unwrap_or(Err(Unreadable::NoDecision { reason })),
        result => result,
    }
}

/// True for LEARN, false for a word that declines.
pub(super) fn decides_to_learn(word: &str) -> Result<bool, Unreadable> {
    match word.trim() {
        "LEARN" => Ok(true),
        word if DECLINES.contains(&word) => Ok(false),
        word => Err(Unreadable::OtherDecision { word: excerpt(word) }),
    }
}

/// The number of a known lesson, as `3`, `L3` or `#3`.
pub(super) fn lesson_number(text: &str) -> Option<usize> {
    text.trim().trim_start_matches(['L', '#']).parse().ok()
}

/// The number of a turn, as `12`, `turn 12` or `#12`.
pub(super) fn turn_number(text: &str) -> Option<usize> {
    let text = text.trim();
    text.strip_prefix("turn").unwrap_or(text).trim().trim_start_matches('#').parse().ok()
}

/// Enough of a text to recognise it.
pub(super) fn excerpt(text: &str) -> String {
    one_line(text, 120)
}

/// Removes the reasoning that some models write before the answer.
fn without_thoughts(reply: &str) -> &str {
    let start = reply.trim_start();
    let rest = start.strip_prefix("<think>").and_then(|thoughts| thoughts.split_once("</think>"));
    rest.map_or(reply, |(_, answer)| answer)
}
