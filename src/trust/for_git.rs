//! The files by which git knows what to take of a folder, and how to merge it.

use adage_redact::path_line;

use super::Sharing;
use crate::error::folder::Result;
use crate::folder::{Entry, Folder, Name};

/// The file that keeps a private folder, or what concerns one clone of a shared one, out of a repository.
pub(super) const IGNORE: &str = ".gitignore";
/// How git merges the files of a shared folder.
pub(super) const ATTRIBUTES: &str = ".gitattributes";
/// Beyond this length, a file for git is not one of this program.
const MAX_BYTES: usize = 1 << 16;

/// Who may read a folder through git, by its `.gitignore`: a shared folder may have none. None for one that this program does not
/// write.
pub(crate) fn sharing(folder: &Folder) -> Result<Option<Sharing>> {
    if folder.files().entry(IGNORE)? == Entry::Missing {
        return Ok(Some(Sharing::Shared));
    }
    Ok(read(folder, IGNORE).map_or(None, |text| sharing_of(&text)))
}

/// A later line wins, and one with an exclamation mark takes back what earlier ones leave out.
fn sharing_of(text: &str) -> Option<Sharing> {
    // A later part was not read.
    if text.len() >= MAX_BYTES {
        return None;
    }
    let mut found = None;
    for line in text.lines().map(str::trim_end) {
        match line {
            _ if line.starts_with('!') => found = None,
            "*" => found = Some(Sharing::Private),
            "lock" => found = found.or(Some(Sharing::Shared)),
            _ => {}
        }
    }
    found
}

/// Keeps a new private folder out of repositories: a `.gitignore` that somebody else left there is replaced.
pub(super) fn keep_out(folder: &Folder) -> Result<()> {
    let is_there = folder.files().entry(IGNORE)? != Entry::Missing;
    if is_there && sharing(folder)? == Some(Sharing::Private) {
        return Ok(());
    }
    if is_there {
        let path = path_line(folder.files().path_of(IGNORE));
        tracing::warn!("{path} was replaced: with it, git would have taken files of this private memory");
    }
    replace(folder, IGNORE, Sharing::Private.ignored())
}

/// Writes the files for git, or adds the lines that they lack: an earlier version may have written them. A folder whose `.gitignore`
/// leaves out everything is left as it is. The caller holds the lock.
pub(super) fn complete(folder: &Folder, sharing: Sharing) -> Result<()> {
    let ignored = read(folder, IGNORE)?;
    if sharing_of(&ignored) == Some(Sharing::Private) {
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
    replace(folder, name, &text)
}

fn replace(folder: &Folder, name: &'static str, text: &str) -> Result<()> {
    let temporary = folder.write_temporary("for-git", text.as_bytes())?;
    folder.files().rename(temporary, name)?;
    folder.files().sync_directory(Name::TOP)
}
