//! Rows that a file from elsewhere leaves out: version control or an editor wrote the playbook file where others write too. A repair takes
//! them back.

use std::path::PathBuf;

use super::{BACKUP, FolderStore, PlaybookFile, Snapshot};
use crate::error::folder::Result;

impl FolderStore {
    /// The state that this clone wrote last, with the path of its second copy, if a file from elsewhere is in the place of the first.
    pub(super) fn replaced_state(&self, snapshot: &Snapshot) -> Result<Option<(PathBuf, PlaybookFile)>> {
        let backup = if self.is_from_elsewhere(snapshot) { self.backup()? } else { None };
        Ok(backup.map(|file| (self.files().path_of(BACKUP), file)))
    }

    /// True if version control or an editor wrote the file, where others write too.
    pub(super) fn is_from_elsewhere(&self, snapshot: &Snapshot) -> bool {
        !snapshot.on_disk.version.is_ours && self.guard.awaits_others()
    }
}
