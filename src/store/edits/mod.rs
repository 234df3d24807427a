//! Files that people and agents share, changed together: all of them or none, whatever happens in between.
//!
//! 1. Under the folder's lock: is every file what the edit was made for?
//! 2. Write the journal, all contents before and after, as `edits/ID.staging`; make it safe.
//! 3. Write what the files become beside them, make it safe.
//! 4. Rename the journal to `.pending`. **This is the decision**: from here on it is carried out.
//! 5. Look once more that nobody edited; rename each file into place; make the folders safe.
//! 6. Rename the journal to `.done`, where `undo` finds it; the oldest of these go, and all after 30 days. What nobody would undo leaves no record.
//!
//! Whoever comes next finds the journal: `.staging` is cleared away, `.pending` is carried out, `.undoing` is taken back; one
//! whose files cannot be looked at or written is put aside as `.broken`, so that the others go on. An error after the decision turns `.pending` to `.undoing` and takes everything back at once.
//!
//! A journal lies in a folder that agents may write to. So one that leads out of that folder is followed only where a token
//! beside the file there bears the journal's hash. The token goes with the transaction: whoever undoes one says where it may lead.

mod journal;
mod reach;
mod settle;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use chrono::{DateTime, FixedOffset, TimeDelta};

use super::Place;
use crate::error::{Error, Result};
use crate::inbox::Entry;
use crate::lesson::{ChangeId, TextHash};
pub(crate) use journal::{Journal, Record, content_hash};
use journal::{JournalFile, parse, render};
pub(crate) use reach::Reach;

/// Transactions that can be undone.
const MAX_DONE: usize = 32;
/// Bytes of their journals, the newest not counted.
const MAX_DONE_BYTES: u64 = 64 << 20;
/// How long a journal is kept: it holds what a person may have removed.
const MAX_AGE: TimeDelta = TimeDelta::days(30);
/// How what is written beside a file begins.
pub(crate) const BESIDE: &str = ".adage-edit-";

/// What becomes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileEdit {
    path: PathBuf,
    before: Option<TextHash>,
    after: Option<Vec<u8>>,
    mode: Option<u32>,
}

impl FileEdit {
    /// The file at `path` that holds `before` (none: is not there) holds `after` from then on (none: is gone).
    pub(crate) fn new(path: PathBuf, before: Option<TextHash>, after: Option<Vec<u8>>) -> Self {
        Self { path, before, after, mode: None }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// True when the file goes.
    pub(crate) fn is_removal(&self) -> bool {
        self.after.is_none()
    }
}

/// What becomes of several files together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Transaction {
    /// What it is, for people.
    pub(crate) what: String,
    pub(crate) record: Record,
    /// Each file once.
    pub(crate) edits: Vec<FileEdit>,
}

/// How far a transaction got, as the ending of its journal says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Staging,
    Pending,
    Undoing,
    Done,
    /// It could not be followed; kept for a person to look at.
    Broken,
}

impl Stage {
    const ALL: [Self; 5] = [Self::Staging, Self::Pending, Self::Undoing, Self::Done, Self::Broken];

    fn ending(self) -> &'static str {
        match self {
            Self::Staging => "staging",
            Self::Pending => "pending",
            Self::Undoing => "undoing",
            Self::Done => "done",
            Self::Broken => "broken",
        }
    }
}

impl Place {
    /// Decides under the folder's lock what becomes of files, and does it: all or nothing. The id is for `undo_files`.
    ///
    /// A transaction that somebody left unfinished is finished or taken back first.
    ///
    /// # Errors
    /// Those of `decide`; `FileChanged` when a file is not what an edit was made for; `Io`. Nothing was changed then, or
    /// the next open takes it back.
    pub(crate) fn edit_files<T>(
        &self,
        at: DateTime<FixedOffset>,
        decide: impl FnOnce() -> Result<(Option<Transaction>, T)>,
    ) -> Result<(Option<ChangeId>, T)> {
        let _lock = self.lock()?;
        self.settle_edits()?;
        let (transaction, value) = decide()?;
        let id = transaction.map(|transaction| self.carry_out(at, transaction)).transpose()?;
        Ok((id, value))
    }

