//! Where files may be changed on the word of a journal. It lies where agents may write, so its paths are judged anew.

use std::path::{Component, Path, PathBuf};

use super::Journal;
use crate::error::{CannotApply, Error, Result, TargetError};
use crate::inbox::SKILL_FILE;
use crate::store::Place;

/// Where an undo may write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Folders that have to lie in the memory folder, whatever links say.
    pub(crate) own: Vec<PathBuf>,
    /// Roots of skills that the host named: the files of skills below them.
    pub(crate) skills: Vec<PathBuf>,
    /// Files that the caller or the host named.
    pub(crate) files: Vec<PathBuf>,
}

impl Place {
    /// # Errors
    /// `CannotApply` when a file of the journal lies elsewhere; `Io`.
    pub(super) fn check_reach(&self, journal: &Journal, reach: &Reach) -> Result<()> {
        for file in &journal.files {
            if !self.reaches(reach, &file.path)? {
                let expected = "where this playbook was told that it may write";
                let reason = TargetError::Outside { path: file.path.clone(), expected };
                let reason = Box::new(CannotApply::Target { line: 0, reason });
                return Err(Error::CannotApply { name: format!("the undo of {}", journal.what), reason });
            }
        }
        Ok(())
    }

    fn reaches(&self, reach: &Reach, path: &Path) -> Result<bool> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(false) };
        if self.is_inside(folder)? {
            for own in &reach.own {
                if self.leads_into(folder, own)? {
                    return Ok(true);
                }
            }
        }
        for root in reach.skills.iter().filter(|_| name == SKILL_FILE) {
            if self.leads_into(folder, root)? {
                return Ok(true);
            }
        }
        for known in reach.files.iter().filter(|known| known.file_name() == Some(name)) {
            let Some(its_folder) = known.parent() else { continue };
            if self.leads_into(folder, its_folder)? && self.leads_into(its_folder, folder)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True for a folder that is, or will be, inside ours, with every link followed.
    pub(super) fn is_inside(&self, folder: &Path) -> Result<bool> {
        self.leads_into(folder, self.folder.path())
    }

    fn leads_into(&self, folder: &Path, root: &Path) -> Result<bool> {
        let has_dots = folder.components().any(|part| matches!(part, Component::ParentDir));
        // A relative path would depend on where the process happens to run.
        if has_dots || !folder.is_absolute() && root.is_absolute() {
            return Ok(false);
        }
        Ok(self.resolve_present(folder)?.starts_with(self.resolve_present(root)?))
    }
}
