//! Recovery of an unreadable playbook file: it goes to quarantine and is rebuilt from the backup; removals still hold.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::checksum::Seal;
use super::combine::{ReadableFile, Taken, combine};
use super::commit_log::{self, CommitLog, SMALL_FILE};
use super::playbook_file::{Parsed, Seals};
use super::{
    ARCHIVE, BACKUP, FileVersion, PLAYBOOK, PlaybookFile, Snapshot, Store, UsageFrom, archive, conflict, salvage,
};
use crate::error::folder::{FolderError, Result};
use crate::folder::{Entry, Lock, Name};
use crate::lesson::{LessonId, RemovedText, TextHash};
use crate::state::{Action, Book, Change, Removed};

/// Why a playbook file with the marks of a merge cannot be read.
const MERGE: &str = "a merge left conflicts in it";

/// The result of recovering a broken playbook file at an open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Recovery {
    /// Why the file could not be read.
    pub reason: String,
    /// Where its bytes are kept now; for a read-only handle, the original path.
    #[serde(serialize_with = "crate::path_text::shown")]
    pub kept_at: Vec<PathBuf>,
    /// Whether the log of commits or a backup could be read.
    pub from_backup: bool,
    /// The number of lessons after the recovery.
    pub n_lessons: usize,
    /// Rows taken from the broken file.
    pub n_from_file: usize,
    /// Rows taken from the log or the backup.
    pub n_from_backup: usize,
    /// Damaged rows that are in no backup. They are kept in the file's list `unread`.
    pub n_set_aside: usize,
    /// Lessons of the backup that stay removed, because the archive records that a person removed them.
    pub n_removed_again: usize,
    /// True if the file had the marks of a merge with conflicts: it was rebuilt from the two versions in it.
    pub is_merge: bool,
}

impl Store {
    /// Rebuilds a broken playbook file from its backup. If another process has done it meanwhile, nothing is reported.
    pub(super) fn recover(&self, reason: String) -> Result<(Snapshot, Option<Recovery>)> {
        // An open does not wait: if the lock is not free, the last good state is used, and a later call repairs the file.
        let lock =
            if self.folder.is_writable() { self.folder.lock_within(Duration::ZERO) } else { Ok(Box::new(()) as Lock) };
        let may_write = match &lock {
            Ok(_) => self.folder.is_writable(),
            Err(error) => {
                tracing::warn!(%error, "the playbook file is broken and not repaired yet");
                false
            }
        };
        let recovered = match self.load(UsageFrom::Start) {
            Err(FolderError::Unreadable { .. }) => self.recover_locked(reason, may_write),
            loaded => loaded.map(|snapshot| (snapshot, None)),
        };
        drop(lock);
        recovered
    }

    /// As [`recover`](Self::recover), for a caller that holds the lock. If it may not write, nothing is changed.
    pub(super) fn recover_locked(&self, reason: String, is_writable: bool) -> Result<(Snapshot, Option<Recovery>)> {
        let merged = self.merged()?;
        let (is_merge, backup) = (merged.is_some(), if merged.is_some() { None } else { self.backup()? });
        let from_backup = backup.is_some();
        let (mut file, taken) = match merged {
            Some(file) => {
                let from_file = file.book.lessons.len();
                (file, Taken { from_file, ..Taken::default() })
            }
            None => combine(self.found()?, backup),
        };
        let n_before = file.book.lessons.len();
        if is_merge {
            self.adopt_marks(&mut file)?;
        } else if file.is_unmarked {
            file = self.mark(file)?;
        } else if file.generation != self.read_log()?.generation() {
            // The newest state knows how much of the archive belongs to it; an older one does not.
            self.adopt_archive(&mut file)?;
        }
        let mut recovery = Recovery {
            reason: if is_merge { MERGE.to_owned() } else { reason },
            kept_at: vec![self.files().path_of(PLAYBOOK)],
            from_backup,
            n_lessons: file.book.lessons.len(),
            n_from_file: taken.from_file,
            n_from_backup: taken.from_backup,
            n_set_aside: taken.set_aside,
            n_removed_again: n_before - file.book.lessons.len(),
            is_merge,
        };
        if is_writable {
            self.write_merged_archive()?;
            recovery.kept_at = self.quarantine(PLAYBOOK, "skills_playbook")?.into_iter().collect();
            if !self.has_whole_backup()? {
                recovery.kept_at.extend(self.quarantine(BACKUP, "skills_playbook.bak")?);
            }
            self.install(&file)?;
        }
        // A handle that changes nothing leaves it to its caller to say what it recovered.
        if is_writable {
            tracing::warn!(
                reason = recovery.reason,
                from_backup,
                lessons = recovery.n_lessons,
                "the playbook file was broken"
            );
        }
        let snapshot = if is_writable { self.load(UsageFrom::Start)? } else { self.provisional(file)? };
        Ok((snapshot, Some(recovery)))
    }

