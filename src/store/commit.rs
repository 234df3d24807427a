//! The commit: decide under the lock, sync a line of the log, write the playbook file. The steps are in the documentation of
//! the parent module.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use adage_redact::path_line;
use chrono::{DateTime, FixedOffset};

use super::commit_log::{Record, SMALL_FILE};
use super::forget::Words;
use super::playbook_file::{Layout, WrittenRows};
use super::{
    ARCHIVE, BACKUP, Event, FileVersion, Mark, PLAYBOOK, PlaybookFile, Snapshot, Store, VectorCache, archive, is_alike,
    playbook_file, usage,
};
use crate::credit::outcome_line;
use crate::error::{Error, FolderError, Result};
use crate::folder::{Folder, Name, Stamp, Turn};
use crate::lesson::{Lesson, LessonId, SCHEMA_VERSION, TextHash};
use crate::state::{Action, Book, Change, Edit, Forgotten, Plan, Why};

#[expect(clippy::disallowed_methods, reason = "compared with the file system's times, which are the machine's")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// How much of a new state is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// What differs from the state before, if the log continues from that.
    Needed,
    /// A new log and the playbook file: no forgotten text remains in them, and the file is current.
    Whole,
}

/// Gives lessons of an older schema the present one.
fn migrate(book: &mut Book) {
    let older = book.lessons.iter().filter(|lesson| lesson.schema_version != SCHEMA_VERSION);
    for id in older.map(|lesson| lesson.id).collect::<Vec<_>>() {
        book.update(id, |lesson| lesson.schema_version = SCHEMA_VERSION);
    }
}

/// The texts that a person removed or replaced by these changes: as rows that were admitted, and as advice, which other rows may have
/// too. What a policy evicts stays admitted.
fn withdrawn(before: &Book, after: &Book, changes: &[Change], forgotten: Option<&Forgotten>) -> Vec<TextHash> {
    let edits = changes.iter().flat_map(|change| &change.edits);
    let is_persons = |edit: &&Edit| !matches!(edit.why, Why::Evicted | Why::Pruned | Why::Unreviewed);
    let versions = edits.filter(is_persons).flat_map(|edit| before.any_with(edit.id).chain(&edit.before));
    let gone: Vec<&Arc<Lesson>> =
        versions.chain(forgotten.into_iter().flat_map(|forgotten| &forgotten.texts)).collect();
    let hashes = |lesson: &Arc<Lesson>| [lesson.admission_hash(), lesson.text_hash()];
    let is_like_one = |lesson: &&Arc<Lesson>| gone.iter().any(|gone| gone.trigger == lesson.trigger);
    let kept: BTreeSet<TextHash> = after.lessons.iter().filter(is_like_one).flat_map(hashes).collect();
    gone.iter().flat_map(|lesson| hashes(lesson)).filter(|text| !kept.contains(text)).collect()
}

impl Store {
    /// Decides on the newest state under the lock, and commits the plan if there is one.
    pub(crate) fn commit<T>(
        &self,
        known: &Snapshot,
        turn: &Turn<'_>,
        vectors: Option<(&parking_lot::RwLock<VectorCache>, TextHash)>,
        decide: impl FnOnce(&Snapshot) -> Result<(Option<Plan>, T)>,
    ) -> Result<(Snapshot, T)> {
        let lock = self.folder.lock_within(turn.patience)?;
        self.append_pending_locked(known);
        let mut snapshot = self.newest(known)?;
        self.refuse_newer(&snapshot)?;
        self.folder.sweep();
        let (plan, value) = decide(&snapshot)?;
        if let Some(plan) = plan {
            self.carry_out(&mut snapshot, plan, vectors)?;
        }
        drop(lock);
        Ok((snapshot, value))
    }

