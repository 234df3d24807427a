//! A folder that several processes write to: its lock, writes of whole files, quarantine, and transactions over several files.
//!
//! This module does not know the content of the files. Every operation takes a [`Name`] relative to a [`Directory`]. Absolute
//! paths are used in messages, in the journal of edits, and for directories that the host names.

mod directory;
pub(crate) mod disk;
pub(crate) mod edits;
mod entry;
mod json_file;
pub(crate) mod limits;
mod links;
mod lock;
mod mapped;
mod name;
mod no_disk;
mod no_follow;
mod root;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use crate::config::LOCK_TIMEOUT;
use crate::error::folder::{FolderError, Holder, Result};
use crate::hash::TextHash;
pub use directory::Directory;
use disk::Disk;
pub(crate) use disk::Stamp;
use edits::Edits;
pub(crate) use edits::OwnEdits;
pub use entry::Entry;
pub(crate) use json_file::{JsonFile, KnownJson};
pub use json_file::{JsonRecord, forget_oldest};
pub(crate) use links::Target;
pub use links::{Links, open_plain};
pub use lock::Lock;
pub(crate) use lock::Locked;
pub(crate) use mapped::Mapped;
pub use name::Name;
pub(crate) use root::At;

/// The file whose lock is the folder's lock.
const LOCK: &str = "lock";
/// The directory of bytes that could not be read.
pub(crate) const QUARANTINE: &str = "quarantine";
/// The prefix of temporary files; those of dead processes are removed by [`Folder::sweep`].
pub(crate) const TEMPORARY: &str = ".adage-tmp-";

/// Whether a handle may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    ReadWrite,
    /// Writes to a folder that exists; none is created.
    Existing,
    ReadOnly,
}

impl Access {
    /// The same, for a folder that is not created before it is judged.
    pub(crate) fn without_creating(self) -> Self {
        if self == Self::ReadWrite { Self::Existing } else { self }
    }
}

/// A folder, and what this handle may do in it.
pub struct Folder {
    directory: Directory,
    /// As the host named it, made absolute.
    spelled: PathBuf,
    access: Access,
    /// True for a handle that creates no folder and found none.
    is_absent: bool,
    /// The store that the playbook is kept in instead, for a folder without files.
    instead: Option<String>,
    is_swept: AtomicBool,
    /// How long a writer waits for the lock.
    lock_timeout: Duration,
    own_edits: Option<OwnEdits>,
}

/// The right of one thread of a handle to write, with the time left to wait for the folder's lock.
pub(crate) struct Turn<'a> {
    _one_at_a_time: MutexGuard<'a, ()>,
    pub(crate) patience: Duration,
}

impl Folder {
    /// Opens the folder; only `ReadWrite` creates it.
    pub(crate) fn open(path: &Path, disk: Box<dyn Disk>, access: Access) -> Result<Self> {
        let spelled = std::path::absolute(path).map_err(FolderError::io("resolve", path))?;
        let path = links::resolve_parent(disk.as_ref(), &spelled)?;
        let directory = Directory::new(path, Arc::from(disk));
        if access == Access::ReadWrite {
            directory.create_directory(Name::TOP)?;
        }
        Ok(Self {
            directory,
            spelled,
            access,
            is_absent: false,
            instead: None,
            is_swept: AtomicBool::new(false),
            lock_timeout: LOCK_TIMEOUT,
            own_edits: None,
        })
    }

    /// The folder of a playbook that is kept in another store: nothing is found in it, and nothing can be written.
    pub(crate) fn without_files(store: &str) -> Self {
        let spelled = PathBuf::from(store);
        Self {
            directory: Directory::new(spelled.clone(), Arc::new(no_disk::NoDisk)),
            spelled,
            access: Access::ReadOnly,
            is_absent: true,
            instead: Some(store.to_owned()),
            is_swept: AtomicBool::new(false),
            lock_timeout: LOCK_TIMEOUT,
            own_edits: None,
        }
    }

    /// The folder itself as a directory.
    #[must_use]
    pub fn files(&self) -> &Directory {
        &self.directory
    }

    /// A subdirectory of the folder.
    #[must_use]
    pub fn below(&self, name: &'static str) -> Directory {
        self.directory.below(name.into())
    }

    /// A directory that the host named.
    #[must_use]
    pub fn elsewhere(&self, path: &Path) -> Directory {
        self.directory.elsewhere(path)
    }

