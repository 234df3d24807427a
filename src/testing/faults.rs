//! Disks for the tests: one that fails, one that counts.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;

use crate::folder::disk::{Disk, RealDisk, Status};
use crate::folder::{At, Locked};

/// What becomes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Happens,
    Fails,
    /// It fails; a write leaves half of its bytes.
    Tears,
}

/// Decides on each operation of the real disk.
pub(crate) trait Watch: Send + Sync {
    fn decide(&self, operation: &'static str, path: &Path) -> Verdict;
    /// Hears of a change that happened.
    fn changed(&self, _: Change) {}
}

/// A change of the disk.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Create(PathBuf, Vec<u8>),
    Append(PathBuf, Vec<u8>),
    Truncate(PathBuf, u64),
    Modified(PathBuf, SystemTime),
    Rename(PathBuf, PathBuf),
    Link(PathBuf, PathBuf),
    Remove(PathBuf),
    Sync(PathBuf),
    SyncFolder(PathBuf),
}

fn injected() -> io::Error {
    io::Error::other("injected")
}

fn run<T>(
    watch: &impl Watch,
    operation: &'static str,
    path: &Path,
    real: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    if watch.decide(operation, path) == Verdict::Happens { real() } else { Err(injected()) }
}

fn write<T>(
    watch: &impl Watch,
    operation: &'static str,
    path: &Path,
    bytes: &[u8],
    real: impl FnOnce(&[u8]) -> io::Result<T>,
) -> io::Result<T> {
    match watch.decide(operation, path) {
        Verdict::Happens => return real(bytes),
        Verdict::Tears => drop(real(&bytes[..bytes.len() / 2])?),
        Verdict::Fails => {}
    }
    Err(injected())
}

impl<W: Watch> Disk for W {
    fn create_folder(&self, at: At<'_>) -> io::Result<()> {
        run(self, "create_folder", &at.path(), || RealDisk.create_folder(at))
    }
    fn open(&self, at: At<'_>) -> io::Result<File> {
        run(self, "read", &at.path(), || RealDisk.open(at))
    }
    fn status(&self, at: At<'_>) -> io::Result<Option<Status>> {
        run(self, "stat", &at.path(), || RealDisk.status(at))
    }
    fn list(&self, at: At<'_>) -> io::Result<Vec<OsString>> {
        run(self, "list", &at.path(), || RealDisk.list(at))
    }
    fn create(&self, at: At<'_>, bytes: &[u8]) -> io::Result<()> {
        write(self, "create", &at.path(), bytes, |bytes| RealDisk.create(at, bytes))
            .inspect(|()| self.changed(Change::Create(at.path(), bytes.to_vec())))
    }
    fn append(&self, at: At<'_>, bytes: &[u8]) -> io::Result<u64> {
        write(self, "append", &at.path(), bytes, |bytes| RealDisk.append(at, bytes))
            .inspect(|_| self.changed(Change::Append(at.path(), bytes.to_vec())))
    }
    fn set_modified(&self, at: At<'_>, time: SystemTime) -> io::Result<()> {
        run(self, "set_modified", &at.path(), || RealDisk.set_modified(at, time))
            .inspect(|()| self.changed(Change::Modified(at.path(), time)))
    }
    fn truncate(&self, at: At<'_>, length: u64) -> io::Result<()> {
        run(self, "truncate", &at.path(), || RealDisk.truncate(at, length))
            .inspect(|()| self.changed(Change::Truncate(at.path(), length)))
    }
    fn sync(&self, at: At<'_>) -> io::Result<()> {
        run(self, "sync", &at.path(), || RealDisk.sync(at)).inspect(|()| self.changed(Change::Sync(at.path())))
    }
    fn sync_folder(&self, at: At<'_>) -> io::Result<()> {
        run(self, "sync_folder", &at.path(), || RealDisk.sync_folder(at))
            .inspect(|()| self.changed(Change::SyncFolder(at.path())))
    }
    fn rename(&self, from: At<'_>, to: At<'_>) -> io::Result<()> {
        run(self, "rename", &to.path(), || RealDisk.rename(from, to))
            .inspect(|()| self.changed(Change::Rename(from.path(), to.path())))
    }
    fn link(&self, from: At<'_>, to: At<'_>) -> io::Result<()> {
        run(self, "link", &from.path(), || RealDisk.link(from, to))
            .inspect(|()| self.changed(Change::Link(from.path(), to.path())))
    }
    fn remove(&self, at: At<'_>) -> io::Result<()> {
        run(self, "remove", &at.path(), || RealDisk.remove(at)).inspect(|()| self.changed(Change::Remove(at.path())))
    }
    fn remove_folder(&self, at: At<'_>) -> io::Result<()> {
        run(self, "remove", &at.path(), || RealDisk.remove_folder(at))
    }
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        run(self, "resolve", path, || RealDisk.resolve(path))
    }
    fn set_mode(&self, at: At<'_>, mode: u32) -> io::Result<()> {
        run(self, "set_mode", &at.path(), || RealDisk.set_mode(at, mode))
    }
    fn lock(&self, at: At<'_>, patience: Duration) -> io::Result<Locked> {
        run(self, "lock", &at.path(), || RealDisk.lock(at, patience))
    }
}

/// How the disk fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    /// Operation N fails, the others work: a full disk, a bad sector.
    Once,
    /// Operation N is torn and nothing after it happens: the process was killed.
    Freeze,
}

/// The real disk until operation N.
pub(crate) struct FaultyDisk {
    pub(crate) fault: Fault,
    pub(crate) at: usize,
    pub(crate) done: Arc<AtomicUsize>,
}

impl Watch for FaultyDisk {
    fn decide(&self, _: &'static str, _: &Path) -> Verdict {
        let number = self.done.fetch_add(1, Ordering::SeqCst) + 1;
        if number == self.at {
            Verdict::Tears
        } else if self.fault == Fault::Freeze && number > self.at {
            Verdict::Fails
        } else {
            Verdict::Happens
        }
    }
}

/// The real disk, on which no sync works.
pub(crate) struct UnsyncedDisk;

impl Watch for UnsyncedDisk {
    fn decide(&self, operation: &'static str, _: &Path) -> Verdict {
        if operation == "sync" { Verdict::Fails } else { Verdict::Happens }
    }
}

/// The real disk, with its operations and their paths on record.
#[derive(Clone, Default)]
pub(crate) struct CountingDisk(Arc<Mutex<Vec<(&'static str, PathBuf)>>>);

impl CountingDisk {
    /// The operations since the last call.
    pub(crate) fn take(&self) -> Vec<(&'static str, PathBuf)> {
        std::mem::take(&mut self.0.lock())
    }
}

impl Watch for CountingDisk {
    fn decide(&self, operation: &'static str, path: &Path) -> Verdict {
        self.0.lock().push((operation, path.to_owned()));
        Verdict::Happens
    }
}

/// The real disk, with its changes on record.
#[derive(Clone, Default)]
pub(crate) struct RecordingDisk(pub(crate) Arc<Mutex<Vec<Change>>>);

impl Watch for RecordingDisk {
    fn decide(&self, _: &'static str, _: &Path) -> Verdict {
        Verdict::Happens
    }

    fn changed(&self, change: Change) {
        self.0.lock().push(change);
    }
}
