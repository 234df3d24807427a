//! One folder, several processes, no daemon: open, look, commit, recover.
//!
//! A commit decides on the newest state under the lock, appends what it changed to a log, and writes the playbook file; a recall appends
//! one line. What is acknowledged survives the death of the process and of the machine; what fails before its line is synced never
//! happened.

pub(crate) mod archive;
mod backup;
mod checksum;
mod combine;
mod commit;
mod commit_log;
pub(crate) mod curation;
pub(crate) mod documents;
pub(crate) mod export;
mod forget;
#[cfg(test)]
mod fuzz;
pub(crate) mod inbox;
pub(crate) mod inbox_targets;
pub(crate) mod memory_vectors;
pub(crate) mod mining;
mod playbook_file;
#[cfg(test)]
mod power_loss;
#[cfg(test)]
mod random_histories;
mod recall_file;
mod receipts;
mod recover;
mod salvage;
pub(crate) mod sections;
pub(crate) mod skill_files;
pub(crate) mod skill_shelf;
pub(crate) mod skill_state;
mod spilled;
pub(crate) mod supporting_files;
#[cfg(test)]
mod tests;
pub(crate) mod undo;
mod usage;
mod usage_files;
mod usage_reading;
mod vector_file;
mod vectors;
mod written_rows;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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
pub use backup::{BackupFile, BackupRecord, Restored};
use commit_log::{CommitLog, LOG, LogEnd};
pub(crate) use playbook_file::{Mark, PlaybookFile};
pub(crate) use recall_file::{MIN_STORED_LESSONS, RecallFile};
use receipts::{ReceiptCount, ReceiptFile};
pub use recover::Recovery;
pub(crate) use usage::{Event, Text, UsageLog};
use usage_files::UsageFiles;
use usage_reading::UsageFrom;
use vector_file::VectorFile;
pub(crate) use vectors::{VectorCache, count as count_vectors, is_cache};
use written_rows::WrittenRows;

/// What the folder holds at one moment: the playbook file with the usage after it folded in.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) file: Arc<PlaybookFile>,
    /// The same without the usage after it.
    committed: Arc<PlaybookFile>,
    pub(crate) log: UsageLog,
    commits: LogEnd,
    /// True when the log of commits leads to this state, so that the next commit is a line of it.
    is_logged: bool,
    version: FileVersion,
    newer: Option<u64>,
    /// True when it is for reading only, and a commit reads the folder again: counts are in it that no segment has, or it was put
    /// together from a broken folder while somebody else held the lock.
    is_provisional: bool,
}

/// What a change of the playbook file is detected by.
#[derive(Clone, Debug)]
struct FileVersion {
    /// None when there was no file.
    stamp: Option<Stamp>,
    content: TextHash,
    /// The first bytes of the file, with its generation.
    start: Vec<u8>,
    /// True when the stamp alone detects any later change.
    is_settled: Arc<AtomicBool>,
    /// False for a file that somebody else wrote, or an older version: the next commit keeps it as the backup.
    is_ours: bool,
}

impl FileVersion {
    fn new(stamp: Option<Stamp>, bytes: &[u8]) -> Self {
        let start = bytes.get(..START_BYTES).unwrap_or(bytes).to_vec();
        Self { stamp, content: TextHash::of(&[bytes]), start, is_settled: Arc::default(), is_ours: true }
    }
}

impl Snapshot {
    fn new(file: PlaybookFile, version: FileVersion, newer: Option<u64>) -> Self {
        let file = Arc::new(file);
        Self {
            committed: Arc::clone(&file),
            file,
            log: UsageLog::default(),
            commits: LogEnd::default(),
            is_logged: false,
            version,
            newer,
            is_provisional: false,
        }
    }

    /// A state that was committed just now.
    fn advance(&mut self, file: PlaybookFile) {
        self.log.end = file.usage;
        self.file = Arc::new(file);
        self.committed = Arc::clone(&self.file);
        self.is_logged = true;
    }

    /// True where the playbook file is behind its log.
    fn is_ahead(&self) -> bool {
        let written = salvage::number(&String::from_utf8_lossy(&self.version.start), "generation");
        written.is_some_and(|written| written < self.committed.generation)
    }

    pub(crate) fn book(&self) -> &Arc<Book> {
        &self.file.book
    }
}