    /// Writes the files of a plan. What must not be missing once the plan is committed is written before [`Store::replace_file`],
    /// which commits; the rest after it.
    fn carry_out(
        &self,
        snapshot: &mut Snapshot,
        plan: Plan,
        vectors: Option<(&parking_lot::RwLock<VectorCache>, TextHash)>,
    ) -> Result<()> {
        let Plan { mut book, changes, forgets_vectors, forgotten, accepts_edits, writes_file, .. } = plan;
        let withdrawn = withdrawn(snapshot.book(), &book, &changes, forgotten.as_ref());
        let forgotten = forgotten.as_ref().map(Words::of);
        self.note_own(snapshot.book(), &book)?;
        migrate(&mut book);
        let mut file = PlaybookFile { book: Arc::new(book), ..PlaybookFile::clone(&snapshot.file) };
        file.generation = file.generation.saturating_add(1);
        if accepts_edits {
            file.edited.clear();
        }
        let (length, generation) = (snapshot.file.archive_length, file.generation);
        file.archive_length = match &forgotten {
            None => self.shorten_archive(self.write_archive(length, &changes, generation)?, generation)?,
            Some(forgotten) => self.rewrite_archive(length, &changes, generation, forgotten)?,
        };
        file.usage = self.rotate(snapshot.log.end)?;
        if let Some((cache, fingerprint)) = vectors {
            self.vector_file().write(&mut cache.write(), fingerprint, forgets_vectors, &file.book)?;
        }
        if forgets_vectors {
            self.drop_recall()?;
            self.receipt_file().forget_removed(&file.book)?;
        }
        let extent = if writes_file || forgotten.is_some() { Extent::Whole } else { Extent::Needed };
        self.replace_file(snapshot, file, extent)?;
        self.guard.withdraw(&withdrawn)?;
        self.mark_committed(&changes, snapshot.file.generation);
        if let Some(forgotten) = forgotten {
            self.purge(&forgotten)?;
        }
        self.drop_spent_segments(snapshot);
        self.shorten_receipts(snapshot);
        Ok(())
    }

    /// Records the user's own rows before they are written, so that they are not treated as another's when the file is read
    /// again.
    fn note_own(&self, before: &Book, after: &Book) -> Result<(), FolderError> {
        if !self.guard.is_recording() {
            return Ok(());
        }
        let is_same = |lesson: &&Arc<Lesson>| before.get(lesson.id).is_some_and(|known| Arc::ptr_eq(known, lesson));
        let mut texts = Vec::new();
        for lesson in after.lessons.iter().filter(|lesson| !is_same(lesson)) {
            texts.push(lesson.admission_hash());
            texts.extend(Some(lesson.text_hash()).filter(|text| self.guard.is_withdrawn(|| *text)));
        }
        self.guard.note(&texts)
    }

    /// Appends an event under the exclusive lock, if `make` returns one for the newest state.
    pub(crate) fn append_event<T>(
        &self,
        known: &Snapshot,
        turn: &Turn<'_>,
        make: impl FnOnce(&Snapshot) -> Result<(Option<Event>, T)>,
    ) -> Result<(Snapshot, T)> {
        let lock = self.folder.lock_within(turn.patience)?;
        self.append_pending_locked(known);
        let mut snapshot = self.newest(known)?;
        self.refuse_newer(&snapshot)?;
        let (event, value) = make(&snapshot)?;
        if let Some(event) = event {
            self.usage_files().append(snapshot.log.end, &event.line())?;
            self.log_outcome(&event);
            self.shorten_receipts(&snapshot);
            self.read_usage(&mut snapshot)?;
        }
        drop(lock);
        Ok((snapshot, value))
    }

    /// Appends the pending usage of this handle and the spilled usage of dropped handles. The caller holds the lock. What
    /// cannot be written stays pending.
    fn append_pending_locked(&self, known: &Snapshot) {
        let mut pending = self.pending.lock();
        if !self.may_append(known) {
            return;
        }
        let absorbed = self.absorb_spilled(known);
        let appended = if pending.usage.is_empty() { Ok(()) } else { self.append_lines(known, &mut pending) };
        if let Err(error) = absorbed.and(appended) {
            tracing::warn!(%error, "retrieval counts could not be written; they stay in memory");
        }
    }

    /// Logs the outcome for a receipt. The outcome counts even if it cannot be logged.
    fn log_outcome(&self, event: &Event) {
        if let Event::Settled { outcome, verdict, at } = event
            && self.credit.log_receipts
            && let Err(error) = self.receipt_file().append(&outcome_line(*outcome, *verdict, *at))
        {
            tracing::warn!(%error, "an outcome could not be added to the log of receipts");
        }
    }

