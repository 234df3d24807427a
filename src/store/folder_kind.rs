//! A folder holds a playbook or a vector memory, not both.

use super::documents::DOCUMENTS;
use super::recover::former_log::LOG;
use super::{BACKUP, PLAYBOOK};
use crate::error::folder::{FolderError, FolderKind, Result};
use crate::folder::Folder;

/// Refuses a folder that has files of the other kind and none of this one.
///
/// # Errors
/// [`FolderError::WrongKind`]; [`FolderError::Io`].
pub(crate) fn check_kind(folder: &Folder, expected: FolderKind) -> Result<()> {
    let has = |names: &[&'static str]| -> Result<bool> {
        for name in names {
            match folder.files().stamp(*name) {
                // Nothing of a folder that is not trusted is looked at.
                Ok(None) | Err(FolderError::NotTrusted { .. }) => {}
                found => return found.map(|_| true),
            }
        }
        Ok(false)
    };
    let (playbook, documents): (&[&'static str], &[&'static str]) = (&[PLAYBOOK, BACKUP, LOG], &[DOCUMENTS]);
    let (own, others, found) = match expected {
        FolderKind::Playbook => (playbook, documents, FolderKind::VectorMemory),
        FolderKind::VectorMemory => (documents, playbook, FolderKind::Playbook),
    };
    if has(others)? && !has(own)? {
        return Err(FolderError::WrongKind { path: folder.path().to_owned(), found, expected });
    }
    Ok(())
}
