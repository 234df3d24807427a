//! The protocol of a playbook on a folder shared by several processes without a daemon: open, refresh, commit, recover.
//!
//! A commit decides on the newest state under the lock, writes and syncs the second copy of the playbook file, which is the commit, and
//! replaces the file. A recall appends one line. An acknowledged write survives the death of the process and of the machine; a commit that
//! fails before its copy is synced has no effect.

pub(crate) mod archive;
mod backup;
mod checksum;
mod commit;
pub(crate) mod documents;
pub(crate) mod export;
pub(crate) mod folder_kind;
mod forget;
#[cfg(test)]
mod fuzz;
mod loading;
mod marks;
mod playbook_file;
mod playbook_store;
mod receipts;
mod recover;
mod replaced;
mod replaced_file;
pub(crate) mod rows;
pub(crate) mod sections;
pub(crate) mod skills;
mod snapshot;
#[cfg(test)]
mod tests;
pub(crate) mod undo;
mod usage;
pub(crate) mod vectors;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use parking_lot::Mutex;

use crate::clock::Clock;
use crate::config::{CreditConfig, FeedbackConfig, StoreConfig};
use crate::credit::ReceiptLog;
use crate::error::folder::{FolderError, Irregular, Result};
use crate::folder::{Directory, Folder, Name, Stamp};
use crate::lesson::{Lesson, SCHEMA_VERSION, TextHash};
use crate::state::{Book, Change, Edit};
use crate::trust::{Guard, Standing};
use archive::file::ArchiveFile;
pub use backup::{BackupFile, BackupRecord, Restored};
pub(crate) use commit::ModelVectors;
use commit::prepared::DerivedData;
use playbook_file::FileEncoder;
pub(crate) use playbook_file::PlaybookFile;
pub(crate) use playbook_store::PlaybookStore;
use receipts::{ReceiptCount, ReceiptFile};
pub use recover::Recovery;
pub(crate) use snapshot::Snapshot;
use snapshot::{FileVersion, OnDisk};
pub(crate) use usage::{Event, Text, UsageCheck, UsageLog};
use vectors::file::VectorFile;
pub(crate) use vectors::{VectorCache, count as count_vectors, is_cache};

/// The playbook file.
const PLAYBOOK: &str = "skills_playbook.json";
/// The backup of the playbook file.
const BACKUP: &str = "skills_playbook.json.bak";
/// The archive of changes.
const ARCHIVE: &str = "archive.jsonl";
/// The cached vectors of a playbook, or those of a vector memory.
const VECTORS: &str = "vectors.bin";

/// The number of first bytes that contain the file's generation.
const START_BYTES: usize = 256;

/// A playbook in a folder.
pub(crate) struct FolderStore {
    pub(crate) folder: Folder,
    /// Which parts of the folder may be used.
    pub(crate) guard: Arc<Guard>,
    clock: Arc<dyn Clock>,
    feedback: FeedbackConfig,
    credit: CreditConfig,
    config: StoreConfig,
    receipt_count: ReceiptCount,
    /// Usage that is not written yet.
    pending: Mutex<usage::Pending>,
    encoder: FileEncoder,
}

/// The result of an open.
pub(crate) struct Opened {
    pub(crate) store: FolderStore,
    pub(crate) snapshot: Snapshot,
    /// How a broken file was recovered.
    pub(crate) recovery: Option<Recovery>,
}

impl FolderStore {
    /// Opens the playbook of a folder. A broken playbook file goes to quarantine and is recovered from its backup; `recovery`
    /// reports it. The playbook of an unknown folder is empty.
    pub(crate) fn open(
        folder: Folder,
        guard: Arc<Guard>,
        clock: Arc<dyn Clock>,
        feedback: FeedbackConfig,
        credit: CreditConfig,
        config: StoreConfig,
    ) -> Result<Opened> {
        let receipt_count = ReceiptCount::default();
        let (pending, encoder) = (Mutex::default(), FileEncoder::default());
        let store = Self { folder, guard, clock, feedback, credit, config, receipt_count, pending, encoder };
        if store.guard.standing() == Standing::Unknown {
            let nothing = Snapshot::new(PlaybookFile::default(), OnDisk::no_file(None));
            return Ok(Opened { store, snapshot: nothing, recovery: None });
        }
        if let Err(error) = store.folder.edits().recover() {
            // Reading lessons does not depend on them. The next edit returns the error.
            tracing::warn!(%error, "unfinished edits could not be finished or rolled back");
        }
        if let Err(error) = store.folder.edits().remove_outdated(store.clock.now()) {
            tracing::warn!(%error, "outdated journals of edits could not be removed");
        }
        let (snapshot, recovery) = match store.load() {
            Err(FolderError::Unreadable { reason, .. }) => store.recover(&reason)?,
            loaded => (loaded?, None),
        };
        Ok(Opened { store, snapshot, recovery })
    }

    /// The present state; none if `known` is current.
    pub(crate) fn refresh(&self, known: &Snapshot) -> Result<Option<Snapshot>> {
        if self.is_current(known)? { Ok(None) } else { self.load_or_recover_missing().map(Some) }
    }

    /// True if nothing was committed or edited since `known`.
    pub(crate) fn is_current(&self, known: &Snapshot) -> Result<bool> {
        self.guard.check(&self.folder)?;
        let stamp = self.files().stamp(PLAYBOOK)?;
        let is_same = match (&known.on_disk.version.stamp, &stamp) {
            (Some(before), Some(now)) if before.is_alike(now) => self.has_same_start(known, before, now)?,
            (before, now) => before.is_none() && now.is_none(),
        };
        Ok(is_same && is_alike(known.on_disk.backup.as_ref(), self.files().stamp(BACKUP)?.as_ref()))
    }

