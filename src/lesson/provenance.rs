//! The origin of a lesson, and whether it may be shown (docs/spec/playbook.md, 2; docs/spec/capture.md, 5).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{LessonId, RecoveryEvidence, TextHash};

/// Who created a lesson.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// A person, or the host on a person's behalf, called `learn_lesson`: its `source` is empty or `user`.
    #[default]
    Hand,
    /// A program: any other `source`, or an unknown origin.
    Program,
    /// The agent, in self-play.
    SelfPlay,
    /// Mined from a transcript.
    Mined,
    /// Read from another playbook or file.
    Imported,
}

impl Origin {
    /// True if no person looked at the lesson before it was learned. Such a lesson never evicts one written by hand.
    #[must_use]
    pub fn is_automatic(self) -> bool {
        matches!(self, Self::Program | Self::SelfPlay | Self::Mined)
    }

    /// The origin given by a row's `source`. Only a missing or empty source and exactly `user` stand for a person; null does
    /// not.
    pub(super) fn of_source(source: Option<&Value>) -> Self {
        match source {
            None => Self::Hand,
            Some(Value::String(word)) if word.is_empty() || word == "user" => Self::Hand,
            Some(word) => {
                word.as_str().and_then(Self::parse).filter(|origin| *origin != Self::Hand).unwrap_or(Self::Program)
            }
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "hand" => Self::Hand,
            "program" => Self::Program,
            "self_play" => Self::SelfPlay,
            "mined" => Self::Mined,
            "imported" => Self::Imported,
            _ => return None,
        })
    }

    /// The stated origin; without one, that of the source. A row with a program's source is never by hand.
    fn read(word: Option<&Value>, by_source: Self) -> Option<Self> {
        match word {
            None => Some(by_source),
            Some(word) => match Self::parse(word.as_str()?)? {
                Self::Hand => Some(by_source),
                origin => Some(origin),
            },
        }
    }
}

/// Whether the lesson may come from untrusted content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Nothing untrusted was read before the text that the lesson is taken from.
    #[default]
    Trusted,
    /// The session had read untrusted content. The lesson awaits review until a person promotes exactly this text.
    Tainted,
}

/// A quote of the user that a lesson is based on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The user's words, verbatim.
    pub quote: String,
    /// The turn of the session, counted from 0.
    pub turn: usize,
    /// The character range `[start, end)` of the quote in that turn.
    pub range: (usize, usize),
}

/// Where a lesson comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// Who created it.
    pub origin: Origin,
    /// The session that it was mined from, or the file that it was imported from; empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// Whether it may come from untrusted content.
    pub trust: Trust,
    /// The user's words that it is based on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// The hash of the text that the evidence was given for: the lesson's [`shown_hash`](super::Lesson::shown_hash) at that time. A row
    /// of an earlier version has none; its evidence counts for the text that it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<TextHash>,
    /// The passages of the session that prove a recovery, if a model proposed it. They confirm nothing: it awaits review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryEvidence>,
    /// The hash of what a person was shown and promoted: the lesson's [`shown_hash`](super::Lesson::shown_hash) at that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promoted: Option<TextHash>,
    /// The lesson that it replaces, as stated by a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<LessonId>,
    /// Unknown keys; they are kept when the lesson is written again.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The keys of a provenance.
pub(crate) const PROVENANCE_KEYS: [&str; 8] =
    ["origin", "session", "trust", "evidence", "confirmed", "recovery", "promoted", "supersedes"];

impl Provenance {
    /// Reads a row's `provenance`; if there is none, it follows from the source.
    ///
    /// Any value of `trust` other than `trusted` is read as tainted, and so is a provenance that is not an object: a typing
    /// error hides a lesson instead of showing a tainted one. An unknown origin is kept as `unread_origin`.
    pub(super) fn from_row(value: Option<&Value>, by_source: Origin) -> Self {
        let row = match value {
            None => return Self { origin: by_source, ..Self::default() },
            Some(Value::Object(row)) => row,
            Some(_) => return Self { origin: Origin::Program, trust: Trust::Tainted, ..Self::default() },
        };
        let text = |key: &str| row.get(key).and_then(Value::as_str);
        let origin = Origin::read(row.get("origin"), by_source);
        let unread =
            row.get("origin").filter(|_| origin.is_none()).map(|word| ("unread_origin".to_owned(), word.clone()));
        let is_unknown = |(key, _): &(&String, &Value)| !PROVENANCE_KEYS.contains(&key.as_str());
        let unknown = row.iter().filter(is_unknown).map(|(key, value)| (key.clone(), value.clone()));
        Self {
            origin: origin.unwrap_or(Origin::Program),
            session: text("session").unwrap_or_default().to_owned(),
            trust: match row.get("trust") {
                None => Trust::Trusted,
                Some(Value::String(word)) if word == "trusted" => Trust::Trusted,
                Some(_) => Trust::Tainted,
            },
            evidence: read_evidence(row),
            confirmed: text("confirmed").and_then(|hash| hash.parse().ok()),
            recovery: row.get("recovery").and_then(|value| RecoveryEvidence::deserialize(value).ok()),
            promoted: text("promoted").and_then(|hash| hash.parse().ok()),
            supersedes: text("supersedes").and_then(|id| id.parse().ok()),
            extra: unknown.chain(unread).collect(),
        }
    }
}

fn read_evidence(row: &Map<String, Value>) -> Vec<Evidence> {
    let quotes = row.get("evidence").and_then(Value::as_array);
    quotes.into_iter().flatten().filter_map(|quote| Evidence::deserialize(quote).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn anything_but_the_word_trusted_taints() {
        for (trust, expected) in
            [(json!("trusted"), Trust::Trusted), (json!("Trusted"), Trust::Tainted), (json!(null), Trust::Tainted)]
        {
            assert_eq!(Provenance::from_row(Some(&json!({ "trust": trust })), Origin::Hand).trust, expected);
        }
        assert_eq!(Provenance::from_row(Some(&json!({})), Origin::Hand).trust, Trust::Trusted);
    }

    #[test]
    fn by_hand_is_an_empty_source_or_user_exactly() {
        for (source, expected) in [
            (json!(""), Origin::Hand),
            (json!("user"), Origin::Hand),
            (json!("hand"), Origin::Program),
            (json!("User"), Origin::Program),
            (json!(" "), Origin::Program),
            (json!("agent"), Origin::Program),
            (json!(null), Origin::Program),
            (json!(["user"]), Origin::Program),
            (json!("self_play"), Origin::SelfPlay),
            (json!("mined"), Origin::Mined),
            (json!("imported"), Origin::Imported),
        ] {
            assert_eq!(Origin::of_source(Some(&source)), expected, "{source}");
        }
        assert_eq!(Origin::of_source(None), Origin::Hand);
    }

    #[test]
    fn an_origin_reduces_trust_and_never_adds_any() {
        let origin = |word: Value, by_source| Provenance::from_row(Some(&json!({ "origin": word })), by_source).origin;
        assert_eq!(origin(json!("mined"), Origin::Hand), Origin::Mined);
        assert_eq!(origin(json!("hand"), Origin::Hand), Origin::Hand);
        assert_eq!(origin(json!("hand"), Origin::Program), Origin::Program);
        for word in [json!("Hand"), json!("human"), json!(""), json!(5), json!(null), json!(["hand"])] {
            let read = Provenance::from_row(Some(&json!({ "origin": word })), Origin::Hand);
            assert_eq!((read.origin, read.extra.get("unread_origin")), (Origin::Program, Some(&word)));
        }
    }
}