    /// The playbook file, merged from the two versions in it; none if it does not have the marks of a merge.
    fn merged(&self) -> Result<Option<PlaybookFile>> {
        let bytes = self.bytes_of(PLAYBOOK)?;
        let Some(Parsed { mut file, newer: None, seals }) = self.parse_merged(&salvage::decode(&bytes)) else {
            return Ok(None);
        };
        file.edited.extend(seals.foreign);
        Ok(Some(file))
    }

    fn parse_merged(&self, text: &str) -> Option<Parsed> {
        if !conflict::has_marks(text.as_bytes()) {
            return None;
        }
        let keys = conflict::merged(text, &self.archived().unwrap_or_default(), self.clock.as_ref())?;
        self.parse(json!(keys).to_string().as_bytes()).ok()
    }

    /// A recovered state that may be read but not committed on.
    fn provisional(&self, file: PlaybookFile) -> Result<Snapshot> {
        let stamp = self.files().stamp(PLAYBOOK).ok().flatten();
        let version = FileVersion::new(stamp, &self.bytes_of(PLAYBOOK)?);
        let commits = self.read_log()?.end;
        let snapshot = Snapshot { commits, is_provisional: true, ..Snapshot::new(file, version, None) };
        self.with_usage(snapshot, UsageFrom::Start)
    }

    /// True for a file that only this program wrote and whose checksums are wrong.
    fn is_damaged(&self, file: &'static str, seals: &Seals) -> Result<bool> {
        let modified = self.files().stamp(file)?.and_then(|stamp| stamp.modified);
        Ok(!seals.is_whole() && seals.is_untouched(modified))
    }

    /// A problem of the backup; none if there is no problem.
    pub(crate) fn check_backup(&self) -> Result<Option<String>> {
        let bytes = self.bytes_of(BACKUP)?;
        if bytes.is_empty() && self.files().stamp(BACKUP)?.is_none() {
            return Ok(None);
        }
        Ok(match self.parse(&bytes) {
            Err(reason) => Some(format!("it cannot be read: {reason}")),
            Ok(parsed) if self.is_damaged(BACKUP, &parsed.seals)? => Some("it is damaged".to_owned()),
            Ok(_) => None,
        })
    }

    /// The number of archive lines that cannot be read.
    pub(crate) fn n_broken_changes(&self) -> Result<usize> {
        Ok(archive::count_broken(&self.read_archive()?))
    }

    fn has_whole_backup(&self) -> Result<bool> {
        match self.parse(&self.bytes_of(BACKUP)?) {
            Ok(parsed) => Ok(parsed.newer.is_none() && !self.is_damaged(BACKUP, &parsed.seals)?),
            Err(_) => Ok(false),
        }
    }

    /// As much as can be read of the playbook file; none if nothing can.
    fn found(&self) -> Result<Option<ReadableFile>> {
        let bytes = self.bytes_of(PLAYBOOK)?;
        let Some(Parsed { file, newer: None, seals }) = self.parse_leniently(&bytes) else { return Ok(None) };
        if file.book.lessons.is_empty() && file.book.waiting.is_empty() && file.book.removed.is_empty() {
            return Ok(None);
        }
        let modified = self.files().stamp(PLAYBOOK)?.and_then(|stamp| stamp.modified);
        // A file that is unreadable from some point on is damaged too, unless a person wrote rows.
        let is_damage = seals.is_untouched(modified);
        Ok(Some(ReadableFile { file, seals, is_damage }))
    }

