//! A directory that operations start from; its handle stays open after the first use.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// A directory by its path. Operations use the handle that the first one opened, even if the path leads elsewhere later.
#[derive(Debug)]
pub(crate) struct Root {
    path: PathBuf,
    spelled: Spelled,
    handle: Mutex<Option<Arc<Handle>>>,
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
        Self { path, spelled: Spelled::Freely, handle: Mutex::default() }
    }

    /// A directory whose path has no links.
    pub(super) fn resolved(path: PathBuf) -> Self {
        Self { path, spelled: Spelled::Resolved, handle: Mutex::default() }
    }

    /// A subdirectory.
    pub(super) fn below(self: &Arc<Self>, name: Name) -> Self {
        let path = self.path.join(name.as_path());
        Self { path, spelled: Spelled::Below(Arc::clone(self), name), handle: Mutex::default() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The handle; it is opened by the first call.
    pub(super) fn handle(&self) -> io::Result<Arc<Handle>> {
        let mut held = self.handle.lock();
        if let Some(handle) = held.as_ref() {
            return Ok(Arc::clone(handle));
        }
        let handle = Arc::new(match &self.spelled {
            Spelled::Freely => Handle::at(&self.path.canonicalize()?)?,
            Spelled::Resolved => Handle::at(&self.path)?,
            Spelled::Below(parent, name) => parent.handle()?.below(name.as_path())?,
        });
        *held = Some(Arc::clone(&handle));
        Ok(handle)
    }

    /// False once the path leads to another directory than the handle, or to none.
    pub(super) fn is_in_place(&self) -> bool {
        self.handle.lock().as_ref().is_none_or(|handle| handle.is_at(&self.path))
    }

    /// Creates the directory and its missing parents.
    pub(super) fn create(&self) -> io::Result<()> {
        match &self.spelled {
            Spelled::Below(parent, name) => parent.handle()?.make_directories(name.as_path()),
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
