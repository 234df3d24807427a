//! The playbook file that a commit replaces, and the backup: what a later recovery needs.

use std::collections::BTreeSet;
use std::sync::Arc;

use adage_redact::path_line;

use super::playbook_file::{EncodedFile, render};
use super::snapshot::FileVersion;
use super::{BACKUP, PLAYBOOK, Snapshot, Store, is_alike};
use crate::error::{FolderError, Result};
use crate::folder::{Folder, Name, Stamp};
use crate::lesson::{Lesson, LessonId};

/// The playbook file before a commit, under a second name: a person may have saved it at the last moment.
pub(super) struct ReplacedFile {
    pub(super) name: Name,
    /// The stamp of the file that the commit knows.
    known: Option<Stamp>,
}

/// What becomes the backup.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BackupFrom {
    /// The new state, as a separate file.
    New,
    /// The replaced file: another program or an older version wrote it.
    Replaced,
}

impl Store {
    /// Gives the playbook file that will be replaced a second name; none if there is no file. An edited file is refused.
    pub(super) fn link_replaced(&self, known: &FileVersion) -> Result<Option<ReplacedFile>> {
        let files = self.files();
        if known.stamp.is_none() {
            return self.check_unedited(known).map(|()| None);
        }
        let name = Folder::temporary("previous");
        files.remove_if_exists(&name)?;
        files.link(PLAYBOOK, &name)?;
        if let Err(error) = self.check_unedited(known) {
            let _ = files.remove_if_exists(&name);
            return Err(error);
        }
        Ok(Some(ReplacedFile { name, known: known.stamp }))
    }

    /// Keeps what a recovery needs after a commit. The commit holds, whether that succeeds or not.
    pub(super) fn keep_versions(&self, replaced: Option<ReplacedFile>, new: &EncodedFile, backup: BackupFrom) {
        if let Some(replaced) = replaced
            && let Err(error) = self.keep_or_remove(&replaced, backup)
        {
            tracing::warn!(%error, "the previous playbook file could not be kept");
        }
        if backup == BackupFrom::New
            && let Err(error) = self.write_backup(new)
        {
            tracing::warn!(%error, "the backup of the playbook could not be written");
        }
    }

    /// Keeps the replaced file as the backup, or removes its second name. One that a person saved at the last moment also goes to
    /// quarantine.
    fn keep_or_remove(&self, replaced: &ReplacedFile, backup: BackupFrom) -> Result<(), FolderError> {
        let (files, ReplacedFile { name, known }) = (self.files(), replaced);
        if !is_alike(known.as_ref(), files.stamp(name)?.as_ref()) {
            let kept = self.folder.quarantine(&files.read_or_empty(name, 0)?, "skills_playbook", "json")?;
            tracing::warn!(kept = %path_line(kept), "another program saved the playbook file during the commit; its version is kept");
        }
        match backup {
            BackupFrom::New => files.remove_if_exists(name),
            BackupFrom::Replaced => files.rename(name, BACKUP),
        }
    }

    /// Writes the backup as a separate file, so that damage to one file leaves the other. It is synced if the log does not
    /// contain its state.
    pub(super) fn write_backup(&self, file: &EncodedFile) -> Result<(), FolderError> {
        let temporary = Folder::temporary("backup");
        self.files().create(&temporary, &file.bytes)?;
        if self.is_committed_by_rename(file) {
            self.files().sync(&temporary)?;
        }
        self.files().rename(temporary, BACKUP)
    }

    /// Where others write, the file that they wrote replaces what the log and the backup lead to. If one of these has lessons that this
    /// file neither has nor lists as removed, and whose end no change records, it goes to quarantine first: a repair takes them back.
    pub(super) fn quarantine_newer(&self, snapshot: &Snapshot) -> Result<(), FolderError> {
        if !self.is_from_elsewhere(snapshot) {
            return Ok(());
        }
        let book = &snapshot.committed.book;
        let edits = self.archive().changes()?.into_iter().flat_map(|change| change.edits);
        let recorded: BTreeSet<LessonId> = edits.map(|edit| edit.id).collect();
        let is_here = |lesson: &Arc<Lesson>| {
            recorded.contains(&lesson.id)
                || book.any_with(lesson.id).next().is_some()
                || book.foreign.iter().any(|foreign| foreign.id == lesson.id)
                || book.removed.matches_text_or_id(lesson)
        };
        let known = [self.backup()?, self.logged(&self.commit_log().read()?)];
        for file in known.iter().flatten().filter(|file| !file.book.lessons.iter().all(is_here)) {
            let bytes = render(file, 0).map_err(|error| self.cannot_write(error))?;
            let kept = self.folder.quarantine(&bytes, "skills_playbook", "json")?;
            tracing::warn!(kept = %path_line(kept), "another version of the playbook has fewer lessons; `adage repair` takes back the others");
        }
        Ok(())
    }
}
