//! The events of the usage file (docs/spec/folder-format.md, 3).

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use crate::learn::feedback::Feedback;
use crate::lesson::{LessonId, ReceiptId, TextHash};
use crate::store::checksum;

/// A lesson, and the hash of its text.
pub(crate) type Text = (LessonId, TextHash);

/// What a line says. The fields that are present identify the event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
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

impl Event {
    /// The line of this number, with its checksum and its end.
    pub(crate) fn line(&self, n: u64) -> Vec<u8> {
        let fields = serde_json::json!(self).to_string();
        let fields = fields.strip_prefix('{').unwrap_or_default();
        format!("{}\n", checksum::seal_line(&format!(r#"{{"n":{n},{fields}"#))).into_bytes()
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
