//! Opening entries of a directory without following links: whoever can write to a memory folder may have put one there.

#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod unix;

use std::io;
use std::time::SystemTime;

#[cfg(not(unix))]
pub(super) use portable::Handle;
#[cfg(unix)]
pub(super) use unix::Handle;

use crate::error::folder::Irregular;

/// The purpose of opening a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenFor {
    Reading,
    /// The file's bytes or length are changed in place.
    Writing,
    Syncing,
    /// A missing file is created.
    Appending,
    /// The file must not exist yet.
    Creating,
    /// A missing file is created.
    Locking,
}

impl OpenFor {
    /// True if a change would be visible under other hard links of the file.
    fn changes_in_place(self) -> bool {
        matches!(self, Self::Writing | Self::Appending)
    }
}

/// The result of a stat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Status {
    /// None for a regular file.
    pub(super) irregular: Option<Irregular>,
    pub(super) inode: u64,
    pub(super) length: u64,
    pub(super) modified: Option<SystemTime>,
    /// The last change of content, name or permissions (ctime), in seconds and nanoseconds. Programs cannot set it.
    pub(super) changed: Option<(i64, i64)>,
    pub(super) n_links: u64,
    /// False for a file that no one may write.
    pub(super) is_writable: bool,
    /// Type and permissions, if the system has them.
    pub(super) mode: Option<u32>,
}

impl From<Irregular> for io::Error {
    fn from(irregular: Irregular) -> Self {
        Self::other(irregular)
    }
}
