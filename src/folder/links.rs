//! Symbolic links: the real target of a path. No other module follows links.

use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::Entry;
use super::disk::{Disk, RealDisk};
use super::no_follow::{Handle, OpenFor};
use super::root::{At, Root};
use crate::error::folder::{FolderError, Result};

/// What is at the root of a work tree.
const REPOSITORY_DATA: [&str; 5] = [".git", ".hg", ".jj", ".svn", ".bzr"];

/// The path of a directory with all links resolved except at its end: a memory folder is not a link. It stays valid if the
/// working directory or a link above it changes.
pub(super) fn resolve_parent(disk: &dyn Disk, absolute: &Path) -> Result<PathBuf> {
    match (absolute.parent(), absolute.file_name()) {
        (Some(parent), Some(name)) => Ok(Links(disk).resolve_existing(parent)?.join(name)),
        _ => Links(disk).resolve_existing(absolute),
    }
}

/// Where a file that is named really is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// At a path without links.
    File(PathBuf),
    /// A link on the way leads elsewhere, or to nothing.
    Link { link: PathBuf, to: Option<PathBuf> },
}

/// Opens a regular file at an absolute path, no part of which is a link. Opening waits for nobody, and so does reading of what
/// is not a file at all, such as a log of the kernel.
///
/// # Errors
/// Those of opening; an error that names the entry's type for a link, a folder, a pipe or a device.
pub fn open_plain(path: &Path) -> io::Result<File> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    Handle::at(parent)?.file(Path::new(name), OpenFor::Reading)
}

/// Resolves links through a disk.
#[derive(Clone, Copy)]
pub struct Links<'a>(&'a dyn Disk);

impl<'a> Links<'a> {
    pub(super) fn new(disk: &'a dyn Disk) -> Self {
        Self(disk)
    }

    /// The links of the disk.
    pub(crate) fn of_disk() -> Self {
        Self(&RealDisk)
    }

    /// The path with every link followed.
    ///
    /// # Errors
    /// `NotFound` when any part of it does not exist.
    pub fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.resolve(path)
    }

    /// The path with every link followed as far as it exists; the rest is unchanged.
    ///
    /// # Errors
    /// `Io`.
    pub fn resolve_existing(&self, path: &Path) -> Result<PathBuf> {
        for ancestor in path.ancestors() {
            match self.0.resolve(ancestor) {
                Ok(found) => {
                    let rest = path.strip_prefix(ancestor).unwrap_or(Path::new(""));
                    return Ok(if rest.as_os_str().is_empty() { found } else { found.join(rest) });
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(FolderError::io("resolve", ancestor)(error)),
            }
        }
        Ok(path.to_owned())
    }

    /// The type of the entry at a path; a link at its end is not followed.
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(Entry::Folder) };
        let root = Root::named(parent.to_owned());
        Entry::of(self.0, At { root: &root, name: Path::new(name) })
    }

    /// True if the path, or a parent, is a link to a missing target: by the time of a write, it could lead anywhere.
    pub(crate) fn dangles(&self, path: &Path) -> bool {
        let is_dangling = |part: &Path| matches!(self.entry(part), Ok(Entry::Link)) && self.0.resolve(part).is_err();
        path.ancestors().any(is_dangling)
    }

    /// The path of a file to be written, without links. A link to a file beside it is followed, and so are folders that are links,
    /// unless they are below one of `grounds` or in a repository, and lead away: others may have put them there.
    pub(crate) fn target_of(&self, file: &Path, grounds: &[PathBuf]) -> Result<Target> {
        let file = std::path::absolute(file).map_err(FolderError::io("stat", file))?;
        let (Some(parent), Some(name)) = (file.parent(), file.file_name()) else {
            return Ok(Target::File(self.resolve_existing(&file)?));
        };
        for part in parent.ancestors().filter(|part| part.file_name().is_some()) {
            if self.entry(part).map_err(FolderError::io("stat", part))? != Entry::Link {
                continue;
            }
            let above = self.resolve_existing(part.parent().unwrap_or(part))?;
            let to = self.resolve(part).ok();
            let is_beside = to.as_ref().is_some_and(|to| to.parent() == Some(&above));
            if !is_beside && (grounds.iter().any(|ground| above.starts_with(ground)) || self.is_in_repository(&above)) {
                return Ok(Target::Link { link: part.to_owned(), to });
            }
        }
        let path = self.resolve_existing(parent)?.join(name);
        if self.entry(&path).map_err(FolderError::io("stat", &path))? != Entry::Link {
            return Ok(Target::File(path));
        }
        let to = self.resolve(&path).ok();
        Ok(match to {
            Some(to) if to.parent() == path.parent() => Target::File(to),
            to => Target::Link { link: file, to },
        })
    }

    /// True for a folder in the work tree of a repository, whose links a clone or a pull brings.
    fn is_in_repository(&self, folder: &Path) -> bool {
        let has_data = |root: &Path| {
            let is_there = |name| matches!(self.entry(&root.join(name)), Ok(entry) if entry != Entry::Missing);
            REPOSITORY_DATA.into_iter().any(is_there)
        };
        folder.ancestors().any(has_data)
    }

    /// True for a directory that is, or will be, inside `root` after every link is followed. False for one spelled with `..`,
    /// and for a relative path with an absolute root: it would depend on the working directory.
    ///
    /// # Errors
    /// `Io`.
    pub fn is_inside(&self, directory: &Path, root: &Path) -> Result<bool> {
        let has_dots = directory.components().any(|part| matches!(part, Component::ParentDir));
        if has_dots || !directory.is_absolute() && root.is_absolute() {
            return Ok(false);
        }
        Ok(self.resolve_existing(directory)?.starts_with(self.resolve_existing(root)?))
    }
}
