//! What became of a lesson that was to be learned.

use std::fmt;

use serde::Serialize;

use crate::difference::Difference;
use crate::lesson::{ChangeId, LessonId, Refusal};
use crate::state::ReviewReason;

/// What became of a lesson. Each variant that can push others out says whom.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LearnOutcome {
    /// It is new.
    Inserted {
        /// Its name.
        id: LessonId,
        /// Lessons that may say the same: like enough to ask a person, not enough to merge.
        near: Vec<LessonId>,
        /// Who left, superseded or to make room; archived.
        evicted: Vec<LessonId>,
        /// What to hand to `undo`, when somebody left.
        change: Option<ChangeId>,
    },
    /// It took the place of the lesson that it was learned to supersede; that one is archived.
    Superseded {
        /// The lesson that carries the text.
        id: LessonId,
        /// The lesson that it replaced.
        old: LessonId,
        /// Who else left, to make room; archived.
        evicted: Vec<LessonId>,
        /// What to hand to `undo`.
        change: ChangeId,
    },
    /// It says what another lesson says; that one counts it and keeps the better text.
    Merged {
        /// The lesson it became part of.
        into: LessonId,
        /// Cosine distance of the whole texts; `None` when task and trigger told.
        distance: Option<f32>,
        /// Who left, superseded or because the capacity had been lowered; archived.
        evicted: Vec<LessonId>,
        /// What to hand to `undo`.
        change: ChangeId,
    },
    /// It is close to another lesson and says something else; both stay.
    Distinct {
        /// Its name.
        id: LessonId,
        /// The nearest lesson that it is kept apart from.
        near: LessonId,
        /// Cosine distance of the whole texts; `None` when task and trigger told.
        distance: Option<f32>,
        /// What they differ in.
        why: Difference,
        /// Who left, superseded or to make room; archived.
        evicted: Vec<LessonId>,
        /// What to hand to `undo`, when somebody left.
        change: Option<ChangeId>,
    },
    /// It waits for a person; it is not shown until then.
    Review {
        /// Its name.
        id: LessonId,
        /// Why.
        reason: ReviewReason,
        /// The lesson it would have been merged into.
        near: Option<LessonId>,
    },
    /// It was not stored.
    Refused {
        /// Why.
        reason: Refusal,
    },
}

impl LearnOutcome {
    /// Says as an event what became of the lesson, and of those that made room: ids and reasons, no text of a lesson.
    pub(crate) fn trace(&self) {
        match self {
            Self::Inserted { id, near, .. } => tracing::info!(%id, near = near.len(), "learned"),
            Self::Merged { into, distance, .. } => tracing::info!(id = %into, distance, "merged"),
            Self::Superseded { id, old, .. } => tracing::info!(%id, %old, "superseded"),
            Self::Distinct { id, near, why, .. } => tracing::info!(%id, %near, %why, "kept apart"),
            Self::Review { id, reason, .. } => tracing::info!(%id, %reason, "awaits review"),
            Self::Refused { reason } => tracing::info!(%reason, "refused"),
        }
        let old = if let Self::Superseded { old, .. } = self { Some(old) } else { None };
        for id in self.evicted().iter().filter(|id| Some(*id) != old) {
            tracing::info!(%id, "evicted");
        }
    }

    /// The lesson that now carries the text, if one does.
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

    /// Who left, superseded or to make room; archived.
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

    /// The outcome of a lesson that was learned to supersede another one, if it did.
    pub(super) fn superseding(self, old: LessonId) -> Self {
        let (id, mut evicted, change) = match self {
            Self::Inserted { id, evicted, change: Some(change), .. }
            | Self::Distinct { id, evicted, change: Some(change), .. }
            | Self::Merged { into: id, evicted, change, .. } => (id, evicted, change),
            other => return other,
        };
        evicted.retain(|evicted| *evicted != old);
        Self::Superseded { id, old, evicted, change }
    }

    /// Names the change that records all of an import in the place of one per lesson.
    pub(super) fn recorded_as(&mut self, import: Option<ChangeId>) {
        match (self, import) {
            (Self::Inserted { change, .. } | Self::Distinct { change, .. }, import) => *change = import,
            (Self::Merged { change, .. } | Self::Superseded { change, .. }, Some(import)) => *change = import,
            _ => {}
        }
    }

    /// What to hand to `undo`, when something was replaced or pushed out. An insert that moved nobody is no change on record:
    /// [`Playbook::remove`](crate::Playbook::remove) takes it back.
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
    /// One line: what became of it, and which lesson that concerns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at =
            |distance: &Option<f32>| distance.map(|distance| format!(" at distance {distance:.3}")).unwrap_or_default();
        match self {
            Self::Inserted { id, near, .. } if near.is_empty() => write!(f, "inserted {id}"),
            Self::Inserted { id, near, .. } => write!(f, "inserted {id}; {} may say the same", listed(near)),
            Self::Superseded { id, old, .. } => write!(f, "{id} superseded {old}"),
            Self::Merged { into, distance, .. } => write!(f, "merged into {into}{}", at(distance)),
            Self::Distinct { id, near, distance, why, .. } => {
                write!(f, "kept apart {id} from {near}{}: {why}", at(distance))
            }
            Self::Review { id, reason, .. } => write!(f, "awaits review as {id}: {reason}"),
            Self::Refused { reason } => write!(f, "refused: {reason}"),
        }
    }
}

fn listed(ids: &[LessonId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
