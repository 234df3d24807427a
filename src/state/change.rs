//! The record of a decision's changes, as rows of the archive, which `undo` reads.

use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use crate::lesson::{ChangeId, Lesson, LessonId, RemovedText, TextHash};

/// The operation that made a change. Displayed and serialised in lower case, such as `learn`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Action {
    /// A lesson was learned, and another one was replaced or evicted.
    Learn,
    /// The rows of a file were imported; they may await review.
    Import,
    /// Lessons that rarely helped were removed.
    Prune,
    /// A person removed a lesson.
    Remove,
    /// An earlier change was undone.
    Undo,
    /// A person changed the text of a lesson in the playbook file.
    Edit,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Learn => "learn",
            Self::Import => "import",
            Self::Prune => "prune",
            Self::Remove => "remove",
            Self::Undo => "undo",
            Self::Edit => "edit",
        })
    }
}

/// One row of a change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Edit {
    pub(crate) id: LessonId,
    pub(crate) why: Why,
    /// The row before a replacement or removal. The text of a lesson that a person removed is kept only with its removal.
    pub(crate) before: Option<Arc<Lesson>>,
    /// The hash of the text afterwards, if there is one.
    pub(crate) after: Option<TextHash>,
    /// The lesson that was merged in.
    pub(crate) incoming: Option<Arc<Lesson>>,
    /// The hashes of a removed text.
    pub(crate) removed_text: Option<RemovedText>,
}

/// What happened to a lesson in a change. Displayed and serialised in lower case, such as `merged`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Why {
    /// It was added.
    Inserted,
    /// It was imported and awaits review.
    Awaiting,
    /// Another lesson was merged into it.
    Merged,
    /// A person changed its text in the playbook file.
    Edited,
    /// It was removed to make room for another.
    Evicted,
    /// It was removed because it rarely helped.
    Pruned,
    /// A person removed it.
    Removed,
    /// Another lesson replaced it.
    Superseded,
    /// It awaited review, and was dropped because the list was full or a model proposed a lesson on the same failure.
    Unreviewed,
    /// It awaited review, and a person dismissed it.
    Dismissed,
    /// An undo brought it back.
    Restored,
}

impl Why {
    /// True for a removal by a person.
    pub(crate) fn is_removal(self) -> bool {
        matches!(self, Self::Removed | Self::Dismissed)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Inserted => "inserted",
            Self::Awaiting => "awaiting",
            Self::Merged => "merged",
            Self::Edited => "edited",
            Self::Evicted => "evicted",
            Self::Pruned => "pruned",
            Self::Removed => "removed",
            Self::Superseded => "superseded",
            Self::Unreviewed => "unreviewed",
            Self::Dismissed => "dismissed",
            Self::Restored => "restored",
        })
    }
}

impl Edit {
    pub(crate) fn gone(why: Why, lesson: Arc<Lesson>) -> Self {
        Self { id: lesson.id, why, before: Some(lesson), after: None, incoming: None, removed_text: None }
    }

    /// A removal: the archive contains the id and the hash, never the text.
    pub(crate) fn removed(why: Why, lesson: &Lesson) -> Self {
        let removed_text = Some(RemovedText::of(lesson));
        Self { id: lesson.id, why, before: None, after: None, incoming: None, removed_text }
    }

    pub(crate) fn added(why: Why, lesson: &Lesson) -> Self {
        Self { id: lesson.id, why, before: None, after: Some(lesson.text_hash()), incoming: None, removed_text: None }
    }
}

/// A recorded change: a lesson was replaced or removed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    pub(crate) id: ChangeId,
    pub(crate) at: DateTime<FixedOffset>,
    pub(crate) action: Action,
    pub(crate) undoes: Option<ChangeId>,
    pub(crate) edits: Vec<Edit>,
}

impl Change {
    /// True if both changed the same lesson. Putting a lesson into review changes none.
    pub(crate) fn touches(&self, other: &Self) -> bool {
        let is_lesson = |edit: &&Edit| edit.why != Why::Awaiting;
        let mut edits = self.edits.iter().filter(is_lesson);
        edits.any(|edit| other.edits.iter().filter(is_lesson).any(|other| other.id == edit.id))
    }
}