    /// As much as can be read of a file.
    pub(super) fn parse_leniently(&self, bytes: &[u8]) -> Option<Parsed> {
        if let Ok(parsed) = self.parse(bytes) {
            return Some(parsed);
        }
        let text = salvage::decode(bytes);
        let is_cut = |mut parsed: Parsed| {
            parsed.seals.head = None;
            parsed.file.is_unmarked = true;
            parsed
        };
        let from_keys = |keys: Map<String, Value>| self.parse(json!(keys).to_string().as_bytes());
        let rows = || from_keys(salvage::rows(&text)).map(is_cut);
        let mut parsed = self
            .parse_merged(&text)
            .map_or_else(|| self.parse(salvage::mend(&text).as_bytes()).or_else(|_| rows()), Ok)
            .ok()?;
        parsed.seals.written = parsed.seals.written.or_else(|| salvage::number(&text, "written"));
        parsed.seals.is_garbled = text.contains(char::REPLACEMENT_CHARACTER) && std::str::from_utf8(bytes).is_err();
        Some(parsed)
    }

    /// The newest state apart from the playbook file: the one that the log leads to, or the backup, or the undamaged parts of
    /// the backup.
    pub(super) fn backup(&self) -> Result<Option<PlaybookFile>> {
        let log = self.read_log()?;
        let (stored, logged) = (self.stored_backup(&log)?, self.logged(&log));
        let is_newest = |file: &PlaybookFile| stored.as_ref().is_none_or(|stored| file.generation >= stored.generation);
        Ok(logged.filter(is_newest).or(stored))
    }

    /// The backup with the logged commits after it, or its undamaged parts.
    fn stored_backup(&self, log: &CommitLog) -> Result<Option<PlaybookFile>> {
        let bytes = self.bytes_of(BACKUP)?;
        let content = TextHash::of(&[&bytes]);
        let parsed = self.parse_then(&bytes, |keys| {
            if log.has_written(commit_log::generation_of(keys), content) {
                log.advance(keys, false);
            }
        });
        if let Ok(Parsed { file, newer: None, seals }) = parsed
            && seals.is_whole()
        {
            return Ok(Some(file));
        }
        let Some(Parsed { mut file, newer: None, seals }) = self.parse_leniently(&bytes) else { return Ok(None) };
        // A backup of a file that a person edited before the last commit is not damaged.
        if self.is_damaged(BACKUP, &seals)? {
            let book = Arc::make_mut(&mut file.book);
            book.lessons = book.lessons.iter().filter(|lesson| !seals.foreign.contains(&lesson.id)).cloned().collect();
            book.waiting.retain(|waiting| !seals.foreign.contains(&waiting.lesson.id));
            file.is_unmarked |= seals.head != Some(Seal::Whole);
        }
        let is_empty = file.book.lessons.is_empty() && file.book.waiting.is_empty() && file.book.removed.is_empty();
        Ok((!is_empty || seals.is_whole() || !file.is_unmarked).then_some(file))
    }

    /// Assigns the whole archive, with its removals, to a state that does not state how much belongs to it.
    pub(super) fn adopt_archive(&self, file: &mut PlaybookFile) -> Result<()> {
        let bytes = self.read_archive()?;
        file.archive_length = archive::whole_length(&bytes);
        apply_removals(Arc::make_mut(&mut file.book), &archive::parse(&bytes, self.clock.as_ref()));
        Ok(())
    }

    /// Gives a file that another clone wrote, or that was merged, the marks of this clone: its whole archive, and the usage that was
    /// folded in here.
    pub(super) fn adopt_marks(&self, file: &mut PlaybookFile) -> Result<()> {
        file.archive_length = archive::whole_length(&self.read_archive()?);
        let own = self.backup()?.filter(|backup| !backup.is_unmarked);
        file.usage = own.map(|backup| backup.usage).unwrap_or_default();
        file.is_unmarked = false;
        Ok(())
    }

    /// True if the archive has the marks of a merge.
    pub(crate) fn has_split_archive(&self) -> Result<bool> {
        Ok(archive::merged(&self.files().read_or_empty(ARCHIVE, 0)?).is_some())
    }

    /// Replaces an archive that has the marks of a merge by one with the lines of both versions. Returns its new length, if it had marks.
    pub(super) fn write_merged_archive(&self) -> Result<Option<u64>> {
        let merged = archive::merged(&self.files().read_or_empty(ARCHIVE, 0)?);
        merged.map(|bytes| self.replace_archive(&bytes)).transpose()
    }

