//! One folder, several processes, no daemon: open, look, commit, recover.
//!
//! A commit decides on the newest state under the lock and replaces the playbook file whole; a recall appends one line.
//! What is acknowledged survives the death of the process; what fails before the rename never happened.

pub(crate) mod archive;
mod commit;
pub(crate) mod curation;
pub(crate) mod disk;
pub(crate) mod documents;
pub(crate) mod edits;
mod export;
pub(crate) mod inbox;
mod mapped;
pub(crate) mod memory_vectors;
pub(crate) mod mining;
mod place;
pub(crate) mod record;
mod recover;
pub(crate) mod sections;
pub(crate) mod skill_files;
pub(crate) mod skill_state;
mod truth;
mod usage;
mod vectors;

#[cfg(test)]
pub(crate) mod faults;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::clock::Clock;
use crate::config::FeedbackConfig;
use crate::error::{Error, Result};
use crate::lesson::{SCHEMA_VERSION, TextHash};
use crate::state::{Book, Change};
use disk::{Disk, Stamp};
pub(crate) use place::Place;
pub use recover::Recovery;
pub(crate) use truth::{Mark, Truth};
pub(crate) use usage::{Event, Text, UsageLog};
pub(crate) use vectors::{VectorCache, count as count_vectors, is_cache};

/// What the folder holds at one moment: the playbook file with the usage after it folded in.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) truth: Arc<Truth>,
    pub(crate) log: UsageLog,
    seen: Seen,
    newer: Option<u64>,
}

/// By what a change of the playbook file is told.
#[derive(Clone, Debug)]
struct Seen {
    /// None when there was no file.
    stamp: Option<Stamp>,
    content: TextHash,
    /// The first bytes of the file, with its generation.
    start: Vec<u8>,
    /// True when the stamp alone tells any later change.
    is_settled: Arc<AtomicBool>,
}

impl Seen {
    fn new(stamp: Option<Stamp>, bytes: &[u8]) -> Self {
        let start = bytes.get(..START_BYTES).unwrap_or(bytes).to_vec();
        Self { stamp, content: TextHash::of(&[bytes]), start, is_settled: Arc::default() }
    }
}

impl Snapshot {
    fn new(truth: Truth, seen: Seen, newer: Option<u64>) -> Self {
        Self { truth: Arc::new(truth), log: UsageLog::default(), seen, newer }
    }

    pub(crate) fn book(&self) -> &Arc<Book> {
        &self.truth.book
    }

    fn refuse_newer(&self) -> Result<()> {
        match self.newer {
            Some(found) => Err(Error::NewerSchema { found, supported: SCHEMA_VERSION }),
            None => Ok(()),
        }
    }
}

/// Whether a handle may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    ReadWrite,
    ReadOnly,
}

/// As much of the file as holds its generation.
const START_BYTES: usize = 256;

/// Events that wait in memory because the folder is busy take at most this many bytes.
const MAX_PENDING: usize = 1 << 20;

/// The folder.
pub(crate) struct Store {
    pub(crate) place: Place,
    clock: Arc<dyn Clock>,
    feedback: FeedbackConfig,
    /// Events of recalls that found the folder busy.
    pending: Mutex<Vec<u8>>,
}

impl Store {
    /// Opens the folder. Nothing is made for reading; for writing the folder is. A broken playbook file goes to quarantine
    /// and its backup takes its place, which the report tells.
    pub(crate) fn open(
        folder: PathBuf,
        disk: Box<dyn Disk>,
        clock: Arc<dyn Clock>,
        feedback: FeedbackConfig,
        access: Access,
    ) -> Result<(Self, Snapshot, Option<Recovery>)> {
        let store = Self { place: Place::open(folder, disk, access)?, clock, feedback, pending: Mutex::default() };
        if let Err(error) = store.place.recover_edits() {
            // Lessons do not depend on them; the next edit insists.
            tracing::warn!(%error, "edits that were left unfinished could not be settled");
        }
        if let Err(error) = store.place.forget_old_edits(store.clock.now()) {
            tracing::warn!(%error, "old records of edits could not be dropped");
        }
        match store.load() {
            Err(Error::Unreadable { reason, .. }) => {
                let (snapshot, recovery) = store.recover(reason)?;
                Ok((store, snapshot, recovery))
            }
            loaded => loaded.map(|snapshot| (store, snapshot, None)),
        }
    }

