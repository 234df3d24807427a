//! How a commit makes a state the newest one: by a line of the log, by a new log, or by the rename of the playbook file.

use super::commit_log::{Record, SMALL_FILE};
use super::playbook_file::{EncodedFile, Layout};
use super::prepared_commit::Extent;
use super::replaced_file::BackupFrom;
use super::snapshot::{FileVersion, OnDisk};
use super::{PLAYBOOK, PlaybookFile, Snapshot, Store, is_alike, playbook_file};
use crate::error::{Error, FolderError, Result};
use crate::folder::{Folder, Name};

/// A playbook file under a temporary name.
pub(super) struct Draft {
    pub(super) name: Name,
    pub(super) encoded: EncodedFile,
}

/// The operation that commits a state: once it is on disk, the state is the newest one.
enum CommitPoint {
    /// A line of the log.
    Line(Record),
    /// A new log that contains the state.
    NewLog,
    /// The rename of the playbook file.
    Rename,
}

impl Store {
    /// Makes a state the newest one: by a line of the log if the log continues from the state before, otherwise by a new log;
    /// and by the playbook file if that is large, or if others write too. The steps after the commit serve readers and later
    /// commits; their failure does not change the result.
    pub(super) fn make_newest(&self, before: Snapshot, file: PlaybookFile, extent: Extent) -> Result<Snapshot> {
        self.quarantine_newer(&before)?;
        let length = before.on_disk.version.length();
        let is_logged = before.on_disk.is_logged && extent == Extent::Needed && !before.on_disk.log.is_full(length);
        let record = if is_logged {
            playbook_file::difference(&before.committed, &file).map_err(|error| self.cannot_write(error))?
        } else {
            None
        };
        match record {
            // Version control takes the file, not the log.
            Some(record) if length > SMALL_FILE && !self.guard.awaits_others() => {
                self.append_line(before, file, &record)
            }
            record => self.write_whole(before, file, record, extent),
        }
    }

    /// Commits a state by a line of the log. Its playbook file is large, and is not written.
    fn append_line(&self, before: Snapshot, file: PlaybookFile, record: &Record) -> Result<Snapshot> {
        self.check_unedited(&before.on_disk.version)?;
        let log = self.commit_log().append(&before.on_disk.log, &record.line(None), file.generation)?;
        let on_disk = OnDisk { log, is_logged: true, ..before.on_disk.clone() };
        Ok(before.committed_as(file, on_disk))
    }

    /// Commits a state and writes its playbook file.
    fn write_whole(
        &self,
        before: Snapshot,
        file: PlaybookFile,
        record: Option<Record>,
        extent: Extent,
    ) -> Result<Snapshot> {
        let draft = self.draft(&file)?;
        let point = self.commit_point(record, &draft.encoded);
        let version = &before.on_disk.version;
        let replaced = self.link_replaced(version)?;
        let is_logged = !matches!(point, CommitPoint::Rename);
        let backup = match &replaced {
            Some(_) if extent == Extent::Needed && is_logged && !version.is_ours => BackupFrom::Replaced,
            _ => BackupFrom::New,
        };
        let mut on_disk = self.reach(&point, &draft, &before.on_disk)?;
        // The state is committed. A step that fails from here on is left to the next commit, or detected by the next open.
        if let Err(error) = self.complete(&point, &draft, &mut on_disk) {
            tracing::warn!(%error, "the playbook file could not be written; its log is up to date");
            for left in [Some(draft.name), replaced.map(|replaced| replaced.name)].into_iter().flatten() {
                let _ = self.files().remove_if_exists(left);
            }
        } else {
            self.keep_versions(replaced, &draft.encoded, backup);
        }
        Ok(before.committed_as(file, on_disk))
    }

    fn commit_point(&self, record: Option<Record>, file: &EncodedFile) -> CommitPoint {
        match record {
            _ if self.is_committed_by_rename(file) => CommitPoint::Rename,
            Some(record) => CommitPoint::Line(record),
            None => CommitPoint::NewLog,
        }
    }

    /// True if the rename of a playbook file is its commit: it is large, or version control takes it, but not the log.
    pub(super) fn is_committed_by_rename(&self, file: &EncodedFile) -> bool {
        !file.is_small() || self.guard.awaits_others()
    }

    /// Commits. Returns what the files hold then.
    fn reach(&self, point: &CommitPoint, draft: &Draft, before: &OnDisk) -> Result<OnDisk> {
        let EncodedFile { generation, bytes, hash, .. } = &draft.encoded;
        let log = match point {
            CommitPoint::Line(record) => {
                self.commit_log().append(&before.log, &record.line(Some(*hash)), *generation)?
            }
            CommitPoint::NewLog => self.commit_log().begin(*generation, Some(bytes), Some(*hash))?,
            CommitPoint::Rename => {
                self.rename_synced(&draft.name)?;
                return Ok(OnDisk { is_logged: false, ..before.clone() });
            }
        };
        Ok(OnDisk { log, is_logged: true, ..before.clone() })
    }

    /// Writes the playbook file of a commit if it was not the commit itself; otherwise a new log that continues from it. If a step
    /// fails, `on_disk` has the steps before it.
    fn complete(&self, point: &CommitPoint, draft: &Draft, on_disk: &mut OnDisk) -> Result<()> {
        let (files, encoded) = (self.files(), &draft.encoded);
        match point {
            CommitPoint::Line(_) | CommitPoint::NewLog => {
                files.rename(&draft.name, PLAYBOOK)?;
                on_disk.version = FileVersion::of(encoded, files.stamp(PLAYBOOK)?);
            }
            CommitPoint::Rename => {
                on_disk.version = FileVersion::of(encoded, files.stamp(PLAYBOOK)?);
                on_disk.log = self.commit_log().begin(encoded.generation, None, Some(encoded.hash))?;
                on_disk.is_logged = true;
            }
        }
        Ok(())
    }

    /// Puts such a playbook file in its place. Nothing may be written if the new name may be lost.
    fn rename_synced(&self, temporary: &Name) -> Result<(), FolderError> {
        let files = self.files();
        files.sync(temporary)?;
        files.rename(temporary, PLAYBOOK)?;
        files.sync_directory(Name::TOP).inspect_err(|_| files.stop_writes())
    }

    /// An editor does not use the lock. If its change is detected in time, the commit fails and nothing is changed.
    pub(super) fn check_unedited(&self, known: &FileVersion) -> Result<()> {
        if is_alike(known.stamp.as_ref(), self.files().stamp(PLAYBOOK)?.as_ref()) {
            Ok(())
        } else {
            Err(Error::Contended { rounds: 1 })
        }
    }

    /// Writes the playbook file of a state under a temporary name.
    pub(super) fn draft(&self, file: &PlaybookFile) -> Result<Draft, FolderError> {
        let layout = if self.guard.awaits_others() { Layout::ByLine } else { Layout::Indented };
        let encoded = self.encoder.encode(file, layout).map_err(|error| self.cannot_write(error))?;
        let name = Folder::temporary("playbook");
        self.files().create(&name, &encoded.bytes)?;
        // Without this time, damage would be taken for an edit.
        let _ = self.files().set_modified(&name, encoded.modified);
        Ok(Draft { name, encoded })
    }

    /// The error of the JSON writer, as an error of the playbook file.
    pub(super) fn cannot_write(&self, error: serde_json::Error) -> FolderError {
        FolderError::io("write", &self.files().path_of(PLAYBOOK))(error.into())
    }
}
