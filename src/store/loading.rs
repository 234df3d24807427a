//! Loading the state of a folder: the newest usable playbook file, with its log, backup and usage.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::commit_log::{self, Base, CommitLog, LOG, LogBytes};
use super::playbook_file::Seals;
use super::recover::RecoveryAccess;
use super::usage_reading::UsageFrom;
use super::{
    BACKUP, FileVersion, OnDisk, PLAYBOOK, PlaybookFile, START_BYTES, Snapshot, Store, is_alike, is_missing,
    playbook_file, salvage,
};
use crate::error::folder::{FolderError, Irregular, Result};
use crate::folder::Stamp;
use crate::lesson::{Lesson, LessonId, TextHash};
use crate::state::Book;
use crate::trust::Standing;

/// How often the files are read while other handles write, until they match each other.
const MAX_READS: usize = 8;

/// The last bytes of a playbook file, in which it states when it was written.
const END_BYTES: usize = 128;

/// Why a file that only this program wrote is not used.
const DAMAGED: &str = "it is damaged: checksums are broken and nobody edited it";
/// Why an outdated file is not used.
const OLDER: &str = "it is an older copy";

/// When a playbook file states that it was written, by its last bytes.
pub(super) fn written_at(bytes: &[u8]) -> Option<u64> {
    let end = bytes.len().checked_sub(END_BYTES).and_then(|start| bytes.get(start..)).unwrap_or(bytes);
    salvage::written(&String::from_utf8_lossy(end))
}

/// True for a reason that no edit by a person explains.
fn is_known(reason: &str) -> bool {
    reason == DAMAGED || reason.starts_with(OLDER)
}

/// Why a file cannot be valid if there was one before: it has no list of lessons, and does not say that the playbook is empty.
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

/// Which commit wrote a playbook file, and what happened since.
#[derive(Clone, Debug, Default)]
struct Origin {
    /// The generation that the file states.
    generation: u64,
    /// True if the log says that exactly this file was written for that generation.
    is_known: bool,
    /// True if the log has later commits, and they were applied.
    is_advanced: bool,
    /// True if nobody modified the file since.
    is_untouched: bool,
}

impl Origin {
    /// Applies later commits of the log to the keys of a file.
    fn advance(keys: &mut Map<String, Value>, log: &CommitLog, content: TextHash) -> Self {
        let generation = commit_log::generation_of(keys);
        let is_known = log.has_written(generation, content);
        let is_advanced =
            log.generation() > generation && log.advance(keys, if is_known { Base::AsWritten } else { Base::Edited });
        Self { generation, is_known, is_advanced, is_untouched: false }
    }
}

impl Store {
    /// The newest state, under the lock. A changed file is read again; if its stamp may be racy, its content is compared.
    pub(super) fn newest(&self, known: &Snapshot) -> Result<Snapshot> {
        self.guard.check(&self.folder)?;
        self.guard.ask_again(&self.folder)?;
        let stamp = self.files().stamp(PLAYBOOK)?;
        let is_same = match (&known.on_disk.version.stamp, &stamp) {
            (None, None) => true,
            (Some(known_stamp), Some(stamp)) if known_stamp.is_alike(stamp) => {
                known_stamp.is_surely(stamp)
                    || TextHash::of(&[self.files().read_or_empty(PLAYBOOK, 0)?]) == known.on_disk.version.content
            }
            _ => false,
        };
        let is_same = is_same && known.on_disk.log.is_alike(self.files().stamp(LOG)?.as_ref());
        if !is_same || known.is_provisional || known.n_judged != self.guard.n_judged() {
            return match self.load(UsageFrom::End(known)).and_then(|loaded| self.with_all_usage(loaded)) {
                Err(FolderError::Unreadable { reason, .. }) if stamp.is_none() || is_known(&reason) => {
                    self.recover_locked(reason, RecoveryAccess::Write).map(|(snapshot, _)| snapshot)
                }
                loaded => loaded,
            };
        }
        let mut snapshot = self.with_all_usage(known.clone())?;
        // The file is old enough now that it need not be read the next time.
        snapshot.on_disk.version.stamp = stamp;
        self.read_usage(&mut snapshot)?;
        Ok(snapshot)
    }

