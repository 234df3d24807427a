//! A directory, and every operation on what is in it, by relative name.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::disk::{Disk, Stamp};
use super::edits::BESIDE;
use super::mapped::Mapped;
use super::{Entry, Links, Name, TEMPORARY};
use crate::error::folder::{FolderError, Result};

/// A directory: the memory folder, a part of it, or one that the host named.
///
/// Its path appears in messages and in the calls of the [`Disk`], nowhere else.
#[derive(Clone)]
pub(crate) struct Directory {
    path: PathBuf,
    disk: Arc<dyn Disk>,
    /// Set when a sync failed: what is on disk is not known any more.
    writes_stopped: Arc<AtomicBool>,
}

impl Directory {
    pub(super) fn new(path: PathBuf, disk: Arc<dyn Disk>) -> Self {
        Self { path, disk, writes_stopped: Arc::default() }
    }

    /// A directory of the file system, for tests.
    #[cfg(test)]
    pub(crate) fn real(path: &Path) -> Self {
        Self::new(path.to_owned(), Arc::new(super::disk::RealDisk))
    }

    /// Another directory, reached through the same disk.
    pub(super) fn elsewhere(&self, path: &Path) -> Self {
        Self { path: path.to_owned(), disk: Arc::clone(&self.disk), writes_stopped: Arc::clone(&self.writes_stopped) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where something is, for messages and for records that people read.
    pub(crate) fn path_of(&self, name: impl Into<Name>) -> PathBuf {
        let name = name.into();
        if name == Name::TOP { self.path.clone() } else { self.path.join(name.as_path()) }
    }

    pub(crate) fn links(&self) -> Links<'_> {
        Links::new(self.disk.as_ref())
    }

    /// From now on the handle refuses to write.
    pub(crate) fn stop_writes(&self) {
        self.writes_stopped.store(true, Ordering::Release);
    }

    pub(super) fn has_stopped_writes(&self) -> bool {
        self.writes_stopped.load(Ordering::Acquire)
    }

    /// An operation on what a name is the name of; an error says what was tried, and where.
    pub(super) fn run<T>(
        &self,
        action: &'static str,
        name: impl Into<Name>,
        operation: impl FnOnce(&dyn Disk, &Path) -> io::Result<T>,
    ) -> Result<T> {
        let name = name.into();
        let path = self.path_of(&name);
        if !name.is_plain() {
            return Err(FolderError::io(action, &path)(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the name leads elsewhere",
            )));
        }
        operation(self.disk.as_ref(), &path).map_err(FolderError::io(action, &path))
    }

    /// What is there; a link is not followed.
    pub(crate) fn entry(&self, name: impl Into<Name>) -> Result<Entry> {
        self.run("stat", name, |disk, path| disk.entry(path))
    }

    /// None when there is no file. A link is followed.
    pub(crate) fn stamp(&self, name: impl Into<Name>) -> Result<Option<Stamp>> {
        self.run("stat", name, |disk, path| disk.stamp(path))
    }

    /// None when there is nothing. A link is not followed.
    pub(crate) fn own_stamp(&self, name: impl Into<Name>) -> Result<Option<Stamp>> {
        self.run("stat", name, |disk, path| disk.own_stamp(path))
    }

    /// The file from `offset` on, nothing when there is none.
    pub(crate) fn read_or_empty(&self, name: impl Into<Name>, offset: u64) -> Result<Vec<u8>> {
        self.run("read", name, |disk, path| match disk.read(path, offset) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            read => read,
        })
    }

    /// The first bytes, as many as there are; nothing when there is no file.
    pub(crate) fn read_start(&self, name: impl Into<Name>, length: usize) -> Result<Vec<u8>> {
        self.run("read", name, |disk, path| disk.read_start(path, length))
    }

    /// The content of a regular file; none when there is nothing.
    pub(crate) fn content(&self, name: impl Into<Name>) -> Result<Option<Vec<u8>>> {
        self.run("read", name, |disk, path| match disk.entry(path)? {
            Entry::Missing => Ok(None),
            Entry::File { .. } => disk.read(path, 0).map(Some),
            _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
        })
    }

    /// The file as memory; none when there is none. For files that are only appended to or replaced.
    pub(crate) fn map(&self, name: impl Into<Name>) -> Result<Option<Mapped>> {
        self.run("read", name, |disk, path| match disk.map(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            map => map.map(Some),
        })
    }

    /// The names in a directory, sorted; none when it does not exist.
    pub(crate) fn list(&self, name: impl Into<Name>) -> Result<Vec<OsString>> {
        self.run("list", name, |disk, path| match disk.list(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            names => names,
        })
    }

    /// The names in a directory that is not a link, without temporary files of this program.
    pub(crate) fn list_own(&self, name: impl Into<Name>) -> Result<Vec<OsString>> {
        let is_ours = |name: &OsString| {
            let name = name.to_string_lossy();
            name.starts_with(BESIDE) || name.starts_with(TEMPORARY)
        };
        self.run("list", name, |disk, path| {
            if disk.entry(path)? != Entry::Folder {
                return Err(io::Error::other("not a folder"));
            }
            Ok(disk.list(path)?.into_iter().filter(|name| !is_ours(name)).collect())
        })
    }

    pub(crate) fn create_directory(&self, name: impl Into<Name>) -> Result<()> {
        self.run("create the folder", name, |disk, path| disk.create_folder(path))
    }

    /// Creates a file; an existing one is replaced.
    pub(crate) fn create(&self, name: impl Into<Name>, bytes: &[u8]) -> Result<()> {
        self.run("write", name, |disk, path| disk.create(path, bytes))
    }

    /// Appends with one write, creating the file if there is none.
    pub(crate) fn append(&self, name: impl Into<Name>, bytes: &[u8]) -> Result<()> {
        self.run("append to", name, |disk, path| disk.append(path, bytes))
    }

    pub(crate) fn truncate(&self, name: impl Into<Name>, length: u64) -> Result<()> {
        self.run("cut", name, |disk, path| disk.truncate(path, length))
    }

    /// Syncs a file. A failure stops all further writes of the handle: what is on disk is not known any more.
    pub(crate) fn sync(&self, name: impl Into<Name>) -> Result<()> {
        self.run("sync", name, |disk, path| disk.sync(path)).inspect_err(|_| self.stop_writes())
    }

    pub(crate) fn sync_directory(&self, name: impl Into<Name>) -> Result<()> {
        self.run("sync", name, |disk, path| disk.sync_folder(path))
    }

    pub(crate) fn rename(&self, from: impl Into<Name>, to: impl Into<Name>) -> Result<()> {
        let from = from.into();
        self.run("replace", to, |disk, path| self.with(&from, |from| disk.rename(from, path)))
    }

    /// Gives a file a second name; where the file system has no hard links, a copy.
    pub(crate) fn link(&self, from: impl Into<Name>, to: impl Into<Name>) -> Result<()> {
        let to = to.into();
        self.run("link", from, |disk, path| self.with(&to, |to| disk.link(path, to)))
    }

    fn with<T>(&self, name: &Name, operation: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
        if name.is_plain() { operation(&self.path_of(name)) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    pub(crate) fn remove_if_exists(&self, name: impl Into<Name>) -> Result<()> {
        self.run("remove", name, |disk, path| match disk.remove(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        })
    }

    /// Removes a directory that nothing is left in; any other stays.
    pub(crate) fn remove_if_empty(&self, name: impl Into<Name>) {
        // One that stays does no harm.
        let _ = self.run("remove", name, |disk, path| disk.remove_folder(path));
    }
}
