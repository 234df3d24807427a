//! The user's state: files that adage keeps per user, outside every memory.
//!
//! It is the folder `adage` in `XDG_STATE_HOME`, otherwise in `~/.local/state`; on Windows in `LOCALAPPDATA`. As in the XDG
//! specification, a relative value is ignored. Only the owner may read the files.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::team::writers::other_writers;

/// The maximum size of a file.
const MAX_FILE: u64 = 4_096;
/// The maximum size of the state of an agent's session.
pub(crate) const MAX_SESSION: u64 = 1 << 17;

/// The folder of the user's state, if the environment defines one. It need not exist.
pub(crate) fn folder() -> Option<PathBuf> {
    let of_user = if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_STATE_HOME" };
    #[expect(
        clippy::disallowed_methods,
        reason = "the library takes what it finds here; this is the program's own setting"
    )]
    let named = std::env::var_os(of_user).map(PathBuf::from);
    let in_home = || std::env::home_dir().map(|home| home.join(".local").join("state"));
    let parent = named.filter(|path| path.is_absolute()).or_else(in_home).filter(|path| path.is_absolute());
    parent.map(|parent| parent.join("adage"))
}

/// Why an existing folder cannot be trusted: it is a link, or others can write or read there.
pub(crate) fn fault(folder: &Path) -> Option<String> {
    let metadata = match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => return Some(error.to_string()),
        Ok(metadata) => metadata,
    };
    if !metadata.is_dir() {
        return Some("it is not a folder".to_owned());
    }
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::MetadataExt::mode(&metadata) & 0o777;
        if mode & 0o077 != 0 {
            return Some(format!("others have access (mode {mode:o}); if all in it is yours, chmod it to 700"));
        }
    }
    other_writers(folder)
}

/// Reads a file of the user's state; none if it is missing.
///
/// # Errors
/// The path is a link, a folder or a device; the file is too long; others can read it; or it cannot be read.
pub(crate) fn read(path: &Path) -> io::Result<Option<String>> {
    read_up_to(path, MAX_FILE)
}

/// As [`read`], with another maximum size.
pub(crate) fn read_up_to(path: &Path, max: u64) -> io::Result<Option<String>> {
    // Checked before it is opened: a pipe would block, and a device has no end.
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        metadata => metadata?,
    };
    check(&metadata, max)?;
    let mut text = String::new();
    File::open(path)?.take(max).read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Replaces a file of the user's state, completely or not at all.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    make_private(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

/// Waits for a lock that the processes of the user hold while they change a file; it ends with the file. None if the file system has no
/// locks.
pub(crate) fn lock(path: &Path) -> Option<File> {
    make_private(path.parent()?).ok()?;
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).ok()?;
    file.lock().ok()?;
    Some(file)
}

/// Removes a file of the user's state. If that fails, it is tried again another time.
pub(crate) fn remove(path: &Path) {
    #[expect(clippy::disallowed_methods, reason = "a file of the program's own, not of a memory")]
    let _ = fs::remove_file(path);
}

/// Creates a folder, and those above it, for its user alone; one that exists keeps its mode.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn check(metadata: &Metadata, max: u64) -> io::Result<()> {
    let refused = |reason: String| Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    if !metadata.is_file() {
        return refused("it is not a regular file".into());
    }
    if metadata.len() > max {
        return refused(format!("it has {} bytes, at most {max} are read", metadata.len()));
    }
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::MetadataExt::mode(metadata) & 0o777;
        if mode & 0o077 != 0 {
            return refused(format!("others can read it (mode {mode:o}); chmod it to 600"));
        }
    }
    Ok(())
}