    /// Takes a transaction back, which is a transaction of its own. `check` says where this one may lead.
    ///
    /// # Errors
    /// `NoSuchChange`; `FileChanged` when a file was changed since; what `check` says; `CannotApply` when it
    /// leads elsewhere.
    pub(crate) fn undo_files(
        &self,
        id: ChangeId,
        at: DateTime<FixedOffset>,
        check: impl FnOnce(&Journal) -> Result<Reach>,
    ) -> Result<(ChangeId, Journal)> {
        let (undone, journal) = self.edit_files(at, || {
            let missing = || Error::NoSuchChange { change: id };
            let journal = self.read_journal(id, Stage::Done)?.ok_or_else(missing)?;
            self.check_reach(&journal, &check(&journal)?)?;
            let edits = journal.files.iter().map(|file| FileEdit {
                path: file.path.clone(),
                before: file.after.as_deref().map(content_hash),
                after: file.before.clone(),
                mode: file.mode,
            });
            let what = format!("undo of {}", journal.what);
            let transaction = Transaction { what, record: Record::Kept, edits: edits.collect() };
            Ok((Some(transaction), journal))
        })?;
        undone.map(|undone| (undone, journal)).ok_or(Error::NoSuchChange { change: id })
    }

    /// The transactions that can be taken back, oldest first.
    pub(crate) fn done_edits(&self) -> Result<Vec<Journal>> {
        let mut done = Vec::new();
        for (id, stage) in self.journals()? {
            if stage == Stage::Done {
                done.extend(self.read_journal(id, stage)?);
            }
        }
        Ok(done)
    }

    /// True when somebody left a transaction unfinished, or is at it.
    pub(crate) fn has_unsettled_edits(&self) -> Result<bool> {
        let is_open = |stage: Stage| !matches!(stage, Stage::Done | Stage::Broken);
        Ok(self.journals()?.into_iter().any(|(_, stage)| is_open(stage)))
    }

    /// Finishes or takes back what a dead process left, if there is anything and the handle may write.
    pub(crate) fn recover_edits(&self) -> Result<()> {
        if self.may_write() && self.has_unsettled_edits()? {
            let _lock = self.lock()?;
            self.settle_edits()?;
        }
        Ok(())
    }

    /// Drops the records that are too old, if there are any and the handle may write.
    pub(crate) fn forget_old_edits(&self, now: DateTime<FixedOffset>) -> Result<()> {
        if self.may_write() && self.journals()?.into_iter().any(|journal| is_outdated(journal, now)) {
            let _lock = self.lock()?;
            self.forget_outdated(now)?;
        }
        Ok(())
    }

    fn carry_out(&self, at: DateTime<FixedOffset>, transaction: Transaction) -> Result<ChangeId> {
        let journal = self.journal_of(at, transaction)?;
        let id = journal.id;
        if let Err(error) = self.stage(&journal) {
            // What cannot be cleared away now is at the next open.
            let _ = self.clear_beside(&journal);
            let _ = self.remove_if_there(&self.journal_path(id, Stage::Staging));
            return Err(error);
        }
        let decided = self.advance(id, Stage::Staging, Stage::Pending).and_then(|()| self.put_in_place(&journal));
        if let Err(error) = decided {
            // Also from `.staging`, if the decision itself failed: then there is nothing to take back but what lies beside.
            let is_turned = self.advance(id, Stage::Pending, Stage::Undoing).is_ok();
            let undone = if is_turned {
                self.roll_back(&journal)
            } else {
                self.clear_beside(&journal).and_then(|()| self.remove_if_there(&self.journal_path(id, Stage::Staging)))
            };
            if let Err(error) = undone {
                tracing::warn!(%error, "edits that failed are taken back at the next open");
            }
            return Err(error);
        }
        if let Err(error) = self.finish(&journal) {
            tracing::warn!(%error, "edits were made, and could not be tidied up after");
        }
        Ok(id)
    }

    /// What is to be done, with what is there now.
    fn journal_of(&self, at: DateTime<FixedOffset>, transaction: Transaction) -> Result<Journal> {
        let Transaction { what, record, edits } = transaction;
        let mut files = Vec::new();
        for FileEdit { path, before: expected, after, mode } in edits {
            let before = self.content(&path)?;
            let found = before.as_deref().map(content_hash);
            if found != expected {
                return Err(Error::FileChanged { path, expected, found });
            }
            let present = match before {
                Some(_) => self.disk.mode(&path).map_err(Error::io("look at", &path))?,
                None => None,
            };
            files.push(JournalFile { path, before, after, mode: present.or(mode) });
        }
        let known: BTreeSet<ChangeId> = self.journals()?.into_iter().map(|(id, _)| id).collect();
        let seed = |n: usize| TextHash::of(&["edits", &what, &n.to_string()]);
        // Ids of what left no record may come again; those that are there may not.
        let mut id = ChangeId::at(at, seed(0));
        for n in 1..=known.len() {
            if !known.contains(&id) {
                break;
            }
            id = ChangeId::at(at, seed(n));
        }
        Ok(Journal { id, at, what, record, files })
    }

