//! The type of an entry in a directory.

use std::io;

use super::At;
use super::disk::{Disk, Status};
use crate::error::folder::Irregular;

/// The type of an entry; a link is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// There is none.
    Missing,
    /// A regular file.
    File {
        /// The number of its names.
        n_links: u64,
        /// Its length.
        n_bytes: u64,
        /// Whether its permissions let this user write to it.
        is_writable: bool,
    },
    /// A directory.
    Folder,
    /// A symbolic link.
    Link,
    /// A device, a pipe, a socket.
    Other,
}

impl Entry {
    pub(super) fn of(disk: &dyn Disk, at: At<'_>) -> io::Result<Self> {
        match disk.status(at) {
            Ok(status) => Ok(status.as_ref().map_or(Self::Missing, Self::from)),
            // A parent in the path is a file.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(Self::Missing),
            Err(error) => Err(error),
        }
    }
}

impl From<&Status> for Entry {
    fn from(status: &Status) -> Self {
        match status.irregular {
            Some(Irregular::Link) => Self::Link,
            Some(Irregular::Folder) => Self::Folder,
            Some(Irregular::Special | Irregular::HardLinked { .. }) => Self::Other,
            None => Self::File { n_links: status.n_links, n_bytes: status.length, is_writable: status.is_writable },
        }
    }
}
