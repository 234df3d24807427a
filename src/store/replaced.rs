//! Rows that a file from elsewhere leaves out: version control or an editor wrote the playbook file where others write too. A repair takes
//! them back.

use std::path::PathBuf;

use super::commit_log::LOG;
use super::{BACKUP, PlaybookFile, Snapshot, Store};
use crate::error::folder::Result;

impl Store {
    /// What the log and the backup lead to, with their paths, if a file from elsewhere is in the place of the state that this clone wrote last.
    pub(super) fn replaced_states(&self, snapshot: &Snapshot) -> Result<Vec<(PathBuf, PlaybookFile)>> {
        if !self.is_from_elsewhere(snapshot) {
            return Ok(Vec::new());
        }
        let known = [(LOG, self.logged(&self.commit_log().read()?)), (BACKUP, self.backup()?)];
        Ok(known.into_iter().filter_map(|(name, file)| Some((self.files().path_of(name), file?))).collect())
    }

    /// True if version control or an editor wrote the file, where others write too.
    pub(super) fn is_from_elsewhere(&self, snapshot: &Snapshot) -> bool {
        !snapshot.on_disk.version.is_ours && self.guard.awaits_others()
    }
}
