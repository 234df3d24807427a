//! The user's key for exports, in the user's state: created by the first export, read by imports.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use adage::exchange::ExportKey;

use crate::output::say;
use crate::user_state;

/// The key that seals an export; created if there is none. If that fails, the export is not sealed and a message is printed.
pub(crate) fn for_export() -> Option<ExportKey> {
    usable("the export is not sealed, so an import of it awaits review", |path| match read(path)? {
        Some(key) => Ok(Some(key)),
        None => create(path),
    })
}

/// The key that recognises the user's own exports, if there is one.
pub(crate) fn for_import() -> Option<ExportKey> {
    usable("no export is recognised as your own", read)
}

fn usable(otherwise: &str, find: impl FnOnce(&Path) -> io::Result<Option<ExportKey>>) -> Option<ExportKey> {
    let path = path()?;
    find(&path).unwrap_or_else(|error| {
        say(&format!("could not use the key {}: {error}; {otherwise}", path.display()));
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

fn create(path: &Path) -> io::Result<Option<ExportKey>> {
    let key = ExportKey::generate();
    match user_state::create(path, &format!("{}\n", key.to_hex())) {
        // Another process created its key first: that is the user's key.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => read(path),
        done => done.map(|()| Some(key)),
    }
}
