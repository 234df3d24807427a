//! A directory that operations start from, held open from its first use on.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::Name;
use super::no_follow::Handle;

/// What of a directory's path may be a link.
#[derive(Clone, Debug)]
enum Spelled {
    /// Any part: the host named it.
    Freely,
    /// Nothing: a check has resolved it.
    Resolved,
    /// It is a part of another directory.
    Below(Arc<Root>, Name),
}

/// A directory by its path, with a handle that later operations use, whatever the path leads to by then.
#[derive(Debug)]
pub(crate) struct Root {
    path: PathBuf,
    spelled: Spelled,
    handle: Mutex<Option<Arc<Handle>>>,
}

/// A name in a directory: what an operation of the disk is about.
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

    /// A directory of this one.
    pub(super) fn below(self: &Arc<Self>, name: Name) -> Self {
        Self::new(self.path.join(name.as_path()), Spelled::Below(Arc::clone(self), name))
    }

    fn new(path: PathBuf, spelled: Spelled) -> Self {
        Self { path, spelled, handle: Mutex::default() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The path by which it is opened.
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

    /// The handle, from the first use on.
    fn handle(&self) -> io::Result<(Arc<Handle>, Held)> {
        let mut held = self.handle.lock();
        if let Some(handle) = held.as_ref() {
            return Ok((Arc::clone(handle), Held::Before));
        }
        let handle = Arc::new(self.open()?);
        *held = Some(Arc::clone(&handle));
        Ok((handle, Held::Now))
    }

    /// An operation relative to the directory. What is not found is looked for once more if the directory is another one by now.
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

    /// Lets go of the handle if the path leads to another directory; true when it did.
    pub(super) fn reopen_if_moved(&self) -> bool {
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

    /// Makes the directory, and those above it, where they do not exist.
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
    /// Where it is, for messages.
    pub(crate) fn path(&self) -> PathBuf {
        if self.name.as_os_str().is_empty() { self.root.path.clone() } else { self.root.path.join(self.name) }
    }
}