    /// Parses a playbook file; lessons that the user has not admitted are kept apart.
    pub(super) fn parse(&self, bytes: &[u8]) -> std::result::Result<playbook_file::Parsed, String> {
        self.parse_then(bytes, |_| {})
    }

    /// As [`parse`](Self::parse), with a change of the keys after the checksums were checked.
    pub(super) fn parse_then(
        &self,
        bytes: &[u8],
        advance: impl FnOnce(&mut Map<String, Value>),
    ) -> std::result::Result<playbook_file::Parsed, String> {
        let mut parsed = playbook_file::parse_then(bytes, self.clock.as_ref(), &|lesson| self.admits(lesson), advance)?;
        self.hold_removed(&mut parsed.file);
        Ok(parsed)
    }

    pub(crate) fn admits(&self, lesson: &Lesson) -> bool {
        match self.guard.standing() {
            Standing::TextByText => !self.awaits(lesson),
            Standing::Trusted => true,
            Standing::Unknown => false,
        }
    }

    /// True for a lesson that the user has not admitted, or whose text they removed or replaced since.
    pub(crate) fn awaits(&self, lesson: &Lesson) -> bool {
        let (guard, hash) = (&self.guard, lesson.admission_hash());
        guard.awaits(hash) || (guard.awaits_others() && guard.is_withdrawn(|| lesson.text_hash()))
    }

    /// Where others write too, a removal that the file lists holds, although the file has the lesson as well: one of the two came by a
    /// merge or by hand, and the lesson awaits admission.
    fn hold_removed(&self, file: &mut PlaybookFile) {
        if self.guard.standing() != Standing::TextByText {
            return;
        }
        let ids: BTreeSet<LessonId> = file.book.removed.iter().map(|removed| removed.id).collect();
        let held: Vec<LessonId> = ids.into_iter().filter(|id| file.book.get(*id).is_some()).collect();
        if !held.is_empty() {
            let book = Arc::make_mut(&mut file.book);
            let taken: Vec<Arc<Lesson>> = held.into_iter().filter_map(|id| book.take(id)).collect();
            book.foreign.extend(taken);
        }
    }

