//! Removing for good, and undoing changes (docs/spec/playbook.md, 7).

use chrono::{DateTime, FixedOffset};
use serde::Serialize;

use super::Playbook;
use crate::error::{Error, Result};
use crate::learn::{self, RemovedLesson, Undone};
use crate::lesson::{ChangeId, LessonId, LessonRef};
use crate::state::{Change, Edit, Plan, Planned, Why};

/// A change on record.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChangeRecord {
    /// What to hand to `undo`.
    pub id: ChangeId,
    /// When.
    pub at: DateTime<FixedOffset>,
    /// What made it: `learn`, `import`, `prune`, `remove` or `undo`.
    pub action: &'static str,
    /// True when it was taken back.
    pub is_undone: bool,
    /// The lessons it touched.
    pub lessons: Vec<ChangedLesson>,
}

/// A lesson that a change touched.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChangedLesson {
    /// Its name.
    pub id: LessonId,
    /// What happened to it: `inserted`, `awaiting` (review), `merged`, `evicted`, `pruned`, `removed`, `unreviewed`, `dismissed` or `restored`.
    pub what: &'static str,
    /// Its trigger; empty where the record does not keep the text.
    pub trigger: String,
}

impl Playbook {
    /// The changes on record, oldest first: everything that replaced a text or took a lesson out.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn changes(&self) -> Result<Vec<ChangeRecord>> {
        let view = self.0.view()?;
        let history = self.0.store.history(&view.snapshot)?;
        let undone: Vec<ChangeId> = history.iter().filter_map(|change| change.undoes).collect();
        let book = view.snapshot.book();
        let touched = |edit: &Edit| {
            let waiting = || book.waiting.iter().map(|waiting| &waiting.lesson).find(|lesson| lesson.id == edit.id);
            let lesson = edit.before.as_ref().or_else(|| book.get(edit.id)).or_else(waiting);
            let trigger = lesson.map(|lesson| lesson.trigger.clone());
            ChangedLesson { id: edit.id, what: edit.why.name(), trigger: trigger.unwrap_or_default() }
        };
        let records = history.iter().map(|change| ChangeRecord {
            id: change.id,
            at: change.at,
            action: change.action.name(),
            is_undone: undone.contains(&change.id),
            lessons: change.edits.iter().map(touched).collect(),
        });
        Ok(records.collect())
    }

    /// Removes a lesson for good, with its vectors. Its name and the hash of its text are remembered: no import, merge or
    /// mining brings it back, only learning it by hand again. The text is kept for 30 days for [`Playbook::undo`].
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`], [`Error::Ambiguous`], and the errors of a commit.
    pub fn remove(&self, lesson: impl Into<LessonRef>) -> Result<RemovedLesson> {
        let (inner, reference) = (&self.0, lesson.into());
        let removal = inner.commit(|attempt| {
            let mut plan = inner.plan(attempt);
            let removal = learn::remove(&mut plan, &reference)?;
            Ok(Planned::Commit(plan, removal))
        })?;
        self.skills().put_away_removed();
        Ok(removal)
    }

    /// Removes every lesson that was drawn from a session, those that await review too, as [`Playbook::remove`] does: where a
    /// session turns out to have taught nonsense. All in one commit; each has a change of its own to undo. A lesson that it was
    /// merged into and that has another session stays. None for an empty name.
    ///
    /// # Errors
    /// The errors of a commit.
    pub fn retract_session(&self, session: &str) -> Result<Vec<RemovedLesson>> {
        if session.is_empty() {
            return Ok(Vec::new());
        }
        let inner = &self.0;
        let removals = inner.commit(|attempt| {
            let mut plan = inner.plan(attempt);
            let removals = learn::retract(&mut plan, session);
            Ok(if removals.is_empty() { Planned::Nothing(removals) } else { Planned::Commit(plan, removals) })
        })?;
        self.skills().put_away_removed();
        Ok(removals)
    }

    /// Deletes a lesson with its words: from the playbook and its backup, the archive, the vectors, the log of receipts, quarantine
    /// and the records of edits. What stays is its id and the hash of its text, so that no import, merge or mining brings it back. It
    /// cannot be undone. A lesson that was removed before is found by its id.
    ///
    /// Texts of 16 bytes and more are searched for in quarantine and in records of edits; a file that has one of them is removed.
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`], [`Error::Ambiguous`], and the errors of a commit. Where the last step fails, forget it again.
    pub fn forget(&self, lesson: impl Into<LessonRef>) -> Result<RemovedLesson> {
        let (inner, reference) = (&self.0, lesson.into());
        let removal = inner.commit(|attempt| {
            let mut plan = inner.plan(attempt);
            let removal = learn::forget(&mut plan, &reference)?;
            Ok(Planned::Commit(plan, removal))
        })?;
        self.skills().put_away_removed();
        Ok(removal)
    }

    /// Takes note of what was edited in the playbook file: a check does not list it any more. How many lessons were listed.
    ///
    /// # Errors
    /// Those of a commit.
    pub fn accept_edits(&self) -> Result<usize> {
        let inner = &self.0;
        inner.commit(|attempt| {
            let n_edited = attempt.snapshot.file.edited.len();
            let plan = Plan { accepts_edits: true, ..inner.plan(attempt) };
            Ok(if n_edited == 0 { Planned::Nothing(0) } else { Planned::Commit(plan, n_edited) })
        })
    }

    /// Writes the playbook file and begins the log anew: a file over 1 MiB is otherwise behind its log for a while
    /// (docs/spec/folder-format.md, 2). Returns its generation.
    ///
    /// # Errors
    /// Those of a commit.
    pub fn checkpoint(&self) -> Result<u64> {
        let inner = &self.0;
        inner.commit(|attempt| {
            let generation = attempt.snapshot.file.generation + 1;
            Ok(Planned::Commit(Plan { writes_file: true, ..inner.plan(attempt) }, generation))
        })
    }

    /// [`Playbook::remove`] by the lesson's trigger.
    ///
    /// # Errors
    /// As [`Playbook::remove`].
    pub fn remove_by_trigger(&self, trigger: &str) -> Result<RemovedLesson> {
        self.remove(LessonRef::Trigger(trigger.to_owned()))
    }

    /// Takes a change back: what left comes back, a merge becomes the earlier text again (and keeps the counts it gained),
    /// what came in leaves: to undo an eviction takes the newcomer away too. Of the changes of one lesson the newest is undone first.
    ///
    /// # Errors
    /// [`Error::NoSuchChange`], [`Error::CannotUndo`], and the errors of a commit.
    pub fn undo(&self, change: ChangeId) -> Result<Undone> {
        let inner = &self.0;
        inner.commit(|attempt| {
            let history = inner.store.history(attempt.snapshot)?;
            let mut plan = inner.plan(attempt);
            let undone = learn::undo(&mut plan, &history, change)?;
            Ok(Planned::Commit(plan, undone))
        })
    }

    /// Takes back the newest merge into a lesson that still stands.
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`], [`Error::Ambiguous`]; [`Error::NoSuchMerge`] when none is on record; [`Error::CannotUndo`].
    pub fn undo_merge(&self, lesson: impl Into<LessonRef>) -> Result<Undone> {
        let view = self.0.view()?;
        let id = view.snapshot.book().resolve(&lesson.into())?.id;
        let history = self.0.store.history(&view.snapshot)?;
        let is_undone = |change: &Change| history.iter().any(|other| other.undoes == Some(change.id));
        let is_merge = |change: &&Change| change.edits.iter().any(|edit| edit.id == id && edit.why == Why::Merged);
        let merge = history.iter().rev().filter(is_merge).find(|change| !is_undone(change));
        let change = merge.ok_or(Error::NoSuchMerge { lesson: id })?.id;
        self.undo(change)
    }
}
