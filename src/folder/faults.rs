//! A disk that fails at one operation, for the tests.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::disk::{Disk, RealDisk};
use super::{Entry, Lock, Mapped, Stamp};

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

impl FaultyDisk {
    /// Counts an operation; whether it may happen, and whether it is the one that fails.
    fn step(&self) -> (bool, bool) {
        let number = self.done.fetch_add(1, Ordering::SeqCst) + 1;
        let fails = match self.fault {
            Fault::Once => number == self.at,
            Fault::Freeze => number >= self.at,
        };
        (!fails, number == self.at)
    }

    fn run<T>(&self, operation: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        if self.step().0 { operation() } else { Err(io::Error::other("injected")) }
    }

    /// A write that fails leaves half of its bytes.
    fn write(&self, bytes: &[u8], operation: impl FnOnce(&[u8]) -> io::Result<()>) -> io::Result<()> {
        match self.step() {
            (true, _) => operation(bytes),
            (false, is_first) => {
                if is_first {
                    operation(&bytes[..bytes.len() / 2])?;
                }
                Err(io::Error::other("injected"))
            }
        }
    }
}

impl Disk for FaultyDisk {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.run(|| RealDisk.create_folder(path))
    }
    fn read(&self, path: &Path, offset: u64) -> io::Result<Vec<u8>> {
        self.run(|| RealDisk.read(path, offset))
    }
    fn read_start(&self, path: &Path, length: usize) -> io::Result<Vec<u8>> {
        self.run(|| RealDisk.read_start(path, length))
    }
    fn map(&self, path: &Path) -> io::Result<Mapped> {
        self.run(|| RealDisk.map(path))
    }
    fn stamp(&self, path: &Path) -> io::Result<Option<Stamp>> {
        self.run(|| RealDisk.stamp(path))
    }
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        self.run(|| RealDisk.list(folder))
    }
    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.write(bytes, |bytes| RealDisk.create(path, bytes))
    }
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.write(bytes, |bytes| RealDisk.append(path, bytes))
    }
    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        self.run(|| RealDisk.truncate(path, length))
    }
    fn sync(&self, path: &Path) -> io::Result<()> {
        self.run(|| RealDisk.sync(path))
    }
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.run(|| RealDisk.sync_folder(path))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.run(|| RealDisk.rename(from, to))
    }
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.run(|| RealDisk.link(from, to))
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.run(|| RealDisk.remove(path))
    }
    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.run(|| RealDisk.remove_folder(path))
    }
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        self.run(|| RealDisk.entry(path))
    }
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.run(|| RealDisk.resolve(path))
    }
    fn mode(&self, path: &Path) -> io::Result<Option<u32>> {
        self.run(|| RealDisk.mode(path))
    }
    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.run(|| RealDisk.set_mode(path, mode))
    }
    fn lock_exclusive(&self, path: &Path) -> io::Result<Lock> {
        self.run(|| RealDisk.lock_exclusive(path))
    }
    fn try_lock_exclusive(&self, path: &Path) -> io::Result<Option<Lock>> {
        self.run(|| RealDisk.try_lock_exclusive(path))
    }
    fn try_lock_shared(&self, path: &Path) -> io::Result<Option<Lock>> {
        self.run(|| RealDisk.try_lock_shared(path))
    }
}
