//! Unix: paths relative to a directory's descriptor, opened by `openat2` if the kernel has it, otherwise part by part.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::{Irregular, OpenFor, Status};

/// An open directory.
#[derive(Debug)]
pub(in crate::folder) struct Handle(OwnedFd);

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);
/// Links are not followed, a pipe without a writer does not block, and child processes inherit nothing.
const CAREFUL: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC).union(OFlags::NOCTTY);

impl Handle {
    /// The directory at an absolute path, none of whose parts is a link.
    pub(in crate::folder) fn at(path: &Path) -> io::Result<Self> {
        open_no_links(CWD, path, DIRECTORY, Mode::empty()).map(Self).map_err(|errno| explain(CWD, path, errno))
    }

    /// A subdirectory.
    pub(in crate::folder) fn below(&self, name: &Path) -> io::Result<Self> {
        self.open(name, DIRECTORY, Mode::empty()).map(Self)
    }

    /// True if the path still refers to this directory. A link at its end is not followed.
    pub(in crate::folder) fn is_at(&self, path: &Path) -> bool {
        let same = |a: &Stat, b: &Stat| (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino);
        match (rustix::fs::fstat(&self.0), rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)) {
            (Ok(held), Ok(found)) => same(&held, &found),
            _ => false,
        }
    }

    /// Opens a regular file. A file that is written in place must have no other hard link.
    pub(in crate::folder) fn file(&self, name: &Path, what_for: OpenFor) -> io::Result<File> {
        let flags = match what_for {
            OpenFor::Reading => OFlags::RDONLY,
            OpenFor::Writing | OpenFor::Syncing => OFlags::WRONLY,
            OpenFor::Appending => OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE,
            OpenFor::Creating => OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
            OpenFor::Locking => OFlags::RDWR | OFlags::CREATE,
        };
        // A mode without a file to create is an invalid argument to `openat2`.
        let mode = if flags.contains(OFlags::CREATE) { Mode::RUSR | Mode::WUSR } else { Mode::empty() };
        let file = File::from(self.open(name, flags, mode)?);
        let status = Status::from(&rustix::fs::fstat(&file)?);
        match status.irregular {
            Some(irregular) => Err(irregular.into()),
            None if what_for.changes_in_place() && status.n_links != 1 => {
                Err(Irregular::HardLinked { n_links: status.n_links }.into())
            }
            None => Ok(file),
        }
    }

    fn open(&self, name: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        let name = if name.as_os_str().is_empty() { Path::new(".") } else { name };
        open_no_links(self.0.as_fd(), name, flags, mode).map_err(|errno| explain(self.0.as_fd(), name, errno))
    }

    /// The status of an entry; a link at the end is not followed.
    pub(in crate::folder) fn status(&self, name: &Path) -> io::Result<Status> {
        let stat = if name.as_os_str().is_empty() {
            rustix::fs::fstat(&self.0)
        } else {
            rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)
        };
        Ok(Status::from(&stat?))
    }

    pub(in crate::folder) fn list(&self, name: &Path) -> io::Result<Vec<OsString>> {
        let directory = Dir::read_from(self.open(name, DIRECTORY, Mode::empty())?)?;
        let mut names = Vec::new();
        for entry in directory {
            let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Creates the missing directories of a name.
    pub(in crate::folder) fn make_directories(&self, name: &Path) -> io::Result<()> {
        let mut made = None;
        for part in name.components() {
            let parent: &Self = made.as_ref().unwrap_or(self);
            match rustix::fs::mkdirat(&parent.0, part.as_os_str(), Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => made = Some(parent.below(Path::new(part.as_os_str()))?),
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    pub(in crate::folder) fn rename(&self, from: &Path, to: (&Self, &Path)) -> io::Result<()> {
        let (target, to) = to;
        self.in_parent(from, |from_parent, from| {
            target.in_parent(to, |to_parent, to| Ok(rustix::fs::renameat(from_parent, from, to_parent, to)?))
        })
    }

    /// Creates a hard link; a link at the end of `from` is not followed.
    pub(in crate::folder) fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.in_parent(from, |from_parent, from| {
            self.in_parent(to, |to_parent, to| {
                Ok(rustix::fs::linkat(from_parent, from, to_parent, to, AtFlags::empty())?)
            })
        })
    }

    pub(in crate::folder) fn remove(&self, name: &Path) -> io::Result<()> {
        self.in_parent(name, |parent, name| Ok(rustix::fs::unlinkat(parent, name, AtFlags::empty())?))
    }

    pub(in crate::folder) fn remove_directory(&self, name: &Path) -> io::Result<()> {
        self.in_parent(name, |parent, name| Ok(rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)?))
    }

    pub(in crate::folder) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.0)?)
    }

    /// Runs an operation on the last part of a name, in the directory named by the parts before it.
    fn in_parent<T>(
        &self,
        name: &Path,
        operation: impl FnOnce(BorrowedFd<'_>, &OsStr) -> io::Result<T>,
    ) -> io::Result<T> {
        let last = name.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        match name.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            None => operation(self.0.as_fd(), last),
            Some(parent) => operation(self.below(parent)?.0.as_fd(), last),
        }
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_no_links(from: BorrowedFd<'_>, path: &Path, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    let mut resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    if path.is_relative() {
        resolve |= ResolveFlags::BENEATH;
    }
    match rustix::fs::openat2(from, path, flags | CAREFUL, mode, resolve) {
        // An old kernel, or a sandbox that does not allow the call.
        Err(Errno::NOSYS | Errno::PERM) => open_part_by_part(from, path, flags, mode),
        opened => opened,
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn open_no_links(from: BorrowedFd<'_>, path: &Path, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
    open_part_by_part(from, path, flags, mode)
}

fn open_part_by_part(from: BorrowedFd<'_>, path: &Path, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
    let mut held: Option<OwnedFd> = None;
    let mut parts = path.components().peekable();
    while let Some(part) = parts.next() {
        let name = match part {
            Component::RootDir => OsStr::new("/"),
            Component::CurDir => OsStr::new("."),
            Component::Normal(name) => name,
            Component::ParentDir | Component::Prefix(_) => return Err(Errno::INVAL),
        };
        let parent = held.as_ref().map_or(from, AsFd::as_fd);
        if parts.peek().is_none() {
            return rustix::fs::openat(parent, name, flags | CAREFUL, mode);
        }
        held = Some(rustix::fs::openat(parent, name, DIRECTORY | CAREFUL, Mode::empty())?);
    }
    Err(Errno::INVAL)
}

/// The meaning of the system's error number when links are not followed.
fn explain(from: BorrowedFd<'_>, path: &Path, errno: Errno) -> io::Error {
    let irregular = match errno {
        // `XDEV` is a `..` that leads out of the directory.
        Errno::LOOP | Errno::MLINK | Errno::XDEV => Some(Irregular::Link),
        // The error also occurs when a link is opened as a directory, and a pipe or a socket for writing.
        Errno::NOTDIR | Errno::ISDIR | Errno::NXIO | Errno::OPNOTSUPP => {
            rustix::fs::statat(from, path, AtFlags::SYMLINK_NOFOLLOW)
                .ok()
                .and_then(|stat| Status::from(&stat).irregular)
        }
        _ => None,
    };
    irregular.map_or_else(|| errno.into(), Into::into)
}

impl From<&Stat> for Status {
    #[expect(
        clippy::useless_conversion,
        clippy::unnecessary_cast,
        clippy::cast_possible_wrap,
        reason = "the types differ between systems"
    )]
    fn from(stat: &Stat) -> Self {
        let mode: u32 = stat.st_mode.into();
        let irregular = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => None,
            FileType::Symlink => Some(Irregular::Link),
            FileType::Directory => Some(Irregular::Folder),
            _ => Some(Irregular::Special),
        };
        let seconds = u64::try_from(stat.st_mtime).ok();
        let modified = seconds.and_then(|seconds| {
            SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, u32::try_from(stat.st_mtime_nsec).unwrap_or(0)))
        });
        Self {
            irregular,
            inode: stat.st_ino.into(),
            length: u64::try_from(stat.st_size).unwrap_or(0),
            modified,
            changed: Some((stat.st_ctime as i64, stat.st_ctime_nsec as i64)),
            n_links: stat.st_nlink as u64,
            is_writable: mode & 0o222 != 0,
            mode: Some(mode),
        }
    }
}
