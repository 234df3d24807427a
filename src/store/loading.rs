//! Loading the state of a folder: the newer whole one of the playbook file and its second copy, with usage.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::playbook_file::Seals;
use super::recover::RecoveryAccess;
use super::recover::former_log::FormerLog;
use super::recover::salvage;
use super::usage::Folded;
use super::{
    BACKUP, FileVersion, FolderStore, OnDisk, PLAYBOOK, PlaybookFile, START_BYTES, Snapshot, is_alike, is_missing,
    playbook_file,
};
use crate::error::folder::{FolderError, Irregular, Result, Unusable};
use crate::folder::Stamp;
use crate::lesson::{Lesson, LessonId, TextHash};
use crate::state::Book;
use crate::trust::Standing;

/// How often the files are read while other handles write, until they match each other.
const MAX_READS: usize = 8;

/// The last bytes of a playbook file, in which it states when it was written.
const END_BYTES: usize = 128;

/// When a playbook file states that it was written, by its last bytes.
pub(super) fn written_at(bytes: &[u8]) -> Option<u64> {
    let end = bytes.len().checked_sub(END_BYTES).and_then(|start| bytes.get(start..)).unwrap_or(bytes);
    salvage::written(&String::from_utf8_lossy(end))
}

/// True for a reason that no edit by a person explains.
fn is_known(reason: &Unusable) -> bool {
    matches!(reason, Unusable::Missing | Unusable::Damaged | Unusable::Older { .. })
}

/// Why a file cannot be valid if there was one before: it has no list of lessons, and does not say that the playbook is empty.
fn nothing_in(file: &PlaybookFile) -> Option<Unusable> {
    let Book { lessons, waiting, removed, unread, .. } = file.book.as_ref();
    if !lessons.is_empty() || !waiting.is_empty() || !removed.is_empty() {
        None
    } else if !unread.is_empty() {
        Some(Unusable::Invalid(format!("none of its {} rows is a lesson", unread.len())))
    } else {
        file.is_unmarked.then(|| Unusable::Invalid("it is an empty list".to_owned()))
    }
}

