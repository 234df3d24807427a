//! How a commit makes a state the newest one: the second copy of the playbook file is written and synced, then the file is replaced.

use crate::error::{Error, FolderError, Result};
use crate::folder::{Folder, Name};
use crate::store::playbook_file::{EncodedFile, Layout};
use crate::store::recover::former_log::LOG;
use crate::store::snapshot::{FileVersion, OnDisk};
use crate::store::{BACKUP, FolderStore, PLAYBOOK, PlaybookFile, Snapshot, is_alike};

/// A playbook file under a temporary name.
struct Draft {
    name: Name,
    encoded: EncodedFile,
}

impl FolderStore {
    /// Makes a state the newest one. The rename of the second copy is the commit: a failure after it is logged and is not an error, because
    /// readers take the newer of the two files.
    pub(in crate::store) fn make_newest(&self, before: Snapshot, file: PlaybookFile) -> Result<Snapshot> {
        self.quarantine_newer(&before)?;
        let draft = self.draft(&file)?;
        let replaced = self.link_replaced(&before.on_disk.version)?;
        self.write_backup(&draft.encoded)?;
        let mut on_disk = OnDisk { backup: self.files().stamp(BACKUP).ok().flatten(), ..before.on_disk.clone() };
        match self.files().rename(&draft.name, PLAYBOOK).and_then(|()| self.files().stamp(PLAYBOOK)) {
            Ok(stamp) => on_disk.version = FileVersion::of(&draft.encoded, stamp),
            Err(error) => {
                tracing::warn!(%error, "the playbook file could not be replaced; its second copy is up to date");
            }
        }
        if let Some(replaced) = replaced
            && let Err(error) = self.keep_edited(&replaced)
        {
            tracing::warn!(%error, "the previous playbook file could not be kept");
        }
        // It has nothing that the two files lack. If it is still there, it is older than they are.
        let _ = self.files().remove_if_exists(LOG);
        Ok(before.committed_as(file, on_disk))
    }

    /// Puts a rebuilt playbook file in place of one that cannot be used.
    pub(in crate::store) fn install(&self, file: &PlaybookFile) -> Result<(), FolderError> {
        let draft = self.draft(file)?;
        self.write_backup(&draft.encoded)?;
        self.files().rename(draft.name, PLAYBOOK)?;
        self.files().remove_if_exists(LOG)
    }

    /// Writes the second copy as a separate file, so that damage to one file leaves the other. Nothing may be written later if its name may
    /// be lost.
    fn write_backup(&self, file: &EncodedFile) -> Result<(), FolderError> {
        let (files, temporary) = (self.files(), self.write_dated("backup", file)?);
        files.sync(&temporary)?;
        files.rename(temporary, BACKUP)?;
        files.sync_directory(Name::TOP).inspect_err(|_| files.stop_writes())
    }

    /// An editor does not use the lock. If its change is detected in time, the commit fails and nothing is changed.
    pub(in crate::store) fn check_unedited(&self, known: &FileVersion) -> Result<()> {
        if is_alike(known.stamp.as_ref(), self.files().stamp(PLAYBOOK)?.as_ref()) {
            Ok(())
        } else {
            Err(Error::Contended { rounds: 1 })
        }
    }

    /// Writes the playbook file of a state under a temporary name.
    fn draft(&self, file: &PlaybookFile) -> Result<Draft, FolderError> {
        let layout = if self.guard.awaits_others() { Layout::ByLine } else { Layout::Indented };
        let encoded = self.encoder.encode(file, layout).map_err(|error| self.cannot_write(error))?;
        let name = self.write_dated("playbook", &encoded)?;
        Ok(Draft { name, encoded })
    }

    /// Writes a file under a temporary name, with the time that it states: without that time, damage would be taken for an edit.
    fn write_dated(&self, purpose: &str, file: &EncodedFile) -> Result<Name, FolderError> {
        let name = Folder::temporary(purpose);
        self.files().create(&name, &file.bytes)?;
        let _ = self.files().set_modified(&name, file.modified);
        Ok(name)
    }

    /// The error of the JSON writer, as an error of the playbook file.
    pub(in crate::store) fn cannot_write(&self, error: serde_json::Error) -> FolderError {
        FolderError::io("write", &self.files().path_of(PLAYBOOK))(error.into())
    }
}
