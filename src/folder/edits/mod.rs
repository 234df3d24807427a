//! Edits of several shared files as one transaction: all files change or none, even after a crash.
//!
//! 1. Under the folder's lock, check that every file has the content that the edit was made for.
//! 2. Write the journal with all contents before and after as `edits/ID.staging`; sync it.
//! 3. Write the new contents to temporary files next to their targets; sync them.
//! 4. Rename the journal to `.pending`.
//! 5. Check again that no file was edited; rename each temporary file into place; sync the directories.
//! 6. Rename the journal to `.done`, where `undo` finds it. The oldest of these are removed, and all after 30 days. A
//!    transaction that needs no undo leaves no journal.
//!
//! An error before step 6 rolls everything back: each file gets the content before, unless somebody edited it meanwhile. So does the next
//! open or edit after a crash, unless every file has its new content already: then only step 6 is left. A journal whose files cannot be read
//! or written is renamed to `.broken`, so that it does not block others.
//!
//! Some files are outside the folder, so journals name files by absolute paths. Agents may be able to write to the folder with
//! the journals. Therefore a journal with a path outside the folder is followed only if a token next to the file there contains
//! the journal's hash. The token is removed with the transaction; the caller of an undo says where it may write.

mod journal;
mod journals;
mod reach;
#[cfg(test)]
mod tests;
mod unfinished;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, FixedOffset};

use super::{Directory, Entry, Folder, Name};
use crate::error::Error;
use crate::error::folder::{FolderError, Result};
use crate::hash::TextHash;
use crate::id::ChangeId;
use journal::render;
pub use journal::{Journal, JournalFile, Undoable, content_hash};
pub(crate) use journals::JOURNALS;
use journals::{Journals, Stage};
pub use reach::{NamedBelow, Reach};
use unfinished::Unfinished;

/// The prefix of temporary files next to their targets.
pub(crate) const BESIDE: &str = ".adage-edit-";

/// The edit of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdit {
    path: PathBuf,
    before: Option<TextHash>,
    after: Option<Vec<u8>>,
    mode: Option<u32>,
}

impl FileEdit {
    /// Changes the file at `path` from the content `before` (none: it does not exist) to `after` (none: it is removed).
    #[must_use]
    pub fn new(path: PathBuf, before: Option<TextHash>, after: Option<Vec<u8>>) -> Self {
        Self { path, before, after, mode: None }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if the file is removed.
    #[must_use]
    pub fn is_removal(&self) -> bool {
        self.after.is_none()
    }
}

/// Edits of several files that happen together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// A description for people.
    pub what: String,
    /// Whether it can be undone.
    pub record: Undoable,
    /// Each file at most once.
    pub edits: Vec<FileEdit>,
}

/// Which journals are the user's own, where others may write to the folder: its files are what such a journal says, unseen.
pub(crate) struct OwnEdits {
    /// Whether the user wrote a journal, by the hash of its bytes.
    pub(crate) knows: Box<dyn Fn(TextHash) -> bool + Send + Sync>,
    /// Records one that is about to be written.
    pub(crate) note: Box<dyn Fn(TextHash) -> Result<()> + Send + Sync>,
}

/// The transactions of a folder.
#[derive(Clone, Copy)]
pub struct Edits<'a> {
    folder: &'a Folder,
}

impl<'a> Edits<'a> {
    pub(super) fn new(folder: &'a Folder) -> Self {
        Self { folder }
    }

    /// Runs a transaction: `decide` returns the edits under the folder's lock. Returns an id for `undo`.
    ///
    /// Unfinished transactions are finished or rolled back first.
    ///
    /// # Errors
    /// The errors of `decide`; `FileChanged` when a file does not have the content that its edit was made for; `Io`. Nothing
    /// was changed then, or the next open rolls it back.
    pub fn change<T, E: From<Error>>(
        self,
        at: DateTime<FixedOffset>,
        decide: impl FnOnce() -> Result<(Option<Transaction>, T), E>,
    ) -> Result<(Option<ChangeId>, T), E> {
        let _lock = self.folder.lock().map_err(Error::from)?;
        Unfinished(self).finish_or_roll_back_all().map_err(Error::from)?;
        let (transaction, value) = decide()?;
        let id = transaction.map(|transaction| self.carry_out(at, transaction)).transpose()?;
        Ok((id, value))
    }

