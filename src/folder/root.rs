//! A directory that operations start from; its handle stays open after the first use.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::Name;
use super::no_follow::Handle;

/// Which parts of a directory's path may be links.
#[derive(Clone, Debug)]
enum Spelled {
    /// Any part: the host named the path.
    Freely,
    /// None: a check has resolved the path.
    Resolved,
    /// The directory is inside another one.
    Below(Arc<Root>, Name),
}

/// A directory by its path. Operations use one handle, even if the path refers to another directory later.
#[derive(Debug)]
pub(crate) struct Root {
    path: PathBuf,
    spelled: Spelled,
    handle: Mutex<Option<Arc<Handle>>>,
    /// True where no other directory may take its place.
    is_kept: AtomicBool,
}

/// A name in a directory, the argument of a disk operation.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) root: &'a Root,
    pub(crate) name: &'a Path,
}

impl Root {
    /// A directory that the host named.
    pub(super) fn named(path: PathBuf) -> Self {
        Self::new(path, Spelled::Freely)
    }

    /// A directory whose path has no links.
    pub(super) fn resolved(path: PathBuf) -> Self {
        Self::new(path, Spelled::Resolved)
    }

    /// A subdirectory.
    pub(super) fn below(self: &Arc<Self>, name: Name) -> Self {
        Self::new(self.path.join(name.as_path()), Spelled::Below(Arc::clone(self), name))
    }

    fn new(path: PathBuf, spelled: Spelled) -> Self {
        Self { path, spelled, handle: Mutex::default(), is_kept: AtomicBool::new(false) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The path that is opened.
    fn resolve(&self) -> io::Result<PathBuf> {
        match &self.spelled {
            Spelled::Freely => self.path.canonicalize(),
            Spelled::Resolved | Spelled::Below(..) => Ok(self.path.clone()),
        }
    }

    fn open(&self) -> io::Result<Handle> {
        match &self.spelled {
            Spelled::Below(parent, name) => parent.with(|handle| handle.below(name.as_path())),
            _ => Handle::at(&self.resolve()?),
        }
    }

    /// The handle; it is opened by the first call.
    fn handle(&self) -> io::Result<(Arc<Handle>, Held)> {
        let mut held = self.handle.lock();
        if let Some(handle) = held.as_ref() {
            return Ok((Arc::clone(handle), Held::Before));
        }
        let handle = Arc::new(self.open()?);
        *held = Some(Arc::clone(&handle));
        Ok((handle, Held::Now))
    }

    /// Runs an operation relative to the directory. After `NotFound`, it is tried once more if the path refers to another
    /// directory now.
    pub(super) fn with<T>(&self, operation: impl Fn(&Handle) -> io::Result<T>) -> io::Result<T> {
        let (handle, held) = self.handle()?;
        match operation(&handle) {
            Err(error) if held == Held::Before && error.kind() == io::ErrorKind::NotFound => {
                if self.reopen_if_moved() {
                    operation(&self.handle()?.0)
                } else {
                    Err(error)
                }
            }
            done => done,
        }
    }

    /// From now on the handle stays with the directory that it was opened on: what was judged is what is read.
    pub(super) fn keep(&self) {
        self.is_kept.store(true, Ordering::Release);
    }

    /// False once the path leads to another directory than the handle, or to none.
    pub(super) fn is_in_place(&self) -> bool {
        let held = self.handle.lock();
        held.as_ref().is_none_or(|handle| self.resolve().is_ok_and(|path| handle.is_at(&path)))
    }

    /// Closes the handle if the path refers to another directory; true if it did.
    pub(super) fn reopen_if_moved(&self) -> bool {
        if self.is_kept.load(Ordering::Acquire) {
            return false;
        }
        if let Spelled::Below(parent, _) = &self.spelled
            && parent.reopen_if_moved()
        {
            *self.handle.lock() = None;
            return true;
        }
        let mut held = self.handle.lock();
        let has_moved = match (held.as_ref(), self.resolve()) {
            (Some(handle), Ok(path)) => !handle.is_at(&path),
            (Some(_), Err(_)) => true,
            (None, _) => false,
        };
        if has_moved {
            *held = None;
        }
        has_moved
    }

    /// Creates the directory and its missing parents.
    pub(super) fn create(&self) -> io::Result<()> {
        match &self.spelled {
            Spelled::Below(parent, name) => parent.with(|handle| handle.make_directories(name.as_path())),
            _ => match self.handle() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    create_private(&self.path)?;
                    self.handle().map(drop)
                }
                opened => opened.map(drop),
            },
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    Before,
    Now,
}

fn create_private(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)
}

impl At<'_> {
    /// The path, for messages.
    pub(crate) fn path(&self) -> PathBuf {
        if self.name.as_os_str().is_empty() { self.root.path.clone() } else { self.root.path.join(self.name) }
    }
}