    /// Loads the state. Without the lock, one file may be read before a commit and another after it: if the files do not match
    /// and are changing, they are read again.
    pub(super) fn load(&self, usage: UsageFrom<'_>) -> Result<Snapshot> {
        let load = || self.with_usage(self.load_with_stable_trust()?, usage);
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

    /// The state without later usage. Version control may have begun to write after it was asked and before the file was read: it is
    /// asked again, and if it did, the file is read as one that others write to.
    fn load_with_stable_trust(&self) -> Result<Snapshot> {
        for _ in 1..MAX_READS {
            let n_judged = self.guard.n_judged();
            let loaded = self.load_committed();
            self.guard.ask_again(&self.folder)?;
            if self.guard.n_judged() == n_judged {
                return loaded.map(|snapshot| Snapshot { n_judged, ..snapshot });
            }
        }
        self.load_committed()
    }

    /// The state by the present judgement, without later usage.
    fn load_committed(&self) -> Result<Snapshot> {
        self.guard.refresh(&self.folder)?;
        // Read before the file: if a commit is written in between, the file is newer than the log, not older.
        let log = self.commit_log().bytes()?;
        let Some(stamp) = self.files().stamp(PLAYBOOK)? else { return self.load_absent(&log.read(None)) };
        let bytes = self.read_playbook(&log)?;
        let mut version = FileVersion::new(Some(stamp), &bytes);
        let log = log.read(Some(version.content));
        if self.is_brought(&bytes, &stamp, &log) {
            return self.load_brought(&bytes, version, &log);
        }
        let mut origin = Origin::default();
        let advance = |keys: &mut Map<String, Value>| origin = Origin::advance(keys, &log, version.content);
        let parsed = self.parse_then(&bytes, advance).map_err(|reason| self.unreadable(reason))?;
        let playbook_file::Parsed { mut file, newer, seals } = parsed;
        if newer.is_none() {
            origin.is_untouched = seals.is_untouched(stamp.modified);
            if origin.is_untouched && !seals.is_whole() {
                return Err(self.unreadable(DAMAGED.to_owned()));
            }
            self.refuse_older(&file, &origin, &log)?;
            version.is_ours = origin.is_untouched;
            if seals.written.is_some() && !origin.is_untouched {
                file.edited.extend(seals.foreign);
            }
        }
        if let Some(reason) = nothing_in(&file)
            && self.has_committed(&log)?
        {
            return Err(self.unreadable(reason));
        }
        let is_logged = origin.is_known && log.leads_to(file.generation);
        if file.is_unmarked {
            file = self.mark(file)?;
        } else if newer.is_none() && !(origin.is_known && self.archive().ends_at(file.archive_length)?) {
            self.apply_later_removals(&mut file)?;
        }
        let on_disk = OnDisk { version, log: log.end, is_logged };
        Ok(Snapshot { newer, ..Snapshot::new(file, on_disk) })
    }

    /// True for a file that version control or another program wrote where others write too. It is the newest state: the log and the backup
    /// of this clone are about another branch, or an earlier commit. Only a log that continues from an older, large file is newer.
    fn is_brought(&self, bytes: &[u8], stamp: &Stamp, log: &CommitLog) -> bool {
        if !self.guard.awaits_others() {
            return false;
        }
        let seals = Seals { written: written_at(bytes), ..Seals::default() };
        let start = String::from_utf8_lossy(bytes.get(..START_BYTES).unwrap_or(bytes));
        let generation = salvage::number(&start, "generation");
        let goes_on = log.needs_file() && log.generation() > log.base && generation == Some(log.base);
        !goes_on && !seals.is_untouched(stamp.modified)
    }

    fn load_brought(&self, bytes: &[u8], version: FileVersion, log: &CommitLog) -> Result<Snapshot> {
        let parsed = self.parse(bytes).map_err(|reason| self.unreadable(reason))?;
        let playbook_file::Parsed { mut file, newer, seals } = parsed;
        if let Some(reason) = nothing_in(&file)
            && self.has_committed(log)?
        {
            return Err(self.unreadable(reason));
        }
        if newer.is_none() && seals.written.is_some() {
            file.edited.extend(seals.foreign);
        }
        if file.is_unmarked {
            file = self.mark(file)?;
        } else if newer.is_none() {
            self.apply_unknown_removals(&mut file, &self.archive().read()?);
            self.adopt_marks(&mut file)?;
        }
        let version = FileVersion { is_ours: newer.is_some(), ..version };
        let on_disk = OnDisk { version, log: log.end.clone(), is_logged: false };
        Ok(Snapshot { newer, ..Snapshot::new(file, on_disk) })
    }

    /// The bytes of the playbook file. A folder in its place, where there was a playbook, is unreadable.
    fn read_playbook(&self, log: &LogBytes) -> Result<Vec<u8>> {
        match self.files().read_or_empty(PLAYBOOK, 0) {
            Err(FolderError::Irregular { found: Irregular::Folder, .. }) if self.has_committed(&log.read(None))? => {
                Err(self.unreadable("it is a folder".to_owned()))
            }
            read => read,
        }
    }

    /// An error for a playbook file that was put back: the log or the backup has a later commit that the file lacks.
    fn refuse_older(&self, file: &PlaybookFile, origin: &Origin, log: &CommitLog) -> Result<()> {
        let Origin { generation, is_known, is_advanced, is_untouched } = *origin;
        // True if the log continues from the file: the last commit did not write it, it is a large file that is not written
        // at every commit, or a person edited such a file.
        let goes_on = log.needs_file() && generation == log.base && (is_known || !is_untouched);
        // The backup is written after the file. If the backup is not newer, no later commit wrote the file either.
        let is_last = is_known
            && is_untouched
            && is_advanced
            && (generation + 1 == log.generation() || self.backup_generation()? == Some(generation));
        let is_left_behind = is_advanced && (goes_on || is_last);
        let newest = if is_left_behind { self.newer_backup(file)? } else { self.newer_than(generation, log)? };
        match newest {
            Some(newest) => Err(self.unreadable(format!("{OLDER}: generation {generation} after {newest}"))),
            None => Ok(()),
        }
    }

    /// The state that the log of commits leads to, if the log contains all of it.
    fn load_logged(&self, log: &CommitLog) -> Option<Snapshot> {
        let file = self.logged(log)?;
        let is_logged = log.leads_to(file.generation);
        Some(Snapshot::new(file, OnDisk { is_logged, ..OnDisk::no_file(log.end.clone()) }))
    }

    /// The playbook file that the log of commits leads to, if the log contains all of it.
    pub(super) fn logged(&self, log: &CommitLog) -> Option<PlaybookFile> {
        let advance = |keys: &mut _| _ = log.advance(keys, Base::AsWritten);
        let admits = |lesson: &_| self.admits(lesson);
        let mut parsed = playbook_file::parse_keys(log.first_state()?, self.clock.as_ref(), &admits, advance).ok()?;
        self.hold_removed(&mut parsed.file);
        parsed.newer.is_none().then_some(parsed.file)
    }

    /// Completes a file that does not say how much of the archive and the usage belongs to it. All of the archive does. Usage
    /// is counted from the end of the last commit. If that is unknown, no usage is counted: the rows contain it. In a folder
    /// without a commit, all usage is counted.
    pub(super) fn mark(&self, mut file: PlaybookFile) -> Result<PlaybookFile> {
        self.adopt_archive(&mut file)?;
        if self.has_committed(&self.commit_log().read()?)? {
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

    /// There is no playbook file and no backup: an empty playbook. The archive, the usage files and the removals are kept.
    fn load_absent(&self, log: &CommitLog) -> Result<Snapshot> {
        // The first commit was interrupted before it wrote the file.
        if log.generation() == 1
            && !self.has_backup()?
            && let Some(snapshot) = self.load_logged(log)
        {
            return Ok(snapshot);
        }
        if self.has_committed(log)? {
            return Err(self.unreadable("it is missing".to_owned()));
        }
        let mut file = PlaybookFile::default();
        self.adopt_archive(&mut file)?;
        Ok(Snapshot::new(file, OnDisk::no_file(log.end.clone())))
    }

    /// An open handle reports a broken file and does not change it: a person may be saving it. A missing file is restored.
    pub(super) fn load_or_recover_missing(&self, known: &Snapshot) -> Result<Snapshot> {
        match self.load(UsageFrom::End(known)) {
            Err(FolderError::Unreadable { reason, .. }) if is_known(&reason) || is_missing(self.files(), PLAYBOOK)? => {
                self.recover(reason).map(|(snapshot, _)| snapshot)
            }
            loaded => loaded,
        }
    }

    /// The generation of the backup if the file is older: a copy was restored by hand, or an outdated version was saved.
    fn newer_backup(&self, file: &PlaybookFile) -> Result<Option<u64>> {
        if file.generation == 0 {
            return Ok(None);
        }
        let is_newer = self.backup_generation()?.is_some_and(|generation| generation > file.generation);
        let backup = if is_newer { self.backup()? } else { None };
        Ok(backup.map(|backup| backup.generation).filter(|generation| *generation > file.generation))
    }

    /// The generation stated in the backup.
    fn backup_generation(&self) -> Result<Option<u64>> {
        match self.files().read_start(BACKUP, START_BYTES) {
            Err(FolderError::Irregular { .. }) => Ok(None),
            start => Ok(salvage::number(&String::from_utf8_lossy(&start?), "generation")),
        }
    }

    /// The generation of the backup or the log, if this generation is older.
    fn newer_than(&self, own: u64, log: &CommitLog) -> Result<Option<u64>> {
        let logged = Some(log.generation()).filter(|newest| own > 0 && *newest > own);
        let file = PlaybookFile { generation: own, ..PlaybookFile::default() };
        Ok(logged.max(self.newer_backup(&file)?))
    }

    fn unreadable(&self, reason: String) -> FolderError {
        FolderError::Unreadable { path: self.files().path_of(PLAYBOOK), reason }
    }

    /// True if a backup of the playbook exists.
    fn has_backup(&self) -> Result<bool> {
        Ok(!is_missing(self.files(), BACKUP)?)
    }

    /// True if a backup or the log shows an earlier commit.
    fn has_committed(&self, log: &CommitLog) -> Result<bool> {
        Ok(log.generation() > 0 || self.has_backup()?)
    }
}
