//! Recovery of an unreadable playbook file: it goes to quarantine and is rebuilt from the backup; removals still hold.

pub(in crate::store) mod combine;
pub(in crate::store) mod conflict;
pub(in crate::store) mod former_log;
pub(in crate::store) mod hand_edits;
pub(in crate::store) mod salvage;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;

use crate::error::folder::{FolderError, Result, Unusable};
use crate::folder::{Entry, Lock};
use crate::lesson::{LessonId, RemovedText};
use crate::state::{Action, Book, Change, Removed, ReviewReason};
use crate::store::checksum::Seal;
use crate::store::playbook_file::{Parsed, Seals};
use crate::store::recover::combine::{ReadableFile, Taken, combine};
use crate::store::recover::former_log::FormerLog;
use crate::store::{BACKUP, FileVersion, FolderStore, OnDisk, PLAYBOOK, PlaybookFile, Snapshot, archive, marks};

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
    /// Whether the second copy of the file could be read.
    pub from_backup: bool,
    /// The number of lessons that are used after the recovery.
    pub n_lessons: usize,
    /// Of a file that others write to, the number of further lessons: they wait until the user admits them.
    pub n_awaiting: usize,
    /// After a merge, the number of texts that are under review, because both branches changed a lesson.
    pub n_other_versions: usize,
    /// Rows taken from the broken file.
    pub n_from_file: usize,
    /// Rows taken from the second copy.
    pub n_from_backup: usize,
    /// Damaged rows that are in no backup. They are kept in the file's list `unread`.
    pub n_set_aside: usize,
    /// Lessons of the backup that stay removed, because the archive records that a person removed them.
    pub n_removed_again: usize,
    /// True if the file had the marks of a merge with conflicts: it was rebuilt from the two versions in it.
    pub is_merge: bool,
}

impl Recovery {
    fn log(&self) {
        let lessons = self.n_lessons;
        if self.is_merge {
            tracing::info!(lessons, awaiting = self.n_awaiting, "merged the two versions of the playbook file");
        } else {
            tracing::warn!(
                reason = self.reason,
                from_backup = self.from_backup,
                lessons,
                "the playbook file was broken"
            );
        }
    }
}

/// What a recovery does with the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum RecoveryAccess {
    /// The broken files go to quarantine, and the recovered state is written.
    Write,
    /// Nothing is changed: the handle may not write, or another process holds the lock.
    ReadOnly,
}

impl FolderStore {
    /// Rebuilds a broken playbook file from its backup. If another process has done it meanwhile, nothing is reported.
    pub(in crate::store) fn recover(&self, reason: &Unusable) -> Result<(Snapshot, Option<Recovery>)> {
        // An open does not wait: if the lock is not free, the last good state is used, and a later call repairs the file.
        let lock =
            if self.folder.is_writable() { self.folder.lock_within(Duration::ZERO) } else { Ok(Box::new(()) as Lock) };
        let access = match &lock {
            Ok(_) if self.folder.is_writable() => RecoveryAccess::Write,
            Ok(_) => RecoveryAccess::ReadOnly,
            Err(error) => {
                tracing::warn!(%error, "the playbook file is broken and not repaired yet");
                RecoveryAccess::ReadOnly
            }
        };
        let recovered = match self.load() {
            Err(FolderError::Unreadable { .. }) => self.recover_locked(reason, access),
            loaded => loaded.map(|snapshot| (snapshot, None)),
        };
        drop(lock);
        recovered
    }

    /// As [`recover`](Self::recover), for a caller that holds the lock or does not write.
    pub(in crate::store) fn recover_locked(
        &self,
        reason: &Unusable,
        access: RecoveryAccess,
    ) -> Result<(Snapshot, Option<Recovery>)> {
        let (file, mut recovery) = self.rebuild(reason)?;
        let snapshot = match access {
            RecoveryAccess::ReadOnly => self.provisional(file)?,
            RecoveryAccess::Write => {
                recovery.kept_at = self.replace_broken(&file)?;
                // A handle that changes nothing leaves it to its caller to say what it recovered.
                recovery.log();
                self.load()?
            }
        };
        Ok((snapshot, Some(recovery)))
    }

