//! A directory, and every operation on its entries, by relative name.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use super::disk::{Disk, Stamp, Status};
use super::edits::BESIDE;
use super::mapped::Mapped;
use super::root::{At, Root};
use super::{Entry, Links, Name, TEMPORARY, limits};
use crate::config::MAX_FILE;
use crate::error::folder::{FolderError, Irregular, Oversized, Result};

/// A directory: the memory folder, a part of it, or one that the host named.
///
/// The path is used only in messages and in the calls of the disk.
#[derive(Clone)]
pub struct Directory {
    root: Arc<Root>,
    disk: Arc<dyn Disk>,
    /// Set when a sync failed: from then on the state on disk is unknown.
    writes_stopped: Arc<AtomicBool>,
    /// True if nothing may be read or written, because the folder is not trusted.
    is_closed: bool,
    /// The bytes that a playbook file may have; other files in proportion.
    max_file: u64,
}

impl Directory {
    /// A memory folder, by its path without links.
    pub(super) fn new(path: PathBuf, disk: Arc<dyn Disk>) -> Self {
        Self {
            root: Arc::new(Root::resolved(path)),
            disk,
            writes_stopped: Arc::default(),
            is_closed: false,
            max_file: MAX_FILE,
        }
    }

    /// A directory of the real file system, for tests.
    #[cfg(test)]
    pub(crate) fn real(path: &Path) -> Self {
        Self::new(path.to_owned(), Arc::new(super::disk::RealDisk))
    }

    /// A subdirectory.
    pub(super) fn below(&self, name: Name) -> Self {
        self.with_root(self.root.below(name))
    }

    /// A directory that the host named, on the same disk.
    pub(super) fn elsewhere(&self, path: &Path) -> Self {
        self.with_root(Root::named(path.to_owned()))
    }

    /// A directory whose path has no links, on the same disk.
    pub(super) fn resolved(&self, path: &Path) -> Self {
        self.with_root(Root::resolved(path.to_owned()))
    }

    fn with_root(&self, root: Root) -> Self {
        let (disk, writes_stopped) = (Arc::clone(&self.disk), Arc::clone(&self.writes_stopped));
        Self { root: Arc::new(root), disk, writes_stopped, ..*self }
    }

    pub(super) fn set_max_file(&mut self, max_file: u64) {
        self.max_file = max_file;
    }

    /// The bytes of a file that may be read or mapped.
    fn max_bytes(&self, name: &Name) -> u64 {
        limits::max_bytes(&self.at(name).path(), self.max_file)
    }

    /// The same directory, with every operation refused.
    pub(super) fn closed(self) -> Self {
        Self { is_closed: true, ..self }
    }

    /// Its path, for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// False once another directory, or none, is at the path of one that was opened.
    pub(super) fn is_in_place(&self) -> bool {
        self.root.is_in_place()
    }

    /// The path of an entry, for messages and for records that people read.
    #[must_use]
    pub fn path_of(&self, name: impl Into<Name>) -> PathBuf {
        let name = name.into();
        self.at(&name).path()
    }