/// The playbook file.
const PLAYBOOK: &str = "skills_playbook.json";
/// A second copy of the playbook file.
const BACKUP: &str = "skills_playbook.json.bak";
/// What left the playbook.
const ARCHIVE: &str = "archive.jsonl";
/// The cached vectors of a playbook, or those of a vector memory.
const VECTORS: &str = "vectors.bin";

/// As much of the file as holds its generation.
const START_BYTES: usize = 256;

/// How often the files are read while others write them, until one reading fits together.
const MAX_READS: usize = 8;

/// Events that wait in memory because the folder is busy take at most this many bytes.
const MAX_PENDING: usize = 1 << 20;

/// A playbook in a folder.
pub(crate) struct Store {
    pub(crate) folder: Folder,
    /// What of the folder may be used.
    pub(crate) guard: Guard,
    clock: Arc<dyn Clock>,
    feedback: FeedbackConfig,
    credit: CreditConfig,
    config: StoreConfig,
    receipt_count: ReceiptCount,
    /// What recalls left that found the folder busy.
    pending: Mutex<Pending>,
    written_rows: Mutex<WrittenRows>,
}

/// A playbook that was opened.
pub(crate) struct Opened {
    pub(crate) store: Store,
    pub(crate) snapshot: Snapshot,
    /// What had to be done about a broken file.
    pub(crate) recovery: Option<Recovery>,
    /// What is stored for recalls.
    pub(crate) recall_file: Option<RecallFile>,
}

/// Lines that wait to be appended.
#[derive(Default)]
struct Pending {
    usage: Vec<u8>,
    receipts: Vec<u8>,
}

impl Store {
    /// Opens the playbook of a folder. A broken playbook file goes to quarantine
    /// and its backup takes its place, which the report says. An unknown folder is an empty playbook.
    pub(crate) fn open(
        folder: Folder,
        guard: Guard,
        clock: Arc<dyn Clock>,
        feedback: FeedbackConfig,
        credit: CreditConfig,
        config: StoreConfig,
    ) -> Result<Opened> {
        let receipt_count = ReceiptCount::default();
        let (pending, written_rows) = (Mutex::default(), Mutex::default());
        let store = Self { folder, guard, clock, feedback, credit, config, receipt_count, pending, written_rows };
        if store.guard.standing() == Standing::Unknown {
            let nothing = Snapshot::new(PlaybookFile::default(), FileVersion::new(None, b""), None);
            return Ok(Opened { store, snapshot: nothing, recovery: None, recall_file: None });
        }
        if let Err(error) = store.folder.edits().recover() {
            // Lessons do not depend on them; the next edit insists.
            tracing::warn!(%error, "edits that were left unfinished could not be settled");
        }
        if let Err(error) = store.folder.edits().remove_outdated(store.clock.now()) {
            tracing::warn!(%error, "old records of edits could not be removed");
        }
        let (recall_file, stored) = store.stored_state();
        let loaded = stored.map_or_else(|| store.load(UsageFrom::Open), Ok);
        let (snapshot, recovery) = match loaded {
            Err(FolderError::Unreadable { reason, .. }) => store.recover(reason)?,
            loaded => (loaded?, None),
        };
        Ok(Opened { store, snapshot, recovery, recall_file })
    }

    /// The present state: `known` itself when nothing changed, a newer one otherwise.
    pub(crate) fn refresh(&self, known: &Snapshot) -> Result<Option<Snapshot>> {
        if self.is_current(known)? { Ok(None) } else { self.load_or_recover_missing(known).map(Some) }
    }

    /// True where nothing was committed or edited since.
    pub(crate) fn is_current(&self, known: &Snapshot) -> Result<bool> {
        let stamp = self.files().stamp(PLAYBOOK)?;
        let is_same = match (&known.version.stamp, &stamp) {
            (Some(before), Some(now)) if before.is_alike(now) => self.has_same_start(known, before, now)?,
            (before, now) => before.is_none() && now.is_none(),
        };
        Ok(is_same && known.commits.is_alike(self.files().stamp(LOG)?.as_ref()))
    }

    /// Commits can follow each other within one tick of the file's clock and give inode and length back. The generation at
    /// the start of the file tells them apart; it is read until the file is too old for that.
    fn has_same_start(&self, known: &Snapshot, before: &Stamp, now: &Stamp) -> Result<bool> {
        if !before.is_racy || known.version.is_settled.load(Ordering::Acquire) {
            return Ok(true);
        }
        let is_same = match self.files().read_start(PLAYBOOK, START_BYTES) {
            // A handle that only reads took the backup's state instead.
            Err(FolderError::Irregular { found: Irregular::Folder, .. }) => known.version.start.is_empty(),
            start => start? == known.version.start,
        };
        known.version.is_settled.store(is_same && !now.is_racy, Ordering::Release);
        Ok(is_same)
    }

