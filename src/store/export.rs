//! A file outside the folder that lessons are written into: replaced whole, or not at all.

use std::path::Path;

use chrono::{DateTime, FixedOffset};

use super::undo::undo_within;
use crate::error::{Error, Result};
use crate::folder::Folder;
use crate::folder::edits::{FileEdit, Reach, Record, Transaction, content_hash};
use crate::id::ChangeId;

/// How the journal of an export begins.
const WHAT: &str = "export: ";

/// Files that lessons are exported into.
#[derive(Clone, Copy)]
pub(crate) struct Exports<'a>(&'a Folder);

impl<'a> Exports<'a> {
    pub(crate) fn new(folder: &'a Folder) -> Self {
        Self(folder)
    }

    /// Replaces the content of a file by what `make` returns for it (nothing where there is no file). None when that is the same.
    ///
    /// A link is followed: the file that it leads to is replaced, and the link stays.
    ///
    /// # Errors
    /// Those of `make`, and of a transaction.
    pub(crate) fn rewrite(
        self,
        file: &Path,
        at: DateTime<FixedOffset>,
        make: impl FnOnce(&[u8]) -> Result<Vec<u8>>,
    ) -> Result<Option<ChangeId>> {
        let path = self.0.links().target_of(file)?;
        let (change, ()) = self.0.edits().change(at, || {
            let (directory, name) = self.0.locate(&path);
            let before = directory.content(name)?;
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
    /// `NoSuchChange`; `FileChanged` when somebody wrote in it since; `CannotApply` when the export was into another file;
    /// `Io`.
    pub(crate) fn undo(self, change: ChangeId, file: &Path, at: DateTime<FixedOffset>) -> Result<ChangeId> {
        let named = self.0.links().target_of(file)?;
        let (undone, _) = undo_within(self.0, change, at, |journal| match &journal.files[..] {
            [only] if journal.what == format!("{WHAT}{}", only.path.display()) => {
                Ok(Reach { files: vec![named], ..Reach::default() })
            }
            _ => Err(Error::NoSuchChange { change }),
        })?;
        Ok(undone)
    }
}