    pub(crate) fn links(&self) -> Links<'_> {
        Links::new(self.disk.as_ref())
    }

    /// Makes the handle refuse writes from now on.
    pub(crate) fn stop_writes(&self) {
        self.writes_stopped.store(true, Ordering::Release);
    }

    pub(super) fn has_stopped_writes(&self) -> bool {
        self.writes_stopped.load(Ordering::Acquire)
    }

    fn at<'a>(&'a self, name: &'a Name) -> At<'a> {
        At { root: &self.root, name: name.as_path() }
    }

    /// Runs an operation on a name. An error names the action and the path.
    pub(super) fn run<T>(
        &self,
        action: &'static str,
        name: impl Into<Name>,
        operation: impl FnOnce(&dyn Disk, At<'_>) -> io::Result<T>,
    ) -> Result<T> {
        let name = name.into();
        self.refuse_closed()?;
        let path = self.path_of(&name);
        if !name.is_plain() {
            return Err(FolderError::io(action, &path)(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the name leads elsewhere",
            )));
        }
        operation(self.disk.as_ref(), self.at(&name)).map_err(FolderError::io(action, &path))
    }

    pub(super) fn refuse_closed(&self) -> Result<()> {
        if self.is_closed { Err(FolderError::NotTrusted { path: self.path().to_owned() }) } else { Ok(()) }
    }

    /// The type of an entry; a link is not followed.
    ///
    /// # Errors
    /// `Io`.
    pub fn entry(&self, name: impl Into<Name>) -> Result<Entry> {
        self.run("stat", name, |disk, at| Entry::of(disk, at))
    }

    /// The stamp of a file or directory; none if it is missing. A link is an error.
    pub(crate) fn stamp(&self, name: impl Into<Name>) -> Result<Option<Stamp>> {
        self.run("stat", name, |disk, at| match disk.status(at)? {
            Some(Status { irregular: Some(irregular @ (Irregular::Link | Irregular::Special)), .. }) => {
                Err(irregular.into())
            }
            status => Ok(status.as_ref().map(Stamp::from)),
        })
    }

    /// The stamp of an entry, without following a link; none if it is missing.
    pub(crate) fn own_stamp(&self, name: impl Into<Name>) -> Result<Option<Stamp>> {
        self.run("stat", name, |disk, at| Ok(disk.status(at)?.as_ref().map(Stamp::from)))
    }

    /// The permissions of a file, if the system has them.
    pub(super) fn mode(&self, name: impl Into<Name>) -> Result<Option<u32>> {
        self.run("stat", name, |disk, at| Ok(disk.status(at)?.and_then(|status| status.mode).map(|mode| mode & 0o7777)))
    }

    /// Reads from a file; none if it is missing.
    fn read<T>(&self, name: &Name, read: impl FnOnce(File) -> io::Result<T>) -> Result<Option<T>> {
        self.run("read", name, |disk, at| match disk.open(at) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
            file => read(file?).map(Some),
        })
    }

    /// The file's bytes from `offset` on; empty if the file is missing.
    ///
    /// # Errors
    /// `TooLarge`, also of each other method that reads a file, when it has more bytes than the limit of its kind.
    pub fn read_or_empty(&self, name: impl Into<Name>, offset: u64) -> Result<Vec<u8>> {
        Ok(self.read_from(&name.into(), offset)?.unwrap_or_default())
    }

    fn read_from(&self, name: &Name, offset: u64) -> Result<Option<Vec<u8>>> {
        let max_bytes = self.max_bytes(name);
        self.read(name, |mut file| {
            let room = Oversized::check(file.metadata()?.len().saturating_sub(offset), max_bytes)?;
            file.seek(SeekFrom::Start(offset))?;
            let mut bytes = Vec::with_capacity(usize::try_from(room).unwrap_or_default());
            // It may grow while it is read.
            file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
            Oversized::check(bytes.len() as u64, max_bytes)?;
            Ok(bytes)
        })
    }

    /// As [`Directory::read_or_empty`], for a file that is changed in place: one with several hard links is refused.
    pub(crate) fn read_in_place(&self, name: impl Into<Name>, offset: u64) -> Result<Vec<u8>> {
        let name = name.into();
        if let Entry::File { n_links: n_links @ 2.., .. } = self.entry(&name)? {
            return Err(FolderError::Irregular { path: self.path_of(name), found: Irregular::HardLinked { n_links } });
        }
        self.read_or_empty(name, offset)
    }

    /// The first `length` bytes, fewer if the file is shorter; empty if it is missing.
    pub(crate) fn read_start(&self, name: impl Into<Name>, length: usize) -> Result<Vec<u8>> {
        let start = self.read(&name.into(), |file| {
            let mut bytes = Vec::with_capacity(length);
            file.take(length as u64).read_to_end(&mut bytes)?;
            Ok(bytes)
        })?;
        Ok(start.unwrap_or_default())
    }

    /// The content of a regular file; none if it is missing.
    ///
    /// # Errors
    /// `Io`.
    pub fn content(&self, name: impl Into<Name>) -> Result<Option<Vec<u8>>> {
        self.read_from(&name.into(), 0)
    }

    /// The file as a memory map; none if it is missing. Only for files that are appended to or replaced, never changed in
    /// place.
    pub(crate) fn map(&self, name: impl Into<Name>) -> Result<Option<Mapped>> {
        let name = name.into();
        let max_bytes = self.max_bytes(&name);
        self.read(&name, |file| {
            Oversized::check(file.metadata()?.len(), max_bytes)?;
            Mapped::of(&file)
        })
    }

    /// The names in a directory, sorted; empty if it is missing.
    ///
    /// # Errors
    /// `Io`.
    pub fn list(&self, name: impl Into<Name>) -> Result<Vec<OsString>> {
        self.run("list", name, |disk, at| match disk.list(at) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            names => names,
        })
    }

    /// The names in a directory that is not a link, without temporary files of this program.
    ///
    /// # Errors
    /// `Io`.
    pub fn list_own(&self, name: impl Into<Name>) -> Result<Vec<OsString>> {
        let is_ours = |name: &OsString| {
            let name = name.to_string_lossy();
            name.starts_with(BESIDE) || name.starts_with(TEMPORARY)
        };
        self.run("list", name, |disk, at| {
            if Entry::of(disk, at)? != Entry::Folder {
                return Err(io::Error::other("not a folder"));
            }
            Ok(disk.list(at)?.into_iter().filter(|name| !is_ours(name)).collect())
        })
    }

    /// Creates a directory and those above it; one that exists stays.
    ///
    /// # Errors
    /// `Io`.
    pub fn create_directory(&self, name: impl Into<Name>) -> Result<()> {
        self.run("create the folder", name, |disk, at| disk.create_folder(at))
    }

    /// Creates a file; an existing one is replaced.
    ///
    /// # Errors
    /// `Io`.
    pub fn create(&self, name: impl Into<Name>, bytes: &[u8]) -> Result<()> {
        self.run("write", name, |disk, at| disk.create(at, bytes))
    }

    /// Appends with one write; a missing file is created.
    pub(crate) fn append(&self, name: impl Into<Name>, bytes: &[u8]) -> Result<u64> {
        self.run("append to", name, |disk, at| disk.append(at, bytes))
    }

    /// Sets the time of the last change.
    pub(crate) fn set_modified(&self, name: impl Into<Name>, time: SystemTime) -> Result<()> {
        self.run("set the time of", name, |disk, at| disk.set_modified(at, time))
    }

    pub(crate) fn truncate(&self, name: impl Into<Name>, length: u64) -> Result<()> {
        self.run("cut", name, |disk, at| disk.truncate(at, length))
    }

    /// Syncs a file. After a failure the handle refuses all writes: the state on disk is unknown.
    ///
    /// # Errors
    /// `Io`.
    pub fn sync(&self, name: impl Into<Name>) -> Result<()> {
        self.run("sync", name, |disk, at| disk.sync(at)).inspect_err(|_| self.stop_writes())
    }

    /// Syncs the names in a directory.
    ///
    /// # Errors
    /// `Io`.
    pub fn sync_directory(&self, name: impl Into<Name>) -> Result<()> {
        self.run("sync", name, |disk, at| disk.sync_folder(at))
    }

    /// Renames an entry; a file in its place is replaced.
    ///
    /// # Errors
    /// `Io`.
    pub fn rename(&self, from: impl Into<Name>, to: impl Into<Name>) -> Result<()> {
        let from = from.into();
        self.run("replace", to, |disk, at| self.with(&from, |from| disk.rename(from, at)))
    }

    /// Creates a hard link; on a file system without hard links, a copy.
    pub(crate) fn link(&self, from: impl Into<Name>, to: impl Into<Name>) -> Result<()> {
        let to = to.into();
        self.run("link", from, |disk, at| self.with(&to, |to| disk.link(at, to)))
    }

    fn with<T>(&self, name: &Name, operation: impl FnOnce(At<'_>) -> io::Result<T>) -> io::Result<T> {
        if name.is_plain() { operation(self.at(name)) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    /// Removes a file; a missing one is no error.
    ///
    /// # Errors
    /// `Io`.
    pub fn remove_if_exists(&self, name: impl Into<Name>) -> Result<()> {
        self.run("remove", name, |disk, at| match disk.remove(at) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        })
    }

    /// Removes a directory if it is empty.
    pub fn remove_if_empty(&self, name: impl Into<Name>) {
        // A directory that is left does no harm.
        let _ = self.run("remove", name, |disk, at| disk.remove_folder(at));
    }
}
