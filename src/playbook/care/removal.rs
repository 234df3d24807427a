//! Permanent removal, and undo of changes (docs/spec/playbook.md, 7).

use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::folder::JsonRecord;
use crate::learn::{self, RemovedLesson, Undone};
use crate::lesson::{ChangeId, Lesson, LessonId, LessonRef};
use crate::playbook::Playbook;
use crate::playbook::extension::Extension;
use crate::state::{Action, Change, Edit, Plan, Planned, Why};

/// A recorded change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChangeRecord {
    /// The id for [`Playbook::undo`].
    pub id: ChangeId,
    /// When it was made.
    pub at: DateTime<FixedOffset>,
    /// The operation.
    pub action: Action,
    /// True when it was undone.
    pub is_undone: bool,
    /// The lessons that it changed.
    pub lessons: Vec<ChangedLesson>,
}

/// A lesson that was deleted with its texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ForgottenLesson {
    /// Its id.
    pub id: LessonId,
    /// Files of the memory that still contain one of its texts: skills in use, notes and proposals, which a person keeps.
    #[serde(serialize_with = "crate::path_text::shown")]
    pub kept_in: Vec<PathBuf>,
}

/// A lesson that a change affected.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChangedLesson {
    /// Its id.
    pub id: LessonId,
    /// What happened to it.
    pub what: Why,
    /// Its trigger; empty if the text is no longer kept.
    pub trigger: String,
}

