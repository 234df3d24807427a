//! The documents of a vector memory, in an append-only log: the cost of an add does not depend on the size of the file.
//!
//! A batch is appended with one write and one sync. The writer holds the folder's lock, has read what others appended, and
//! truncates what a dead writer left unfinished. The text of a removed document stays in the file until compaction.

use adage_redact::path_line;

mod line;

#[cfg(test)]
pub(super) use line::fuzz_documents;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::Serialize;
use uuid::Uuid;

use crate::document::Document;
use crate::error::folder::{FolderError, Result};
use crate::folder::{Folder, Lock, Name, Stamp};
pub(crate) use line::{Change, Logged};

/// The name of the log.
pub(super) const DOCUMENTS: &str = "documents.jsonl";
/// A cache of earlier versions, with hashes of documents.
const FORMER_CACHE: &str = "documents.bin";

/// How far a log was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogMark {
    /// None if there was no file.
    stamp: Option<Stamp>,
    /// None for a log without a readable first line.
    log: Option<Uuid>,
    /// The length of the complete batches that were read, in bytes.
    pub(crate) read_to: u64,
    /// The schema of the log, if a newer version of the program wrote it.
    pub(crate) newer: Option<u64>,
    /// True if the stamp alone detects any later change.
    is_proved_by_stamp: Arc<AtomicBool>,
    /// Lines before `read_to` that cannot be read.
    n_broken: usize,
}

impl LogMark {
    /// True if both are the same position in the same file, with the same lines damaged.
    pub(crate) fn is_at(&self, other: &Self) -> bool {
        self.is_same_file(other) && self.read_to == other.read_to && self.n_broken == other.n_broken
    }

    fn is_same_file(&self, other: &Self) -> bool {
        let inode = |mark: &Self| mark.stamp.as_ref().map(|stamp| stamp.inode);
        self.log == other.log && inode(self) == inode(other)
    }
}

/// The changes that reading the log found.
#[derive(Debug)]
pub(crate) enum LogUpdate {
    /// Changes after the mark.
    Appended(Vec<Logged>, LogMark),
    /// All changes of a log that replaced the known one.
    Replaced(Vec<Logged>, LogMark),
}

/// The result of recovering a vector memory's log with unreadable lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MemoryRecovery {
    /// The number of unreadable lines. Each held one change, or was the first line of the file.
    pub n_lines: usize,
    /// Where their bytes are kept now; for a read-only handle, the log itself.
    #[serde(serialize_with = "crate::path_text::shown")]
    pub kept_at: PathBuf,
}

/// The document log of a folder.
pub(crate) struct DocumentLog {
    pub(crate) folder: Folder,
}

impl DocumentLog {
    fn path(&self) -> PathBuf {
        self.folder.files().path_of(DOCUMENTS)
    }

    /// The changes appended after the mark, or all changes if the log was replaced. None if nothing has changed.
    pub(crate) fn look(&self, known: &LogMark) -> Result<Option<LogUpdate>> {
        let files = self.folder.files();
        let Some(stamp) = files.stamp(DOCUMENTS)? else {
            return Ok(known.stamp.is_some().then(|| LogUpdate::Replaced(Vec::new(), LogMark::default())));
        };
        let Some(seen) = &known.stamp else { return self.load(stamp).map(Some) };
        let is_alike = seen.is_alike(&stamp);
        if is_alike && (!seen.is_racy || known.is_proved_by_stamp.load(Ordering::Acquire)) {
            return Ok(None);
        }
        if seen.inode != stamp.inode || stamp.length < known.read_to {
            return self.load(stamp).map(Some);
        }
        // An inode number may be reused when a file is replaced twice; the id of the log is not.
        let start = files.read_start(DOCUMENTS, line::HEADER_BYTES)?;
        if line::read(&start).header.map(|header| header.log) != known.log {
            return self.load(stamp).map(Some);
        }
        if stamp.length == known.read_to {
            known.is_proved_by_stamp.store(is_alike && !stamp.is_racy, Ordering::Release);
            return Ok(None);
        }
        let bytes = files.read_or_empty(DOCUMENTS, known.read_to)?;
        let lines = line::read(&bytes);
        if !lines.broken.is_empty() || known.newer.is_some() {
            // The mark may not be at the start of a line: another program wrote the file.
            return self.load(stamp).map(Some);
        }
        if lines.whole == 0 {
            return Ok(None);
        }
        let read_to = known.read_to + lines.whole as u64;
        let mark = LogMark { stamp: Some(stamp), read_to, is_proved_by_stamp: Arc::default(), ..known.clone() };
        Ok(Some(LogUpdate::Appended(lines.changes, mark)))
    }

    fn load(&self, stamp: Stamp) -> Result<LogUpdate> {
        let bytes = self.folder.files().read_in_place(DOCUMENTS, 0)?;
        let lines = line::read(&bytes);
        let newer = lines.header.map(|header| header.schema_version).filter(|version| *version > line::SCHEMA);
        // Every log begins with its header, so a file without one is damaged, even if it is empty.
        let has_lost_header = lines.header.is_none() && lines.broken.is_empty();
        let mark = LogMark {
            stamp: Some(stamp),
            read_to: lines.whole as u64,
            log: lines.header.map(|header| header.log),
            // Lines of a newer version need not be readable.
            n_broken: if newer.is_some() { 0 } else { lines.broken.len() + usize::from(has_lost_header) },
            newer,
            ..LogMark::default()
        };
        Ok(LogUpdate::Replaced(lines.changes, mark))
    }

