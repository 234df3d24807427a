//! The targets of proposals: their files on disk, and the real targets of their paths.

use std::path::{Path, PathBuf};

use crate::proposal::{AllowedRoot, AllowedRoots, Located, View};
use adage::FolderError;
use adage::extend::files::{Entry, Folder, Name};

/// Files that the host named, by absolute path.
#[derive(Clone, Copy)]
pub(crate) struct NamedTargets<'a>(pub(crate) &'a Folder);

impl NamedTargets<'_> {
    /// The roots that proposals may change.
    pub(crate) fn allowed_roots(self, global: Option<&Path>, skills: &[PathBuf]) -> Result<AllowedRoots, FolderError> {
        Ok(AllowedRoots {
            memory: AllowedRoot { spelled: self.0.spelled().to_owned(), resolved: self.0.path().to_owned() },
            global: global.map(|file| self.file(file)).transpose()?,
            skills: skills.iter().map(|root| self.directory(root)).collect::<Result<_, FolderError>>()?,
        })
    }

    fn directory(self, path: &Path) -> Result<AllowedRoot, FolderError> {
        let spelled = std::path::absolute(path).map_err(FolderError::io("resolve", path))?;
        let resolved = self.0.links().resolve_existing(&spelled)?;
        Ok(AllowedRoot { spelled, resolved })
    }

    fn file(self, path: &Path) -> Result<AllowedRoot, FolderError> {
        let spelled = std::path::absolute(path).map_err(FolderError::io("resolve", path))?;
        let (Some(parent), Some(name)) = (spelled.parent(), spelled.file_name()) else { return self.directory(path) };
        let resolved = self.0.links().resolve_existing(parent)?.join(name);
        Ok(AllowedRoot { spelled, resolved })
    }

    /// The state of a target and of the entries on the way to it.
    pub(crate) fn view(self, target: &Located) -> Result<View, FolderError> {
        let steps = target.steps.iter().map(|step| self.entry(step)).collect::<Result<Vec<Entry>, FolderError>>()?;
        let (folder, siblings) = if let Some(parent) = target.path.parent()
            && self.entry(parent).is_ok_and(|entry| matches!(entry, Entry::Folder | Entry::Link))
        {
            let resolved = self.0.links().resolve(parent).map_err(FolderError::io("resolve", parent))?;
            let names = self.0.elsewhere(&resolved).list(Name::TOP)?;
            (Some(resolved), names.into_iter().map(|name| name.to_string_lossy().into_owned()).collect())
        } else {
            (None, Vec::new())
        };
        Ok(View { steps, folder, siblings })
    }

    /// The type of the entry at a path; a link is not followed.
    pub(crate) fn entry(self, path: &Path) -> Result<Entry, FolderError> {
        let (directory, name) = self.0.locate(path);
        directory.entry(name)
    }

    /// The content of a regular file; none if it is missing.
    pub(crate) fn content(self, path: &Path) -> Result<Option<Vec<u8>>, FolderError> {
        let (directory, name) = self.0.locate(path);
        directory.content(name)
    }
}