    /// The directory and the name of a file given by an absolute path without links. Files inside the folder are relative to
    /// the folder.
    #[must_use]
    pub fn locate(&self, path: &Path) -> (Directory, Name) {
        match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => match parent.strip_prefix(self.path()) {
                Ok(own) if own.as_os_str().is_empty() => (self.directory.clone(), name.into()),
                Ok(own) => (self.directory.below(own.as_os_str().into()), name.into()),
                Err(_) => (self.directory.resolved(parent), name.into()),
            },
            _ => (self.directory.resolved(path), Name::TOP),
        }
    }

    /// # Errors
    /// `Replaced` when another folder, or none, is at the path of the one that was opened.
    pub(crate) fn check_place(&self) -> Result<()> {
        if self.directory.is_in_place() {
            return Ok(());
        }
        Err(FolderError::Replaced { path: self.path().to_owned() })
    }

    /// The folder's path, for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The folder's path as the host named it: links and `..` are not resolved.
    #[must_use]
    pub fn spelled(&self) -> &Path {
        &self.spelled
    }

    /// The links on the way to a path.
    #[must_use]
    pub fn links(&self) -> Links<'_> {
        self.directory.links()
    }

    /// Edits of several files at once.
    #[must_use]
    pub fn edits(&self) -> Edits<'_> {
        Edits::new(self)
    }

    /// False for a read-only handle, and for one that stopped writing.
    pub(crate) fn may_write(&self) -> bool {
        self.is_writable() && !self.directory.has_stopped_writes()
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.access != Access::ReadOnly
    }

    /// True for a handle that creates no folder and found none.
    pub(crate) fn is_absent(&self) -> bool {
        self.is_absent
    }

    /// The same handle, which found no folder.
    pub(crate) fn absent(self) -> Self {
        Self { access: Access::ReadOnly, is_absent: true, ..self }
    }

    /// The same folder with this time limit for the lock.
    pub(crate) fn with_lock_timeout(self, lock_timeout: Duration) -> Self {
        Self { lock_timeout, ..self }
    }

    /// The same folder, of whose files no more than this is read: of a playbook file, and of others in proportion.
    pub(crate) fn with_max_file(mut self, max_file: u64) -> Self {
        self.directory.set_max_file(max_file);
        self
    }

    /// The same folder, which follows only the journals of edits that its user wrote.
    pub(crate) fn with_own_edits(self, own_edits: OwnEdits) -> Self {
        Self { own_edits: Some(own_edits), ..self }
    }

    /// The folder's lock.
    ///
    /// # Errors
    /// `ReadOnly`, `WritesStopped`, `Locked`, `Io`.
    pub fn lock(&self) -> Result<Lock> {
        self.lock_within(self.lock_timeout)
    }

    /// The folder's lock, waited for at most this long.
    pub(crate) fn lock_within(&self, patience: Duration) -> Result<Lock> {
        self.lock_file_within(LOCK, patience)
    }

    /// The lock of a file, waited for at most this long.
    pub(crate) fn lock_file_within(&self, name: &'static str, patience: Duration) -> Result<Lock> {
        self.refuse_read_only()?;
        if self.directory.has_stopped_writes() {
            return Err(FolderError::WritesStopped { path: self.path().to_owned() });
        }
        self.check_place()?;
        match self.directory.run("lock", name, |disk, at| disk.lock(at, patience))? {
            Locked::Taken(lock) => Ok(lock),
            Locked::Held(holder) => Err(self.locked(name, holder)),
        }
    }

    fn locked(&self, name: &'static str, holder: Option<Holder>) -> FolderError {
        FolderError::Locked { path: self.directory.path_of(name), holder, waited: self.lock_timeout }
    }

    /// Waits until no other thread of the handle writes. The time left is for the folder's lock.
    ///
    /// # Errors
    /// `Locked`.
    pub(crate) fn turn<'a>(&self, writer: &'a Mutex<()>) -> Result<Turn<'a>> {
        let since = lock::now();
        if let Some(guard) = writer.try_lock_for(self.lock_timeout) {
            return Ok(Turn { _one_at_a_time: guard, patience: self.lock_timeout.saturating_sub(since.elapsed()) });
        }
        // The thread with the turn waits for the lock too, or holds it.
        let holder = match self.directory.run("lock", LOCK, |disk, at| disk.lock(at, Duration::ZERO))? {
            Locked::Held(holder) => holder,
            Locked::Taken(_) => Some(Holder { pid: std::process::id(), name: None }),
        };
        Err(self.locked(LOCK, holder))
    }

    /// The folder's lock; none while another handle holds it.
    pub(crate) fn try_lock(&self) -> Result<Option<Lock>> {
        self.try_lock_at(LOCK)
    }

    fn try_lock_at(&self, name: &'static str) -> Result<Option<Lock>> {
        match self.directory.run("lock", name, |disk, at| disk.lock(at, Duration::ZERO))? {
            Locked::Taken(lock) => Ok(Some(lock)),
            Locked::Held(_) => Ok(None),
        }
    }

    /// The lock of another file; none while another handle holds it.
    ///
    /// # Errors
    /// `ReadOnly`, `Io`.
    pub(crate) fn try_lock_file(&self, name: &'static str) -> Result<Option<Lock>> {
        self.refuse_read_only()?;
        self.try_lock_at(name)
    }

    fn refuse_read_only(&self) -> Result<()> {
        self.directory.refuse_closed()?;
        if let Some(store) = &self.instead {
            return Err(FolderError::NeedsFolder { store: store.clone() });
        }
        if self.is_writable() { Ok(()) } else { Err(FolderError::ReadOnly { path: self.path().to_owned() }) }
    }

    /// The name of a temporary file of this process.
    pub(crate) fn temporary(name: &str) -> Name {
        format!("{TEMPORARY}{name}.{}", std::process::id()).into()
    }

    /// Writes a temporary file and syncs it. Returns its name.
    pub(crate) fn write_temporary(&self, name: &str, bytes: &[u8]) -> Result<Name> {
        let temporary = Self::temporary(name);
        self.directory.create(&temporary, bytes)?;
        self.directory.sync(&temporary)?;
        Ok(temporary)
    }

    /// Copies bytes to `quarantine/NAME.HASH.EXTENSION`, a name that no other content has. Returns the path.
    pub(crate) fn quarantine(&self, bytes: &[u8], name: &str, extension: &str) -> Result<PathBuf> {
        let files = &self.directory;
        files.create_directory(QUARANTINE)?;
        let kept = Name::from(QUARANTINE).join(format!("{name}.{}.{extension}", TextHash::of(&[bytes])));
        files.create(&kept, bytes)?;
        files.sync(&kept)?;
        files.sync_directory(QUARANTINE)?;
        Ok(files.path_of(kept))
    }

    /// Moves a directory found in the place of a file to `quarantine/NAME.ID`. Returns the path.
    pub(crate) fn quarantine_folder(&self, folder: &'static str, name: &str) -> Result<PathBuf> {
        let files = &self.directory;
        files.create_directory(QUARANTINE)?;
        let kept = Name::from(QUARANTINE).join(format!("{name}.{}", uuid::Uuid::new_v4()));
        files.rename(folder, &kept)?;
        files.sync_directory(QUARANTINE)?;
        Ok(files.path_of(kept))
    }

    /// Removes temporary files of dead writers. The caller holds the lock, so it is the only living writer.
    pub(crate) fn sweep(&self) {
        if self.is_swept.swap(true, Ordering::AcqRel) {
            return;
        }
        for name in self.directory.list(Name::TOP).unwrap_or_default() {
            if name.to_str().is_some_and(|name| name.starts_with(TEMPORARY)) {
                // A file that cannot be removed does no harm.
                let _ = self.directory.remove_if_exists(name.as_os_str());
            }
        }
    }

    /// The same folder for writing; it is created if it is missing.
    pub(crate) fn writable(self) -> Result<Self> {
        self.directory.create_directory(Name::TOP)?;
        Ok(Self { access: Access::ReadWrite, ..self })
    }

    /// The same folder, with every operation refused.
    pub(crate) fn closed(self) -> Self {
        Self { directory: self.directory.closed(), access: Access::ReadOnly, ..self }
    }

    /// The same folder on another disk.
    #[cfg(test)]
    pub(crate) fn with_disk(self, disk: Box<dyn Disk>) -> Self {
        Self { directory: Directory::new(self.path().to_owned(), Arc::from(disk)), ..self }
    }
}
