//! What a person changed in the playbook file of a folder to which others write: it is recorded at the next commit, so that a merge of
//! branches knows of it (docs/spec/folder-format.md, 4.1).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::folder::Result;
use crate::lesson::{ChangeId, Lesson, LessonId, TextHash};
use crate::state::{Action, Book, Change, Edit, Plan, Why};
use crate::store::loading::written_at;
use crate::store::{BACKUP, FolderStore, PLAYBOOK, Snapshot};

impl FolderStore {
    /// Adds to a plan what a person deleted and rewrote in the file that this clone wrote last, before the plan's own changes. Of a file that
    /// version control brought, or that somebody wrote anew, nothing is known.
    pub(in crate::store) fn add_hand_edits(&self, snapshot: &Snapshot, plan: &mut Plan) -> Result<()> {
        if !self.is_from_elsewhere(snapshot) {
            return Ok(());
        }
        let (file, last) = (self.files().read_or_empty(PLAYBOOK, 0)?, self.files().read_or_empty(BACKUP, 0)?);
        let is_of_it = written_at(&file).is_some_and(|written| written_at(&last) == Some(written));
        if let Some(last) = self.parse(&last).ok().filter(|parsed| is_of_it && parsed.seals.is_whole()) {
            record(plan, &last.file.book, snapshot.book());
        }
        Ok(())
    }
}

/// Records each lesson that differs between what was written last and the edited file as a change, which can be undone; except for what the
/// plan deletes from every file, which it then deletes in its earlier text too.
fn record(plan: &mut Plan, last: &Book, edited: &Book) {
    let present: BTreeMap<LessonId, &Arc<Lesson>> = edited.all().map(|lesson| (lesson.id, lesson)).collect();
    // A lesson may have been learned again by now.
    let here: BTreeSet<TextHash> = plan.book.all().map(|lesson| lesson.text_hash()).collect();
    let mut changes = Vec::new();
    for old in last.all() {
        let (action, edit) = match present.get(&old.id).map(|new| new.text_hash()) {
            Some(new) if new == old.text_hash() => continue,
            Some(new) => (Action::Edit, Edit { after: Some(new), ..Edit::gone(Why::Edited, Arc::clone(old)) }),
            None if here.contains(&old.text_hash()) || is_noted(&plan.book, old.id) => continue,
            None => (Action::Remove, Edit::removed(Why::Removed, old)),
        };
        if let Some(forgotten) = plan.erasure.forgotten_mut().filter(|forgotten| forgotten.ids.contains(&old.id)) {
            forgotten.texts.push(Arc::clone(old));
            continue;
        }
        let seed = ["edit of the file".to_owned(), plan.generation.to_string(), old.id.to_string()];
        let id = ChangeId::at(plan.now, TextHash::of(&seed));
        if action == Action::Remove {
            plan.book.remember_removal(Arc::clone(old), id, plan.now);
        }
        changes.push(Change { id, at: plan.now, action, undoes: None, edits: vec![edit] });
    }
    plan.changes.splice(..0, changes);
}

/// True if the file still accounts for a lesson that is not among its lessons: its row could not be read, or it is listed as removed.
fn is_noted(book: &Book, id: LessonId) -> bool {
    let is_unread = || {
        let id = id.to_string();
        book.unread.iter().any(|row| row.get("id").is_some_and(|known| *known == *id))
    };
    book.removed.matches_id(id) || is_unread()
}
