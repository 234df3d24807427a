//! Undo of edits of files, restricted to the files that a playbook may write.

use chrono::{DateTime, FixedOffset};

use crate::error::{Error, Result};
use crate::folder::Folder;
use crate::folder::edits::{Journal, Reach};
use crate::id::ChangeId;

/// Reverts a transaction if all its files are within the reach that `reach` returns.
///
/// # Errors
/// The errors of `reach`; `NoSuchChange`; `FileChanged` when a file was changed since; `OutOfReach` when one is outside the
/// reach; `Io`.
pub(crate) fn undo_within(
    folder: &Folder,
    change: ChangeId,
    at: DateTime<FixedOffset>,
    reach: impl FnOnce(&Journal) -> Result<Reach>,
) -> Result<(ChangeId, Journal)> {
    folder.edits().undo(change, at, |journal| {
        let Some(path) = reach(journal)?.first_outside(folder, journal)? else { return Ok(()) };
        Err(Error::OutOfReach { what: journal.what.clone(), path: path.to_owned() })
    })
}
