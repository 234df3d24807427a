//! The files that an undo may write. Agents may be able to write journals, so a journal's paths are checked.

use std::path::{Path, PathBuf};

use super::Journal;
use crate::error::folder::Result;
use crate::folder::Folder;

/// The files that an undo may write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Directories; they must be inside the folder after all links are followed.
    pub own: Vec<PathBuf>,
    /// Files of one name anywhere below a directory that the host named.
    pub named: Vec<NamedBelow>,
    /// Files that the caller or the host named.
    pub files: Vec<PathBuf>,
}

/// The files of this name at any depth below a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedBelow {
    /// The directory.
    pub root: PathBuf,
    /// The name.
    pub name: &'static str,
}

impl Reach {
    /// The first file of a journal that may not be written.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn first_outside<'j>(&self, folder: &Folder, journal: &'j Journal) -> Result<Option<&'j Path>> {
        for file in &journal.files {
            if !self.contains(folder, &file.path)? {
                return Ok(Some(&file.path));
            }
        }
        Ok(None)
    }

    fn contains(&self, folder: &Folder, path: &Path) -> Result<bool> {
        let links = folder.links();
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(false) };
        if links.is_inside(parent, folder.path())? {
            for own in &self.own {
                if links.is_inside(parent, own)? {
                    return Ok(true);
                }
            }
        }
        for below in self.named.iter().filter(|below| name == below.name) {
            if links.is_inside(parent, &below.root)? {
                return Ok(true);
            }
        }
        for known in self.files.iter().filter(|known| known.file_name() == Some(name)) {
            let Some(its_parent) = known.parent() else { continue };
            if links.is_inside(parent, its_parent)? && links.is_inside(its_parent, parent)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
