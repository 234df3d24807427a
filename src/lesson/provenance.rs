//! Where a lesson comes from and whether it may be shown (docs/spec/playbook.md, 2; docs/spec/capture.md, 5).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{LessonId, TextHash};

/// Who brought a lesson in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// A person, or the host on a person's behalf, called `learn_lesson`: its `source` is empty or `user`.
    #[default]
    Hand,
    /// A program: any other `source`, or an origin that is not known.
    Program,
    /// The agent practised against itself.
    SelfPlay,
    /// Found in a transcript.
    Mined,
    /// Read from another playbook or file.
    Imported,
}

impl Origin {
    /// True when no person looked at the lesson before it was learned. Such lessons never evict hand-written ones.
    #[must_use]
    pub fn is_automatic(self) -> bool {
        matches!(self, Self::Program | Self::SelfPlay | Self::Mined)
    }

    /// What a row's `source` says. Only no source, an empty one and exactly `user` are a person's; null is not.
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

    /// What a provenance says, and where it says nothing, the source. A row whose source is a program's is not by hand.
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

/// Whether untrusted content could have shaped the lesson.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Nothing untrusted was read before the lesson was drawn.
    #[default]
    Trusted,
    /// The session had read untrusted content. Sticky: awaits review until a person promotes exactly this text.
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
    /// Whether it may come from untrusted content.
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
pub(crate) const PROVENANCE_KEYS: [&str; 6] = ["origin", "session", "trust", "evidence", "promoted", "supersedes"];

impl Provenance {
    /// Reads a row's `provenance`; where there is none, its source says it all.
    ///
    /// Whatever is under `trust` other than the word `trusted` is read as tainted, and so is a provenance that is not an object:
    /// a typing error hides a lesson rather than showing a tainted one. An origin that is not known is kept as `unread_origin`.
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
    fn an_origin_takes_trust_away_and_never_adds_any() {
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
