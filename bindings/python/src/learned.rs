//! The outcome of learning a lesson, in the words of the command line.

use adage::learn::Imported;
use adage::{ChangeId, LearnOutcome, LessonId};
use serde::Serialize;
use serde_json::{Value, json};

/// A reason: its name, the sentence that the program prints, and its figures.
#[derive(Serialize)]
pub(crate) struct Reason {
    kind: String,
    message: String,
    details: Value,
}

impl Reason {
    /// The reason that a value states, whose JSON is a name, or an object with a name in `tag` or as its only key.
    pub(crate) fn of(value: &(impl Serialize + ToString), tag: &str) -> Self {
        let (kind, details) = match json!(value) {
            Value::String(kind) => (kind, Value::Null),
            Value::Object(mut fields) => match fields.remove(tag) {
                Some(kind) => (kind.as_str().unwrap_or_default().to_owned(), Value::Object(fields)),
                None => fields.into_iter().next().unwrap_or_default(),
            },
            other => (String::new(), other),
        };
        let details = if details.is_object() { details } else { json!({}) };
        Self { kind, message: value.to_string(), details }
    }
}

/// What became of a draft.
#[derive(Default, Serialize)]
pub(crate) struct Learned {
    outcome: &'static str,
    lesson: Option<LessonId>,
    near: Vec<LessonId>,
    evicted: Vec<LessonId>,
    replaced: Option<LessonId>,
    distance: Option<f32>,
    why: Option<Reason>,
    change: Option<ChangeId>,
}

impl From<LearnOutcome> for Learned {
    fn from(learned: LearnOutcome) -> Self {
        let evicted = learned.evicted().to_vec();
        let outcome = match learned {
            LearnOutcome::Inserted { id, near, change, .. } => {
                Self { outcome: "inserted", lesson: Some(id), near, change, ..Self::default() }
            }
            LearnOutcome::Superseded { id, old, change, .. } => Self {
                outcome: "superseded",
                lesson: Some(id),
                replaced: Some(old),
                change: Some(change),
                ..Self::default()
            },
            LearnOutcome::Merged { into, distance, change, .. } => {
                Self { outcome: "merged", lesson: Some(into), distance, change: Some(change), ..Self::default() }
            }
            LearnOutcome::Distinct { id, near, distance, why, change, .. } => {
                let (near, why) = (vec![near], Some(Reason::of(&why, "difference")));
                Self { outcome: "kept_apart", lesson: Some(id), near, distance, why, change, ..Self::default() }
            }
            LearnOutcome::Review { id, reason, near } => {
                let (near, why) = (near.into_iter().collect(), Some(Reason::of(&reason, "reason")));
                Self { outcome: "review", lesson: Some(id), near, why, ..Self::default() }
            }
            LearnOutcome::Refused { reason } => {
                Self { outcome: "refused", why: Some(Reason::of(&reason, "reason")), ..Self::default() }
            }
            _ => Self { outcome: "unknown", ..Self::default() },
        };
        Self { evicted, ..outcome }
    }
}

/// The result of an import.
pub(crate) fn imported(imported: Imported, not_read: &[String]) -> Value {
    let outcomes: Vec<Learned> = imported.outcomes.into_iter().map(Learned::from).collect();
    json!({ "outcomes": outcomes, "change": imported.change, "not_read": not_read })
}
