//! What a person changed in the playbook file of a folder to which others write: it is recorded at the next commit, so that a merge of
//! branches knows of it (docs/spec/folder-format.md, 4.1).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::loading::written_at;
use super::{BACKUP, PLAYBOOK, PlaybookFile, Snapshot, Store};
use crate::error::folder::Result;
use crate::lesson::{ChangeId, Lesson, LessonId, TextHash};
use crate::state::{Action, Book, Change, Edit, Plan, Why};

impl Store {
    /// Adds to a plan what a person deleted and rewrote in the file that this clone wrote last, before the plan's own changes. Of a file that
    /// version control brought, or that somebody wrote anew, nothing is known.
    pub(super) fn add_hand_edits(&self, snapshot: &Snapshot, plan: &mut Plan) -> Result<()> {
        if snapshot.on_disk.version.is_ours || !self.guard.awaits_others() {
            return Ok(());
        }
        let (file, last) = (self.files().read_or_empty(PLAYBOOK, 0)?, self.files().read_or_empty(BACKUP, 0)?);
        let is_of_it = written_at(&file).is_some_and(|written| written_at(&last) == Some(written));
        let Some(last) = self.parse(&last).ok().filter(|parsed| is_of_it && parsed.seals.is_whole()) else {
            return Ok(());
        };
        let (before, after) = (lessons_of(&last.file), lessons_of(&snapshot.file));
        let mut edits = Vec::new();
        for (id, old) in &before {
            match after.get(id) {
                Some(new) if new.text_hash() == old.text_hash() => {}
                Some(new) => {
                    edits.push(Edit { after: Some(new.text_hash()), ..Edit::gone(Why::Edited, Arc::clone(old)) });
                }
                None if !is_elsewhere(&snapshot.file.book, old) => edits.push(Edit::removed(Why::Removed, old)),
                None => {}
            }
        }
        record(plan, edits, &before);
        Ok(())
    }
}

/// Records each edit as a change, which can be undone.
fn record(plan: &mut Plan, edits: Vec<Edit>, last: &BTreeMap<LessonId, Arc<Lesson>>) {
    let own = std::mem::take(&mut plan.changes);
    for edit in edits {
        let seed = ["edit of the file".to_owned(), plan.generation.to_string(), edit.id.to_string()];
        let id = ChangeId::at(plan.now, TextHash::of(&seed));
        let action = match (edit.why, last.get(&edit.id)) {
            (Why::Removed, Some(lesson)) => {
                plan.book.remember_removal(Arc::clone(lesson), id, plan.now);
                Action::Remove
            }
            _ => Action::Edit,
        };
        plan.changes.push(Change { id, at: plan.now, action, undoes: None, edits: vec![edit] });
    }
    plan.changes.extend(own);
}

/// All lessons of a file, also those that are not used.
fn lessons_of(file: &PlaybookFile) -> BTreeMap<LessonId, Arc<Lesson>> {
    let book = &file.book;
    let waiting = book.waiting.iter().map(|waiting| &waiting.lesson);
    let all = book.lessons.iter().chain(&book.foreign).chain(waiting);
    all.map(|lesson| (lesson.id, Arc::clone(lesson))).collect()
}

/// True if a lesson is not gone: its row is no longer a lesson, has another id, or is listed as removed.
fn is_elsewhere(book: &Book, lesson: &Lesson) -> bool {
    let id = lesson.id.to_string();
    let is_unread = || book.unread.iter().any(|row| row.get("id").is_some_and(|known| *known == *id));
    let has_text = |other: &Arc<Lesson>| other.text_hash() == lesson.text_hash();
    let waiting = || book.waiting.iter().map(|waiting| &waiting.lesson);
    book.removed.matches_id(lesson.id)
        || is_unread()
        || book.lessons.iter().chain(&book.foreign).chain(waiting()).any(has_text)
}