    /// After a failure, the next commit tries again.
    fn shorten_receipts(&self, snapshot: &Snapshot) {
        if self.credit.log_receipts
            && let Err(error) = self.receipt_file().shorten(snapshot.book())
        {
            tracing::warn!(%error, "the log of receipts could not be shortened");
        }
    }

    /// The mark of a commit: the end of the usage that was folded in, or the start of a new segment if this one is full.
    fn rotate(&self, end: Mark) -> Result<Mark> {
        if end.offset <= usage::SEGMENT_BYTES {
            return Ok(end);
        }
        let next = Mark { segment: end.segment.saturating_add(1), offset: 0 };
        self.usage_files().begin(next.segment)?;
        Ok(next)
    }

    /// Says in the archive that a removal, or its undo, was committed. The next commit with lines of its own cuts this one off: they say
    /// so then.
    fn mark_committed(&self, changes: &[Change], generation: u64) {
        let decides = |change: &Change| matches!(change.action, Action::Remove | Action::Undo);
        if changes.iter().any(decides)
            && let Err(error) = self.files().append(ARCHIVE, &archive::committed(generation))
        {
            tracing::warn!(%error, "the archive does not say that its last changes were committed");
        }
    }

    /// Truncates what a dead writer appended, appends the changes, and returns the new length.
    fn write_archive(&self, length: u64, changes: &[Change], generation: u64) -> Result<u64> {
        if changes.is_empty() && self.archive_ends_at(length)? {
            return Ok(length);
        }
        let files = self.files();
        let stamp = files.stamp(ARCHIVE)?;
        let present = stamp.map_or(0, |stamp| stamp.length);
        let merged = if present == length { None } else { self.write_merged_archive()? };
        if merged.is_none() && present > length {
            files.truncate(ARCHIVE, length)?;
        }
        let mut length = merged.unwrap_or(length.min(present));
        if !changes.is_empty() {
            let lines = archive::render(changes, generation);
            files.append(ARCHIVE, &lines)?;
            files.sync(ARCHIVE)?;
            if stamp.is_none() {
                files.sync_directory(Name::TOP)?;
            }
            length += lines.len() as u64;
        }
        Ok(length)
    }

    /// Makes a state the newest one: by a line of the log if the log continues from the state before, otherwise by a new log;
    /// and by the playbook file if that is large, or if others write too. The steps after the commit serve readers and later commits; their failure does not
    /// change the result.
    pub(super) fn replace_file(&self, snapshot: &mut Snapshot, file: PlaybookFile, extent: Extent) -> Result<()> {
        self.keep_replaced(snapshot)?;
        let length = snapshot.version.stamp.map_or(0, |stamp| stamp.length);
        let is_logged = snapshot.is_logged && extent == Extent::Needed && !snapshot.commits.is_full(length);
        let record =
            if is_logged { self.written(playbook_file::difference(&snapshot.committed, &file))? } else { None };
        // Version control takes the file, not the log.
        if let Some(record) = record.as_ref().filter(|_| length > SMALL_FILE && !self.guard.awaits_others()) {
            self.check_unedited(snapshot)?;
            snapshot.commits = self.append_commit(&snapshot.commits, &record.line(None), file.generation)?;
            snapshot.advance(file);
            return Ok(());
        }
        self.write_whole(snapshot, file, record, extent)
    }