    /// Several commits within one tick of the file's clock may give the same inode and length. The generation at the start of
    /// the file distinguishes them; it is read until the file is old enough.
    fn has_same_start(&self, known: &Snapshot, before: &Stamp, now: &Stamp) -> Result<bool> {
        if !before.is_racy || known.on_disk.version.is_proved_by_stamp.load(Ordering::Acquire) {
            return Ok(true);
        }
        let is_same = match self.files().read_start(PLAYBOOK, START_BYTES) {
            // A read-only handle took the backup's state instead.
            Err(FolderError::Irregular { found: Irregular::Folder, .. }) => known.on_disk.version.start.is_empty(),
            start => start? == known.on_disk.version.start,
        };
        known.on_disk.version.is_proved_by_stamp.store(is_same && !now.is_racy, Ordering::Release);
        Ok(is_same)
    }

    /// The present state, loaded in any case.
    pub(crate) fn reload(&self) -> Result<Snapshot> {
        self.load()
    }

    /// The present state with all usage appended so far.
    pub(crate) fn refresh_usage(&self, known: &Snapshot) -> Result<Snapshot> {
        let mut snapshot = self.refresh(known)?.unwrap_or_else(|| known.clone());
        self.read_usage(&mut snapshot)?;
        Ok(snapshot)
    }

    /// The logged receipts, without lessons that were removed.
    pub(crate) fn receipts(&self, snapshot: &Snapshot) -> Result<ReceiptLog> {
        self.receipt_file().read(snapshot.book())
    }

    /// False for a read-only handle, one that stopped writing, and a folder of a newer version.
    pub(crate) fn may_append(&self, known: &Snapshot) -> bool {
        known.newer.is_none() && self.folder.may_write()
    }

    /// The recorded changes, oldest first.
    pub(crate) fn history(&self, snapshot: &Snapshot) -> Result<Vec<Change>> {
        let bytes = self.archive().read_until(snapshot.file.archive_length)?;
        let mut changes = archive::parse(&bytes, self.clock.as_ref());
        changes.retain(|change| change.edits.iter().all(|edit| self.admits_edit(snapshot.book(), edit)));
        Ok(changes)
    }

    /// False for a change from version control whose text the user has not admitted: undoing it would admit the text.
    fn admits_edit(&self, book: &Book, edit: &Edit) -> bool {
        let removed = || book.removed.find(edit.id)?.lesson.as_ref();
        let lesson = edit.before.as_ref().or_else(|| if edit.why.is_removal() { removed() } else { None });
        let is_own = |lesson: &Lesson| self.admits(lesson) || self.guard.was_removed(lesson.admission_hash());
        lesson.is_none_or(|lesson| !lesson.is_admitted() || is_own(lesson))
    }

    /// Reads the vectors that were cached since the last read.
    pub(crate) fn read_vectors(&self, cache: &mut VectorCache, fingerprint: TextHash) -> Result<()> {
        self.vector_file().read(cache, fingerprint).map(drop)
    }

    /// Writes vectors made outside a commit, if the handle may write and the lock is free.
    pub(crate) fn save_vectors(&self, known: &Snapshot, cache: &mut VectorCache, fingerprint: TextHash) -> Result<()> {
        if cache.unsaved.is_empty() || !self.may_append(known) {
            return Ok(());
        }
        match self.folder.try_lock()? {
            Some(_lock) => self.vector_file().write(cache, fingerprint, DerivedData::Keep, known.book()),
            None => Ok(()),
        }
    }

    fn refuse_newer(&self, known: &Snapshot) -> Result<()> {
        let Some(found) = known.newer else { return Ok(()) };
        Err(FolderError::NewerSchema { path: self.files().path_of(PLAYBOOK), found, supported: SCHEMA_VERSION })
    }

    /// Checks whether a write could begin now: the lock is free, and nothing forbids it.
    pub(crate) fn probe(&self, known: &Snapshot) -> Result<()> {
        self.refuse_newer(known)?;
        self.folder.lock_within(Duration::ZERO).map(drop)
    }

    /// What is wrong with the usage file.
    pub(crate) fn check_usage(&self, snapshot: &Snapshot) -> Result<UsageCheck> {
        self.usage_file().check(snapshot.committed.usage.line())
    }

    /// The bytes of the vector cache; empty if there is none.
    pub(crate) fn read_vector_file(&self) -> Result<Vec<u8>> {
        self.files().read_or_empty(VECTORS, 0)
    }

    fn files(&self) -> &Directory {
        self.folder.files()
    }

    pub(crate) fn archive(&self) -> ArchiveFile<'_> {
        ArchiveFile { folder: &self.folder, config: &self.config, clock: self.clock.as_ref() }
    }

    fn receipt_file(&self) -> ReceiptFile<'_> {
        ReceiptFile { folder: &self.folder, config: &self.credit, count: &self.receipt_count }
    }

    fn vector_file(&self) -> VectorFile<'_> {
        VectorFile { folder: &self.folder, guard: &self.guard }
    }
}

fn is_missing(files: &Directory, name: impl Into<Name>) -> Result<bool> {
    Ok(files.stamp(name)?.is_none())
}

fn is_alike(known: Option<&Stamp>, present: Option<&Stamp>) -> bool {
    match (known, present) {
        (None, None) => true,
        (Some(known), Some(present)) => known.is_alike(present),
        _ => false,
    }
}
