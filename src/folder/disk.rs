//! The seam to the file system: each operation that can fail is a method, and nothing else writes files.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::entry::Entry;
use super::mapped::Mapped;

/// A file that was changed less than this long before its stat may change again within the same tick of its clock.
const TICK: Duration = Duration::from_secs(2);

/// What a change of a file is detected by, without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) inode: u64,
    pub(crate) length: u64,
    pub(crate) modified: Option<SystemTime>,
    /// True when the file is so young that another content can have the same stamp.
    pub(crate) is_racy: bool,
}

impl Stamp {
    /// True when both are certainly of the same content.
    pub(crate) fn is_surely(&self, now: &Self) -> bool {
        !self.is_racy && self.is_alike(now)
    }

    /// True when there is no sign of a change.
    pub(crate) fn is_alike(&self, now: &Self) -> bool {
        (self.inode, self.length, self.modified) == (now.inode, now.length, now.modified)
    }
}

/// A lock that is held until it is dropped; the kernel frees it when the process dies.
pub(crate) type Lock = Box<dyn Send>;

/// The operations on a disk. Real, or with faults in the tests.
pub(crate) trait Disk: Send + Sync {
    fn create_folder(&self, path: &Path) -> io::Result<()>;
    /// The whole file from `offset` on; `NotFound` when there is none.
    fn read(&self, path: &Path, offset: u64) -> io::Result<Vec<u8>>;
    /// The first bytes, as many as there are; nothing when there is no file.
    fn read_start(&self, path: &Path, length: usize) -> io::Result<Vec<u8>>;
    /// The file as memory. For files that are only appended to or replaced.
    fn map(&self, path: &Path) -> io::Result<Mapped>;
    /// None when there is nothing. A link is followed.
    fn stamp(&self, path: &Path) -> io::Result<Option<Stamp>>;
    /// None when there is nothing. A link is not followed.
    fn own_stamp(&self, path: &Path) -> io::Result<Option<Stamp>>;
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>>;
    /// Makes a new file; an existing one is replaced.
    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Appends with one write, making the file if there is none.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    fn truncate(&self, path: &Path, length: u64) -> io::Result<()>;
    fn sync(&self, path: &Path) -> io::Result<()>;
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Removes a folder that is empty; any other is an error.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;
    /// What is there; a link is not followed.
    fn entry(&self, path: &Path) -> io::Result<Entry>;
    /// The path without links in it.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;
    /// Who may do what with a file, where the system has it.
    fn mode(&self, path: &Path) -> io::Result<Option<u32>>;
    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()>;
    fn lock_exclusive(&self, path: &Path) -> io::Result<Lock>;
    /// `None` when somebody holds it.
    fn try_lock_exclusive(&self, path: &Path) -> io::Result<Option<Lock>>;
    /// `None` when somebody holds it exclusively.
    fn try_lock_shared(&self, path: &Path) -> io::Result<Option<Lock>>;
}

/// The file system.
pub(crate) struct RealDisk;

#[cfg(unix)]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600)
}

#[cfg(not(unix))]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

#[cfg(unix)]
fn inode(metadata: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    metadata.ino()
}

#[cfg(not(unix))]
fn inode(_: &fs::Metadata) -> u64 {
    0
}

#[cfg(unix)]
fn n_links(metadata: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    metadata.nlink()
}

#[cfg(not(unix))]
fn n_links(_: &fs::Metadata) -> u64 {
    1
}

#[expect(clippy::disallowed_methods, reason = "everything else writes through here")]
impl Disk for RealDisk {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt;
            builder.mode(0o700);
        }
        builder.create(path)
    }

    fn read(&self, path: &Path, offset: u64) -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn read_start(&self, path: &Path, length: usize) -> io::Result<Vec<u8>> {
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            file => file?,
        };
        let mut bytes = Vec::with_capacity(length);
        file.take(length as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn map(&self, path: &Path) -> io::Result<Mapped> {
        Mapped::open(path)
    }

    fn stamp(&self, path: &Path) -> io::Result<Option<Stamp>> {
        stamp_of(fs::metadata(path))
    }

    fn own_stamp(&self, path: &Path) -> io::Result<Option<Stamp>> {
        stamp_of(fs::symlink_metadata(path))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        let mut names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }

    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        private(OpenOptions::new().write(true).create(true).truncate(true)).open(path)?.write_all(bytes)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        private(OpenOptions::new().append(true).create(true)).open(path)?.write_all(bytes)
    }

    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        OpenOptions::new().write(true).open(path)?.set_len(length)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        OpenOptions::new().write(true).open(path)?.sync_all()
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        // Where the file system has no hard links, a copy serves.
        fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(|_| ()))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn entry(&self, path: &Path) -> io::Result<Entry> {
        let metadata = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            // A part above it is a file.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(Entry::Missing);
            }
            Err(error) => return Err(error),
        };
        let kind = metadata.file_type();
        Ok(if kind.is_symlink() {
            Entry::Link
        } else if kind.is_dir() {
            Entry::Folder
        } else if kind.is_file() {
            let is_writable = !metadata.permissions().readonly();
            Entry::File { n_links: n_links(&metadata), n_bytes: metadata.len(), is_writable }
        } else {
            Entry::Other
        })
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    #[cfg(unix)]
    fn mode(&self, path: &Path) -> io::Result<Option<u32>> {
        use std::os::unix::fs::PermissionsExt;
        fs::symlink_metadata(path).map(|metadata| Some(metadata.permissions().mode() & 0o7777))
    }

    #[cfg(not(unix))]
    fn mode(&self, _: &Path) -> io::Result<Option<u32>> {
        Ok(None)
    }

    #[cfg(unix)]
    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
    }

    #[cfg(not(unix))]
    fn set_mode(&self, _: &Path, _: u32) -> io::Result<()> {
        Ok(())
    }

    fn lock_exclusive(&self, path: &Path) -> io::Result<Lock> {
        let file = open_lock(path)?;
        file.lock()?;
        Ok(Box::new(file))
    }

    fn try_lock_exclusive(&self, path: &Path) -> io::Result<Option<Lock>> {
        let file = open_lock(path)?;
        unless_held(file.try_lock(), file)
    }

    fn try_lock_shared(&self, path: &Path) -> io::Result<Option<Lock>> {
        let file = open_lock(path)?;
        unless_held(file.try_lock_shared(), file)
    }
}

#[expect(clippy::disallowed_methods, reason = "compared with the file system's times, which are the machine's")]
fn stamp_of(metadata: io::Result<fs::Metadata>) -> io::Result<Option<Stamp>> {
    let metadata = match metadata {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let modified = metadata.modified().ok();
    let now = SystemTime::now();
    let is_racy = modified.is_none_or(|modified| now.duration_since(modified).unwrap_or_default() < TICK);
    Ok(Some(Stamp { inode: inode(&metadata), length: metadata.len(), modified, is_racy }))
}

fn unless_held(locked: Result<(), TryLockError>, file: File) -> io::Result<Option<Lock>> {
    match locked {
        Ok(()) => Ok(Some(Box::new(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn open_lock(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(path)
}
