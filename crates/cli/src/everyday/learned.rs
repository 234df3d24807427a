//! What became of a lesson, in a form for programs: the same for the command line and the server.

use adage::lesson::Refusal;
use adage::{LearnOutcome, LessonId};
use schemars::JsonSchema;
use serde::Serialize;

/// The outcome of learning a lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Inserted,
    Superseded,
    Merged,
    KeptApart,
    Review,
    Refused,
}

/// An outcome with the lesson that it is about, and the reason.
pub(crate) struct Learned {
    pub(crate) outcome: Outcome,
    /// The lesson that is near, says the same or keeps this one out.
    pub(crate) near: Option<LessonId>,
    /// Why it is distinct, awaits review or is refused.
    pub(crate) why: Option<String>,
}

impl Learned {
    /// None for an outcome that this program does not know.
    pub(crate) fn of(learned: &LearnOutcome) -> Option<Self> {
        let (outcome, near, why) = match learned {
            LearnOutcome::Inserted { near, .. } => (Outcome::Inserted, near.first().copied(), None),
            LearnOutcome::Superseded { .. } => (Outcome::Superseded, None, None),
            LearnOutcome::Merged { .. } => (Outcome::Merged, None, None),
            LearnOutcome::Distinct { near, why, .. } => (Outcome::KeptApart, Some(*near), Some(why.to_string())),
            LearnOutcome::Review { reason, near, .. } => (Outcome::Review, *near, Some(reason.to_string())),
            LearnOutcome::Refused { reason } => (Outcome::Refused, existing_lesson(reason), Some(reason.to_string())),
            _ => return None,
        };
        Some(Self { outcome, near, why })
    }
}

/// The lesson for which another one is refused.
fn existing_lesson(reason: &Refusal) -> Option<LessonId> {
    match reason {
        Refusal::Quarantined { id } | Refusal::AlreadyHere { id } => Some(*id),
        _ => None,
    }
}