    /// Reverts a transaction by another one. `check` decides whether the files of the journal may be written.
    ///
    /// # Errors
    /// `NoSuchChange`; `FileChanged` when a file was changed since; the errors of `check`.
    pub(crate) fn undo(
        self,
        id: ChangeId,
        at: DateTime<FixedOffset>,
        check: impl FnOnce(&Journal) -> Result<(), Error>,
    ) -> Result<(ChangeId, Journal), Error> {
        let (undone, journal) = self.change(at, || {
            let missing = || Error::NoSuchChange { change: id };
            let is_own = self.is_own(id, Stage::Done)?;
            let journal = self.journals().read(id, Stage::Done)?.filter(|_| is_own).ok_or_else(missing)?;
            check(&journal)?;
            let edits = journal.files.iter().map(|file| FileEdit {
                path: file.path.clone(),
                before: file.after.as_deref().map(content_hash),
                after: file.before.clone(),
                mode: file.mode,
            });
            let what = format!("undo of {}", journal.what);
            let transaction = Transaction { what, record: Undoable::Yes, edits: edits.collect() };
            Ok::<_, Error>((Some(transaction), journal))
        })?;
        undone.map(|undone| (undone, journal)).ok_or(Error::NoSuchChange { change: id })
    }

    /// The transactions that can be undone, oldest first.
    ///
    /// # Errors
    /// `Io`.
    pub fn done(self) -> Result<Vec<Journal>> {
        let mut done = Vec::new();
        for (id, stage) in self.journals().list()? {
            if stage == Stage::Done && self.is_own(id, stage)? {
                done.extend(self.journals().read(id, stage)?);
            }
        }
        Ok(done)
    }

