//! A folder and what this handle may do in it: the lock, syncs that stop the handle when they fail, quarantine, sweeping.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::Access;
use super::disk::{Disk, Folder, Lock, Stamp, TEMPORARY};
use crate::error::{Error, Result};
use crate::lesson::TextHash;

/// What every file of a folder is read and written through.
pub(crate) struct Place {
    pub(crate) folder: Folder,
    pub(super) disk: Box<dyn Disk>,
    access: Access,
    writes_stopped: AtomicBool,
    swept: AtomicBool,
}

impl Place {
    /// Nothing is made for reading; for writing the folder is.
    pub(crate) fn open(folder: PathBuf, disk: Box<dyn Disk>, access: Access) -> Result<Self> {
        let (writes_stopped, swept) = (AtomicBool::new(false), AtomicBool::new(false));
        let place = Self { folder: Folder::new(folder), disk, access, writes_stopped, swept };
        if access == Access::ReadWrite {
            let path = place.folder.path();
            place.disk.create_folder(path).map_err(Error::io("make the folder", path))?;
        }
        Ok(place)
    }

    /// False for a handle that only reads, and for one that stopped writing.
    pub(crate) fn may_write(&self) -> bool {
        self.access == Access::ReadWrite && !self.writes_stopped.load(Ordering::Acquire)
    }

    /// False for a handle that only reads.
    pub(super) fn is_writable(&self) -> bool {
        self.access == Access::ReadWrite
    }

    /// From now on the handle writes no more: what is on disk is not known.
    pub(super) fn stop_writes(&self) {
        self.writes_stopped.store(true, Ordering::Release);
    }

    /// The folder's lock, for whoever may write.
    pub(crate) fn lock(&self) -> Result<Lock> {
        let path = self.folder.path().to_owned();
        if self.access == Access::ReadOnly {
            return Err(Error::ReadOnly { path });
        }
        if self.writes_stopped.load(Ordering::Acquire) {
            return Err(Error::WritesStopped { path });
        }
        let path = self.folder.lock();
        self.disk.lock_exclusive(&path).map_err(Error::io("lock", &path))
    }

    /// The folder's lock, unless somebody has it.
    pub(crate) fn try_lock(&self) -> Result<Option<Lock>> {
        let path = self.folder.lock();
        self.disk.try_lock_exclusive(&path).map_err(Error::io("lock", &path))
    }

    pub(crate) fn stamp(&self, path: &Path) -> Result<Option<Stamp>> {
        self.disk.stamp(path).map_err(Error::io("look at", path))
    }

    /// The file from `offset` on, nothing when there is none.
    pub(crate) fn read_or_empty(&self, path: &Path, offset: u64) -> Result<Vec<u8>> {
        match self.disk.read(path, offset) {
            Ok(bytes) => Ok(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(Error::io("read", path)(error)),
        }
    }

    /// Makes a file safe. A failure stops all further writes of the handle: what is on disk is not known any more.
    pub(super) fn sync(&self, path: &Path) -> Result<()> {
        self.disk.sync(path).map_err(|error| {
            self.stop_writes();
            Error::io("make safe", path)(error)
        })
    }

    pub(super) fn sync_folder(&self, path: &Path) -> Result<()> {
        self.disk.sync_folder(path).map_err(Error::io("make safe", path))
    }

    /// Writes a file beside its place and makes it safe; its path.
    pub(super) fn write_temporary(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        let temporary = self.folder.temporary(name);
        self.disk.create(&temporary, bytes).map_err(Error::io("write", &temporary))?;
        self.sync(&temporary)?;
        Ok(temporary)
    }

    pub(super) fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.disk.rename(from, to).map_err(Error::io("replace", to))
    }

    /// Keeps bytes aside, under a name that no other content has: `name.HASH.extension`.
    pub(super) fn quarantine(&self, bytes: &[u8], name: &str, extension: &str) -> Result<PathBuf> {
        let folder = self.folder.quarantine();
        self.disk.create_folder(&folder).map_err(Error::io("make the folder", &folder))?;
        let kept = folder.join(format!("{name}.{}.{extension}", TextHash::of(&[bytes])));
        self.disk.create(&kept, bytes).map_err(Error::io("write", &kept))?;
        self.sync(&kept)?;
        self.sync_folder(&folder)?;
        Ok(kept)
    }

    /// Removes temporary files of dead writers: whoever holds the lock is the only living one.
    pub(super) fn sweep(&self) {
        if self.swept.swap(true, Ordering::AcqRel) {
            return;
        }
        let folder = self.folder.path();
        for name in self.disk.list(folder).unwrap_or_default() {
            if name.to_str().is_some_and(|name| name.starts_with(TEMPORARY)) {
                // Left where it is when that fails: it does no harm.
                let _ = self.disk.remove(&folder.join(name));
            }
        }
    }
}