impl Playbook {
    /// The recorded changes, oldest first: each replaced a text or removed a lesson.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn changes(&self) -> Result<Vec<ChangeRecord>> {
        let view = self.shared.view()?;
        let history = self.shared.kept.history(&view.snapshot)?;
        let undone: Vec<ChangeId> = history.iter().filter_map(|change| change.undoes).collect();
        let book = view.snapshot.book();
        let touched = |edit: &Edit| {
            let lesson = edit.before.as_ref().or_else(|| book.any_with(edit.id).next());
            let trigger = lesson.map(|lesson| lesson.trigger.clone());
            ChangedLesson { id: edit.id, what: edit.why, trigger: trigger.unwrap_or_default() }
        };
        let records = history.iter().map(|change| ChangeRecord {
            id: change.id,
            at: change.at,
            action: change.action,
            is_undone: undone.contains(&change.id),
            lessons: change.edits.iter().map(touched).collect(),
        });
        Ok(records.collect())
    }

    /// Removes a lesson and its vectors permanently. Its id and the hash of its text are kept, so that no import, merge or
    /// mining brings it back; only learning it by hand does. The text is kept for 30 days for [`Playbook::undo`].
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`], [`Error::Ambiguous`], and the errors of a commit.
    pub fn remove(&self, lesson: impl Into<LessonRef>) -> Result<RemovedLesson> {
        let (shared, reference) = (&self.shared, lesson.into());
        let removal = shared.commit(|attempt| {
            let mut plan = shared.plan(attempt);
            let removal = learn::remove(&mut plan, &reference)?;
            Ok(Planned::Commit(plan, removal))
        })?;
        self.skills().archive_drafts_of_removed();
        Ok(removal)
    }

    /// Removes every lesson that was mined from a session, including those that await review, as [`Playbook::remove`] does. Use
    /// it when a session turns out to have taught wrong lessons. There is one commit, and one change to undo per lesson. A
    /// lesson that also has another session as its source is kept. An empty name removes nothing.
    ///
    /// # Errors
    /// The errors of a commit.
    pub fn retract_session(&self, session: &str) -> Result<Vec<RemovedLesson>> {
        if session.is_empty() {
            return Ok(Vec::new());
        }
        let shared = &self.shared;
        let removals = shared.commit(|attempt| {
            let mut plan = shared.plan(attempt);
            let removals = learn::retract(&mut plan, session);
            Ok(if removals.is_empty() { Planned::Nothing(removals) } else { Planned::Commit(plan, removals) })
        })?;
        self.skills().archive_drafts_of_removed();
        Ok(removals)
    }

    /// Deletes a lesson and its texts: from the playbook and its backup, the archive, the vectors, the log of receipts,
    /// quarantine, the journals of edits and archived skills, to which drafts of the lesson go first. Its earlier versions are
    /// deleted too: lessons that it superseded, also by an edit, and lessons that were merged into it. Only ids and the hashes of
    /// texts remain, so that no import, merge or mining brings them back. This cannot be undone. A lesson that was removed before
    /// is found by its id.
    ///
    /// Quarantined files, journals of edits and archived skills are searched for texts of at least 16 bytes; a file that contains
    /// one is deleted. Files that a person keeps are not: skills in use, notes and proposals that contain such a text are
    /// returned. Copies outside the memory's folder are not searched.
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`], [`Error::Ambiguous`], and the errors of a commit. If the last step fails, call `forget` again.
    pub fn forget(&self, lesson: impl Into<LessonRef>) -> Result<ForgottenLesson> {
        let (shared, reference) = (&self.shared, lesson.into());
        let (removal, forgotten) = shared.commit(|attempt| {
            let mut plan = shared.plan(attempt);
            let removal = learn::forget(&mut plan, &shared.kept.all_changes()?, &reference)?;
            let forgotten = plan.erasure.forgotten().cloned();
            Ok(Planned::Commit(plan, (removal, forgotten)))
        })?;
        self.skills().archive_drafts_of_removed();
        let Some(forgotten) = forgotten else { return Ok(ForgottenLesson { id: removal.id, kept_in: Vec::new() }) };
        self.skills().forget_names_of_drafts(forgotten.texts.iter().map(|lesson| lesson.text_hash()))?;
        self.forget_requests(&forgotten.texts)?;
        let kept_in = if shared.kept.rows().is_some() { Vec::new() } else { shared.store.purge_again(&forgotten)? };
        Ok(ForgottenLesson { id: removal.id, kept_in })
    }

    /// Deletes the requests of past sessions that have words of these lessons.
    fn forget_requests(&self, texts: &[Arc<Lesson>]) -> Result<()> {
        let says_same = |request: &str| texts.iter().any(|text| learn::says_same(text, request));
        let extension = Extension::of(self);
        let known: SessionRecord = extension.read()?;
        if known.clone().without_requests(&says_same) == known {
            return Ok(());
        }
        extension.change(|record: &mut SessionRecord| *record = std::mem::take(record).without_requests(&says_same))
    }

    /// Accepts edits that were made in the playbook file: checks do not list them any more. Returns how many lessons were
    /// listed.
    ///
    /// # Errors
    /// The errors of a commit.
    pub fn accept_edits(&self) -> Result<usize> {
        let shared = &self.shared;
        shared.commit(|attempt| {
            let n_edited = attempt.snapshot.file.edited.len();
            let plan = Plan { accepts_edits: true, ..shared.plan(attempt) };
            Ok(if n_edited == 0 { Planned::Nothing(0) } else { Planned::Commit(plan, n_edited) })
        })
    }

    /// [`Playbook::remove`] by the lesson's trigger.
    ///
    /// # Errors
    /// As [`Playbook::remove`].
    pub fn remove_by_trigger(&self, trigger: &str) -> Result<RemovedLesson> {
        self.remove(LessonRef::Trigger(trigger.to_owned()))
    }

    /// Reverts a change. A removed or evicted lesson comes back. A merged lesson gets its earlier text, and keeps the counts
    /// that it gained. An inserted lesson is removed: undoing an eviction also removes the newcomer. Changes of the same lesson
    /// are undone newest first.
    ///
    /// # Errors
    /// [`Error::NoSuchChange`], [`Error::CannotUndo`], and the errors of a commit.
    pub fn undo(&self, change: ChangeId) -> Result<Undone> {
        let shared = &self.shared;
        shared.commit(|attempt| {
            let history = shared.kept.history(attempt.snapshot)?;
            let mut plan = shared.plan(attempt);
            let undone = learn::undo(&mut plan, &history, change)?;
            Ok(Planned::Commit(plan, undone))
        })
    }

    /// Reverts the newest merge into a lesson that is still in use.
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`], [`Error::Ambiguous`]; [`Error::NoSuchMerge`] when no merge is recorded; [`Error::CannotUndo`].
    pub fn undo_merge(&self, lesson: impl Into<LessonRef>) -> Result<Undone> {
        let view = self.shared.view()?;
        let id = view.snapshot.book().resolve(&lesson.into())?.id;
        let history = self.shared.kept.history(&view.snapshot)?;
        let is_undone = |change: &Change| history.iter().any(|other| other.undoes == Some(change.id));
        let is_merge = |change: &&Change| change.edits.iter().any(|edit| edit.id == id && edit.why == Why::Merged);
        let merge = history.iter().rev().filter(is_merge).find(|change| !is_undone(change));
        let change = merge.ok_or(Error::NoSuchMerge { lesson: id })?.id;
        self.undo(change)
    }
}

/// The record of past sessions, which the crate of sessions keeps.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
struct SessionRecord(Map<String, Value>);

impl SessionRecord {
    fn without_requests(mut self, is_forgotten: &impl Fn(&str) -> bool) -> Self {
        self.0.values_mut().for_each(|value| clear_requests(value, is_forgotten));
        self
    }
}

impl JsonRecord for SessionRecord {
    const NAME: &'static str = "mining";
    const SCHEMA: u64 = 1;
    const LOST: &'static str = "the record of read sessions could not be used and starts empty";

    fn schema(&self) -> u64 {
        self.0.get("schema").and_then(Value::as_u64).unwrap_or_default()
    }
}

fn clear_requests(value: &mut Value, is_forgotten: &impl Fn(&str) -> bool) {
    let Value::Object(row) = value else { return };
    for (key, value) in row {
        match value {
            Value::String(text) if key == "intent" && is_forgotten(text) => text.clear(),
            value => clear_requests(value, is_forgotten),
        }
    }
}
