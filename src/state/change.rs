//! The record of what a decision changed, as rows of the archive: what `undo` works from.

use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use crate::lesson::{ChangeId, Lesson, LessonId, TextHash};

/// What a change did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    /// A lesson was learned, and something was replaced or evicted by it.
    Learn,
    /// The rows of a file came in, or await review.
    Import,
    Prune,
    Remove,
    Undo,
}

impl Action {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Learn => "learn",
            Self::Import => "import",
            Self::Prune => "prune",
            Self::Remove => "remove",
            Self::Undo => "undo",
        }
    }
}

/// One row of a change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Edit {
    pub(crate) id: LessonId,
    pub(crate) why: Why,
    /// The row before: what was replaced or taken out. The text of a removal is not here, but with the removal only.
    pub(crate) before: Option<Arc<Lesson>>,
    /// The text after, where there is one.
    pub(crate) after: Option<TextHash>,
    /// The lesson that was merged in.
    pub(crate) incoming: Option<Arc<Lesson>>,
    /// The text that a removal took out.
    pub(crate) removed_text: Option<TextHash>,
}

/// Why a row changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Why {
    Inserted,
    /// It was imported, and awaits review.
    Awaiting,
    Merged,
    Evicted,
    Pruned,
    Removed,
    /// Another lesson took its place.
    Superseded,
    /// It awaited review, and there was no more room.
    Unreviewed,
    /// It awaited review, and a person dismissed it.
    Dismissed,
    Restored,
}

impl Why {
    /// True for what a person removed.
    pub(crate) fn is_removal(self) -> bool {
        matches!(self, Self::Removed | Self::Dismissed)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Inserted => "inserted",
            Self::Awaiting => "awaiting",
            Self::Merged => "merged",
            Self::Evicted => "evicted",
            Self::Pruned => "pruned",
            Self::Removed => "removed",
            Self::Superseded => "superseded",
            Self::Unreviewed => "unreviewed",
            Self::Dismissed => "dismissed",
            Self::Restored => "restored",
        }
    }
}

impl Edit {
    pub(crate) fn gone(why: Why, lesson: Arc<Lesson>) -> Self {
        Self { id: lesson.id, why, before: Some(lesson), after: None, incoming: None, removed_text: None }
    }

    /// A removal: the archive gets the id and the hash, never the text.
    pub(crate) fn removed(why: Why, lesson: &Lesson) -> Self {
        let removed_text = Some(lesson.text_hash());
        Self { id: lesson.id, why, before: None, after: None, incoming: None, removed_text }
    }

    pub(crate) fn added(why: Why, lesson: &Lesson) -> Self {
        Self { id: lesson.id, why, before: None, after: Some(lesson.text_hash()), incoming: None, removed_text: None }
    }
}

/// A change that is recorded: something was replaced or taken out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    pub(crate) id: ChangeId,
    pub(crate) at: DateTime<FixedOffset>,
    pub(crate) action: Action,
    pub(crate) undoes: Option<ChangeId>,
    pub(crate) edits: Vec<Edit>,
}

impl Change {
    /// True when both changed one lesson. What only came to await review changed none.
    pub(crate) fn touches(&self, other: &Self) -> bool {
        let is_lesson = |edit: &&Edit| edit.why != Why::Awaiting;
        let mut edits = self.edits.iter().filter(is_lesson);
        edits.any(|edit| other.edits.iter().filter(is_lesson).any(|other| other.id == edit.id))
    }
}