    /// Writes the journal and, beside each file, what it becomes.
    fn stage(&self, journal: &Journal) -> Result<()> {
        let path = self.journal_path(journal.id, Stage::Staging);
        let folder = self.edits_folder();
        let bytes = render(journal).map_err(|error| Error::io("write", &path)(error.into()))?;
        self.disk.create_folder(&folder).map_err(Error::io("make the folder", &folder))?;
        self.disk.create(&path, &bytes).map_err(Error::io("write", &path))?;
        self.sync(&path)?;
        self.sync_folder(&folder)?;
        self.sync_folder(self.folder.path())?;
        let token = content_hash(&bytes).to_string();
        for (n, file) in journal.files.iter().enumerate() {
            if let Some(parent) = file.path.parent() {
                if file.after.is_some() {
                    self.disk.create_folder(parent).map_err(Error::io("make the folder", parent))?;
                }
                if !self.is_inside(parent)? {
                    let path = token_path(parent, journal.id);
                    self.disk.create(&path, token.as_bytes()).map_err(Error::io("write", &path))?;
                    self.sync(&path)?;
                    self.sync_folder(parent)?;
                }
            }
            if let Some(after) = &file.after {
                self.write_beside(journal.id, n, file, after)?;
            }
        }
        Ok(())
    }

    fn write_beside(&self, id: ChangeId, n: usize, file: &JournalFile, content: &[u8]) -> Result<()> {
        let beside = beside(&file.path, id, n);
        self.disk.create(&beside, content).map_err(Error::io("write", &beside))?;
        self.sync(&beside)?;
        match file.mode {
            Some(mode) => self.disk.set_mode(&beside, mode).map_err(Error::io("set the mode of", &beside)),
            None => Ok(()),
        }
    }

    /// Renames what was staged into place, unless somebody edited a file in the meantime.
    fn put_in_place(&self, journal: &Journal) -> Result<()> {
        for (n, file) in journal.files.iter().enumerate() {
            let (expected, found) = (file.before.as_deref().map(content_hash), self.hash_of(&file.path)?);
            if found != expected {
                return Err(Error::FileChanged { path: file.path.clone(), expected, found });
            }
            match file.after {
                Some(_) => self.rename(&beside(&file.path, journal.id, n), &file.path)?,
                None => self.remove_if_there(&file.path)?,
            }
        }
        self.sync_parents(journal)
    }

    /// Everything is in place: the journal may not say any longer that it is to be carried out.
    fn finish(&self, journal: &Journal) -> Result<()> {
        // What lies beside goes first, while the journal still says where. A second try, since nobody comes back for it.
        let cleared = self.clear_beside(journal).or_else(|_| self.clear_beside(journal));
        if journal.record == Record::Dropped {
            self.remove_if_there(&self.journal_path(journal.id, Stage::Pending))?;
        } else if let Err(error) = self.advance(journal.id, Stage::Pending, Stage::Done) {
            // Rather no undo than one of files that people edited by then.
            self.remove_if_there(&self.journal_path(journal.id, Stage::Pending))?;
            tracing::warn!(%error, "edits were made, and may not be undone");
        }
        cleared?;
        self.forget_oldest(journal.at)
    }

    fn forget_oldest(&self, now: DateTime<FixedOffset>) -> Result<()> {
        self.forget_outdated(now)?;
        let done: Vec<ChangeId> =
            self.journals()?.into_iter().filter(|(_, stage)| *stage == Stage::Done).map(|(id, _)| id).collect();
        let mut n_bytes = 0;
        for (n, id) in done.into_iter().rev().enumerate() {
            let path = self.journal_path(id, Stage::Done);
            if n > 0 {
                n_bytes += self.stamp(&path)?.map_or(0, |stamp| stamp.length);
            }
            if n >= MAX_DONE || n_bytes > MAX_DONE_BYTES {
                self.remove_if_there(&path)?;
            }
        }
        Ok(())
    }

