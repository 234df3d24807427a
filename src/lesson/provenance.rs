//! Where a lesson comes from and whether it may be shown (docs/spec/playbook.md, 2; docs/spec/capture.md, 5).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{LessonId, TextHash};

/// Who brought a lesson in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// A person, or the host on a person's behalf, called `learn_lesson`.
    #[default]
    Hand,
    /// The agent practised against itself.
    SelfPlay,
    /// Found in a transcript.
    Mined,
    /// Read from another playbook or file.
    Imported,
}

impl Origin {
    /// True when no person looked at the lesson before it was learned. Such lessons never push out hand-written ones.
    #[must_use]
    pub fn is_automatic(self) -> bool {
        matches!(self, Self::SelfPlay | Self::Mined)
    }

    fn parse(text: &str) -> Self {
        match text {
            "self_play" => Self::SelfPlay,
            "mined" => Self::Mined,
            "imported" => Self::Imported,
            _ => Self::Hand,
        }
    }
}

/// Whether untrusted content could have shaped the lesson.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Nothing untrusted was read before the lesson was drawn.
    #[default]
    Trusted,
    /// The session had read untrusted content. Sticky: waits for review until a person promotes exactly this text.
    Tainted,
}

/// A span of a user's turn that a lesson stands on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The user's words, verbatim.
    pub quote: String,
    /// Which turn of the session, from 0.
    pub turn: usize,
    /// Character range `[start, end)` of the quote in that turn.
    pub range: (usize, usize),
}

/// Where a lesson comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// Who brought it in.
    pub origin: Origin,
    /// The session it was drawn from, empty when there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// Whether untrusted content could have shaped it.
    pub trust: Trust,
    /// The user's words that it stands on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// The hash of what a person was shown and promoted: the lesson's [`shown_hash`](super::Lesson::shown_hash) at that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promoted: Option<TextHash>,
    /// The lesson that it takes the place of, where a model said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<LessonId>,
    /// Keys that this version does not know; kept through every rewrite.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The keys of a provenance.
const KNOWN: [&str; 6] = ["origin", "session", "trust", "evidence", "promoted", "supersedes"];

impl Provenance {
    /// Reads a row's `provenance`, or derives it from its `source` when there is none.
    ///
    /// Whatever stands under `trust` other than the word `trusted` is read as tainted: a typing error hides a lesson
    /// rather than showing a tainted one.
    pub(super) fn from_row(value: Option<&Value>, source: &str) -> Self {
        let Some(Value::Object(row)) = value else {
            return Self { origin: Origin::parse(source), ..Self::default() };
        };
        let text = |key: &str| row.get(key).and_then(Value::as_str);
        Self {
            origin: text("origin").map_or_else(|| Origin::parse(source), Origin::parse),
            session: text("session").unwrap_or_default().to_owned(),
            trust: match row.get("trust") {
                None => Trust::Trusted,
                Some(Value::String(word)) if word == "trusted" => Trust::Trusted,
                Some(_) => Trust::Tainted,
            },
            evidence: read_evidence(row),
            promoted: text("promoted").and_then(|hash| hash.parse().ok()),
            supersedes: text("supersedes").and_then(|id| id.parse().ok()),
            extra: row
                .iter()
                .filter(|(key, _)| !KNOWN.contains(&key.as_str()))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
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
            assert_eq!(Provenance::from_row(Some(&json!({ "trust": trust })), "").trust, expected);
        }
        assert_eq!(Provenance::from_row(Some(&json!({})), "").trust, Trust::Trusted);
    }

    #[test]
    fn the_source_tells_the_origin_when_nothing_else_does() {
        assert_eq!(Provenance::from_row(None, "self_play").origin, Origin::SelfPlay);
        assert_eq!(Provenance::from_row(Some(&json!({"origin": "mined"})), "user").origin, Origin::Mined);
        assert_eq!(Provenance::from_row(None, "user").origin, Origin::Hand);
    }
}
