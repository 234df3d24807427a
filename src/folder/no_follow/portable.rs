//! Systems without `openat`: each part of a name is checked, then the file is opened without following a reparse point.
//!
//! A link could be created between the check and the opening; Windows allows only privileged users to create one.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::{Irregular, OpenFor, Status};

/// A directory, by its path.
#[derive(Debug)]
pub(in crate::folder) struct Handle(PathBuf);

impl Handle {
    /// The directory at an absolute path, none of whose parts is a link.
    pub(in crate::folder) fn at(path: &Path) -> io::Result<Self> {
        for part in path.ancestors() {
            refuse_link(&fs::symlink_metadata(part)?)?;
        }
        Ok(Self(path.to_owned()))
    }

    /// A subdirectory.
    pub(in crate::folder) fn below(&self, name: &Path) -> io::Result<Self> {
        self.without_links(name).map(Self)
    }

    /// True if the path still refers to this directory.
    pub(in crate::folder) fn is_at(&self, path: &Path) -> bool {
        self.0 == path && Self::at(path).is_ok()
    }

    /// A regular file.
    pub(in crate::folder) fn file(&self, name: &Path, what_for: OpenFor) -> io::Result<File> {
        let path = self.without_links(name)?;
        let mut options = OpenOptions::new();
        match what_for {
            OpenFor::Reading => options.read(true),
            OpenFor::Writing | OpenFor::Syncing => options.write(true),
            OpenFor::Appending => options.append(true).create(true),
            OpenFor::Creating => options.write(true).create_new(true),
            OpenFor::Locking => options.read(true).write(true).create(true),
        };
        #[cfg(windows)]
        {
            use std::os::windows::fs::OpenOptionsExt;
            const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
            options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
        }
        let file = options.open(path)?;
        match Status::from(&file.metadata()?).irregular {
            Some(irregular) => Err(irregular.into()),
            None => Ok(file),
        }
    }

    /// The path of a name, after a check that no part of it is a link.
    fn without_links(&self, name: &Path) -> io::Result<PathBuf> {
        let mut path = self.0.clone();
        for part in name.components() {
            path.push(part);
            match fs::symlink_metadata(&path) {
                Ok(metadata) => refuse_link(&metadata)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(path)
    }

    /// The status of an entry; a link is not followed.
    pub(in crate::folder) fn status(&self, name: &Path) -> io::Result<Status> {
        Ok(Status::from(&fs::symlink_metadata(self.0.join(name))?))
    }

    pub(in crate::folder) fn list(&self, name: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(self.without_links(name)?)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    /// Creates the missing directories of a name.
    pub(in crate::folder) fn make_directories(&self, name: &Path) -> io::Result<()> {
        fs::create_dir_all(self.without_links(name)?)
    }

    #[expect(clippy::disallowed_methods, reason = "the disk writes through here")]
    pub(in crate::folder) fn rename(&self, from: &Path, to: (&Self, &Path)) -> io::Result<()> {
        fs::rename(self.without_links(from)?, to.0.without_links(to.1)?)
    }

    /// Creates a hard link.
    pub(in crate::folder) fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(self.without_links(from)?, self.without_links(to)?)
    }

    #[expect(clippy::disallowed_methods, reason = "the disk writes through here")]
    pub(in crate::folder) fn remove(&self, name: &Path) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    pub(in crate::folder) fn remove_directory(&self, name: &Path) -> io::Result<()> {
        fs::remove_dir(self.0.join(name))
    }

    /// Directories cannot be synced on this system.
    pub(in crate::folder) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

fn refuse_link(metadata: &Metadata) -> io::Result<()> {
    if is_link(metadata) { Err(Irregular::Link.into()) } else { Ok(()) }
}

#[cfg(windows)]
fn is_link(metadata: &Metadata) -> bool {
    use std::os::windows::fs::MetadataExt;
    const FILE_ATTRIBUTE_REPARSE_POINT: u32 = 0x400;
    metadata.file_attributes() & FILE_ATTRIBUTE_REPARSE_POINT != 0
}

#[cfg(not(windows))]
fn is_link(metadata: &Metadata) -> bool {
    metadata.is_symlink()
}

impl From<&Metadata> for Status {
    fn from(metadata: &Metadata) -> Self {
        let irregular = if is_link(metadata) {
            Some(Irregular::Link)
        } else if metadata.is_dir() {
            Some(Irregular::Folder)
        } else if metadata.is_file() {
            None
        } else {
            Some(Irregular::Special)
        };
        let modified = metadata.modified().ok();
        Self {
            irregular,
            inode: 0,
            length: metadata.len(),
            modified,
            changed: None,
            n_links: 1,
            is_writable: !metadata.permissions().readonly(),
            mode: None,
        }
    }
}