    /// The state that a broken file is replaced by, and where its parts come from. Nothing is changed.
    fn rebuild(&self, reason: &Unusable) -> Result<(PlaybookFile, Recovery)> {
        let merged = self.merged()?;
        let (is_merge, backup) = (merged.is_some(), if merged.is_some() { None } else { self.backup()? });
        let (from_backup, newest) = (backup.is_some(), backup.as_ref().map(|backup| backup.generation));
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
        } else if newest != Some(file.generation) {
            // The newest state knows how much of the archive belongs to it; an older one does not.
            self.adopt_archive(&mut file)?;
        } else {
            // The second copy may be an older one that was put back.
            self.apply_later_removals(&mut file)?;
        }
        let recovery = Recovery {
            reason: if is_merge { MERGE.to_owned() } else { reason.to_string() },
            kept_at: vec![self.files().path_of(PLAYBOOK)],
            from_backup,
            n_lessons: file.book.lessons.len(),
            n_awaiting: file.book.foreign.len(),
            n_other_versions: n_other_versions(&file.book),
            n_from_file: taken.from_file,
            n_from_backup: taken.from_backup,
            n_set_aside: taken.set_aside,
            n_removed_again: n_before - file.book.lessons.len(),
            is_merge,
        };
        Ok((file, recovery))
    }

    /// Puts the broken files into quarantine and a rebuilt one in their place. Returns where they are kept.
    fn replace_broken(&self, file: &PlaybookFile) -> Result<Vec<PathBuf>> {
        self.archive().write_merged()?;
        let mut kept_at: Vec<PathBuf> = self.quarantine(PLAYBOOK, "skills_playbook")?.into_iter().collect();
        if !self.has_whole_backup()? {
            kept_at.extend(self.quarantine(BACKUP, "skills_playbook.bak")?);
        }
        self.install(file)?;
        Ok(kept_at)
    }

    /// The playbook file, united from the two versions in it; none if it does not have the marks of a merge. If a version is cut off, it
    /// is united with the backup too.
    fn merged(&self) -> Result<Option<PlaybookFile>> {
        let bytes = self.bytes_of(PLAYBOOK)?;
        Ok(match self.united(&salvage::decode(&bytes)) {
            Some(file) if file.is_unmarked => match self.backup()? {
                Some(backup) => Some(self.unite(file, backup)),
                None => Some(file),
            },
            file => file,
        })
    }

    /// The two versions in a text with the marks of a merge, united; none if it has no marks, or no row of it can be read.
    fn united(&self, text: &str) -> Option<PlaybookFile> {
        if !marks::has_marks(text.as_bytes()) {
            return None;
        }
        let cut = marks::cut(text);
        let version = |text: &str| {
            let Parsed { mut file, newer: None, seals } = self.parse_leniently(text.as_bytes())? else { return None };
            file.edited.extend(seals.foreign);
            Some(file)
        };
        let mut file = self.unite(version(&cut.ours)?, version(&cut.theirs)?);
        file.is_unmarked |= !cut.is_whole;
        let is_empty = file.book.all().next().is_none() && file.book.removed.is_empty();
        (!is_empty || !file.is_unmarked).then_some(file)
    }

    fn unite(&self, ours: PlaybookFile, theirs: PlaybookFile) -> PlaybookFile {
        let history = self.archive().changes().unwrap_or_default();
        conflict::united(ours, theirs, &history, &|lesson| self.admits(lesson))
    }

    /// A recovered state that may be read but not committed on.
    fn provisional(&self, file: PlaybookFile) -> Result<Snapshot> {
        let stamp = self.files().stamp(PLAYBOOK).ok().flatten();
        let version = FileVersion::new(stamp, &self.bytes_of(PLAYBOOK)?);
        let on_disk = OnDisk { version, backup: self.files().stamp(BACKUP).ok().flatten() };
        let snapshot = Snapshot { is_provisional: true, ..Snapshot::new(file, on_disk) };
        self.with_usage(snapshot)
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
    pub(in crate::store) fn parse_leniently(&self, bytes: &[u8]) -> Option<Parsed> {
        if let Ok(parsed) = self.parse(bytes) {
            return Some(parsed);
        }
        let text = salvage::decode(bytes);
        let is_cut = |mut parsed: Parsed| {
            parsed.seals.head = None;
            parsed.file.is_unmarked = true;
            parsed
        };
        if let Some(file) = self.united(&text) {
            return Some(Parsed { file, newer: None, seals: Seals::default() });
        }
        let rows = || self.parse(json!(salvage::rows(&text)).to_string().as_bytes()).map(is_cut);
        let mut parsed = self.parse(salvage::mend(&text).as_bytes()).or_else(|_| rows()).ok()?;
        parsed.seals.written = parsed.seals.written.or_else(|| salvage::number(&text, "written"));
        parsed.seals.is_garbled = text.contains(char::REPLACEMENT_CHARACTER) && std::str::from_utf8(bytes).is_err();
        Some(parsed)
    }

    /// The newest state apart from the playbook file: the second copy, or its undamaged parts; or what a log of an earlier version leads to.
    pub(in crate::store) fn backup(&self) -> Result<Option<PlaybookFile>> {
        let former = self.former_log()?;
        let stored = self.stored_backup(&former)?;
        let is_newer = |file: &PlaybookFile| stored.as_ref().is_none_or(|stored| file.generation > stored.generation);
        Ok(self.logged(&former).filter(is_newer).or(stored))
    }

    fn stored_backup(&self, former: &FormerLog) -> Result<Option<PlaybookFile>> {
        let bytes = self.bytes_of(BACKUP)?;
        let parsed = self.parse_then(&bytes, |keys| former.advance(keys));
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
    pub(in crate::store) fn adopt_archive(&self, file: &mut PlaybookFile) -> Result<()> {
        let bytes = self.archive().read()?;
        file.archive_length = archive::whole_length(&bytes);
        apply_removals(Arc::make_mut(&mut file.book), &archive::parse(&bytes, self.clock.as_ref()));
        Ok(())
    }

    /// Gives a file that another clone wrote, or that was merged, the marks of this clone: its whole archive, and the usage that was
    /// folded in here.
    pub(in crate::store) fn adopt_marks(&self, file: &mut PlaybookFile) -> Result<()> {
        file.archive_length = archive::whole_length(&self.archive().read()?);
        let own = self.backup()?.filter(|backup| !backup.is_unmarked);
        file.usage = own.map(|backup| backup.usage).unwrap_or_default();
        file.is_unmarked = false;
        Ok(())
    }

    /// Applies the removals that were committed after a file was written. It is an older copy then, which passes for the newest file
    /// where the log and the backup are gone, or are older copies too. A removal that may not have been committed is left out. So is one
    /// that the file once had: a person took it out of the list.
    pub(in crate::store) fn apply_later_removals(&self, file: &mut PlaybookFile) -> Result<()> {
        let mut bytes = self.archive().read()?;
        bytes.truncate(usize::try_from(archive::committed_length(&bytes)).unwrap_or(usize::MAX));
        if self.apply_unknown_removals(file, &bytes) {
            file.archive_length = bytes.len() as u64;
        }
        Ok(())
    }

    /// Applies the removals in these bytes of the archive that a file does not know. True if there was one.
    pub(in crate::store) fn apply_unknown_removals(&self, file: &mut PlaybookFile, bytes: &[u8]) -> bool {
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
}

fn n_other_versions(book: &Book) -> usize {
    book.waiting.iter().filter(|waiting| waiting.reason == ReviewReason::OtherVersion).count()
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