    /// Writes the playbook file of a new state. The commit is the record, or a new log if there is none; or the file's rename.
    fn write_whole(
        &self,
        snapshot: &mut Snapshot,
        file: PlaybookFile,
        record: Option<Record>,
        extent: Extent,
    ) -> Result<()> {
        let files = self.files();
        let (temporary, bytes) = self.write_temporary(&file)?;
        let (generation, hash, is_commit) = (file.generation, TextHash::of(&[&bytes]), self.is_commit(&bytes));
        let previous = self.link_previous(snapshot)?;
        let known = snapshot.version.clone();
        let is_copied = extent == Extent::Whole || is_commit || known.is_ours || previous.is_none();
        if is_commit {
            self.rename_synced(&temporary)?;
        } else if let Some(record) = record {
            snapshot.commits = self.append_commit(&snapshot.commits, &record.line(Some(hash)), generation)?;
        } else {
            snapshot.commits = self.begin_log(generation, Some(&bytes), Some(hash))?;
        }
        // The state is committed. A step that fails from here on is left to the next commit, or detected by the next open.
        snapshot.advance(file);
        if let Err(error) = self.after_commit(snapshot, &temporary, &bytes, hash) {
            tracing::warn!(%error, "the playbook file could not be written; its log is up to date");
            for left in [Some(temporary), previous].into_iter().flatten() {
                let _ = files.remove_if_exists(left);
            }
            return Ok(());
        }
        if let Some(previous) = previous
            && let Err(error) = self.keep_previous(&previous, known.stamp.as_ref(), !is_copied)
        {
            tracing::warn!(%error, "the previous playbook file could not be kept");
        }
        if is_copied && let Err(error) = self.back_up(&bytes) {
            tracing::warn!(%error, "the backup of the playbook could not be written");
        }
        Ok(())
    }

    /// True if the rename of a playbook file is its commit: it is large, or version control takes it, but not the log.
    fn is_commit(&self, bytes: &[u8]) -> bool {
        bytes.len() as u64 > SMALL_FILE || self.guard.awaits_others()
    }

    /// Puts such a playbook file in its place. Nothing may be written if the new name may be lost.
    fn rename_synced(&self, temporary: &Name) -> Result<(), FolderError> {
        let files = self.files();
        files.sync(temporary)?;
        files.rename(temporary, PLAYBOOK)?;
        files.sync_directory(Name::TOP).inspect_err(|_| files.stop_writes())
    }

    /// Gives the playbook file that will be replaced a second name; none if there is no file. An edited file is refused.
    fn link_previous(&self, snapshot: &Snapshot) -> Result<Option<Name>> {
        let files = self.files();
        if snapshot.version.stamp.is_none() {
            return self.check_unedited(snapshot).map(|()| None);
        }
        let previous = Folder::temporary("previous");
        files.remove_if_exists(&previous)?;
        files.link(PLAYBOOK, &previous)?;
        if let Err(error) = self.check_unedited(snapshot) {
            let _ = files.remove_if_exists(&previous);
            return Err(error);
        }
        Ok(Some(previous))
    }

    /// Where others write, the file that they wrote replaces what the log and the backup lead to. If one of these has lessons that this
    /// file neither has nor lists as removed, and whose end no change records, it goes to quarantine first: a repair takes them back.
    fn keep_replaced(&self, snapshot: &Snapshot) -> Result<(), FolderError> {
        if snapshot.version.is_ours || !self.guard.awaits_others() {
            return Ok(());
        }
        let book = &snapshot.committed.book;
        let edits = self.archived()?.into_iter().flat_map(|change| change.edits);
        let recorded: BTreeSet<LessonId> = edits.map(|edit| edit.id).collect();
        let is_here = |lesson: &Arc<Lesson>| {
            recorded.contains(&lesson.id)
                || book.any_with(lesson.id).next().is_some()
                || book.foreign.iter().any(|foreign| foreign.id == lesson.id)
                || book.removed.matches_text_or_id(lesson)
        };
        let known = [self.backup()?, self.logged(&self.read_log()?)];
        for file in known.iter().flatten().filter(|file| !file.book.lessons.iter().all(is_here)) {
            let bytes = self.written(playbook_file::render(file, 0))?;
            let kept = self.folder.quarantine(&bytes, "skills_playbook", "json")?;
            tracing::warn!(kept = %path_line(kept), "another version of the playbook has fewer lessons; `adage repair` takes back the others");
        }
        Ok(())
    }

    /// An editor does not use the lock. If its change is detected in time, the commit fails and nothing is changed.
    fn check_unedited(&self, snapshot: &Snapshot) -> Result<()> {
        if is_alike(snapshot.version.stamp.as_ref(), self.files().stamp(PLAYBOOK)?.as_ref()) {
            Ok(())
        } else {
            Err(Error::Contended { rounds: 1 })
        }
    }

