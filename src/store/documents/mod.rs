//! The truth of a vector memory: an append-only log of documents, so that an add costs its own size and not the file's.
//!
//! A batch is appended with one write and one sync. Whoever writes holds the folder's lock, has read what others appended,
//! and cuts off what a dead writer left unfinished. A removed document's text stays in the file until it is compacted.

mod line;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use uuid::Uuid;

use super::disk::{Lock, Stamp};
use super::place::Place;
use crate::document::Document;
use crate::error::{Error, Result};
pub(crate) use line::{Change, Logged};

/// How far a log was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogMark {
    /// None when there was no file.
    seen: Option<Stamp>,
    /// None for a log without a readable first line.
    log: Option<Uuid>,
    /// Up to where whole batches were read, in bytes.
    read_to: u64,
    newer: Option<u64>,
    /// True when the stamp alone tells any later change.
    is_settled: Arc<AtomicBool>,
    /// Lines before `read_to` that cannot be read.
    n_broken: usize,
}

impl LogMark {
    /// The length of what was read, in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.read_to
    }

    /// True when both stand for the same place in the same file.
    pub(crate) fn is_at(&self, other: &Self) -> bool {
        self.is_same_file(other) && self.read_to == other.read_to
    }

    /// True when a newer version wrote the log.
    pub(crate) fn is_newer(&self) -> bool {
        self.newer.is_some()
    }

    fn is_same_file(&self, other: &Self) -> bool {
        let inode = |mark: &Self| mark.seen.as_ref().map(|stamp| stamp.inode);
        self.log == other.log && inode(self) == inode(other)
    }

    fn refuse_newer(&self) -> Result<()> {
        match self.newer {
            Some(found) => Err(Error::NewerSchema { found, supported: line::SCHEMA }),
            None => Ok(()),
        }
    }
}

/// What a look at the log found.
#[derive(Debug)]
pub(crate) enum News {
    /// Changes after the mark.
    More(Vec<Logged>, LogMark),
    /// All changes of a log that took the place of the one that was known.
    Anew(Vec<Logged>, LogMark),
}

/// What an open had to do about lines of a vector memory's log that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryRecovery {
    /// Lines that could not be read; each held one change, or the beginning of the file.
    pub n_lines: usize,
    /// Where their bytes are now; where they were, for a handle that only reads.
    pub kept_at: PathBuf,
}

/// The log of a folder.
pub(crate) struct DocumentLog {
    pub(crate) place: Place,
}

impl DocumentLog {
    pub(crate) fn new(place: Place) -> Self {
        Self { place }
    }

    fn path(&self) -> PathBuf {
        self.place.folder.documents()
    }

    /// What was appended after the mark, or all there is when the log is another one. Nothing when nothing changed.
    pub(crate) fn look(&self, known: &LogMark) -> Result<Option<News>> {
        let path = self.path();
        let Some(stamp) = self.place.stamp(&path)? else {
            return Ok(known.seen.is_some().then(|| News::Anew(Vec::new(), LogMark::default())));
        };
        let Some(seen) = &known.seen else { return self.load(stamp).map(Some) };
        let is_alike = seen.is_alike(&stamp);
        if is_alike && (!seen.is_young || known.is_settled.load(Ordering::Acquire)) {
            return Ok(None);
        }
        if seen.inode != stamp.inode || stamp.length < known.read_to {
            return self.load(stamp).map(Some);
        }
        // An inode comes back when a file is replaced twice; the name of the log does not.
        let start = self.place.disk.read_start(&path, line::HEADER_BYTES).map_err(Error::io("read", &path))?;
        if line::read(&start).header.map(|header| header.log) != known.log {
            return self.load(stamp).map(Some);
        }
        if stamp.length == known.read_to {
            known.is_settled.store(is_alike && !stamp.is_young, Ordering::Release);
            return Ok(None);
        }
        let lines = line::read(&self.place.read_or_empty(&path, known.read_to)?);
        if !lines.broken.is_empty() || known.newer.is_some() {
            // Perhaps this is not where a line begins: somebody else wrote.
            return self.load(stamp).map(Some);
        }
        if lines.whole == 0 {
            return Ok(None);
        }
        let read_to = known.read_to + lines.whole as u64;
        let mark = LogMark { seen: Some(stamp), read_to, is_settled: Arc::default(), ..known.clone() };
        Ok(Some(News::More(lines.changes, mark)))
    }

    fn load(&self, stamp: Stamp) -> Result<News> {
        let lines = line::read(&self.place.read_or_empty(&self.path(), 0)?);
        let newer = lines.header.map(|header| header.schema_version).filter(|version| *version > line::SCHEMA);
        // Every log begins with its header, so one without is not as it was written, even when it is empty.
        let has_lost_header = lines.header.is_none() && lines.broken.is_empty();
        let mark = LogMark {
            seen: Some(stamp),
            log: lines.header.map(|header| header.log),
            read_to: lines.whole as u64,
            // What a newer version wrote need not be readable.
            n_broken: if newer.is_some() { 0 } else { lines.broken.len() + usize::from(has_lost_header) },
            newer,
            is_settled: Arc::default(),
        };
        Ok(News::Anew(lines.changes, mark))
    }

