//! The seam to the file system: each operation that can fail is a method, and no other code writes files.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::entry::Entry;
use super::lock::{Lock, Locked, Waiter};
use super::mapped::Mapped;
use super::no_follow::{OpenFor, Status};
use super::root::At;
use crate::error::folder::{Irregular, Oversized};

/// A file whose last change is more recent than this may change again without a new timestamp.
const TICK: Duration = Duration::from_secs(2);

/// The metadata by which a change of a file is detected without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) inode: u64,
    pub(crate) length: u64,
    pub(crate) modified: Option<SystemTime>,
    /// The time of the last change of any kind (ctime) in seconds and nanoseconds, if the system has one. Programs cannot set
    /// it.
    pub(crate) changed: Option<(i64, i64)>,
    /// True if the file was changed so recently that another content may have the same stamp.
    pub(crate) is_racy: bool,
}

impl Stamp {
    /// True if both stamps certainly belong to the same content.
    pub(crate) fn is_surely(&self, now: &Self) -> bool {
        !self.is_racy && self.is_alike(now)
    }

    /// True if nothing indicates a change.
    pub(crate) fn is_alike(&self, now: &Self) -> bool {
        (self.inode, self.length, self.modified) == (now.inode, now.length, now.modified)
    }
}

/// The operations on a disk: a real one, or one with injected faults in tests. Links are not followed, neither within a name
/// nor at its end, unless a method says so. Files are regular files.
pub(crate) trait Disk: Send + Sync {
    /// Creates a directory and its missing parents.
    fn create_folder(&self, at: At<'_>) -> io::Result<()>;
    /// The bytes from `offset` on; `NotFound` if the file is missing, [`Oversized`] if there are more than `max_bytes`.
    fn read(&self, at: At<'_>, offset: u64, max_bytes: u64) -> io::Result<Vec<u8>>;
    /// The first `length` bytes, fewer if the file is shorter; empty if it is missing.
    fn read_start(&self, at: At<'_>, length: usize) -> io::Result<Vec<u8>>;
    /// The file as a memory map; [`Oversized`] if it has more than `max_bytes`. Only for files that are appended to or
    /// replaced, never changed in place.
    fn map(&self, at: At<'_>, max_bytes: u64) -> io::Result<Mapped>;
    /// The stamp of a file or directory; none if it is missing.
    fn stamp(&self, at: At<'_>) -> io::Result<Option<Stamp>>;
    /// The stamp of any entry, even a link; none if it is missing.
    fn own_stamp(&self, at: At<'_>) -> io::Result<Option<Stamp>>;
    fn list(&self, at: At<'_>) -> io::Result<Vec<OsString>>;
    /// Creates a file; an existing one is replaced.
    fn create(&self, at: At<'_>, bytes: &[u8]) -> io::Result<()>;
    /// Appends with one write; a missing file is created. Returns the file's length afterwards.
    fn append(&self, at: At<'_>, bytes: &[u8]) -> io::Result<u64>;
    fn set_modified(&self, at: At<'_>, time: SystemTime) -> io::Result<()>;
    fn truncate(&self, at: At<'_>, length: u64) -> io::Result<()>;
    fn sync(&self, at: At<'_>) -> io::Result<()>;
    fn sync_folder(&self, at: At<'_>) -> io::Result<()>;
    fn rename(&self, from: At<'_>, to: At<'_>) -> io::Result<()>;
    fn link(&self, from: At<'_>, to: At<'_>) -> io::Result<()>;
    fn remove(&self, at: At<'_>) -> io::Result<()>;
    /// Removes an empty directory; an error for any other.
    fn remove_folder(&self, at: At<'_>) -> io::Result<()>;
    /// The type of an entry.
    fn entry(&self, at: At<'_>) -> io::Result<Entry>;
    /// The path with all links resolved.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;
    /// The stamp at a path, with every link followed; none if it is missing.
    fn followed_stamp(&self, path: &Path) -> io::Result<Option<Stamp>>;
    /// The permissions of a file, if the system has them.
    fn mode(&self, at: At<'_>) -> io::Result<Option<u32>>;
    fn set_mode(&self, at: At<'_>, mode: u32) -> io::Result<()>;
    /// Waits for the lock for at most `patience`.
    fn lock_exclusive(&self, at: At<'_>, waiter: &Waiter, patience: Duration) -> io::Result<Locked>;
    /// `None` when another handle holds it.
    fn try_lock_exclusive(&self, at: At<'_>) -> io::Result<Option<Lock>>;
}

/// The real file system.
pub(crate) struct RealDisk;

impl At<'_> {
    fn file(self, what_for: OpenFor) -> io::Result<File> {
        self.root.with(|handle| handle.file(self.name, what_for))
    }

    fn status(self) -> io::Result<Option<Status>> {
        match self.root.with(|handle| handle.status(self.name)) {
            Ok(status) => Ok(Some(status)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Disk for RealDisk {
    fn create_folder(&self, at: At<'_>) -> io::Result<()> {
        at.root.create()?;
        at.root.with(|handle| handle.make_directories(at.name))
    }

    fn read(&self, at: At<'_>, offset: u64, max_bytes: u64) -> io::Result<Vec<u8>> {
        let mut file = at.file(OpenFor::Reading)?;
        let room = Oversized::check(file.metadata()?.len().saturating_sub(offset), max_bytes)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::with_capacity(usize::try_from(room).unwrap_or_default());
        // It may grow while it is read.
        file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
        Oversized::check(bytes.len() as u64, max_bytes)?;
        Ok(bytes)
    }

    fn read_start(&self, at: At<'_>, length: usize) -> io::Result<Vec<u8>> {
        let file = match at.file(OpenFor::Reading) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            file => file?,
        };
        let mut bytes = Vec::with_capacity(length);
        file.take(length as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn map(&self, at: At<'_>, max_bytes: u64) -> io::Result<Mapped> {
        let file = at.file(OpenFor::Reading)?;
        Oversized::check(file.metadata()?.len(), max_bytes)?;
        Mapped::of(&file)
    }

    fn stamp(&self, at: At<'_>) -> io::Result<Option<Stamp>> {
        match at.status()? {
            Some(Status { irregular: Some(irregular @ (Irregular::Link | Irregular::Special)), .. }) => {
                Err(irregular.into())
            }
            status => Ok(status.as_ref().map(Stamp::from)),
        }
    }

    fn own_stamp(&self, at: At<'_>) -> io::Result<Option<Stamp>> {
        Ok(at.status()?.as_ref().map(Stamp::from))
    }

    fn list(&self, at: At<'_>) -> io::Result<Vec<OsString>> {
        let mut names = at.root.with(|handle| handle.list(at.name))?;
        names.sort();
        Ok(names)
    }

    fn create(&self, at: At<'_>, bytes: &[u8]) -> io::Result<()> {
        let file = match at.file(OpenFor::Creating) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.remove(at)?;
                at.file(OpenFor::Creating)
            }
            file => file,
        };
        file?.write_all(bytes)
    }

    fn append(&self, at: At<'_>, bytes: &[u8]) -> io::Result<u64> {
        let mut file = at.file(OpenFor::Appending)?;
        file.write_all(bytes)?;
        file.stream_position()
    }

    fn set_modified(&self, at: At<'_>, time: SystemTime) -> io::Result<()> {
        at.file(OpenFor::Writing)?.set_modified(time)
    }

    fn truncate(&self, at: At<'_>, length: u64) -> io::Result<()> {
        at.file(OpenFor::Writing)?.set_len(length)
    }

    fn sync(&self, at: At<'_>) -> io::Result<()> {
        at.file(OpenFor::Syncing)?.sync_all()
    }

    fn sync_folder(&self, at: At<'_>) -> io::Result<()> {
        at.root
            .with(|handle| if at.name.as_os_str().is_empty() { handle.sync() } else { handle.below(at.name)?.sync() })
    }

    fn rename(&self, from: At<'_>, to: At<'_>) -> io::Result<()> {
        from.root.with(|source| to.root.with(|target| source.rename(from.name, (target, to.name))))
    }

    fn link(&self, from: At<'_>, to: At<'_>) -> io::Result<()> {
        // On a file system without hard links, a copy is made.
        let linked = from.root.with(|handle| handle.link(from.name, to.name));
        linked.or_else(|_| self.create(to, &self.read(from, 0, u64::MAX)?))
    }

    fn remove(&self, at: At<'_>) -> io::Result<()> {
        at.root.with(|handle| handle.remove(at.name))
    }

    fn remove_folder(&self, at: At<'_>) -> io::Result<()> {
        if at.name.as_os_str().is_empty() {
            // The directory itself is removed by its path. If a link has taken its place, this fails.
            return fs::remove_dir(at.path());
        }
        at.root.with(|handle| handle.remove_directory(at.name))
    }

    fn entry(&self, at: At<'_>) -> io::Result<Entry> {
        match at.status() {
            Ok(status) => Ok(status.as_ref().map_or(Entry::Missing, Entry::from)),
            // A parent in the path is a file.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(Entry::Missing),
            Err(error) => Err(error),
        }
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn followed_stamp(&self, path: &Path) -> io::Result<Option<Stamp>> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(Some(Stamp::from(&Status::from(&metadata)))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn mode(&self, at: At<'_>) -> io::Result<Option<u32>> {
        Ok(at.status()?.and_then(|status| status.mode).map(|mode| mode & 0o7777))
    }

    #[cfg(unix)]
    fn set_mode(&self, at: At<'_>, mode: u32) -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        at.file(OpenFor::Writing)?.set_permissions(fs::Permissions::from_mode(mode))
    }

    #[cfg(not(unix))]
    fn set_mode(&self, _: At<'_>, _: u32) -> io::Result<()> {
        Ok(())
    }

    fn lock_exclusive(&self, at: At<'_>, waiter: &Waiter, patience: Duration) -> io::Result<Locked> {
        // A writer must not continue in a directory that was moved away.
        at.root.reopen_if_moved();
        waiter.lock(at.file(OpenFor::Locking)?, patience)
    }

    fn try_lock_exclusive(&self, at: At<'_>) -> io::Result<Option<Lock>> {
        let file = at.file(OpenFor::Locking)?;
        unless_held(file.try_lock(), file)
    }
}

impl From<&Status> for Stamp {
    #[expect(clippy::disallowed_methods, reason = "compared with the file system's times, which are the machine's")]
    fn from(status: &Status) -> Self {
        let Status { inode, length, modified, changed, .. } = *status;
        let now = SystemTime::now();
        let is_racy = modified.is_none_or(|modified| now.duration_since(modified).unwrap_or_default() < TICK);
        Self { inode, length, modified, changed, is_racy }
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

fn unless_held(locked: Result<(), TryLockError>, file: File) -> io::Result<Option<Lock>> {
    match locked {
        Ok(()) => Ok(Some(Box::new(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
