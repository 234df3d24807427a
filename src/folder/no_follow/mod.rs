//! Opening what is in a directory without following a link on the way: whoever can write to a memory folder may have put one
//! there.

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

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenFor {
    Reading,
    /// Its bytes or its length are changed where they are.
    Writing,
    Syncing,
    /// It is created if there is none.
    Appending,
    /// It does not exist yet.
    Creating,
    /// It is created if there is none.
    Locking,
}

impl OpenFor {
    /// True where a second name of the file would be changed too.
    fn changes_in_place(self) -> bool {
        matches!(self, Self::Writing | Self::Appending)
    }
}

/// What a stat says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Status {
    /// None for a regular file.
    pub(super) irregular: Option<Irregular>,
    pub(super) inode: u64,
    pub(super) length: u64,
    pub(super) modified: Option<SystemTime>,
    /// When contents, name or permissions changed last, in seconds and nanoseconds. No program can set it.
    pub(super) changed: Option<(i64, i64)>,
    pub(super) n_links: u64,
    /// False for a file that nobody may write.
    pub(super) is_writable: bool,
    /// Kind and permissions, where the system has them.
    pub(super) mode: Option<u32>,
}

impl From<Irregular> for io::Error {
    fn from(irregular: Irregular) -> Self {
        Self::other(irregular)
    }
}
