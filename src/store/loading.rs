//! Reading the state of a folder: the newest playbook file that can be used, with what its log, its backup and its usage have beside it.

use std::sync::Arc;

use super::commit_log::{self, CommitLog, LOG};
use super::usage_reading::UsageFrom;
use super::{
    BACKUP, FileVersion, PLAYBOOK, PlaybookFile, START_BYTES, Snapshot, Store, is_alike, is_missing, playbook_file,
    salvage,
};
use crate::error::folder::{FolderError, Irregular, Result};
use crate::lesson::{Lesson, TextHash};
use crate::state::Book;

/// How often the files are read while others write them, until one reading fits together.
const MAX_READS: usize = 8;

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

impl Store {
    /// The state under the lock: a changed file is read again, and one whose stamp may be racy is compared by content.
    pub(super) fn newest(&self, known: &Snapshot) -> Result<Snapshot> {
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
    pub(super) fn parse(&self, bytes: &[u8]) -> std::result::Result<playbook_file::Parsed, String> {
        self.parse_then(bytes, |_| {})
    }

    /// The same of what was done to its keys after its checksums were looked at.
    pub(super) fn parse_then(
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
    pub(super) fn load(&self, usage: UsageFrom<'_>) -> Result<Snapshot> {
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
            // The backup is written after the file. If the backup is not newer, no later commit wrote the file either.
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
    pub(super) fn logged(&self, log: &CommitLog) -> Option<PlaybookFile> {
        let advance = |keys: &mut _| _ = log.advance(keys, false);
        let admits = |lesson: &_| self.admits(lesson);
        let parsed = playbook_file::parse_keys(log.first_state()?, self.clock.as_ref(), &admits, advance).ok()?;
        parsed.newer.is_none().then_some(parsed.file)
    }

    /// A file that does not say what of the archive and the usage belongs to it. Everything archived does. The usage is counted
    /// from where the last commit left off, nothing more where nobody knows where that was: the rows have it; in a folder that was
    /// never committed to, all of it.
    pub(super) fn mark(&self, mut file: PlaybookFile) -> Result<PlaybookFile> {
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
    pub(super) fn load_or_recover_missing(&self, known: &Snapshot) -> Result<Snapshot> {
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
