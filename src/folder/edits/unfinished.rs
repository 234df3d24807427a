//! Finishes or rolls back transactions that a crash or a failure left unfinished.

use std::io::ErrorKind;

use adage_redact::path_line;

use super::journal::{JournalFile, content_hash};
use super::{Edits, Journal, Journals, Stage, beside, token_name};
use crate::error::folder::{FolderError, Result};
use crate::folder::{Entry, Name};
use crate::id::ChangeId;

/// The unfinished journals of a folder. The caller holds the folder's lock.
pub(super) struct Unfinished<'a>(pub(super) Edits<'a>);

impl Unfinished<'_> {
    pub(super) fn finish_or_roll_back_all(&self) -> Result<()> {
        for (id, stage) in self.0.journals().list()? {
            if !stage.is_over() && self.0.is_own(id, stage)? {
                self.finish_or_roll_back(id, stage)?;
            }
        }
        Ok(())
    }

    fn finish_or_roll_back(&self, id: ChangeId, stage: Stage) -> Result<()> {
        let journals = self.0.journals();
        // A journal that cannot be followed must not block later edits.
        let Some(journal) = skip_permanent_error(journals.read(id, stage))?.flatten() else {
            let name = Journals::name(id, stage);
            if stage == Stage::Staging && matches!(journals.0.entry(name)?, Entry::File { .. }) {
                // A crash during staging: no target was written.
                return journals.remove(id, stage);
            }
            return self.set_aside(id, stage, "a journal of edits was broken and is left aside");
        };
        if stage == Stage::Staging {
            skip_permanent_error(self.0.clear_beside(&journal))?;
            return journals.remove(id, stage);
        }
        if stage == Stage::Pending && self.are_all(&journal, |file| &file.after)? {
            // Only the end of the transaction was left.
            return skip_permanent_error(self.0.finish(&journal)).map(drop);
        }
        if !self.are_all(&journal, |file| &file.before)? {
            if skip_permanent_error(self.may_follow(&journal, stage))? != Some(true) {
                return self.set_aside(id, stage, "a journal of edits leads where it may not and is left aside");
            }
            tracing::warn!(what = journal.what, "edits were left unfinished and are rolled back");
        }
        self.roll_back(&journal, stage)
    }

    fn set_aside(&self, id: ChangeId, stage: Stage, why: &str) -> Result<()> {
        let journals = self.0.journals();
        tracing::warn!(journal = %path_line(journals.0.path_of(Journals::name(id, stage))), "{why}");
        journals.advance(id, stage, Stage::Broken)
    }

    /// Gives every file its old content. A file that someone else changed is left alone. The journal of a file that cannot be
    /// read or written is kept, since it may hold the only copy.
    pub(super) fn roll_back(&self, journal: &Journal, stage: Stage) -> Result<()> {
        let mut is_whole = true;
        for (n, file) in journal.files.iter().enumerate() {
            is_whole &= skip_permanent_error(self.bring_back(journal, n, file))?.is_some();
        }
        is_whole &= skip_permanent_error(self.0.sync_parents(journal))?.is_some();
        is_whole &= skip_permanent_error(self.0.clear_beside(journal))?.is_some();
        let journals = self.0.journals();
        if is_whole { journals.remove(journal.id, stage) } else { journals.advance(journal.id, stage, Stage::Broken) }
    }

    fn bring_back(&self, journal: &Journal, n: usize, file: &JournalFile) -> Result<()> {
        let found = self.0.hash_of(file)?;
        let (before, after) = (file.before.as_deref().map(content_hash), file.after.as_deref().map(content_hash));
        if found == before {
            return Ok(());
        }
        if found != after {
            tracing::warn!(file = %path_line(&file.path), "a file was changed while edits were rolled back; it is left as it is");
            return Ok(());
        }
        let (directory, name) = self.0.folder.locate(&file.path);
        let Some(before) = &file.before else { return directory.remove_if_exists(name) };
        self.0.write_beside(journal.id, n, file, before)?;
        directory.rename(beside(journal.id, n), name)
    }

    /// True if every file has this content.
    fn are_all(&self, journal: &Journal, content: fn(&JournalFile) -> &Option<Vec<u8>>) -> Result<bool> {
        for file in &journal.files {
            let expected = content(file).as_deref().map(content_hash);
            if skip_permanent_error(self.0.hash_of(file))? != Some(expected) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True if every file of a journal is inside the folder or next to a token of this journal.
    fn may_follow(&self, journal: &Journal, stage: Stage) -> Result<bool> {
        let token = content_hash(&self.0.journals().bytes(journal.id, stage)?).to_string();
        for file in &journal.files {
            let (directory, name) = self.0.folder.locate(&file.path);
            if name == Name::TOP {
                return Ok(false);
            }
            if self.0.is_inside(&directory)? {
                continue;
            }
            let name = token_name(journal.id);
            let is_file = matches!(directory.entry(&name)?, Entry::File { .. });
            if !is_file || directory.read_or_empty(name, 0)? != token.as_bytes() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// None, with a warning, for an error that would recur: the file or its directory was replaced by something else, or the
/// permission is missing. Other errors may be temporary and are returned.
fn skip_permanent_error<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(FolderError::Io { action, path, source })
            if matches!(
                source.kind(),
                ErrorKind::NotFound
                    | ErrorKind::PermissionDenied
                    | ErrorKind::NotADirectory
                    | ErrorKind::IsADirectory
                    | ErrorKind::ReadOnlyFilesystem
                    | ErrorKind::AlreadyExists
                    | ErrorKind::InvalidInput
                    | ErrorKind::InvalidFilename
                    | ErrorKind::Unsupported
            ) =>
        {
            tracing::warn!(path = %path_line(path), error = %source, "edits that were left unfinished: could not {action}");
            Ok(None)
        }
        Err(error @ FolderError::Irregular { .. }) => {
            tracing::warn!(%error, "edits that were left unfinished");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
