//! The outcome of learning a lesson.

use std::fmt;

use serde::Serialize;

use crate::difference::Difference;
use crate::lesson::{ChangeId, LessonId, Refusal};
use crate::state::ReviewReason;

/// The outcome of learning a lesson. Every variant that may evict lessons lists them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LearnOutcome {
    /// The lesson is new.
    Inserted {
        /// Its id.
        id: LessonId,
        /// Lessons that may give the same advice: similar enough to ask a person, not similar enough to merge.
        near: Vec<LessonId>,
        /// Lessons that were superseded or evicted for it; they are archived.
        evicted: Vec<LessonId>,
        /// The id for [`Playbook::undo`](crate::Playbook::undo), if a lesson was evicted.
        change: Option<ChangeId>,
    },
    /// It replaced the lesson that it was learned to supersede, which is archived.
    Superseded {
        /// The lesson with the new text.
        id: LessonId,
        /// The lesson that was replaced.
        old: LessonId,
        /// Other lessons that were evicted for it; they are archived.
        evicted: Vec<LessonId>,
        /// The id for [`Playbook::undo`](crate::Playbook::undo).
        change: ChangeId,
    },
    /// It gives the same advice as another lesson, which counts it and keeps the better text.
    Merged {
        /// The lesson that it was merged into.
        into: LessonId,
        /// The cosine distance of the whole texts, in [0, 2]; `None` if it was detected by task and trigger.
        distance: Option<f32>,
        /// Automatic lessons that were evicted because the capacity had been lowered; they are archived.
        evicted: Vec<LessonId>,
        /// The id for [`Playbook::undo`](crate::Playbook::undo).
        change: ChangeId,
    },
    /// It is near to another lesson but gives different advice; both are kept.
    Distinct {
        /// Its id.
        id: LessonId,
        /// The nearest lesson that it is distinct from.
        near: LessonId,
        /// The cosine distance of the whole texts, in [0, 2]; `None` if task and trigger were compared.
        distance: Option<f32>,
        /// How they differ.
        why: Difference,
        /// Lessons that were superseded or evicted for it; they are archived.
        evicted: Vec<LessonId>,
        /// The id for [`Playbook::undo`](crate::Playbook::undo), if a lesson was evicted.
        change: Option<ChangeId>,
    },
    /// It awaits review, and is not shown until a person promotes it.
    Review {
        /// Its id.
        id: LessonId,
        /// The reason.
        reason: ReviewReason,
        /// The lesson that it would have been merged into.
        near: Option<LessonId>,
    },
    /// It was not stored.
    Refused {
        /// The reason.
        reason: Refusal,
    },
}

impl LearnOutcome {
    /// Logs the outcome, and which lessons were evicted: ids and reasons, never the text of a lesson.
    pub(crate) fn trace(&self) {
        match self {
            Self::Inserted { id, near, .. } => tracing::info!(%id, near = near.len(), "learned"),
            Self::Merged { into, distance, .. } => tracing::info!(id = %into, distance, "merged"),
            Self::Superseded { id, old, .. } => tracing::info!(%id, %old, "superseded"),
            Self::Distinct { id, near, why, .. } => tracing::info!(%id, %near, %why, "distinct"),
            Self::Review { id, reason, .. } => tracing::info!(%id, %reason, "awaits review"),
            Self::Refused { reason } => tracing::info!(%reason, "refused"),
        }
        let old = if let Self::Superseded { old, .. } = self { Some(old) } else { None };
        for id in self.evicted().iter().filter(|id| Some(*id) != old) {
            tracing::info!(%id, "evicted");
        }
    }

    /// The lesson that has the text now, if there is one.
    #[must_use]
    pub fn id(&self) -> Option<LessonId> {
        match self {
            Self::Inserted { id, .. }
            | Self::Superseded { id, .. }
            | Self::Distinct { id, .. }
            | Self::Review { id, .. } => Some(*id),
            Self::Merged { into, .. } => Some(*into),
            Self::Refused { .. } => None,
        }
    }

    /// The lessons that made room for this one: evicted, or superseded by it. They are archived.
    #[must_use]
    pub fn evicted(&self) -> &[LessonId] {
        match self {
            Self::Inserted { evicted, .. }
            | Self::Superseded { evicted, .. }
            | Self::Merged { evicted, .. }
            | Self::Distinct { evicted, .. } => evicted,
            Self::Review { .. } | Self::Refused { .. } => &[],
        }
    }

    /// The id for [`Playbook::undo`](crate::Playbook::undo), if a lesson was replaced or evicted. An insertion that evicts none
    /// records no change: [`Playbook::remove`](crate::Playbook::remove) reverts it.
    #[must_use]
    pub fn change(&self) -> Option<ChangeId> {
        match self {
            Self::Inserted { change, .. } | Self::Distinct { change, .. } => *change,
            Self::Merged { change, .. } | Self::Superseded { change, .. } => Some(*change),
            Self::Review { .. } | Self::Refused { .. } => None,
        }
    }
}

impl fmt::Display for LearnOutcome {
    /// One line: the outcome, and the lesson that it concerns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at =
            |distance: &Option<f32>| distance.map(|distance| format!(" at distance {distance:.3}")).unwrap_or_default();
        match self {
            Self::Inserted { id, near, .. } if near.is_empty() => write!(f, "inserted {id}"),
            Self::Inserted { id, near, .. } => write!(f, "inserted {id}; {} may say the same", listed(near)),
            Self::Superseded { id, old, .. } => write!(f, "{id} superseded {old}"),
            Self::Merged { into, distance, change, .. } => {
                write!(f, "merged into {into}{} (undo {change})", at(distance))
            }
            Self::Distinct { id, near, distance, why, .. } => {
                write!(f, "inserted {id}, distinct from {near}{}: {why}", at(distance))
            }
            Self::Review { id, reason, .. } => write!(f, "awaits review as {id}: {reason}"),
            Self::Refused { reason } => write!(f, "refused: {reason}"),
        }
    }
}

fn listed(ids: &[LessonId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
