//! Export of lessons into a file outside the folder, which is replaced completely or not at all.

use std::path::{Path, PathBuf};

use chrono::{DateTime, FixedOffset};

use super::undo::undo_within;
use crate::error::exchange::{self, ExportRefused};
use crate::error::folder::FolderError;
use crate::error::{Error, Result};
use crate::folder::edits::{FileEdit, Reach, Record, Transaction, content_hash};
use crate::folder::{Folder, Target};
use crate::id::ChangeId;

/// The prefix of an export's description in its journal.
const WHAT: &str = "export: ";

/// The files that lessons are exported into.
#[derive(Clone, Copy)]
pub(crate) struct Exports<'a>(&'a Folder);

impl<'a> Exports<'a> {
    pub(crate) fn new(folder: &'a Folder) -> Self {
        Self(folder)
    }

    /// Replaces the content of a file with what `make` returns for it (empty if the file is missing). None if that is the same.
    ///
    /// A link to a file in the same folder is followed: its target is replaced, and the link stays. Other links are refused.
    ///
    /// # Errors
    /// The errors of `make`, and of a transaction.
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

    /// The real path of a file. The memory's own files are refused, and so are links that others may have put there: the file
    /// itself, and folders below the one that the memory is in or below the working directory.
    fn target(self, file: &Path) -> Result<PathBuf> {
        let refused = |reason| exchange::Error::Refused { path: file.to_owned(), reason };
        let here = std::path::absolute(".").ok().and_then(|here| self.0.links().resolve(&here).ok());
        let roots = self.0.path().parent().map(Path::to_owned).into_iter().chain(here);
        let roots: Vec<PathBuf> = roots.filter(|root| root.parent().is_some()).collect();
        let path = match self.0.links().target_of(file, &roots)? {
            Target::File(path) => path,
            Target::Link { link, to } => return Err(refused(ExportRefused::Link { link, to }).into()),
        };
        let is_own_text = path.strip_prefix(self.0.path()).is_ok_and(|own| {
            own.components().count() > 1
                || !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
        });
        if is_own_text {
            return Err(refused(ExportRefused::OwnFile).into());
        }
        Ok(path)
    }

    /// Restores the content that a file had before an export. The caller names the file: the path in the journal is not
    /// trusted.
    ///
    /// # Errors
    /// `NoSuchChange`; `FileChanged` when the file was changed since; `CannotApply` when the export was into another file;
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
