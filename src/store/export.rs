//! Export of lessons into a file outside the folder, which is replaced completely or not at all.

use std::path::{Path, PathBuf};

use adage_redact::path_line;
use chrono::{DateTime, FixedOffset};

use super::undo::undo_within;
use crate::error::exchange::{self, ExportRefused};
use crate::error::folder::FolderError;
use crate::error::{Error, Result};
use crate::folder::edits::{FileEdit, Reach, Transaction, Undoable, content_hash};
use crate::folder::{Folder, Links, Target};
use crate::id::ChangeId;

/// The prefix of an export's description in its journal.
const WHAT: &str = "export: ";

/// The real path of a file to be written. Links that others may have put there are refused: the file itself, and folders below the
/// working directory, in a repository, or below `ground`, the folder that the memory is in.
fn without_links(links: Links<'_>, file: &Path, ground: Option<&Path>) -> Result<PathBuf> {
    let here = std::path::absolute(".").ok().and_then(|here| links.resolve(&here).ok());
    let grounds = ground.map(Path::to_owned).into_iter().chain(here);
    let grounds: Vec<PathBuf> = grounds.filter(|ground| ground.parent().is_some()).collect();
    match links.target_of(file, &grounds)? {
        Target::File(path) => Ok(path),
        Target::Link { link, to } => {
            Err(exchange::Error::Refused { path: file.to_owned(), reason: ExportRefused::Link { link, to } }.into())
        }
    }
}

/// Refuses a folder that files are written into, as an export refuses a file: by the links on the way to it. `memory` is the memory's
/// folder, if there is one.
///
/// # Errors
/// `Refused` for a link; `Io`.
pub(crate) fn check_folder(folder: &Path, memory: Option<&Path>) -> Result<()> {
    let anything = folder.join(".adage-export");
    without_links(Links::of_disk(), &anything, memory.and_then(Path::parent)).map(drop).map_err(|error| match error {
        Error::Exchange(exchange::Error::Refused { reason, .. }) => {
            exchange::Error::Refused { path: folder.to_owned(), reason }.into()
        }
        error => error,
    })
}

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
                return Ok::<_, Error>((None, ()));
            }
            let what = format!("{WHAT}{}", path_line(&path));
            let edit = FileEdit::new(path, before.as_deref().map(content_hash), Some(after));
            Ok((Some(Transaction { what, record: Undoable::Yes, edits: vec![edit] }), ()))
        })?;
        Ok(change)
    }

    /// The real path of a file. The memory's own files are refused, and so are links that others may have put there.
    fn target(self, file: &Path) -> Result<PathBuf> {
        let refused = |reason| exchange::Error::Refused { path: file.to_owned(), reason };
        let path = without_links(self.0.links(), file, self.0.path().parent())?;
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
            [only] if journal.what == format!("{WHAT}{}", path_line(&only.path)) => {
                Ok(Reach { files: vec![named], ..Reach::default() })
            }
            _ => Err(Error::NoSuchChange { change }),
        })?;
        Ok(undone)
    }
}