    /// The present state, read whatever is known of it.
    pub(crate) fn reload(&self) -> Result<Snapshot> {
        self.load(UsageFrom::Start)
    }

    /// The present state with every event that was appended since.
    pub(crate) fn refresh_usage(&self, known: &Snapshot) -> Result<Snapshot> {
        let newest = self.refresh(known)?.unwrap_or_else(|| known.clone());
        let mut snapshot = self.with_all_usage(newest)?;
        self.read_usage(&mut snapshot)?;
        self.read_spilled(&mut snapshot)?;
        Ok(snapshot)
    }

    /// Notes an event of a recall, and the line of its receipt if that is logged: written at once, or with a later call when
    /// somebody is committing.
    pub(crate) fn note(&self, known: &Snapshot, event: &Event, receipt: Option<Vec<u8>>) -> Result<()> {
        let mut pending = self.pending.lock();
        if pending.usage.len() < MAX_PENDING {
            pending.usage.extend(event.line());
            pending.receipts.extend(receipt.unwrap_or_default());
        }
        self.append_pending(known, &mut pending)
    }

    /// Writes down what recalls left in memory, unless somebody is committing. True when nothing is left.
    pub(crate) fn flush(&self, known: &Snapshot) -> Result<bool> {
        let mut pending = self.pending.lock();
        self.append_pending(known, &mut pending)?;
        Ok(pending.usage.is_empty())
    }

    fn append_pending(&self, known: &Snapshot, pending: &mut Pending) -> Result<()> {
        if pending.usage.is_empty() || !self.may_append(known) {
            return Ok(());
        }
        let Some(_lock) = self.folder.try_lock_shared()? else { return Ok(()) };
        self.append_lines(known, pending)
    }

    /// Writes what waits; the caller holds the folder's lock. A receipt that cannot be logged is forgotten.
    fn append_lines(&self, known: &Snapshot, pending: &mut Pending) -> Result<()> {
        self.usage_files().append(known.log.end, &pending.usage)?;
        pending.usage.clear();
        let receipts = std::mem::take(&mut pending.receipts);
        if !receipts.is_empty()
            && let Err(error) = self.receipt_file().append(&receipts)
        {
            tracing::warn!(%error, "receipts are not in the log");
        }
        Ok(())
    }

    /// The receipts on record, without the lessons that were removed.
    pub(crate) fn receipts(&self, snapshot: &Snapshot) -> Result<ReceiptLog> {
        self.receipt_file().read(snapshot.book())
    }

    /// False for a handle that only reads, one that stopped writing, and a folder of a newer version.
    pub(crate) fn may_append(&self, known: &Snapshot) -> bool {
        known.newer.is_none() && self.folder.may_write()
    }

    /// The changes on record, oldest first.
    pub(crate) fn history(&self, snapshot: &Snapshot) -> Result<Vec<Change>> {
        let mut bytes = self.read_archive()?;
        bytes.truncate(usize::try_from(snapshot.file.archive_length).unwrap_or(usize::MAX));
        let mut changes = archive::parse(&bytes, self.clock.as_ref());
        changes.retain(|change| change.edits.iter().all(|edit| self.admits_edit(snapshot.book(), edit)));
        Ok(changes)
    }

    /// False for a change that version control brought, of a text that the user has not admitted: to undo it would let it in.
    fn admits_edit(&self, book: &Book, edit: &Edit) -> bool {
        let removed = || book.removed.iter().find(|removed| removed.id == edit.id)?.lesson.as_ref();
        let lesson = edit.before.as_ref().or_else(|| if edit.why.is_removal() { removed() } else { None });
        lesson.is_none_or(|lesson| !lesson.is_admitted() || self.admits(lesson))
    }

    /// Takes in the vectors that were cached since the last read.
    pub(crate) fn read_vectors(&self, cache: &mut VectorCache, fingerprint: TextHash) -> Result<()> {
        self.vector_file().read(cache, fingerprint).map(drop)
    }