    /// The unreadable lines, as reported by a read-only handle.
    pub(crate) fn report(&self, known: &LogMark) -> Option<MemoryRecovery> {
        (known.n_broken > 0).then(|| MemoryRecovery { n_lines: known.n_broken, kept_at: self.path() })
    }

    fn refuse_newer(&self, known: &LogMark) -> Result<()> {
        match known.newer {
            Some(found) => Err(FolderError::NewerSchema { path: self.path(), found, supported: line::SCHEMA }),
            None => Ok(()),
        }
    }

    /// The lock for writing, after checking that the folder may be written.
    pub(crate) fn lock(&self, known: &LogMark, patience: Duration) -> Result<Lock> {
        self.refuse_newer(known)?;
        self.folder.lock_within(patience)
    }

    /// Checks whether a write could begin, once the lock is free.
    pub(crate) fn probe(&self, known: &LogMark) -> Result<()> {
        match self.lock(known, Duration::ZERO) {
            Err(FolderError::Locked { .. }) => Ok(()),
            locked => locked.map(drop),
        }
    }

    /// Copies unreadable bytes to quarantine, after reading the log under the lock. The log must be rewritten then.
    ///
    /// Bytes at the end that are not a complete batch are also copied to quarantine and truncated. Usually no write of them was
    /// acknowledged, but a flipped bit can look the same.
    pub(crate) fn clear_up(&self, known: &mut LogMark, _lock: &Lock) -> Result<Option<MemoryRecovery>> {
        self.refuse_newer(known)?;
        self.folder.sweep();
        let files = self.folder.files();
        files.remove_if_exists(FORMER_CACHE)?;
        let length = files.stamp(DOCUMENTS)?.map_or(0, |stamp| stamp.length);
        if known.n_broken == 0 && length <= known.read_to {
            return Ok(None);
        }
        let bytes = files.read_or_empty(DOCUMENTS, 0)?;
        let mut lines = line::read(&bytes);
        if known.n_broken > 0 && lines.broken.is_empty() {
            // The first line is missing, and there are no bytes of it to keep.
            lines.broken.push(0..0);
        }
        let whole = lines.whole..bytes.len();
        let kept: Vec<u8> = lines
            .broken
            .iter()
            .chain([&whole])
            .filter_map(|broken| bytes.get(broken.clone()))
            .flatten()
            .copied()
            .collect();
        let kept_at = self.folder.quarantine(&kept, "documents", "jsonl")?;
        if known.n_broken == 0 {
            self.cut(known)?;
            return Ok(None);
        }
        tracing::warn!(lines = lines.broken.len(), kept_at = %path_line(&kept_at), "lines of the log could not be read");
        Ok(Some(MemoryRecovery { n_lines: lines.broken.len(), kept_at }))
    }

    fn cut(&self, known: &LogMark) -> Result<()> {
        self.folder.files().truncate(DOCUMENTS, known.read_to)
    }

    /// Appends a batch and syncs it. The caller holds the lock and has read the log. Returns the length of each line in bytes.
    ///
    /// # Errors
    /// The batch was not written, or the handle refuses further writes: then the batch may be found when the folder is opened
    /// again.
    pub(crate) fn append(&self, known: &mut LogMark, changes: &[Change], lock: &Lock) -> Result<Vec<usize>> {
        self.refuse_newer(known)?;
        let files = self.folder.files();
        let failed = |error: serde_json::Error| FolderError::io("append to", &self.path())(error.into());
        let (lines, lengths) = line::batch(changes).map_err(failed)?;
        if known.stamp.is_none() {
            // The first batch is written with the file, so that no file is without its first line.
            return self.install(known, &lines, lock).map(|()| lengths);
        }
        if let Err(error) = files.append(DOCUMENTS, &lines) {
            if self.cut(known).is_err() {
                files.stop_writes();
            }
            return Err(error);
        }
        files.sync(DOCUMENTS)?;
        known.read_to += lines.len() as u64;
        // Without a stamp, the next read starts at the beginning of the file.
        known.is_proved_by_stamp = Arc::default();
        known.stamp = files.stamp(DOCUMENTS).ok().flatten().or(known.stamp.take());
        Ok(lengths)
    }

    /// Replaces the log with a new one of these documents. Returns the length of each line in bytes.
    pub(crate) fn rewrite<'d>(
        &self,
        known: &mut LogMark,
        documents: impl Iterator<Item = &'d Document>,
        lock: &Lock,
    ) -> Result<Vec<usize>> {
        self.refuse_newer(known)?;
        let mut lines = Vec::new();
        let lengths = line::singly(documents, &mut lines)
            .map_err(|error| FolderError::io("write", &self.path())(error.into()))?;
        self.install(known, &lines, lock).map(|()| lengths)
    }

    /// Replaces the log with a new one of these lines.
    fn install(&self, known: &mut LogMark, lines: &[u8], _lock: &Lock) -> Result<()> {
        let files = self.folder.files();
        let log = Uuid::new_v4();
        let mut bytes = line::header(log).map_err(|error| FolderError::io("write", &self.path())(error.into()))?;
        bytes.extend_from_slice(lines);
        let temporary = self.folder.write_temporary("documents", &bytes)?;
        files.rename(temporary, DOCUMENTS)?;
        // The new file has its name, but the rename may not be durable.
        files.sync_directory(Name::TOP).inspect_err(|_| files.stop_writes())?;
        let stamp = files.stamp(DOCUMENTS).inspect_err(|_| files.stop_writes())?;
        *known = LogMark { stamp, log: Some(log), read_to: bytes.len() as u64, ..LogMark::default() };
        Ok(())
    }
}
