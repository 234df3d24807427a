//! Finishing or taking back what was left in the middle, by a dead process or a failure.

use super::journal::{content_hash, render};
use super::{Journal, Stage, beside, token_path};
use crate::error::Result;
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
            let Some(journal) = self.read_journal(id, stage)? else {
                if stage == Stage::Staging {
                    // It was being written: nothing else had been.
                    self.remove_if_there(&path)?;
                } else {
                    tracing::warn!(journal = %path.display(), "a journal of edits was broken and is left aside");
                    self.advance(id, stage, Stage::Broken)?;
                }
                continue;
            };
            if stage == Stage::Staging {
                self.clear_beside(&journal)?;
                self.remove_if_there(&path)?;
                continue;
            }
            if self.is_settled(&journal, stage)? {
                // Only the tidying up was left.
                match stage {
                    Stage::Pending => self.finish(&journal)?,
                    _ => self.tidy_undone(&journal)?,
                }
                continue;
            }
            if !self.may_follow(&journal)? {
                tracing::warn!(journal = %path.display(), "a journal of edits leads where it may not and is left aside");
                self.advance(id, stage, Stage::Broken)?;
                continue;
            }
            tracing::warn!(what = journal.what, "edits were left unfinished");
            match stage {
                Stage::Pending if self.roll_forward(&journal)? == Forward::Finished => self.finish(&journal)?,
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
            let found = self.hash_of(&file.path)?;
            let (before, after) = (file.before.as_deref().map(content_hash), file.after.as_deref().map(content_hash));
            if found == after {
                continue;
            }
            if found != before {
                return Ok(Forward::Changed);
            }
            match &file.after {
                Some(content) => {
                    self.write_beside(journal.id, n, file, content)?;
                    self.rename(&beside(&file.path, journal.id, n), &file.path)?;
                }
                None => self.remove_if_there(&file.path)?,
            }
        }
        self.sync_parents(journal)?;
        Ok(Forward::Finished)
    }

    /// Brings every file back to what it was. One that somebody else changed is left to them.
    pub(super) fn roll_back(&self, journal: &Journal) -> Result<()> {
        for (n, file) in journal.files.iter().enumerate() {
            let found = self.hash_of(&file.path)?;
            let (before, after) = (file.before.as_deref().map(content_hash), file.after.as_deref().map(content_hash));
            if found == before {
                continue;
            }
            if found != after {
                tracing::warn!(file = %file.path.display(), "a file was changed while edits were taken back; it is left");
                continue;
            }
            match &file.before {
                Some(content) => {
                    self.write_beside(journal.id, n, file, content)?;
                    self.rename(&beside(&file.path, journal.id, n), &file.path)?;
                }
                None => self.remove_if_there(&file.path)?,
            }
        }
        self.sync_parents(journal)?;
        self.tidy_undone(journal)
    }

    fn tidy_undone(&self, journal: &Journal) -> Result<()> {
        self.clear_beside(journal)?;
        self.remove_if_there(&self.journal_path(journal.id, Stage::Undoing))
    }

    /// True when every file is what the stage leads to: nothing is left to be written.
    fn is_settled(&self, journal: &Journal, stage: Stage) -> Result<bool> {
        for file in &journal.files {
            let goal = if stage == Stage::Pending { &file.after } else { &file.before };
            if self.hash_of(&file.path)? != goal.as_deref().map(content_hash) {
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

/// What carrying out came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forward {
    Finished,
    /// Somebody changed a file since.
    Changed,
}