    /// Writes vectors that were made outside a commit, where the handle may write and nobody else does.
    pub(crate) fn save_vectors(&self, known: &Snapshot, cache: &mut VectorCache, fingerprint: TextHash) -> Result<()> {
        if cache.unsaved.is_empty() || !self.may_append(known) {
            return Ok(());
        }
        match self.folder.try_lock()? {
            Some(_lock) => self.vector_file().write(cache, fingerprint, false, known.book()),
            None => Ok(()),
        }
    }

    fn refuse_newer(&self, known: &Snapshot) -> Result<()> {
        let Some(found) = known.newer else { return Ok(()) };
        Err(FolderError::NewerSchema { path: self.files().path_of(PLAYBOOK), found, supported: SCHEMA_VERSION })
    }

    /// Whether a write would begin now: the lock is free, and nothing forbids it.
    pub(crate) fn probe(&self, known: &Snapshot) -> Result<()> {
        self.refuse_newer(known)?;
        self.folder.lock_within(Duration::ZERO).map(drop)
    }

    /// How many bytes of usage were appended and are not there any more.
    pub(crate) fn n_missing_usage_bytes(&self) -> Result<u64> {
        self.usage_files().n_missing_bytes()
    }

    /// The whole archive, nothing when there is none.
    pub(crate) fn read_archive(&self) -> Result<Vec<u8>> {
        self.files().read_or_empty(ARCHIVE, 0)
    }

    /// The whole vector cache, nothing when there is none.
    pub(crate) fn read_vector_file(&self) -> Result<Vec<u8>> {
        self.files().read_or_empty(VECTORS, 0)
    }

    fn files(&self) -> &Directory {
        self.folder.files()
    }

