//! The lines of the usage files (docs/spec/folder-format.md, 3).

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use super::checksum;
use crate::learn::feedback::Feedback;
use crate::lesson::{LessonId, ReceiptId, TextHash};

/// A lesson, and the hash of its text.
pub(crate) type Text = (LessonId, TextHash);

/// One line of a usage file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "Fields")]
pub(crate) enum Event {
    /// Lessons were shown.
    Shown { receipt: ReceiptId, shown: Vec<Text>, at: DateTime<FixedOffset> },
    /// The task for which they were shown ended.
    Outcome {
        #[serde(rename = "outcome")]
        receipt: ReceiptId,
        #[serde(rename = "verdict")]
        feedback: Feedback,
        at: DateTime<FixedOffset>,
    },
    /// Lessons were credited by id, whatever the receipt: their open retrievals since `since`, or all of them, get this
    /// feedback.
    Credited {
        #[serde(rename = "credit")]
        texts: Vec<Text>,
        #[serde(rename = "verdict")]
        feedback: Feedback,
        at: DateTime<FixedOffset>,
        #[serde(skip_serializing_if = "Option::is_none")]
        since: Option<DateTime<FixedOffset>>,
    },
}

/// The fields of all events: the event is identified by the fields that are present.
#[derive(Deserialize)]
struct Fields {
    receipt: Option<ReceiptId>,
    shown: Option<Vec<Text>>,
    outcome: Option<ReceiptId>,
    credit: Option<Vec<Text>>,
    verdict: Option<Feedback>,
    at: DateTime<FixedOffset>,
    since: Option<DateTime<FixedOffset>>,
}

impl TryFrom<Fields> for Event {
    type Error = &'static str;

    fn try_from(fields: Fields) -> Result<Self, Self::Error> {
        let Fields { receipt, shown, outcome, credit, verdict, at, since } = fields;
        if let (Some(receipt), Some(shown)) = (receipt, shown) {
            return Ok(Self::Shown { receipt, shown, at });
        }
        let feedback = verdict.ok_or("an outcome has a verdict")?;
        match (outcome, credit) {
            (Some(receipt), _) => Ok(Self::Outcome { receipt, feedback, at }),
            (None, Some(texts)) => Ok(Self::Credited { texts, feedback, at, since }),
            (None, None) => Err("no receipt, outcome or credit"),
        }
    }
}

impl Event {
    /// The line, with a newline on both sides, so that a torn line before it does not make it unreadable.
    pub(crate) fn line(&self) -> Vec<u8> {
        format!("\n{}\n", checksum::seal_line(&serde_json::json!(self).to_string())).into_bytes()
    }

    /// When it happened.
    pub(super) fn at(&self) -> DateTime<FixedOffset> {
        match self {
            Self::Shown { at, .. } | Self::Outcome { at, .. } | Self::Credited { at, .. } => *at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    #[test]
    fn the_fields_of_a_line_have_the_names_of_the_format() {
        let hash = TextHash::of(&["t"]);
        let (receipt, text, feedback) =
            (ReceiptId::at(at(0), hash), (LessonId::at(at(0), hash), hash), Feedback::Helpful);
        let check = |event: Event, expected: &[&str]| {
            let line = serde_json::json!(event);
            let mut keys: Vec<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
            keys.sort_unstable();
            assert_eq!(keys, expected);
            assert_eq!(serde_json::from_value::<Event>(line).unwrap(), event);
        };
        check(Event::Shown { receipt, shown: vec![text], at: at(0) }, &["at", "receipt", "shown"]);
        check(Event::Outcome { receipt, feedback, at: at(0) }, &["at", "outcome", "verdict"]);
        let since = Some(at(0));
        check(Event::Credited { texts: vec![text], feedback, at: at(0), since }, &["at", "credit", "since", "verdict"]);
    }
}
