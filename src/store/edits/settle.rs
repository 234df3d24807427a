//! Finishing or taking back what was left in the middle, by a dead process or a failure.

use std::io::ErrorKind;

use super::journal::{JournalFile, content_hash, render};
use super::{Journal, Stage, beside, token_path};
use crate::error::{Error, Result};
use crate::inbox::Entry;
use crate::store::Place;

impl Place {
    /// The caller holds the lock.
    pub(super) fn settle_edits(&self) -> Result<()> {
        for (id, stage) in self.journals()? {
            if matches!(stage, Stage::Done | Stage::Broken) {
                continue;
            }
            let path = self.journal_path(id, stage);
            // One journal that cannot be followed may not hold up every edit from then on.
            let Some(journal) = mended(self.read_journal(id, stage))?.flatten() else {
                if stage == Stage::Staging && matches!(self.look(&path)?, Entry::File { .. }) {
                    // It was being written: nothing else had been.
                    self.remove_if_there(&path)?;
                } else {
                    tracing::warn!(journal = %path.display(), "a journal of edits was broken and is left aside");
                    self.advance(id, stage, Stage::Broken)?;
                }
                continue;
            };
            if stage == Stage::Staging {
                mended(self.clear_beside(&journal))?;
                self.remove_if_there(&path)?;
                continue;
            }
            if self.is_settled(&journal, stage)? {
                // Only the tidying up was left.
                match stage {
                    Stage::Pending => {
                        mended(self.finish(&journal))?;
                    }
                    _ => self.tidy_undone(&journal, Whole::Yes)?,
                }
                continue;
            }
            if mended(self.may_follow(&journal))? != Some(true) {
                tracing::warn!(journal = %path.display(), "a journal of edits leads where it may not and is left aside");
                self.advance(id, stage, Stage::Broken)?;
                continue;
            }
            tracing::warn!(what = journal.what, "edits were left unfinished");
            match stage {
                Stage::Pending if self.roll_forward(&journal)? == Forward::Finished => {
                    mended(self.finish(&journal))?;
                }
                Stage::Pending => {
                    self.advance(id, Stage::Pending, Stage::Undoing)?;
                    self.roll_back(&journal)?;
                }
                _ => self.roll_back(&journal)?,
            }
        }
        Ok(())
    }

    /// Brings every file to what it was to become, unless one is neither that nor what it was.
    fn roll_forward(&self, journal: &Journal) -> Result<Forward> {
        for (n, file) in journal.files.iter().enumerate() {
            if mended(self.bring_forward(journal, n, file))? != Some(Forward::Finished) {
                return Ok(Forward::Changed);
            }
        }
        Ok(match mended(self.sync_parents(journal))? {
            Some(()) => Forward::Finished,
            None => Forward::Changed,
        })
    }

    fn bring_forward(&self, journal: &Journal, n: usize, file: &JournalFile) -> Result<Forward> {
        let found = self.hash_of(&file.path)?;
        let (before, after) = (file.before.as_deref().map(content_hash), file.after.as_deref().map(content_hash));
        if found != after {
            if found != before {
                return Ok(Forward::Changed);
            }
            self.bring_to(journal, n, file, file.after.as_deref())?;
        }
        Ok(Forward::Finished)
    }

    /// Brings every file back to what it was. One that somebody else changed is left to them; the journal of one that cannot be
    /// looked at or written is kept, since it may hold the only copy.
    pub(super) fn roll_back(&self, journal: &Journal) -> Result<()> {
        let mut whole = Whole::Yes;
        for (n, file) in journal.files.iter().enumerate() {
            whole = whole.and(mended(self.bring_back(journal, n, file))?);
        }
        whole = whole.and(mended(self.sync_parents(journal))?);
        self.tidy_undone(journal, whole)
    }

    fn bring_back(&self, journal: &Journal, n: usize, file: &JournalFile) -> Result<()> {
        let found = self.hash_of(&file.path)?;
        let (before, after) = (file.before.as_deref().map(content_hash), file.after.as_deref().map(content_hash));
        if found == before {
            return Ok(());
        }
        if found != after {
            tracing::warn!(file = %file.path.display(), "a file was changed while edits were taken back; it is left");
            return Ok(());
        }
        self.bring_to(journal, n, file, file.before.as_deref())
    }

    fn bring_to(&self, journal: &Journal, n: usize, file: &JournalFile, content: Option<&[u8]>) -> Result<()> {
        let Some(content) = content else { return self.remove_if_there(&file.path) };
        self.write_beside(journal.id, n, file, content)?;
        self.rename(&beside(&file.path, journal.id, n), &file.path)
    }

    fn tidy_undone(&self, journal: &Journal, whole: Whole) -> Result<()> {
        match whole.and(mended(self.clear_beside(journal))?) {
            Whole::Yes => self.remove_if_there(&self.journal_path(journal.id, Stage::Undoing)),
            Whole::No => self.advance(journal.id, Stage::Undoing, Stage::Broken),
        }
    }

    /// True when every file is what the stage leads to: nothing is left to be written.
    fn is_settled(&self, journal: &Journal, stage: Stage) -> Result<bool> {
        for file in &journal.files {
            let goal = if stage == Stage::Pending { &file.after } else { &file.before };
            if mended(self.hash_of(&file.path))? != Some(goal.as_deref().map(content_hash)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether every file of a journal lies inside the folder, or beside a token of this journal.
    fn may_follow(&self, journal: &Journal) -> Result<bool> {
        let token = render(journal).map(|bytes| content_hash(&bytes).to_string()).unwrap_or_default();
        for file in &journal.files {
            let Some(parent) = file.path.parent() else { return Ok(false) };
            if self.is_inside(parent)? {
                continue;
            }
            let path = token_path(parent, journal.id);
            let is_file = matches!(self.look(&path)?, Entry::File { .. });
            if !is_file || self.read_or_empty(&path, 0)? != token.as_bytes() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether taking back got through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whole {
    Yes,
    No,
}

impl Whole {
    fn and(self, done: Option<()>) -> Self {
        if done.is_some() { self } else { Self::No }
    }
}

/// None, with a warning, for an error that would come again each time: somebody made something else of a file or its folder,
/// or took away the permission. Any other error may pass, and stays one.
fn mended<T>(result: Result<T>) -> Result<Option<T>> {
    /// Too many links, which has no kind of its own yet.
    const LOOP: i32 = if cfg!(target_os = "linux") { 40 } else { 62 };
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::Io { action, path, source })
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
            ) || source.raw_os_error() == Some(LOOP) =>
        {
            tracing::warn!(path = %path.display(), error = %source, "edits that were left unfinished: could not {action}");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// What carrying out came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forward {
    Finished,
    /// Somebody changed a file since.
    Changed,
}