    fn forget_outdated(&self, now: DateTime<FixedOffset>) -> Result<()> {
        for (id, stage) in self.journals()?.into_iter().filter(|journal| is_outdated(*journal, now)) {
            self.remove_if_there(&self.journal_path(id, stage))?;
        }
        Ok(())
    }

    fn clear_beside(&self, journal: &Journal) -> Result<()> {
        for (n, file) in journal.files.iter().enumerate() {
            self.remove_if_there(&beside(&file.path, journal.id, n))?;
            if let Some(parent) = file.path.parent() {
                self.remove_if_there(&token_path(parent, journal.id))?;
            }
        }
        Ok(())
    }

    fn sync_parents(&self, journal: &Journal) -> Result<()> {
        let parents: BTreeSet<&Path> = journal.files.iter().filter_map(|file| file.path.parent()).collect();
        for parent in parents {
            // Where a file was only to be removed, there may be no folder.
            if self.look(parent)? == Entry::Folder {
                self.sync_folder(parent)?;
            }
        }
        Ok(())
    }

    /// Every journal by its id and stage, oldest first.
    fn journals(&self) -> Result<Vec<(ChangeId, Stage)>> {
        let folder = self.edits_folder();
        let names = match self.disk.list(&folder) {
            Ok(names) => names,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io("list", &folder)(error)),
        };
        let journal = |name: &std::ffi::OsString| {
            let (id, ending) = name.to_str()?.split_once('.')?;
            let stage = Stage::ALL.into_iter().find(|stage| stage.ending() == ending)?;
            Some((id.parse().ok()?, stage))
        };
        let mut journals: Vec<(ChangeId, Stage)> = names.iter().filter_map(journal).collect();
        journals.sort_by_key(|(id, _)| *id);
        Ok(journals)
    }

    fn read_journal(&self, id: ChangeId, stage: Stage) -> Result<Option<Journal>> {
        let path = self.journal_path(id, stage);
        if !matches!(self.look(&path)?, Entry::File { .. }) {
            return Ok(None);
        }
        Ok(parse(&self.read_or_empty(&path, 0)?).filter(|journal| journal.id == id))
    }

    fn advance(&self, id: ChangeId, from: Stage, to: Stage) -> Result<()> {
        self.rename(&self.journal_path(id, from), &self.journal_path(id, to))?;
        self.sync_folder(&self.edits_folder())
    }

    fn edits_folder(&self) -> PathBuf {
        self.folder.path().join("edits")
    }

    fn journal_path(&self, id: ChangeId, stage: Stage) -> PathBuf {
        self.edits_folder().join(format!("{id}.{}", stage.ending()))
    }

    pub(crate) fn look(&self, path: &Path) -> Result<Entry> {
        self.disk.look(path).map_err(Error::io("look at", path))
    }

    /// The content of a regular file; none when there is nothing.
    pub(crate) fn content(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        match self.look(path)? {
            Entry::Missing => Ok(None),
            Entry::File { .. } => self.disk.read(path, 0).map(Some).map_err(Error::io("read", path)),
            _ => Err(Error::io("read", path)(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"))),
        }
    }

    fn hash_of(&self, path: &Path) -> Result<Option<TextHash>> {
        Ok(self.content(path)?.as_deref().map(content_hash))
    }

    pub(super) fn remove_if_there(&self, path: &Path) -> Result<()> {
        match self.disk.remove(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", path)(error)),
            _ => Ok(()),
        }
    }
}

/// True for a journal that nothing is to be done with any more, and that is old.
fn is_outdated((id, stage): (ChangeId, Stage), now: DateTime<FixedOffset>) -> bool {
    let is_over = matches!(stage, Stage::Done | Stage::Broken);
    is_over && id.millis() < (now - MAX_AGE).timestamp_millis()
}

/// What a file becomes, until it does.
fn beside(path: &Path, id: ChangeId, n: usize) -> PathBuf {
    path.with_file_name(format!("{BESIDE}{id}.{n}"))
}

/// What says, outside our folder, that a journal is one of ours.
fn token_path(folder: &Path, id: ChangeId) -> PathBuf {
    folder.join(format!("{BESIDE}{id}.journal"))
}
