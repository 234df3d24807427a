//! Removing for good, and taking changes back (docs/spec/playbook.md, 7).

use chrono::{DateTime, FixedOffset};
use serde::Serialize;

use super::Playbook;
use crate::error::{Error, Result};
use crate::learn::undo;
use crate::lesson::{ChangeId, LessonId, LessonRef};
use crate::state::{Action, Book, Change, Edit, Why, change_id};
use crate::store::{Decision, Step};

/// A lesson that was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removal {
    /// Its name.
    pub id: LessonId,
    /// What to hand to `undo` within 30 days.
    pub change: ChangeId,
}

/// A change that was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The record of taking it back.
    pub change: ChangeId,
    /// Lessons that are back, or have their earlier text again.
    pub restored: Vec<LessonId>,
    /// Lessons that left, because the change had brought them in; archived.
    pub withdrawn: Vec<LessonId>,
}

/// A change on record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeRecord {
    /// What to hand to `undo`.
    pub id: ChangeId,
    /// When.
    pub at: DateTime<FixedOffset>,
    /// What made it: `learn`, `prune`, `remove` or `undo`.
    pub action: &'static str,
    /// True when it was taken back.
    pub is_undone: bool,
    /// The lessons it touched.
    pub lessons: Vec<Touched>,
}

/// A lesson that a change touched.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Touched {
    /// Its name.
    pub id: LessonId,
    /// What happened to it: `inserted`, `merged`, `evicted`, `pruned`, `removed`, `unreviewed`, `dismissed` or `restored`.
    pub what: &'static str,
    /// Its trigger; empty where the record does not keep the text.
    pub trigger: String,
}

impl Playbook {
    /// The changes on record, oldest first: everything that replaced a text or took a lesson out.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn changes(&self) -> Result<Vec<ChangeRecord>> {
        let view = self.0.view()?;
        let history = self.0.store.history(&view.snapshot)?;
        let undone: Vec<ChangeId> = history.iter().filter_map(|change| change.undoes).collect();
        let book = view.snapshot.book();
        let touched = |edit: &Edit| {
            let trigger = edit.before.as_ref().or_else(|| book.get(edit.id)).map(|lesson| lesson.trigger.clone());
            Touched { id: edit.id, what: edit.why.name(), trigger: trigger.unwrap_or_default() }
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
    pub fn remove(&self, lesson: impl Into<LessonRef>) -> Result<Removal> {
        let (inner, reference) = (&self.0, lesson.into());
        let removal = inner.commit(|_, snapshot| {
            let id = snapshot.book().resolve(&reference)?.id;
            let mut book = Book::clone(snapshot.book());
            let now = inner.clock.now();
            let Some(lesson) = book.take(id) else { return Err(Error::NoSuchLesson { lesson: reference.clone() }) };
            let change = Change {
                id: change_id(now, snapshot.file.generation, 0),
                at: now,
                action: Action::Remove,
                undoes: None,
                edits: vec![Edit::removed(Why::Removed, &lesson)],
            };
            let removal = Removal { id, change: change.id };
            book.remember_removal(lesson, change.id, now);
            undo::forget_old_removals(&mut book, now);
            let decision = Decision { book, changes: vec![change], forgets_vectors: true };
            Ok(Step::Commit(decision, removal))
        })?;
        self.skills().put_away_removed();
        Ok(removal)
    }

    /// [`Playbook::remove`] by the lesson's trigger.
    ///
    /// # Errors
    /// As [`Playbook::remove`].
    pub fn remove_by_trigger(&self, trigger: &str) -> Result<Removal> {
        self.remove(LessonRef::Trigger(trigger.to_owned()))
    }

    /// Takes a change back: what left comes back, a merge becomes the earlier text again (and keeps the counts it gained),
    /// what came in leaves: to undo an eviction takes the newcomer away too. Of the changes of one lesson the newest is undone first.
    ///
    /// # Errors
    /// [`Error::NoSuchChange`], [`Error::CannotUndo`], and the errors of a commit.
    pub fn undo(&self, change: ChangeId) -> Result<Undone> {
        let inner = &self.0;
        inner.commit(|_, snapshot| {
            let history = inner.store.history(snapshot)?;
            let mut book = Book::clone(snapshot.book());
            let now = inner.clock.now();
            let id = change_id(now, snapshot.file.generation, 0);
            let record = undo::undo(&mut book, &history, change, now, id)?;
            let (back, gone): (Vec<&Edit>, Vec<&Edit>) = record.edits.iter().partition(|edit| edit.after.is_some());
            let ids = |edits: Vec<&Edit>| edits.into_iter().map(|edit| edit.id).collect();
            let undone = Undone { change: id, restored: ids(back), withdrawn: ids(gone) };
            Ok(Step::Commit(Decision { book, changes: vec![record], forgets_vectors: false }, undone))
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
