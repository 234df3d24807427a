//! Errors of any folder of files.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use adage_redact::path_line;

/// Shorthand for results of operations on a folder.
pub(crate) type Result<T, E = FolderError> = std::result::Result<T, E>;

/// An error of a folder and its files: a playbook's or a vector memory's.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// An operation on a file failed; nothing was committed.
    #[error("could not {action} {}", path_line(path))]
    Io {
        /// The operation.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// An entry in place of a file or folder is a link or of another type. It is not followed, read or written. Look at it,
    /// then remove it.
    #[error("{} is {found}; it was not touched: look at it, then remove it", path_line(path))]
    Irregular {
        /// The name.
        path: PathBuf,
        /// The type of the entry.
        found: Irregular,
    },
    /// A file became unreadable while the folder was open, for example during an edit by a person. It was not changed; repair
    /// it, or open the folder again to quarantine it and restore the backup.
    #[error("{} cannot be read: {reason}; repair it, or open the folder again to restore the backup", path_line(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: Unusable,
    },
    /// A file is longer than what is read of it, so that a file that somebody else made cannot take all memory. It was not
    /// read. Look at it: a file that is honestly so long needs a greater
    /// [`StoreConfig::max_file_bytes`](crate::config::StoreConfig).
    #[error(
        "{} has {size} bytes, at most {limit} are read; look at it, and remove it or raise store.max_file_bytes",
        path_line(path)
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bytes that it has; of one that is read from a place on, those after that place.
        size: u64,
        /// The bytes that are read at most.
        limit: u64,
    },
    /// A newer version wrote the file; the folder is open for reading only.
    #[error(
        "{} is of schema version {found}, this program writes {supported}: it is open for reading only; use a newer version",
        path_line(path)
    )]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// The version in the file.
        found: u64,
        /// The newest version that this program writes.
        supported: u64,
    },
    /// The handle was opened for reading. If the operating system denies writing to the folder, the error is
    /// [`FolderError::Io`] at the write instead.
    #[error("{} is open for reading only", path_line(path))]
    ReadOnly {
        /// The folder.
        path: PathBuf,
    },
    /// The user has neither created nor trusted the folder: nothing in it is read or written. A person should look at it and
    /// decide.
    #[error(
        "{} is not trusted: `adage trust --show` prints what is in it, `adage trust` lets it be used",
        path_line(path)
    )]
    NotTrusted {
        /// The folder.
        path: PathBuf,
    },
    /// The folder is that of a playbook and was opened as a vector memory, or the reverse. Nothing was changed; each needs a folder
    /// of its own.
    #[error("{} has {found}, and was opened as {expected}; each needs a folder of its own", path_line(path))]
    WrongKind {
        /// The folder.
        path: PathBuf,
        /// What it has.
        found: FolderKind,
        /// What it was opened as.
        expected: FolderKind,
    },
    /// The folder that was judged when it was opened is not at its path any more: another one is, or its id is another. Nothing
    /// was written; open it again, and what is there now is judged.
    #[error("{} is another folder than the one that was opened; open it again", path_line(path))]
    Replaced {
        /// The folder.
        path: PathBuf,
    },
    /// The file with the folder's id has other content. Look at it, then remove it.
    #[error("{} is not the id of a folder; look at it, then remove it", path_line(path))]
    NoFolderId {
        /// The file.
        path: PathBuf,
    },
    /// A decision about a folder cannot be recorded: the handle has no trust store.
    #[error("whether {} is trusted cannot be recorded: there is no trust store", path_line(path))]
    NoTrustStore {
        /// The folder.
        path: PathBuf,
    },
    /// Another process held the lock for the time limit ([`StoreConfig::lock_timeout`](crate::config::StoreConfig)). Nothing
    /// was changed; try again, or end that process.
    #[error(
        "{} is locked by {}, and was not freed within {:.1} s; try again, or end that process",
        path_line(path),
        holder.as_ref().map_or_else(|| "another process".to_owned(), ToString::to_string),
        waited.as_secs_f64()
    )]
    Locked {
        /// The file that is locked.
        path: PathBuf,
        /// The process that holds the lock, if the system reports it.
        holder: Option<Holder>,
        /// The time limit of the call.
        waited: Duration,
    },
    /// What was asked for is about files, and the playbook is kept in another store. Use a playbook in a folder for it.
    #[error("this needs a folder, and the playbook is kept in {store}")]
    NeedsFolder {
        /// The store.
        store: String,
    },
    /// A write could not be synced to disk, so this handle refuses further writes. Open the folder again.
    #[error("an earlier write to {} could not be synced; open the folder again", path_line(path))]
    WritesStopped {
        /// The folder.
        path: PathBuf,
    },
}

impl FolderError {
    /// Wraps an I/O error with the operation and the path.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| {
            let inner = source.get_ref();
            if let Some(found) = inner.and_then(|error| error.downcast_ref::<Irregular>()) {
                return Self::Irregular { path, found: *found };
            }
            match inner.and_then(|error| error.downcast_ref::<Oversized>()) {
                Some(&Oversized { size, limit }) => Self::TooLarge { path, size, limit },
                None => Self::Io { action, path, source },
            }
        }
    }
}

/// What a folder contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FolderKind {
    /// The lessons of a [`Playbook`](crate::Playbook).
    #[error("a playbook")]
    Playbook,
    /// The documents of a [`VectorMemory`](crate::VectorMemory).
    #[error("a vector memory")]
    VectorMemory,
}

/// More bytes than are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{size} bytes, at most {limit} are read")]
pub(crate) struct Oversized {
    size: u64,
    limit: u64,
}

impl Oversized {
    /// The size, if it is within the limit.
    pub(crate) fn check(size: u64, limit: u64) -> io::Result<u64> {
        if size <= limit { Ok(size) } else { Err(io::Error::other(Self { size, limit })) }
    }
}

/// A process that holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// Its program's name, if the system reports it.
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

/// The type of an entry in place of a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Irregular {
    /// It, or a folder above it, is a symbolic link.
    #[error("reached through a symbolic link")]
    Link,
    /// It has several hard links: a write would change another file too.
    #[error("one of {n_links} names of the same file")]
    HardLinked {
        /// The number of hard links.
        n_links: u64,
    },
    /// A folder in place of a file.
    #[error("a folder")]
    Folder,
    /// A pipe, a socket or a device.
    #[error("a pipe, a socket or a device")]
    Special,
}

/// Why a file is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unusable {
    /// It is gone.
    #[error("it is missing")]
    Missing,
    /// A folder is in its place.
    #[error("it is a folder")]
    Folder,
    /// Its bytes changed by themselves.
    #[error("it is damaged: checksums are broken and nobody edited it")]
    Damaged,
    /// It was put back: a later commit is known.
    #[error("it is an older copy: generation {generation} after {newest}")]
    Older {
        /// The generation of the file.
        generation: u64,
        /// The generation of the newest known commit.
        newest: u64,
    },
    /// Its content is not what it has to be.
    #[error("{0}")]
    Invalid(String),
}