    /// The present state: `known` itself when nothing changed, a newer one otherwise.
    pub(crate) fn refresh(&self, known: &Snapshot) -> Result<Option<Snapshot>> {
        let path = self.place.folder.truth();
        let stamp = self.place.disk.stamp(&path).map_err(Error::io("look at", &path))?;
        let is_same = match (&known.seen.stamp, &stamp) {
            (Some(before), Some(now)) if before.is_alike(now) => self.has_same_start(known, before, now)?,
            (before, now) => before.is_none() && now.is_none(),
        };
        if is_same { Ok(None) } else { self.load().map(Some) }
    }

    /// Commits can follow each other within one tick of the file's clock and give inode and length back. The generation at
    /// the start of the file tells them apart; it is looked at until the file is too old for that.
    fn has_same_start(&self, known: &Snapshot, before: &Stamp, now: &Stamp) -> Result<bool> {
        if !before.is_young || known.seen.is_settled.load(Ordering::Acquire) {
            return Ok(true);
        }
        let path = self.place.folder.truth();
        let start = self.place.disk.read_start(&path, START_BYTES).map_err(Error::io("read", &path))?;
        let is_same = start == known.seen.start;
        known.seen.is_settled.store(is_same && !now.is_young, Ordering::Release);
        Ok(is_same)
    }

    /// The present state with every event that was appended since.
    pub(crate) fn refresh_usage(&self, known: &Snapshot) -> Result<Snapshot> {
        if let Some(newer) = self.refresh(known)? {
            Ok(newer)
        } else {
            let mut snapshot = known.clone();
            self.read_usage(&mut snapshot)?;
            Ok(snapshot)
        }
    }

    /// Notes an event of a recall: written at once, or with a later call when somebody is committing.
    pub(crate) fn note(&self, known: &Snapshot, event: &Event) -> Result<()> {
        let mut pending = self.pending.lock();
        if pending.len() < MAX_PENDING {
            pending.extend(event.line());
        }
        self.append_pending(known, &mut pending)
    }

    /// Writes down what recalls left in memory, unless somebody is committing. True when nothing is left.
    pub(crate) fn flush(&self, known: &Snapshot) -> Result<bool> {
        let mut pending = self.pending.lock();
        self.append_pending(known, &mut pending)?;
        Ok(pending.is_empty())
    }

    fn append_pending(&self, known: &Snapshot, pending: &mut Vec<u8>) -> Result<()> {
        if pending.is_empty() || !self.may_append(known) {
            return Ok(());
        }
        let path = self.place.folder.lock();
        let Some(_lock) = self.place.disk.try_lock_shared(&path).map_err(Error::io("lock", &path))? else {
            return Ok(());
        };
        self.append_usage(known, pending)?;
        pending.clear();
        Ok(())
    }

    /// False for a handle that only reads, one that stopped writing, and a folder of a newer version.
    pub(crate) fn may_append(&self, known: &Snapshot) -> bool {
        known.newer.is_none() && self.place.may_write()
    }

    /// The changes on record, oldest first.
    pub(crate) fn history(&self, snapshot: &Snapshot) -> Result<Vec<Change>> {
        let mut bytes = self.read_or_empty(&self.place.folder.archive(), 0)?;
        bytes.truncate(usize::try_from(snapshot.truth.archive_length).unwrap_or(usize::MAX));
        Ok(archive::parse(&bytes, self.clock.as_ref()))
    }

