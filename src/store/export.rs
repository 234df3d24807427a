//! A file outside the folder that lessons are written into: replaced whole, or not at all.

use std::path::{Path, PathBuf};

use chrono::{DateTime, FixedOffset};

use super::Place;
use super::edits::{FileEdit, Reach, Record, Transaction, content_hash};
use crate::error::{Error, Result};
use crate::inbox::Entry;
use crate::lesson::ChangeId;

/// How the journal of an export begins.
const WHAT: &str = "export: ";

impl Place {
    /// Makes of a file what `make` says, given what it holds (nothing where there is none). None when that is the same.
    ///
    /// A link is followed: the file that it leads to is replaced, and the link stays.
    ///
    /// # Errors
    /// Those of `make`, and of a transaction.
    pub(crate) fn rewrite(
        &self,
        file: &Path,
        at: DateTime<FixedOffset>,
        make: impl FnOnce(&[u8]) -> Result<Vec<u8>>,
    ) -> Result<Option<ChangeId>> {
        let path = self.followed(file)?;
        let (change, ()) = self.edit_files(at, || {
            let before = self.content(&path)?;
            let after = make(before.as_deref().unwrap_or_default())?;
            if before.as_ref() == Some(&after) {
                return Ok((None, ()));
            }
            let what = format!("{WHAT}{}", path.display());
            let edit = FileEdit::new(path, before.as_deref().map(content_hash), Some(after));
            Ok((Some(Transaction { what, record: Record::Kept, edits: vec![edit] }), ()))
        })?;
        Ok(change)
    }

    /// Gives a file back what it held before an export. The caller names it: a journal alone leads nowhere.
    ///
    /// # Errors
    /// `NoSuchChange`; `FileChanged` when somebody wrote in it since; `CannotApply` when the export was into another file; `Io`.
    pub(crate) fn undo_rewrite(&self, change: ChangeId, file: &Path, at: DateTime<FixedOffset>) -> Result<ChangeId> {
        let named = self.followed(file)?;
        let (undone, _) = self.undo_files(change, at, |journal| match &journal.files[..] {
            [only] if journal.what == format!("{WHAT}{}", only.path.display()) => {
                Ok(Reach { files: vec![named], ..Reach::default() })
            }
            _ => Err(Error::NoSuchChange { change }),
        })?;
        Ok(undone)
    }

    fn followed(&self, file: &Path) -> Result<PathBuf> {
        let file = std::path::absolute(file).map_err(Error::io("look at", file))?;
        match self.look(&file)? {
            Entry::Link => self.disk.resolve(&file).map_err(Error::io("resolve", &file)),
            _ => Ok(file),
        }
    }
}
