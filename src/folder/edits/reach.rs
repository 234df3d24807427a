//! Where files may be changed on the word of a journal. Agents may write to the folder that it is in, so its paths are
//! judged again.

use std::path::{Path, PathBuf};

use super::Journal;
use crate::error::folder::Result;
use crate::folder::Folder;

/// Where an undo may write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Directories that have to be inside the folder, with every link followed.
    pub(crate) own: Vec<PathBuf>,
    /// Files of one name anywhere below a directory that the host named.
    pub(crate) named: Vec<NamedBelow>,
    /// Files that the caller or the host named.
    pub(crate) files: Vec<PathBuf>,
}

/// The files of this name at any depth below a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedBelow {
    pub(crate) root: PathBuf,
    pub(crate) name: &'static str,
}

impl Reach {
    /// The first file of a journal that is outside.
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
