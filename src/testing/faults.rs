//! Disks for the tests: one that fails, one that counts.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::folder::disk::{Disk, RealDisk};
use crate::folder::{Entry, Lock, Mapped, Stamp};

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

fn write(
    watch: &impl Watch,
    operation: &'static str,
    path: &Path,
    bytes: &[u8],
    real: impl FnOnce(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    match watch.decide(operation, path) {
        Verdict::Happens => return real(bytes),
        Verdict::Tears => real(&bytes[..bytes.len() / 2])?,
        Verdict::Fails => {}
    }
    Err(injected())
}

impl<W: Watch> Disk for W {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        run(self, "create_folder", path, || RealDisk.create_folder(path))
    }
    fn read(&self, path: &Path, offset: u64) -> io::Result<Vec<u8>> {
        run(self, "read", path, || RealDisk.read(path, offset))
    }
    fn read_start(&self, path: &Path, length: usize) -> io::Result<Vec<u8>> {
        run(self, "read", path, || RealDisk.read_start(path, length))
    }
    fn map(&self, path: &Path) -> io::Result<Mapped> {
        run(self, "map", path, || RealDisk.map(path))
    }
    fn stamp(&self, path: &Path) -> io::Result<Option<Stamp>> {
        run(self, "stat", path, || RealDisk.stamp(path))
    }
    fn own_stamp(&self, path: &Path) -> io::Result<Option<Stamp>> {
        run(self, "stat", path, || RealDisk.own_stamp(path))
    }
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        run(self, "list", folder, || RealDisk.list(folder))
    }
    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        write(self, "create", path, bytes, |bytes| RealDisk.create(path, bytes))
    }
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        write(self, "append", path, bytes, |bytes| RealDisk.append(path, bytes))
    }
    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        run(self, "truncate", path, || RealDisk.truncate(path, length))
    }
    fn sync(&self, path: &Path) -> io::Result<()> {
        run(self, "sync", path, || RealDisk.sync(path))
    }
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        run(self, "sync_folder", path, || RealDisk.sync_folder(path))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        run(self, "rename", to, || RealDisk.rename(from, to))
    }
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        run(self, "link", from, || RealDisk.link(from, to))
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        run(self, "remove", path, || RealDisk.remove(path))
    }
    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        run(self, "remove", path, || RealDisk.remove_folder(path))
    }
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        run(self, "stat", path, || RealDisk.entry(path))
    }
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        run(self, "resolve", path, || RealDisk.resolve(path))
    }
    fn mode(&self, path: &Path) -> io::Result<Option<u32>> {
        run(self, "stat", path, || RealDisk.mode(path))
    }
    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        run(self, "set_mode", path, || RealDisk.set_mode(path, mode))
    }
    fn lock_exclusive(&self, path: &Path) -> io::Result<Lock> {
        run(self, "lock", path, || RealDisk.lock_exclusive(path))
    }
    fn try_lock_exclusive(&self, path: &Path) -> io::Result<Option<Lock>> {
        run(self, "lock", path, || RealDisk.try_lock_exclusive(path))
    }
    fn try_lock_shared(&self, path: &Path) -> io::Result<Option<Lock>> {
        run(self, "lock", path, || RealDisk.try_lock_shared(path))
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
