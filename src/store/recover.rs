//! When the playbook file cannot be read: it is kept aside, its backup takes its place, removals still hold.

use std::path::PathBuf;
use std::sync::Arc;

use super::truth::{self, Parsed};
use super::{Seen, Snapshot, Store, Truth, archive};
use crate::error::{Error, Result};
use crate::lesson::TextHash;
use crate::state::{Action, Book, Change, Removed};

/// What an open had to do about a broken playbook file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// Why the file could not be read.
    pub reason: String,
    /// Where its bytes are now; where they were, for a handle that only reads.
    pub kept_at: Vec<PathBuf>,
    /// Whether the backup took its place. Otherwise the playbook is empty.
    pub from_backup: bool,
    /// Lessons there are now.
    pub n_lessons: usize,
    /// Lessons of the backup that stay removed, because the archive says a person removed them.
    pub n_removed_again: usize,
}

impl Store {
    /// Puts the backup in the place of a broken file. Another process may have done it meanwhile: then nothing is reported.
    pub(super) fn recover(&self, reason: String) -> Result<(Snapshot, Option<Recovery>)> {
        let lock = if self.place.is_writable() { Some(self.place.lock()?) } else { None };
        match self.load() {
            Err(Error::Unreadable { .. }) => {}
            loaded => return loaded.map(|snapshot| (snapshot, None)),
        }
        let backup = self.read_or_empty(&self.place.folder.backup(), 0)?;
        let (mut truth, from_backup) = match truth::parse(&backup, self.clock.as_ref()) {
            Ok(Parsed::Truth(truth)) => (truth, true),
            _ => (Truth::default(), false),
        };
        let n_before = truth.book.lessons.len();
        self.adopt_archive(&mut truth)?;
        let mut recovery = Recovery {
            reason,
            kept_at: vec![self.place.folder.truth()],
            from_backup,
            n_lessons: truth.book.lessons.len(),
            n_removed_again: n_before - truth.book.lessons.len(),
        };
        if lock.is_some() {
            recovery.kept_at = vec![self.quarantine(&self.place.folder.truth(), "skills_playbook")?];
            if !from_backup && !backup.is_empty() {
                recovery.kept_at.push(self.quarantine(&self.place.folder.backup(), "skills_playbook.bak")?);
            }
            self.install(&truth)?;
        }
        tracing::warn!(
            reason = recovery.reason,
            from_backup,
            lessons = recovery.n_lessons,
            "the playbook file was broken"
        );
        let snapshot = if lock.is_some() {
            self.load()?
        } else {
            let path = self.place.folder.truth();
            let stamp = self.place.disk.stamp(&path).map_err(Error::io("look at", &path))?;
            self.with_usage(Snapshot::new(truth, Seen::new(stamp, &self.read_or_empty(&path, 0)?), None))?
        };
        Ok((snapshot, Some(recovery)))
    }

    /// Takes the whole archive as belonging to a state that does not say how much of it does, removals and all.
    pub(super) fn adopt_archive(&self, truth: &mut Truth) -> Result<()> {
        let bytes = self.read_or_empty(&self.place.folder.archive(), 0)?;
        truth.archive_length = archive::whole_length(&bytes);
        apply_removals(Arc::make_mut(&mut truth.book), &archive::parse(&bytes, self.clock.as_ref()));
        Ok(())
    }

    /// Copies a file's bytes aside.
    fn quarantine(&self, path: &std::path::Path, name: &str) -> Result<PathBuf> {
        self.place.quarantine(&self.read_or_empty(path, 0)?, name, "json")
    }

    fn install(&self, truth: &Truth) -> Result<()> {
        let path = self.place.folder.truth();
        let (temporary, _) = self.write_temporary(truth)?;
        self.place.disk.rename(&temporary, &path).map_err(Error::io("replace", &path))?;
        let folder = self.place.folder.path();
        self.place.disk.sync_folder(folder).map_err(Error::io("make safe", folder))
    }
}

/// Takes out what the archive says a person removed and did not take back.
fn apply_removals(book: &mut Book, history: &[Change]) {
    let undone: Vec<_> = history.iter().filter_map(|change| change.undoes).collect();
    for change in history.iter().filter(|change| change.action == Action::Remove && !undone.contains(&change.id)) {
        for edit in change.edits.iter().filter(|edit| edit.why.is_removal()) {
            let place = book.waiting.iter().position(|waiting| waiting.lesson.id == edit.id);
            let waiting = place.map(|place| book.waiting.remove(place).lesson);
            let lesson = book.take(edit.id).or(waiting);
            let is_known = book.removed.iter().any(|removed| removed.id == edit.id);
            let text_hash = edit.removed_text.or(lesson.as_ref().map(|lesson| lesson.text_hash()));
            // A text that was learned by hand again since is welcome.
            let is_back = |text_hash: &TextHash| book.lessons.iter().any(|lesson| lesson.text_hash() == *text_hash);
            if let Some(text_hash) = text_hash.filter(|text_hash| !is_known && !is_back(text_hash)) {
                book.removed.push(Removed { id: edit.id, text_hash, at: change.at, change: Some(change.id), lesson });
            }
        }
    }
}
