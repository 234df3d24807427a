//! Symbolic links: the real target of a path. No other module follows links.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::Entry;
use super::disk::{Disk, Stamp};
use super::root::{At, Root};
use crate::error::folder::{FolderError, Result};

/// The path of a directory with all links resolved except at its end: a memory folder is not a link. It stays valid if the
/// working directory or a link above it changes.
pub(super) fn settled(disk: &dyn Disk, absolute: &Path) -> Result<PathBuf> {
    match (absolute.parent(), absolute.file_name()) {
        (Some(parent), Some(name)) => Ok(Links(disk).resolve_existing(parent)?.join(name)),
        _ => Links(disk).resolve_existing(absolute),
    }
}

/// Resolves links through a disk.
#[derive(Clone, Copy)]
pub(crate) struct Links<'a>(&'a dyn Disk);

impl<'a> Links<'a> {
    pub(super) fn new(disk: &'a dyn Disk) -> Self {
        Self(disk)
    }

    /// The path with every link followed.
    ///
    /// # Errors
    /// `NotFound` when any part of it does not exist.
    pub(crate) fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.resolve(path)
    }

    /// The stamp at a path, with every link followed; none if it is missing.
    pub(crate) fn stamp(&self, path: &Path) -> Result<Option<Stamp>> {
        self.0.followed_stamp(path).map_err(FolderError::io("stat", path))
    }

    /// The path with every link followed as far as it exists; the rest is unchanged.
    pub(crate) fn resolve_existing(&self, path: &Path) -> Result<PathBuf> {
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
        self.0.entry(At { root: &root, name: Path::new(name) })
    }

    /// True if the path, or a parent, is a link to a missing target: by the time of a write, it could lead anywhere.
    pub(crate) fn dangles(&self, path: &Path) -> bool {
        let is_dangling = |part: &Path| matches!(self.entry(part), Ok(Entry::Link)) && self.0.resolve(part).is_err();
        path.ancestors().any(is_dangling)
    }

    /// The path of a file to be written: the target if it is a link.
    pub(crate) fn target_of(&self, file: &Path) -> Result<PathBuf> {
        let file = std::path::absolute(file).map_err(FolderError::io("stat", file))?;
        match self.entry(&file).map_err(FolderError::io("stat", &file))? {
            Entry::Link => self.0.resolve(&file).map_err(FolderError::io("resolve", &file)),
            _ => self.resolve_existing(&file),
        }
    }

    /// True for a directory that is, or will be, inside `root` after every link is followed. False for one spelled with `..`,
    /// and for a relative path with an absolute root: it would depend on the working directory.
    pub(crate) fn is_inside(&self, directory: &Path, root: &Path) -> Result<bool> {
        let has_dots = directory.components().any(|part| matches!(part, Component::ParentDir));
        if has_dots || !directory.is_absolute() && root.is_absolute() {
            return Ok(false);
        }
        Ok(self.resolve_existing(directory)?.starts_with(self.resolve_existing(root)?))
    }
}
