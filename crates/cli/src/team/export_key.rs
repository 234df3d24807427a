//! The user's key for exports, in the user's state: created by the first export, read by imports.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use adage::exchange::ExportKey;
use adage::redact::path_line;
use adage::trust::{FileTrustStore, TrustStore};

use crate::global::Global;
use crate::output::say;
use crate::team::trust;
use crate::user_state;

/// The key that seals an export; created if there is none. If that fails, the export is not sealed and a message is printed. What
/// is only trusted for one call is not sealed either: as the user's own, it would come back without a review.
pub(crate) fn for_export(global: &Global) -> Option<ExportKey> {
    if !trust::is_own_by_state(global) {
        say("not sealed, since it is trusted for this call only: an import of it awaits review");
        return None;
    }
    usable("the export is not sealed, so an import of it awaits review", |path| match read(path)? {
        Some(key) => Ok(Some(key)),
        None => create(),
    })
}

/// The key that recognises the user's own exports, if there is one.
pub(crate) fn for_import() -> Option<ExportKey> {
    usable("no export is recognised as your own", read)
}

fn usable(otherwise: &str, find: impl FnOnce(&Path) -> io::Result<Option<ExportKey>>) -> Option<ExportKey> {
    let path = path()?;
    find(&path).unwrap_or_else(|error| {
        say(&format!("could not use the key {}: {error}; {otherwise}", path_line(path)));
        None
    })
}

fn path() -> Option<PathBuf> {
    Some(user_state::folder()?.join("key"))
}

fn read(path: &Path) -> io::Result<Option<ExportKey>> {
    let parse =
        |text: String| ExportKey::from_hex(&text).map_err(|error| io::Error::new(ErrorKind::InvalidData, error));
    user_state::read(path)?.map(parse).transpose()
}

/// Creates the key as the store of trust does, which uses the same one.
fn create() -> io::Result<Option<ExportKey>> {
    let Some(folder) = user_state::folder() else { return Ok(None) };
    FileTrustStore::new(folder).create_key().map_err(io::Error::other)
}