    /// Takes in the vectors that were cached since the last look, and returns the length of the file.
    pub(crate) fn read_vectors(&self, cache: &mut VectorCache, fingerprint: TextHash) -> Result<u64> {
        let path = self.place.folder.vectors();
        let Some(stamp) = self.place.disk.stamp(&path).map_err(Error::io("look at", &path))? else { return Ok(0) };
        if cache.inode != Some(stamp.inode) || stamp.length < cache.read_to {
            cache.reread();
            cache.inode = Some(stamp.inode);
        }
        if stamp.length > cache.read_to {
            let bytes = self.read_or_empty(&path, cache.read_to)?;
            cache.read(&bytes, fingerprint);
        }
        Ok(stamp.length)
    }

    /// Writes vectors that were made outside a commit, where the handle may write and nobody else does.
    pub(crate) fn save_vectors(&self, known: &Snapshot, cache: &mut VectorCache, fingerprint: TextHash) -> Result<()> {
        if cache.unsaved.is_empty() || !self.may_append(known) {
            return Ok(());
        }
        match self.place.try_lock()? {
            Some(_lock) => self.write_vectors(cache, fingerprint, false, known.book()),
            None => Ok(()),
        }
    }

    /// Whether a write would begin: the lock can be had, and nothing forbids it.
    pub(crate) fn probe(&self, known: &Snapshot) -> Result<()> {
        known.refuse_newer()?;
        self.place.lock().map(drop)
    }

    /// The whole file, nothing when there is none; for `check`.
    pub(crate) fn read_or_empty(&self, path: &Path, offset: u64) -> Result<Vec<u8>> {
        self.place.read_or_empty(path, offset)
    }

    /// The state under the lock: a changed file is read again, and a file so young that its stamp proves nothing is
    /// compared by content.
    fn newest(&self, known: &Snapshot) -> Result<Snapshot> {
        let path = self.place.folder.truth();
        let stamp = self.place.disk.stamp(&path).map_err(Error::io("look at", &path))?;
        let is_same = match (&known.seen.stamp, &stamp) {
            (None, None) => true,
            (Some(known_stamp), Some(stamp)) if known_stamp.is_alike(stamp) => {
                known_stamp.is_surely(stamp) || TextHash::of(&[self.read_or_empty(&path, 0)?]) == known.seen.content
            }
            _ => false,
        };
        if !is_same {
            return self.load();
        }
        let mut snapshot = known.clone();
        self.read_usage(&mut snapshot)?;
        Ok(snapshot)
    }

    fn load(&self) -> Result<Snapshot> {
        let path = self.place.folder.truth();
        let stamp = self.place.disk.stamp(&path).map_err(Error::io("look at", &path))?;
        let Some(stamp) = stamp else { return self.load_absent() };
        let bytes = self.read_or_empty(&path, 0)?;
        let (truth, newer) = match truth::parse(&bytes, self.clock.as_ref()) {
            Ok(truth::Parsed::Truth(truth)) => (truth, None),
            Ok(truth::Parsed::Newer { found, truth }) => (truth, Some(found)),
            Err(reason) => return Err(Error::Unreadable { path, reason }),
        };
        let truth = if truth.is_unmarked { self.mark(truth)? } else { truth };
        self.with_usage(Snapshot::new(truth, Seen::new(Some(stamp), &bytes), newer))
    }

    /// A file that does not say what of the archive and the usage belongs to it. Everything archived does. Of the usage,
    /// nothing more is counted where this folder was committed to before: the rows have it; otherwise all of it.
    fn mark(&self, mut truth: Truth) -> Result<Truth> {
        self.adopt_archive(&mut truth)?;
        let backup = self.place.folder.backup();
        let was_committed = self.place.disk.stamp(&backup).map_err(Error::io("look at", &backup))?.is_some();
        if let (true, Some(segment)) = (was_committed, self.segments()?.last().copied()) {
            let length = archive::whole_length(&self.read_or_empty(&self.place.folder.usage(segment), 0)?);
            truth.usage = Mark { segment, offset: length };
        }
        truth.is_unmarked = false;
        Ok(truth)
    }

