//! A file outside the folder that lessons are written into: replaced whole, or not at all.

use std::path::{Path, PathBuf};

use chrono::{DateTime, FixedOffset};

use super::undo::undo_within;
use crate::error::exchange::{self, ExportRefused};
use crate::error::folder::FolderError;
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
        let path = self.target(file)?;
        let (change, ()) = self.0.edits().change(at, || {
            let (directory, name) = self.0.locate(&path);
            let before = directory.content(name).map_err(|error| match error {
                FolderError::Irregular { found, .. } => FolderError::Irregular { path: file.to_owned(), found },
                error => error,
            })?;
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

    /// Where a file really is. The memory's own files are not exported into.
    fn target(self, file: &Path) -> Result<PathBuf> {
        let path = self.0.links().target_of(file)?;
        let is_own_text = path.strip_prefix(self.0.path()).is_ok_and(|own| {
            own.components().count() > 1
                || !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
        });
        if is_own_text {
            return Err(exchange::Error::Refused { path: file.to_owned(), reason: ExportRefused::OwnFile }.into());
        }
        Ok(path)
    }

    /// Gives a file back what it held before an export. The caller names it: a journal alone leads nowhere.
    ///
    /// # Errors
    /// `NoSuchChange`; `FileChanged` when somebody wrote in it since; `CannotApply` when the export was into another file;
    /// `Io`.
    pub(crate) fn undo(self, change: ChangeId, file: &Path, at: DateTime<FixedOffset>) -> Result<ChangeId> {
        let named = self.target(file)?;
        let (undone, _) = undo_within(self.0, change, at, |journal| match &journal.files[..] {
            [only] if journal.what == format!("{WHAT}{}", only.path.display()) => {
                Ok(Reach { files: vec![named], ..Reach::default() })
            }
            _ => Err(Error::NoSuchChange { change }),
        })?;
        Ok(undone)
    }
}