    fn usage_files(&self) -> UsageFiles<'_> {
        UsageFiles(self.files())
    }

    fn receipt_file(&self) -> ReceiptFile<'_> {
        ReceiptFile { folder: &self.folder, config: &self.credit, count: &self.receipt_count }
    }

    fn vector_file(&self) -> VectorFile<'_> {
        VectorFile(&self.folder)
    }

    /// The state under the lock: a changed file is read again, and one whose stamp may be racy is compared by content.
    fn newest(&self, known: &Snapshot) -> Result<Snapshot> {
        let stamp = self.files().stamp(PLAYBOOK)?;
        let is_same = match (&known.version.stamp, &stamp) {
            (None, None) => true,
            (Some(known_stamp), Some(stamp)) if known_stamp.is_alike(stamp) => {
                known_stamp.is_surely(stamp)
                    || TextHash::of(&[self.files().read_or_empty(PLAYBOOK, 0)?]) == known.version.content
            }
            _ => false,
        };
        let is_same = is_same && known.commits.is_alike(self.files().stamp(LOG)?.as_ref());
        if !is_same || known.is_provisional {
            return match self.load(UsageFrom::End(known)).and_then(|loaded| self.with_all_usage(loaded)) {
                Err(FolderError::Unreadable { reason, .. }) if stamp.is_none() || is_known(&reason) => {
                    self.recover_locked(reason, true).map(|(snapshot, _)| snapshot)
                }
                loaded => loaded,
            };
        }
        let mut snapshot = self.with_all_usage(known.clone())?;
        // As old as it is by now, it need not be read the next time.
        snapshot.version.stamp = stamp;
        self.read_usage(&mut snapshot)?;
        Ok(snapshot)
    }

    /// Reads a playbook file as far as the user has admitted what is in it.
    fn parse(&self, bytes: &[u8]) -> std::result::Result<playbook_file::Parsed, String> {
        self.parse_then(bytes, |_| {})
    }

    /// The same of what was done to its keys after its checksums were looked at.
    fn parse_then(
        &self,
        bytes: &[u8],
        advance: impl FnOnce(&mut serde_json::Map<String, serde_json::Value>),
    ) -> std::result::Result<playbook_file::Parsed, String> {
        playbook_file::parse_then(bytes, self.clock.as_ref(), &|lesson| self.admits(lesson), advance)
    }

    pub(crate) fn admits(&self, lesson: &Lesson) -> bool {
        self.guard.admits(|| lesson.admission_hash())
    }

    /// Reads the state. Who does not hold the lock may read one file before a commit and another after it: what cannot be right is
    /// read again while the files change.
    fn load(&self, usage: UsageFrom<'_>) -> Result<Snapshot> {
        let load = || self.with_usage(self.load_committed()?, usage);
        for _ in 1..MAX_READS {
            let before = [self.files().stamp(LOG)?, self.files().stamp(PLAYBOOK)?];
            let loaded = load();
            let Err(FolderError::Unreadable { .. }) = loaded else { return loaded };
            let now = [self.files().stamp(LOG)?, self.files().stamp(PLAYBOOK)?];
            if before.iter().zip(&now).all(|(before, now)| is_alike(before.as_ref(), now.as_ref())) {
                return loaded;
            }
        }
        load()
    }

    /// The state without the usage after it.
    fn load_committed(&self) -> Result<Snapshot> {
        self.guard.refresh()?;
        // Before the file: what a commit writes in between is then newer than the log, and not older.
        let log = self.log_bytes()?;
        let Some(stamp) = self.files().stamp(PLAYBOOK)? else { return self.load_absent(&log.read(None)) };
        let bytes = match self.files().read_or_empty(PLAYBOOK, 0) {
            Err(FolderError::Irregular { found: Irregular::Folder, .. }) if self.has_committed(&log.read(None))? => {
                return Err(self.unreadable("it is a folder".to_owned()));
            }
            read => read?,
        };
        let mut version = FileVersion::new(Some(stamp), &bytes);
        let log = log.read(Some(version.content));
        let (mut own, mut is_known, mut is_advanced) = (0, false, false);
        let parsed = self.parse_then(&bytes, |keys| {
            own = commit_log::generation_of(keys);
            is_known = log.has_written(own, version.content);
            is_advanced = log.generation() > own && log.advance(keys, !is_known);
        });
        let playbook_file::Parsed { mut file, newer, seals } = parsed.map_err(|reason| self.unreadable(reason))?;
        if newer.is_none() {
            let is_untouched = seals.is_untouched(stamp.modified);
            if is_untouched && !seals.is_whole() {
                return Err(self.unreadable(DAMAGED.to_owned()));
            }
            // What the last commit did not come to write, or a file that is not written at every commit, by a person too.
            let goes_on = log.needs_file() && own == log.base && (is_known || !is_untouched);
            // The backup is written after the file: where it is no newer, no later commit came to write the file either.
            let is_last = is_known
                && is_untouched
                && is_advanced
                && (own + 1 == log.generation() || self.backup_generation()? == Some(own));
            let is_left_behind = is_advanced && (goes_on || is_last);
            let newest = if is_left_behind { self.newer_backup(&file)? } else { self.newer_than(own, &log)? };
            if let Some(newest) = newest {
                return Err(self.unreadable(format!("{OLDER}: generation {own} after {newest}")));
            }
            version.is_ours = is_untouched;
            if seals.written.is_some() && !is_untouched {
                file.edited.extend(seals.foreign);
            }
        }
        if let Some(reason) = nothing_in(&file)
            && self.has_committed(&log)?
        {
            return Err(self.unreadable(reason));
        }
        let is_logged = is_known && log.leads_to(file.generation);
        let file = if file.is_unmarked { self.mark(file)? } else { file };
        Ok(Snapshot { commits: log.end, is_logged, ..Snapshot::new(file, version, newer) })
    }

    /// The state that the log of commits leads to, where it has all of it.
    fn load_logged(&self, log: &CommitLog, version: &FileVersion) -> Option<Snapshot> {
        let file = self.logged(log)?;
        let is_logged = log.leads_to(file.generation);
        let snapshot = Snapshot::new(file, version.clone(), None);
        Some(Snapshot { commits: log.end.clone(), is_logged, ..snapshot })
    }

    /// The playbook file that the log of commits leads to, where it has all of it.
    fn logged(&self, log: &CommitLog) -> Option<PlaybookFile> {
        let advance = |keys: &mut _| _ = log.advance(keys, false);
        let admits = |lesson: &_| self.admits(lesson);
        let parsed = playbook_file::parse_keys(log.first_state()?, self.clock.as_ref(), &admits, advance).ok()?;
        parsed.newer.is_none().then_some(parsed.file)
    }

    /// A file that does not say what of the archive and the usage belongs to it. Everything archived does. The usage is counted
    /// from where the last commit left off, nothing more where nobody knows where that was: the rows have it; in a folder that was
    /// never committed to, all of it.
    fn mark(&self, mut file: PlaybookFile) -> Result<PlaybookFile> {
        self.adopt_archive(&mut file)?;
        if self.has_committed(&self.read_log()?)? {
            let known = self.backup()?.filter(|backup| !backup.is_unmarked);
            let end = self.usage_files().end()?;
            file.usage = known.as_ref().map(|known| known.usage).or(end).unwrap_or(file.usage);
            if let Some(known) = known {
                Arc::make_mut(&mut file.book).keep_records_of(&known.book);
            }
        }
        file.is_unmarked = false;
        Ok(file)
    }

    /// No playbook file, nor the backup of one: an empty playbook. What the archive and the usage files hold stays, and so do
    /// removals.
    fn load_absent(&self, log: &CommitLog) -> Result<Snapshot> {
        // The first commit did not come to write it.
        if log.generation() == 1
            && !self.has_backup()?
            && let Some(snapshot) = self.load_logged(log, &FileVersion::new(None, b""))
        {
            return Ok(snapshot);
        }
        if self.has_committed(log)? {
            return Err(self.unreadable("it is missing".to_owned()));
        }
        let mut file = PlaybookFile::default();
        self.adopt_archive(&mut file)?;
        let snapshot = Snapshot::new(file, FileVersion::new(None, b""), None);
        Ok(Snapshot { commits: log.end.clone(), ..snapshot })
    }

    /// An open handle reports a broken file and leaves it alone: somebody may be saving it. A missing one is given back.
    fn load_or_recover_missing(&self, known: &Snapshot) -> Result<Snapshot> {
        match self.load(UsageFrom::End(known)) {
            Err(FolderError::Unreadable { reason, .. }) if is_known(&reason) || is_missing(self.files(), PLAYBOOK)? => {
                self.recover(reason).map(|(snapshot, _)| snapshot)
            }
            loaded => loaded,
        }
    }

    /// The generation of the backup, where the file is older: somebody put a copy back, or saved what was opened long ago.
    fn newer_backup(&self, file: &PlaybookFile) -> Result<Option<u64>> {
        if file.generation == 0 {
            return Ok(None);
        }
        let is_newer = self.backup_generation()?.is_some_and(|generation| generation > file.generation);
        let backup = if is_newer { self.backup()? } else { None };
        Ok(backup.map(|backup| backup.generation).filter(|generation| *generation > file.generation))
    }

    /// The generation that the backup says it has.
    fn backup_generation(&self) -> Result<Option<u64>> {
        match self.files().read_start(BACKUP, START_BYTES) {
            Err(FolderError::Irregular { .. }) => Ok(None),
            start => Ok(salvage::number(&String::from_utf8_lossy(&start?), "generation")),
        }
    }

    /// The generation of the backup or the log, where a file of this generation is older.
    fn newer_than(&self, own: u64, log: &CommitLog) -> Result<Option<u64>> {
        let logged = Some(log.generation()).filter(|newest| own > 0 && *newest > own);
        let file = PlaybookFile { generation: own, ..PlaybookFile::default() };
        Ok(logged.max(self.newer_backup(&file)?))
    }

    fn unreadable(&self, reason: String) -> FolderError {
        FolderError::Unreadable { path: self.files().path_of(PLAYBOOK), reason }
    }

    /// True when there was a playbook before, whatever is left of it.
    fn has_backup(&self) -> Result<bool> {
        Ok(!is_missing(self.files(), BACKUP)?)
    }

    /// The same, by its log too.
    fn has_committed(&self, log: &CommitLog) -> Result<bool> {
        Ok(log.generation() > 0 || self.has_backup()?)
    }
}

/// Why a file is not used that nobody but this program wrote.
const DAMAGED: &str = "it is damaged: checksums are broken and nobody edited it";
/// Why a file is not used that was the newest one once.
const OLDER: &str = "it is an older copy";

/// True for what no person is about to mend.
fn is_known(reason: &str) -> bool {
    reason == DAMAGED || reason.starts_with(OLDER)
}

/// Why a file cannot be right where there was one before: it names no lessons at all, and does not say that there are none.
fn nothing_in(file: &PlaybookFile) -> Option<String> {
    let Book { lessons, waiting, removed, unread, .. } = file.book.as_ref();
    if !lessons.is_empty() || !waiting.is_empty() || !removed.is_empty() {
        None
    } else if !unread.is_empty() {
        Some(format!("none of its {} rows is a lesson", unread.len()))
    } else {
        file.is_unmarked.then(|| "it is an empty list".to_owned())
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