    /// No playbook file: an empty playbook. What the archive and the usage files hold stays, and so do removals.
    fn load_absent(&self) -> Result<Snapshot> {
        let mut truth = Truth::default();
        self.adopt_archive(&mut truth)?;
        self.with_usage(Snapshot::new(truth, Seen::new(None, b""), None))
    }

    fn with_usage(&self, mut snapshot: Snapshot) -> Result<Snapshot> {
        snapshot.log = UsageLog::default();
        for segment in self.segments()? {
            if segment < snapshot.truth.usage.segment {
                self.read_segment(&mut snapshot, Mark { segment, offset: 0 })?;
            }
        }
        snapshot.log.end = Mark { segment: snapshot.truth.usage.segment, offset: 0 };
        self.read_usage(&mut snapshot)?;
        Ok(snapshot)
    }

    /// Reads the events after the last one that was read.
    fn read_usage(&self, snapshot: &mut Snapshot) -> Result<()> {
        loop {
            let end = snapshot.log.end;
            self.read_segment(snapshot, end)?;
            let next = Mark { segment: snapshot.log.end.segment + 1, offset: 0 };
            let path = self.place.folder.usage(next.segment);
            if self.place.disk.stamp(&path).map_err(Error::io("look at", &path))?.is_none() {
                return Ok(());
            }
            snapshot.log.end = next;
        }
    }

    fn read_segment(&self, snapshot: &mut Snapshot, at: Mark) -> Result<()> {
        let bytes = self.read_or_empty(&self.place.folder.usage(at.segment), at.offset)?;
        snapshot.log.end = at;
        if !bytes.is_empty() {
            let truth = Arc::make_mut(&mut snapshot.truth);
            snapshot.log.read(at, &bytes, truth.usage, Arc::make_mut(&mut truth.book), &self.feedback);
        }
        // A file that is shorter than what was folded in was lost and made anew; nothing is appended to it any more.
        let folded = snapshot.truth.usage;
        if at.segment == folded.segment {
            snapshot.log.end = snapshot.log.end.max(folded);
        }
        Ok(())
    }

    fn segments(&self) -> Result<Vec<u64>> {
        let path = self.place.folder.path();
        let names = match self.place.disk.list(path) {
            Ok(names) => names,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(Error::io("list", path)(error)),
        };
        let number = |name: &std::ffi::OsString| {
            name.to_str()?.strip_prefix("usage.")?.strip_suffix(".jsonl")?.parse::<u64>().ok()
        };
        let mut segments: Vec<u64> = names.iter().filter_map(number).collect();
        segments.sort_unstable();
        Ok(segments)
    }

    /// Appends to the segment that is open. A closed one has a successor; one that lost what was read of it gets one.
    fn append_usage(&self, known: &Snapshot, lines: &[u8]) -> Result<()> {
        let length = |path: &Path| self.place.disk.stamp(path).map_err(Error::io("look at", path));
        let Mark { mut segment, offset } = known.log.end;
        let mut path = self.place.folder.usage(segment);
        if length(&path)?.map_or(0, |stamp| stamp.length) < offset {
            segment += 1;
            path = self.place.folder.usage(segment);
        }
        loop {
            let next = self.place.folder.usage(segment + 1);
            if length(&next)?.is_none() {
                return self.place.disk.append(&path, lines).map_err(Error::io("append to", &path));
            }
            segment += 1;
            path = next;
        }
    }
}

fn is_alike(known: Option<&Stamp>, present: Option<&Stamp>) -> bool {
    match (known, present) {
        (None, None) => true,
        (Some(known), Some(present)) => known.is_alike(present),
        _ => false,
    }
}
