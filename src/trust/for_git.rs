//! The files by which git knows what to take of a folder, and how to merge it.

use super::Sharing;
use crate::error::folder::Result;
use crate::folder::{Folder, Name};

/// The file that keeps a private folder, or what concerns one clone of a shared one, out of a repository.
pub(super) const IGNORE: &str = ".gitignore";
/// How git merges the files of a shared folder.
pub(super) const ATTRIBUTES: &str = ".gitattributes";
/// Beyond this length, a file for git is not one of this program.
const MAX_BYTES: usize = 1 << 16;

/// Writes the files for git, or adds the lines that they lack: an earlier version may have written them. A folder whose `.gitignore`
/// leaves out everything is left as it is. The caller holds the lock.
pub(super) fn complete(folder: &Folder, sharing: Sharing) -> Result<()> {
    let ignored = read(folder, IGNORE)?;
    if ignored.lines().any(|line| line.trim() == "*") {
        return Ok(());
    }
    add(folder, IGNORE, ignored, sharing.ignored())?;
    add(folder, ATTRIBUTES, read(folder, ATTRIBUTES)?, sharing.attributes())
}

fn read(folder: &Folder, name: &'static str) -> Result<String> {
    let bytes = folder.files().stamp(name)?.map_or(Ok(Vec::new()), |_| folder.files().read_start(name, MAX_BYTES))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn add(folder: &Folder, name: &'static str, mut text: String, wanted: &str) -> Result<()> {
    let missing: Vec<&str> = wanted.lines().filter(|line| !text.lines().any(|known| known.trim() == *line)).collect();
    if missing.is_empty() || text.len() >= MAX_BYTES {
        return Ok(());
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    for line in missing {
        text.extend([line, "\n"]);
    }
    let temporary = folder.write_temporary("for-git", text.as_bytes())?;
    folder.files().rename(temporary, name)?;
    folder.files().sync_directory(Name::TOP)
}
