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
    /// True when a person removed a text: its vectors are dropped too.
    pub(crate) forgets_vectors: bool,
    /// The duplicate index of `book`, from a stage that kept it up to date.
    pub(crate) dedup: Option<DedupIndex>,
    /// A lesson whose texts are to be deleted from every file.
    pub(crate) forgotten: Option<Forgotten>,
    /// True if a person accepts the edits in the file.
    pub(crate) accepts_edits: bool,
    /// True to write the playbook file, however large, and a new log.
    pub(crate) writes_file: bool,
    /// The generation of the book that the plan began with.
    pub(crate) generation: u64,
    pub(crate) now: DateTime<FixedOffset>,
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
        Self {
            book,
            changes: Vec::new(),
            forgets_vectors: false,
            dedup: None,
            forgotten: None,
            accepts_edits: false,
            writes_file: false,
            generation,
            now,
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