    /// Tells of lines that cannot be read, for a handle that only reads.
    pub(crate) fn report(&self, known: &LogMark) -> Option<MemoryRecovery> {
        (known.n_broken > 0).then(|| MemoryRecovery { n_lines: known.n_broken, kept_at: self.path() })
    }

    /// The lock for writing, and that the folder may be written to.
    pub(crate) fn lock(&self, known: &LogMark) -> Result<Lock> {
        known.refuse_newer()?;
        self.place.lock()
    }

    /// After a look under the lock: keeps bytes aside that cannot be read. The log has to be written anew then.
    ///
    /// Bytes at the end that are no whole batch are kept aside too and cut off: mostly nobody was told that they are safe,
    /// but a flipped bit can look the same.
    pub(crate) fn clear_up(&self, known: &mut LogMark, _lock: &Lock) -> Result<Option<MemoryRecovery>> {
        known.refuse_newer()?;
        self.place.sweep();
        let path = self.path();
        let length = self.place.stamp(&path)?.map_or(0, |stamp| stamp.length);
        if known.n_broken == 0 && length <= known.read_to {
            return Ok(None);
        }
        let bytes = self.place.read_or_empty(&path, 0)?;
        let mut lines = line::read(&bytes);
        if known.n_broken > 0 && lines.broken.is_empty() {
            // The beginning of the file is missing, and there is nothing of it to keep.
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
        let kept_at = self.place.quarantine(&kept, "documents", "jsonl")?;
        if known.n_broken == 0 {
            self.cut(known)?;
            return Ok(None);
        }
        tracing::warn!(lines = lines.broken.len(), kept_at = %kept_at.display(), "lines of the log could not be read");
        Ok(Some(MemoryRecovery { n_lines: lines.broken.len(), kept_at }))
    }

    fn cut(&self, known: &LogMark) -> Result<()> {
        let path = self.path();
        self.place.disk.truncate(&path, known.read_to).map_err(Error::io("cut", &path))
    }

    /// Appends a batch and makes it safe. The caller holds the lock and has looked. Returns the length of each line.
    ///
    /// # Errors
    /// Nothing happened, or the handle writes no more: then the batch may be there when the folder is opened again.
    pub(crate) fn append(&self, known: &mut LogMark, changes: &[Change], lock: &Lock) -> Result<Vec<usize>> {
        known.refuse_newer()?;
        let path = self.path();
        let failed = |error: serde_json::Error| Error::io("append to", &self.path())(error.into());
        if known.seen.is_none() {
            // The first batch comes with the file, so that there is never a file without its first line.
            let (lines, lengths) = line::batch(changes).map_err(failed)?;
            self.install(known, lines, lock)?;
            return Ok(lengths);
        }
        let (lines, lengths) = line::batch(changes).map_err(failed)?;
        if let Err(error) = self.place.disk.append(&path, &lines) {
            if self.cut(known).is_err() {
                self.place.stop_writes();
            }
            return Err(Error::io("append to", &path)(error));
        }
        self.place.sync(&path)?;
        known.read_to += lines.len() as u64;
        // Without a stamp nothing is known, and the next look reads the file again.
        known.is_settled = Arc::default();
        known.seen = self.place.stamp(&path).ok().flatten().or(known.seen.take());
        Ok(lengths)
    }

    /// Writes a new log of these documents in the place of the old one. Returns the length of each line.
    pub(crate) fn rewrite<'d>(
        &self,
        known: &mut LogMark,
        documents: impl Iterator<Item = &'d Document>,
        lock: &Lock,
    ) -> Result<Vec<usize>> {
        known.refuse_newer()?;
        let mut lines = Vec::new();
        let lengths =
            line::singly(documents, &mut lines).map_err(|error| Error::io("write", &self.path())(error.into()))?;
        self.install(known, lines, lock)?;
        Ok(lengths)
    }

    fn install(&self, known: &mut LogMark, lines: Vec<u8>, _lock: &Lock) -> Result<()> {
        let path = self.path();
        let log = Uuid::new_v4();
        let mut bytes = line::header(log).map_err(|error| Error::io("write", &path)(error.into()))?;
        bytes.extend(lines);
        let temporary = self.place.write_temporary("documents", &bytes)?;
        self.place.rename(&temporary, &path)?;
        let folder = self.place.folder.path();
        // The new file is in its place, and perhaps not for good.
        self.place.sync_folder(folder).inspect_err(|_| self.place.stop_writes())?;
        let seen = self.place.stamp(&path).inspect_err(|_| self.place.stop_writes())?;
        *known = LogMark { seen, log: Some(log), read_to: bytes.len() as u64, ..LogMark::default() };
        Ok(())
    }
}