    /// Writes the playbook file of a commit if it was not the commit itself; otherwise a new log that continues from it.
    fn after_commit(&self, snapshot: &mut Snapshot, temporary: &Name, bytes: &[u8], hash: TextHash) -> Result<()> {
        let files = self.files();
        let generation = snapshot.file.generation;
        if self.is_commit(bytes) {
            snapshot.is_logged = false;
            snapshot.version = FileVersion::new(files.stamp(PLAYBOOK)?, bytes);
            snapshot.commits = self.begin_log(generation, None, Some(hash))?;
            snapshot.is_logged = true;
            return Ok(());
        }
        files.rename(temporary, PLAYBOOK)?;
        snapshot.version = FileVersion::new(files.stamp(PLAYBOOK)?, bytes);
        Ok(())
    }

    /// Keeps the previous playbook file: as the backup, if it is large or another program wrote it; in quarantine, if a person
    /// saved it at the last moment.
    fn keep_previous(&self, previous: &Name, known: Option<&Stamp>, is_backup: bool) -> Result<(), FolderError> {
        let files = self.files();
        if !is_alike(known, files.stamp(previous)?.as_ref()) {
            let kept = self.folder.quarantine(&files.read_or_empty(previous, 0)?, "skills_playbook", "json")?;
            tracing::warn!(kept = %path_line(kept), "another program saved the playbook file during the commit; its version is kept");
        }
        if is_backup { files.rename(previous, BACKUP) } else { files.remove_if_exists(previous) }
    }

    /// Writes the backup as a separate file, so that damage to one file leaves the other. It is synced if the log does not
    /// contain its state.
    pub(super) fn back_up(&self, bytes: &[u8]) -> Result<(), FolderError> {
        let temporary = Folder::temporary("backup");
        self.files().create(&temporary, bytes)?;
        if self.is_commit(bytes) {
            self.files().sync(&temporary)?;
        }
        self.files().rename(temporary, BACKUP)
    }

    /// Writes the file under a temporary name. Returns the name and the bytes.
    pub(super) fn write_temporary(&self, file: &PlaybookFile) -> Result<(Name, Vec<u8>), FolderError> {
        const NAME: &str = "playbook";
        let written = now();
        let nanos = written.duration_since(UNIX_EPOCH).ok().and_then(|since| u64::try_from(since.as_nanos()).ok());
        let mut rows = self.written_rows.lock();
        rows.lay_out(if self.guard.awaits_others() { Layout::ByLine } else { Layout::Indented });
        let bytes = self.written(playbook_file::render_again(file, nanos.unwrap_or_default(), &mut rows))?;
        if bytes.len() as u64 > SMALL_FILE {
            // Large files are rarely written: the encoded rows are not kept.
            *rows = WrittenRows::default();
        }
        drop(rows);
        let temporary = Folder::temporary(NAME);
        self.files().create(&temporary, &bytes)?;
        // Without this time, damage would be taken for an edit.
        let _ = self.files().set_modified(&temporary, written);
        Ok((temporary, bytes))
    }

    /// Turns an error of the JSON writer into an error of the file.
    pub(super) fn written<T>(&self, result: serde_json::Result<T>) -> Result<T, FolderError> {
        result.map_err(|error| FolderError::io("write", &self.files().path_of(PLAYBOOK))(error.into()))
    }

    /// Removes segments that are no longer needed. After a failure, the next commit tries again.
    fn drop_spent_segments(&self, snapshot: &mut Snapshot) {
        let now: DateTime<FixedOffset> = self.clock.now();
        let oldest = snapshot.file.usage.segment;
        let spent = snapshot.log.spent_segments(oldest, now);
        if spent.is_empty() {
            return;
        }
        if let Err(error) = self.usage_files().remove_strays(oldest) {
            tracing::warn!(%error, "extents of removed usage files could not be removed");
        }
        let backup = self.files().read_or_empty(BACKUP, 0).ok();
        let backup = backup.and_then(|bytes| match playbook_file::parse(&bytes, self.clock.as_ref(), &|_| true) {
            Ok(parsed) if parsed.newer.is_none() => Some(parsed.file.usage.segment),
            _ => None,
        });
        for segment in spent.into_iter().filter(|segment| backup.is_none_or(|backup| *segment < backup)) {
            if self.usage_files().remove(segment).is_ok() {
                snapshot.log.forget_segment(segment, now);
            }
        }
    }
}
