//! The seam to the file system: each operation that can fail is a method, and no other code writes files.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::lock::{self, Locked};
use super::no_follow::OpenFor;
pub(crate) use super::no_follow::Status;
use super::root::At;

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
    /// The file, open for reading; `NotFound` if it is missing.
    fn open(&self, at: At<'_>) -> io::Result<File>;
    /// The status of an entry; none if it is missing.
    fn status(&self, at: At<'_>) -> io::Result<Option<Status>>;
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
    /// The path with all links resolved.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;
    fn set_mode(&self, at: At<'_>, mode: u32) -> io::Result<()>;
    /// Waits for the lock for at most `patience`.
    fn lock(&self, at: At<'_>, patience: Duration) -> io::Result<Locked>;
}

/// The real file system.
pub(crate) struct RealDisk;

impl At<'_> {
    fn file(self, what_for: OpenFor) -> io::Result<File> {
        self.root.handle()?.file(self.name, what_for)
    }
}

impl Disk for RealDisk {
    fn create_folder(&self, at: At<'_>) -> io::Result<()> {
        at.root.create()?;
        at.root.handle()?.make_directories(at.name)
    }

    fn open(&self, at: At<'_>) -> io::Result<File> {
        at.file(OpenFor::Reading)
    }

    fn status(&self, at: At<'_>) -> io::Result<Option<Status>> {
        match at.root.handle().and_then(|handle| handle.status(at.name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            status => status.map(Some),
        }
    }

    fn list(&self, at: At<'_>) -> io::Result<Vec<OsString>> {
        let mut names = at.root.handle()?.list(at.name)?;
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
        let handle = at.root.handle()?;
        if at.name.as_os_str().is_empty() { handle.sync() } else { handle.below(at.name)?.sync() }
    }

    fn rename(&self, from: At<'_>, to: At<'_>) -> io::Result<()> {
        from.root.handle()?.rename(from.name, (to.root.handle()?.as_ref(), to.name))
    }

    fn link(&self, from: At<'_>, to: At<'_>) -> io::Result<()> {
        // On a file system without hard links, a copy is made.
        let linked = from.root.handle()?.link(from.name, to.name);
        linked.or_else(|_| {
            let mut bytes = Vec::new();
            self.open(from)?.read_to_end(&mut bytes)?;
            self.create(to, &bytes)
        })
    }

    fn remove(&self, at: At<'_>) -> io::Result<()> {
        at.root.handle()?.remove(at.name)
    }

    fn remove_folder(&self, at: At<'_>) -> io::Result<()> {
        if at.name.as_os_str().is_empty() {
            // The directory itself is removed by its path. If a link has taken its place, this fails.
            return fs::remove_dir(at.path());
        }
        at.root.handle()?.remove_directory(at.name)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
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

    fn lock(&self, at: At<'_>, patience: Duration) -> io::Result<Locked> {
        lock::lock(at.file(OpenFor::Locking)?, patience)
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
