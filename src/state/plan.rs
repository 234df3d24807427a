//! The result of a decision: the plan that a commit writes, and the outcome for the caller.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};

use super::book::Book;
use super::change::{Action, Change, Edit};
use super::dedup_index::DedupIndex;
use crate::lesson::{ChangeId, Lesson, LessonId, TextHash};

/// What a commit writes. It begins as the present book, without changes.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The book after the commit.
    pub(crate) book: Book,
    /// The changes for the archive.
    pub(crate) changes: Vec<Change>,
    /// What is deleted beyond the book.
    pub(crate) erasure: Erasure,
    /// The duplicate index of `book`, from a stage that kept it up to date.
    pub(crate) dedup: Option<DedupIndex>,
    /// True if a person accepts the edits in the file.
    pub(crate) accepts_edits: bool,
    /// The generation of the book that the plan began with.
    pub(crate) generation: u64,
    pub(crate) now: DateTime<FixedOffset>,
}

/// What a commit deletes besides rows of the playbook.
#[derive(Clone, Debug)]
pub(crate) enum Erasure {
    None,
    /// A person removed a text: what was computed from it is deleted.
    Derived,
    /// The texts of a lesson are deleted from every file, and what was computed from them.
    Everywhere(Forgotten),
}

impl Erasure {
    /// What is to be deleted from every file.
    pub(crate) fn forgotten(&self) -> Option<&Forgotten> {
        match self {
            Self::Everywhere(forgotten) => Some(forgotten),
            Self::None | Self::Derived => None,
        }
    }

    pub(crate) fn forgotten_mut(&mut self) -> Option<&mut Forgotten> {
        match self {
            Self::Everywhere(forgotten) => Some(forgotten),
            Self::None | Self::Derived => None,
        }
    }
}

/// A lesson that is to be deleted from every file, in all its versions.
#[derive(Clone, Debug)]
pub(crate) struct Forgotten {
    /// The ids of its versions.
    pub(crate) ids: BTreeSet<LessonId>,
    /// What they said, and what was merged into them.
    pub(crate) texts: Vec<Arc<Lesson>>,
}

/// A decision.
#[expect(clippy::large_enum_variant, reason = "one per commit, moved once")]
pub(crate) enum Planned<T> {
    /// Write this plan.
    Commit(Plan, T),
    /// There is nothing to write.
    Nothing(T),
    /// Decide again when the vectors of these texts are known.
    NeedsVectors(Vec<String>),
}

impl Plan {
    pub(crate) fn new(book: Book, generation: u64, now: DateTime<FixedOffset>) -> Self {
        Self { book, changes: Vec::new(), erasure: Erasure::None, dedup: None, accepts_edits: false, generation, now }
    }

    /// Deletes what was computed from removed texts.
    pub(crate) fn erase_derived(&mut self) {
        if matches!(self.erasure, Erasure::None) {
            self.erasure = Erasure::Derived;
        }
    }

    /// Records these edits as one change.
    pub(crate) fn record(&mut self, action: Action, edits: Vec<Edit>) -> ChangeId {
        let id = self.next_change();
        self.changes.push(Change { id, at: self.now, action, undoes: None, edits });
        id
    }

    /// Records the edits of an undo.
    pub(crate) fn record_undo(&mut self, undone: ChangeId, edits: Vec<Edit>) -> ChangeId {
        let id = self.next_change();
        self.changes.push(Change { id, at: self.now, action: Action::Undo, undoes: Some(undone), edits });
        id
    }

    fn next_change(&self) -> ChangeId {
        let seed = ["change".to_owned(), self.generation.to_string(), self.changes.len().to_string()];
        ChangeId::at(self.now, TextHash::of(&seed))
    }
}