impl FolderStore {
    /// The newest state, under the lock. A changed file is read again; if its stamp may be racy, its content is compared.
    pub(super) fn newest(&self, known: &Snapshot) -> Result<Snapshot> {
        self.guard.check(&self.folder)?;
        let stamp = self.files().stamp(PLAYBOOK)?;
        let is_same = match (&known.on_disk.version.stamp, &stamp) {
            (None, None) => true,
            (Some(known_stamp), Some(stamp)) if known_stamp.is_alike(stamp) => {
                known_stamp.is_surely(stamp)
                    || TextHash::of(&[self.files().read_or_empty(PLAYBOOK, 0)?]) == known.on_disk.version.content
            }
            _ => false,
        };
        let is_same = is_same && is_alike(known.on_disk.backup.as_ref(), self.files().stamp(BACKUP)?.as_ref());
        if !is_same || known.is_provisional {
            return match self.load().and_then(|loaded| self.with_newest_usage(loaded)) {
                Err(FolderError::Unreadable { reason, .. }) if is_known(&reason) => {
                    self.recover_locked(&reason, RecoveryAccess::Write).map(|(snapshot, _)| snapshot)
                }
                loaded => loaded,
            };
        }
        let mut snapshot = known.clone();
        // The file is old enough now that it need not be read the next time.
        snapshot.on_disk.version.stamp = stamp;
        self.with_newest_usage(snapshot)
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

    /// True for a lesson that the user has not admitted.
    pub(crate) fn awaits(&self, lesson: &Lesson) -> bool {
        self.guard.awaits_others() && !self.guard.has(lesson.admission_hash())
    }

    /// Where others write too, a removal that the file lists holds, although the file has the lesson as well: one of the two came by a
    /// merge or by hand, and the lesson awaits admission.
    pub(super) fn hold_removed(&self, file: &mut PlaybookFile) {
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
    pub(super) fn load(&self) -> Result<Snapshot> {
        let load = || self.with_usage(self.load_judged()?);
        for _ in 1..MAX_READS {
            let before = [self.files().stamp(BACKUP)?, self.files().stamp(PLAYBOOK)?];
            let loaded = load();
            let Err(FolderError::Unreadable { .. }) = loaded else { return loaded };
            let now = [self.files().stamp(BACKUP)?, self.files().stamp(PLAYBOOK)?];
            if before.iter().zip(&now).all(|(before, now)| is_alike(before.as_ref(), now.as_ref())) {
                return loaded;
            }
        }
        load()
    }

    /// The state without later usage. If version control began to write after the folder was judged, its files are read once more, as
    /// ones that others write to.
    fn load_judged(&self) -> Result<Snapshot> {
        self.guard.judge(&self.folder)?;
        let loaded = self.load_committed();
        if self.guard.is_limited_since(&self.folder)? { self.load_committed() } else { loaded }
    }

    /// The state by the present judgement, without later usage: the newer of the playbook file and its second copy.
    fn load_committed(&self) -> Result<Snapshot> {
        let former = self.former_log()?;
        let Some(stamp) = self.files().stamp(PLAYBOOK)? else { return self.load_absent(&former) };
        let bytes = self.read_playbook(&former)?;
        // Read after the file: a commit in between makes the second copy newer, not older.
        let (backup, last) = (self.files().stamp(BACKUP)?, self.backup_generation()?);
        let mut on_disk = OnDisk { version: FileVersion::new(Some(stamp), &bytes), backup };
        if self.is_brought(&bytes, &stamp) {
            return self.load_brought(&bytes, on_disk);
        }
        let parsed = self
            .parse_then(&bytes, |keys| former.advance(keys))
            .map_err(|reason| self.unreadable(Unusable::Invalid(reason)))?;
        let playbook_file::Parsed { mut file, newer, seals } = parsed;
        let mut is_last = false;
        if newer.is_none() {
            let is_untouched = seals.is_untouched(stamp.modified);
            if is_untouched && !seals.is_whole() {
                return Err(self.unreadable(Unusable::Damaged));
            }
            if is_untouched && let Some(snapshot) = self.one_ahead(file.generation, last, &on_disk)? {
                return Ok(snapshot);
            }
            self.refuse_older(file.generation, last, &former)?;
            on_disk.version.is_ours = is_untouched;
            is_last = is_untouched && last == Some(file.generation);
            if seals.written.is_some() && !is_untouched {
                file.edited.extend(seals.foreign);
            }
        }
        if let Some(reason) = nothing_in(&file)
            && self.has_committed(&former)?
        {
            return Err(self.unreadable(reason));
        }
        if file.is_unmarked {
            file = self.mark(file)?;
        } else if newer.is_none() && !(is_last && self.archive().ends_at(file.archive_length)?) {
            self.apply_later_removals(&mut file)?;
        }
        Ok(Snapshot { newer, ..Snapshot::new(file, on_disk) })
    }

    /// The state of the second copy, which states the generation `last`, if that is the next one: its commit ended before it replaced the
    /// playbook file.
    fn one_ahead(&self, generation: u64, last: Option<u64>, on_disk: &OnDisk) -> Result<Option<Snapshot>> {
        let next = generation.saturating_add(1);
        if last != Some(next) {
            return Ok(None);
        }
        let parsed = self.parse(&self.files().read_or_empty(BACKUP, 0)?).ok();
        let is_next = |parsed: &playbook_file::Parsed| {
            parsed.newer.is_none() && parsed.seals.is_whole() && parsed.file.generation == next
        };
        Ok(parsed.filter(is_next).map(|parsed| Snapshot::new(parsed.file, on_disk.clone())))
    }

    /// True for a file that version control or another program wrote where others write too. It is the newest state: the second copy is about
    /// another branch, or an earlier commit.
    fn is_brought(&self, bytes: &[u8], stamp: &Stamp) -> bool {
        let seals = Seals { written: written_at(bytes), ..Seals::default() };
        self.guard.awaits_others() && !seals.is_untouched(stamp.modified)
    }

    fn load_brought(&self, bytes: &[u8], mut on_disk: OnDisk) -> Result<Snapshot> {
        let parsed = self.parse(bytes).map_err(|reason| self.unreadable(Unusable::Invalid(reason)))?;
        let playbook_file::Parsed { mut file, newer, seals } = parsed;
        if let Some(reason) = nothing_in(&file)
            && on_disk.backup.is_some()
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
        on_disk.version.is_ours = newer.is_some();
        Ok(Snapshot { newer, ..Snapshot::new(file, on_disk) })
    }

    /// The bytes of the playbook file. A folder in its place, where there was a playbook, is unreadable.
    fn read_playbook(&self, former: &FormerLog) -> Result<Vec<u8>> {
        match self.files().read_or_empty(PLAYBOOK, 0) {
            Err(FolderError::Irregular { found: Irregular::Folder, .. }) if self.has_committed(former)? => {
                Err(self.unreadable(Unusable::Folder))
            }
            read => read,
        }
    }

    /// An error for a playbook file that was put back: the second copy, which states the generation `last`, has a later commit. A file
    /// without a generation is no older copy.
    fn refuse_older(&self, own: u64, last: Option<u64>, former: &FormerLog) -> Result<()> {
        let is_newer = |generation: &u64| own > 0 && *generation > own;
        // What the second copy states counts if it can be read.
        let backup = if last.as_ref().is_some_and(is_newer) { self.backup()? } else { None };
        let known = [Some(former.generation()), backup.map(|backup| backup.generation)];
        match known.into_iter().flatten().filter(is_newer).max() {
            Some(newest) => Err(self.unreadable(Unusable::Older { generation: own, newest })),
            None => Ok(()),
        }
    }

    /// Completes a file that does not say how much of the archive and the usage belongs to it. All of the archive does. Usage
    /// is counted from the end of the last commit. If that is unknown, no usage is counted: the rows contain it. In a folder
    /// without a commit, all usage is counted.
    pub(super) fn mark(&self, mut file: PlaybookFile) -> Result<PlaybookFile> {
        self.adopt_archive(&mut file)?;
        if self.has_committed(&self.former_log()?)? {
            let known = self.backup()?.filter(|backup| !backup.is_unmarked);
            file.usage = Folded::Line(self.usage_file().last()?);
            if let Some(known) = known {
                file.usage = known.usage;
                Arc::make_mut(&mut file.book).keep_records_of(&known.book);
            }
        }
        file.is_unmarked = false;
        Ok(file)
    }

    /// There is no playbook file and no backup: an empty playbook. The archive, usage and the removals are kept.
    fn load_absent(&self, former: &FormerLog) -> Result<Snapshot> {
        let on_disk = OnDisk::no_file(self.files().stamp(BACKUP)?);
        // The first commit ended before it wrote the file.
        let first = if former.generation() == 1 && on_disk.backup.is_none() { self.logged(former) } else { None };
        if let Some(snapshot) = first.map(|file| Snapshot::new(file, on_disk.clone())) {
            return Ok(snapshot);
        }
        if let Some(snapshot) = self.one_ahead(0, self.backup_generation()?, &on_disk)? {
            return Ok(snapshot);
        }
        if self.has_committed(former)? {
            return Err(self.unreadable(Unusable::Missing));
        }
        let mut file = PlaybookFile::default();
        self.adopt_archive(&mut file)?;
        Ok(Snapshot::new(file, on_disk))
    }

    /// An open handle reports a broken file and does not change it: a person may be saving it. A missing file is restored.
    pub(super) fn load_or_recover_missing(&self) -> Result<Snapshot> {
        match self.load() {
            Err(FolderError::Unreadable { reason, .. }) if is_known(&reason) => {
                self.recover(&reason).map(|(snapshot, _)| snapshot)
            }
            loaded => loaded,
        }
    }

    /// The generation stated in the backup.
    fn backup_generation(&self) -> Result<Option<u64>> {
        match self.files().read_start(BACKUP, START_BYTES) {
            Err(FolderError::Irregular { .. }) => Ok(None),
            start => Ok(salvage::number(&String::from_utf8_lossy(&start?), "generation")),
        }
    }

    fn unreadable(&self, reason: Unusable) -> FolderError {
        FolderError::Unreadable { path: self.files().path_of(PLAYBOOK), reason }
    }

    /// True if the second copy, or a log of an earlier version, shows an earlier commit.
    fn has_committed(&self, former: &FormerLog) -> Result<bool> {
        Ok(former.generation() > 0 || !is_missing(self.files(), BACKUP)?)
    }
}
