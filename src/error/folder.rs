//! Errors of any folder of files.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Shorthand for results of operations on a folder.
pub(crate) type Result<T, E = FolderError> = std::result::Result<T, E>;

/// An error of a folder and its files: a playbook's or a vector memory's.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// An operation on a file failed; nothing was committed.
    #[error("could not {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// What is at a name is not followed, read or written: somebody put it in the place of a file or a folder. Look at it, then
    /// remove it.
    #[error("{} is {found}; it was not touched: look at it, then remove it", path.display())]
    Irregular {
        /// The name.
        path: PathBuf,
        /// What is there.
        found: Irregular,
    },
    /// A file became unreadable while it was open, perhaps in the middle of a hand edit. It was not touched; repair it, or
    /// open the folder again to move it to quarantine and continue from the backup.
    #[error("{} cannot be read: {reason}; repair it, or open the folder again to restore the backup", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A newer version wrote the file; the folder is open for reading only.
    #[error(
        "{} is of schema version {found}, this program writes {supported}: it is open for reading only; use a newer version",
        path.display()
    )]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// The version in the file.
        found: u64,
        /// The newest version that this program writes.
        supported: u64,
    },
    /// The handle was opened for reading. A folder that the operating system does not let this process write is
    /// [`FolderError::Io`] instead, at the write.
    #[error("{} is open for reading only", path.display())]
    ReadOnly {
        /// The folder.
        path: PathBuf,
    },
    /// Nobody here has made or trusted the folder: nothing of it is read or written. A person looks at it and decides.
    #[error(
        "{} is not trusted: `adage trust --show` prints what is in it, `adage trust` lets it be used",
        path.display()
    )]
    NotTrusted {
        /// The folder.
        path: PathBuf,
    },
    /// The file that names a folder has something else in it. Look at it, then remove it.
    #[error("{} is not the id of a folder; look at it, then remove it", path.display())]
    NoFolderId {
        /// The file.
        path: PathBuf,
    },
    /// A decision about a folder cannot be recorded: the handle has no trust store.
    #[error("whether {} is trusted cannot be recorded: there is no trust store", path.display())]
    NoTrustStore {
        /// The folder.
        path: PathBuf,
    },
    /// Somebody else kept the lock for as long as this call was to wait ([`StoreConfig::lock_timeout`](crate::config::StoreConfig)).
    /// Nothing was changed; try again, or end that process.
    #[error(
        "{} is locked by {}, and was not freed within {:.1} s; try again, or end that process",
        path.display(),
        holder.as_ref().map_or_else(|| "another process".to_owned(), ToString::to_string),
        waited.as_secs_f64()
    )]
    Locked {
        /// The file that is locked.
        path: PathBuf,
        /// Who holds the lock, where the system tells.
        holder: Option<Holder>,
        /// How long the call was ready to wait.
        waited: Duration,
    },
    /// A write could not be synced to disk, so this handle writes no more. Open the folder again.
    #[error("an earlier write to {} could not be synced; open the folder again", path.display())]
    WritesStopped {
        /// The folder.
        path: PathBuf,
    },
}

impl FolderError {
    /// Wraps an I/O error with what was tried and where.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| match source.get_ref().and_then(|error| error.downcast_ref::<Irregular>()) {
            Some(found) => Self::Irregular { path, found: *found },
            None => Self::Io { action, path, source },
        }
    }
}

/// A process that holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// Its program's name, where the system tells.
    pub name: Option<String>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "process {} ({name})", self.pid),
            None => write!(f, "process {}", self.pid),
        }
    }
}

/// What is at a name where a file or a folder should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Irregular {
    /// It, or a part above it, leads elsewhere.
    #[error("reached through a symbolic link")]
    Link,
    /// Whoever writes in it writes in another file too.
    #[error("one of {n_links} names of the same file")]
    HardLinked {
        /// How many names it has.
        n_links: u64,
    },
    /// A folder is where a file should be.
    #[error("a folder")]
    Folder,
    /// A pipe, a socket or a device.
    #[error("a pipe, a socket or a device")]
    Special,
}