    /// Applies the removals that were committed after a file was written. It is an older copy then, which passes for the newest file
    /// where the log and the backup are gone, or are older copies too. A removal that may not have been committed is left out. So is one
    /// that the file once had: a person took it out of the list.
    pub(super) fn apply_later_removals(&self, file: &mut PlaybookFile, is_known: bool) -> Result<()> {
        if is_known && self.archive_ends_at(file.archive_length)? {
            return Ok(());
        }
        let mut bytes = self.read_archive()?;
        bytes.truncate(usize::try_from(archive::committed_length(&bytes)).unwrap_or(usize::MAX));
        if self.apply_unknown_removals(file, &bytes) {
            file.archive_length = bytes.len() as u64;
        }
        Ok(())
    }

    /// Applies the removals in these bytes of the archive that a file does not know. True if there was one.
    pub(super) fn apply_unknown_removals(&self, file: &mut PlaybookFile, bytes: &[u8]) -> bool {
        let mut history = archive::later(bytes, file.archive_length, file.generation, self.clock.as_ref());
        let known: BTreeSet<LessonId> = file.book.removed.iter().map(|removed| removed.id).collect();
        for change in &mut history {
            change.edits.retain(|edit| !known.contains(&edit.id));
        }
        let book = Arc::make_mut(&mut file.book);
        let n_removed = book.removed.len();
        apply_removals(book, &history);
        book.removed.len() > n_removed
    }

    /// True if the archive has this length, apart from the line that says that its last changes were committed.
    pub(crate) fn archive_ends_at(&self, length: u64) -> Result<bool> {
        let present = self.files().stamp(ARCHIVE)?.map_or(0, |stamp| stamp.length);
        if present <= length {
            return Ok(present == length);
        }
        let rest = self.files().read_or_empty(ARCHIVE, length)?;
        Ok(rest.strip_suffix(b"\n").is_some_and(archive::is_mark))
    }

    /// Quarantines a file, if it exists: its bytes are copied; a folder in its place is moved. Returns the new path.
    fn quarantine(&self, file: &'static str, name: &str) -> Result<Option<PathBuf>> {
        match self.files().entry(file)? {
            Entry::Missing => Ok(None),
            Entry::Folder => self.folder.quarantine_folder(file, name).map(Some),
            _ => self.folder.quarantine(&self.files().read_or_empty(file, 0)?, name, "json").map(Some),
        }
    }

    /// The bytes of a file; empty if it is missing or a folder.
    fn bytes_of(&self, file: &'static str) -> Result<Vec<u8>> {
        match self.files().entry(file)? {
            Entry::Missing | Entry::Folder => Ok(Vec::new()),
            _ => self.files().read_or_empty(file, 0),
        }
    }

    fn install(&self, file: &PlaybookFile) -> Result<()> {
        let (temporary, bytes) = self.write_temporary(file)?;
        self.files().sync(&temporary)?;
        self.files().rename(temporary, PLAYBOOK)?;
        self.files().sync_directory(Name::TOP)?;
        self.back_up(&bytes)?;
        let state = Some(bytes.as_slice()).filter(|bytes| bytes.len() as u64 <= SMALL_FILE);
        self.begin_log(file.generation, state, Some(TextHash::of(&[&bytes]))).map(drop)
    }
}

/// Removes lessons that the archive records as removed by a person, unless that was undone.
fn apply_removals(book: &mut Book, history: &[Change]) {
    let undone: Vec<_> = history.iter().filter_map(|change| change.undoes).collect();
    for change in history.iter().filter(|change| change.action == Action::Remove && !undone.contains(&change.id)) {
        for edit in change.edits.iter().filter(|edit| edit.why.is_removal()) {
            let place = book.waiting.iter().position(|waiting| waiting.lesson.id == edit.id);
            let waiting = place.map(|place| book.waiting.remove(place).lesson);
            let lesson = book.take(edit.id).or(waiting);
            let is_known = book.removed.matches_id(edit.id);
            let text = edit.removed_text.or(lesson.as_ref().map(|lesson| RemovedText::of(lesson)));
            // A text that was learned by hand after its removal is kept.
            let is_back = |text: &RemovedText| book.lessons.iter().any(|lesson| text.is(RemovedText::of(lesson)));
            if let Some(text) = text.filter(|text| !is_known && !is_back(text)) {
                book.removed.push(Removed { id: edit.id, text, at: change.at, change: Some(change.id), lesson });
            }
        }
    }
}