    /// True if a transaction is unfinished; another process may be carrying it out.
    pub(crate) fn has_unfinished(self) -> Result<bool> {
        for (id, stage) in self.journals().list()? {
            if !stage.is_over() && self.is_own(id, stage)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The journals that somebody else wrote: none of them is followed or undone.
    pub(crate) fn foreign(self) -> Result<Vec<PathBuf>> {
        let foreign = self.foreign_journals()?;
        Ok(foreign.into_iter().map(|(id, stage)| self.folder.files().path_of(Journals::name(id, stage))).collect())
    }

    /// Sets aside what somebody else wrote, for good.
    pub(crate) fn set_aside_foreign(self) -> Result<()> {
        let _lock = self.folder.lock()?;
        for (id, stage) in self.foreign_journals()? {
            self.journals().advance(id, stage, Stage::Broken)?;
        }
        Ok(())
    }

    fn foreign_journals(self) -> Result<Vec<(ChangeId, Stage)>> {
        let mut foreign = Vec::new();
        for (id, stage) in self.journals().list()? {
            if stage != Stage::Broken && !self.is_own(id, stage)? {
                foreign.push((id, stage));
            }
        }
        Ok(foreign)
    }

    /// Whether the user wrote a journal. What cannot be read is left to whoever reads it next.
    fn is_own(self, id: ChangeId, stage: Stage) -> Result<bool> {
        let Some(own) = &self.folder.own_edits else { return Ok(true) };
        match self.journals().bytes(id, stage) {
            Ok(bytes) => Ok((own.knows)(journal_hash(&bytes))),
            Err(FolderError::Irregular { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Finishes or rolls back unfinished transactions, if there are any and the handle may write.
    ///
    /// # Errors
    /// `Locked`, `Io`.
    pub fn recover(self) -> Result<()> {
        if self.folder.may_write() && self.has_unfinished()? {
            // The holder of the lock may be carrying out a transaction.
            let _lock = self.folder.lock_within(Duration::ZERO)?;
            Unfinished(self).finish_or_roll_back_all()?;
        }
        Ok(())
    }

    /// Removes outdated journals, if there are any and the handle may write.
    pub(crate) fn remove_outdated(self, now: DateTime<FixedOffset>) -> Result<()> {
        if self.folder.may_write() && !self.journals().outdated(now)?.is_empty() {
            let _lock = self.folder.lock_within(Duration::ZERO)?;
            self.journals().remove_outdated(now)?;
        }
        Ok(())
    }

    fn journals(self) -> Journals<'a> {
        Journals(self.folder.files())
    }

    /// True for a directory that is, or will be, inside the folder.
    fn is_inside(self, directory: &Directory) -> Result<bool> {
        self.folder.links().is_inside(directory.path(), self.folder.path())
    }

    fn carry_out(self, at: DateTime<FixedOffset>, transaction: Transaction) -> Result<ChangeId, Error> {
        let journal = self.journal_of(at, transaction)?;
        let (id, journals, mut stage) = (journal.id, self.journals(), Stage::Staging);
        let made = self.stage(&journal).map_err(Error::from).and_then(|()| {
            journals.advance(id, Stage::Staging, Stage::Pending)?;
            stage = Stage::Pending;
            self.put_in_place(&journal)
        });
        if let Err(error) = made {
            if let Err(error) = Unfinished(self).roll_back(&journal, stage) {
                tracing::warn!(%error, "edits failed and will be rolled back at the next open");
            }
            return Err(error);
        }
        if let Err(error) = self.finish(&journal) {
            tracing::warn!(%error, "edits were made, but their temporary files or journal could not be removed");
        }
        Ok(id)
    }

    /// The journal of a transaction, with the present contents.
    fn journal_of(self, at: DateTime<FixedOffset>, transaction: Transaction) -> Result<Journal, Error> {
        let Transaction { what, record, edits } = transaction;
        let mut files = Vec::new();
        for FileEdit { path, before: expected, after, mode } in edits {
            let (directory, name) = self.folder.locate(&path);
            let before = directory.content(&name)?;
            let found = before.as_deref().map(content_hash);
            if found != expected {
                return Err(Error::FileChanged { path, expected, found });
            }
            let present = match before {
                Some(_) => directory.mode(name)?,
                None => None,
            };
            files.push(JournalFile { path, before, after, mode: present.or(mode) });
        }
        let known: BTreeSet<ChangeId> = self.journals().list()?.into_iter().map(|(id, _)| id).collect();
        // Ids of transactions that left no journal may be used again; ids of existing journals may not.
        let mut ids = (0..=known.len()).map(|n| ChangeId::at(at, TextHash::of(&["edits", &what, &n.to_string()])));
        let id = ids.find(|id| !known.contains(id)).unwrap_or_else(|| ChangeId::at(at, TextHash::of(&[&what])));
        Ok(Journal { id, at, what, record, files })
    }

    /// Writes the journal and a temporary file next to each target.
    fn stage(self, journal: &Journal) -> Result<()> {
        let bytes = render(journal, self.folder.path()).map_err(|error| {
            let path = self.folder.files().path_of(Journals::name(journal.id, Stage::Staging));
            FolderError::io("write", &path)(error.into())
        })?;
        if let Some(own) = &self.folder.own_edits {
            (own.note)(journal_hash(&bytes))?;
        }
        self.journals().stage(journal.id, &bytes)?;
        let token = content_hash(&bytes).to_string();
        for (n, file) in journal.files.iter().enumerate() {
            let (directory, name) = self.folder.locate(&file.path);
            if name != Name::TOP {
                if file.after.is_some() {
                    directory.create_directory(Name::TOP)?;
                }
                if !self.is_inside(&directory)? {
                    let token_name = token_name(journal.id);
                    directory.create(&token_name, token.as_bytes())?;
                    directory.sync(token_name)?;
                    directory.sync_directory(Name::TOP)?;
                }
            }
            if let Some(after) = &file.after {
                self.write_beside(journal.id, n, file, after)?;
            }
        }
        Ok(())
    }

    fn write_beside(self, id: ChangeId, n: usize, file: &JournalFile, content: &[u8]) -> Result<()> {
        let ((directory, _), beside) = (self.folder.locate(&file.path), beside(id, n));
        directory.create(&beside, content)?;
        directory.sync(&beside)?;
        match file.mode {
            Some(mode) => directory.run("set the mode of", beside, |disk, path| disk.set_mode(path, mode)),
            None => Ok(()),
        }
    }

    /// Renames the temporary files into place, unless a file was edited meanwhile.
    fn put_in_place(self, journal: &Journal) -> Result<(), Error> {
        for (n, file) in journal.files.iter().enumerate() {
            let (expected, found) = (file.before.as_deref().map(content_hash), self.hash_of(file)?);
            if found != expected {
                return Err(Error::FileChanged { path: file.path.clone(), expected, found });
            }
            let (directory, name) = self.folder.locate(&file.path);
            match file.after {
                Some(_) => directory.rename(beside(journal.id, n), name)?,
                None => directory.remove_if_exists(name)?,
            }
        }
        Ok(self.sync_parents(journal)?)
    }

    /// Completes a transaction whose files are all in place.
    fn finish(self, journal: &Journal) -> Result<()> {
        let (id, journals) = (journal.id, self.journals());
        // The temporary files are removed first, while the journal still names them. It is tried twice, since no later call
        // does it.
        let cleared = self.clear_beside(journal).or_else(|_| self.clear_beside(journal));
        if journal.record == Undoable::No {
            journals.remove(id, Stage::Pending)?;
        } else if let Err(error) = journals.advance(id, Stage::Pending, Stage::Done) {
            // Losing the undo is better than an undo of files that people have edited by then.
            journals.remove(id, Stage::Pending)?;
            tracing::warn!(%error, "edits were made, but cannot be undone");
        }
        cleared?;
        journals.remove_outdated(journal.at)
    }

    fn clear_beside(self, journal: &Journal) -> Result<()> {
        for (n, file) in journal.files.iter().enumerate() {
            let (directory, name) = self.folder.locate(&file.path);
            directory.remove_if_exists(beside(journal.id, n))?;
            if name != Name::TOP {
                directory.remove_if_exists(token_name(journal.id))?;
            }
        }
        Ok(())
    }

    fn sync_parents(self, journal: &Journal) -> Result<()> {
        let parents: BTreeSet<&Path> = journal.files.iter().filter_map(|file| file.path.parent()).collect();
        for parent in parents {
            let directory = self.folder.elsewhere(parent);
            // If a file was only to be removed, its directory may not exist.
            if directory.entry(Name::TOP)? == Entry::Folder {
                directory.sync_directory(Name::TOP)?;
            }
        }
        Ok(())
    }

    fn hash_of(self, file: &JournalFile) -> Result<Option<TextHash>> {
        let (directory, name) = self.folder.locate(&file.path);
        Ok(directory.content(name)?.as_deref().map(content_hash))
    }
}

/// By what a user's state knows a journal.
fn journal_hash(bytes: &[u8]) -> TextHash {
    TextHash::of(&[b"journal".as_slice(), bytes])
}

/// The name of a file's temporary file.
fn beside(id: ChangeId, n: usize) -> Name {
    format!("{BESIDE}{id}.{n}").into()
}

/// The name of the token that proves, outside the folder, that this program wrote a journal.
fn token_name(id: ChangeId) -> Name {
    format!("{BESIDE}{id}.journal").into()
}
