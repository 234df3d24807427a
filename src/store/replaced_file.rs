//! The playbook file that a commit replaces: what a person or version control wrote there is kept.

use std::collections::BTreeSet;
use std::sync::Arc;

use adage_redact::path_line;

use super::playbook_file::render;
use super::snapshot::FileVersion;
use super::{FolderStore, PLAYBOOK, Snapshot, is_alike};
use crate::error::{FolderError, Result};
use crate::folder::{Folder, Name, Stamp};
use crate::lesson::{Lesson, LessonId};

/// The playbook file before a commit, under a second name: a person may have saved it at the last moment.
pub(super) struct ReplacedFile {
    pub(super) name: Name,
    /// The stamp of the file that the commit knows.
    known: Option<Stamp>,
}

impl FolderStore {
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

    /// Removes the second name of the replaced file. One that a person saved at the last moment goes to quarantine.
    pub(super) fn keep_edited(&self, replaced: &ReplacedFile) -> Result<(), FolderError> {
        let (files, ReplacedFile { name, known }) = (self.files(), replaced);
        if !is_alike(known.as_ref(), files.stamp(name)?.as_ref()) {
            let kept = self.folder.quarantine(&files.read_or_empty(name, 0)?, "skills_playbook", "json")?;
            tracing::warn!(kept = %path_line(kept), "another program saved the playbook file during the commit; its version is kept");
        }
        files.remove_if_exists(name)
    }

    /// Where others write, the file that they wrote replaces what this clone wrote last. If that has lessons that the file neither has nor
    /// lists as removed, and whose end no change records, it goes to quarantine first: a repair takes them back.
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
        if let Some(file) = self.backup()?.filter(|file| !file.book.lessons.iter().all(is_here)) {
            let bytes = render(&file, 0).map_err(|error| self.cannot_write(error))?;
            let kept = self.folder.quarantine(&bytes, "skills_playbook", "json")?;
            tracing::warn!(kept = %path_line(kept), "another version of the playbook has fewer lessons; `adage doctor --repair` takes back the others");
        }
        Ok(())
    }
}
