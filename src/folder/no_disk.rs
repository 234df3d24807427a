//! A disk without files: that of a playbook which is kept in another store.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::disk::{Disk, RealDisk, Status};
use super::lock::Locked;
use super::root::At;

/// Nothing is found, and nothing can be written. Paths that the host names resolve as on the real disk.
pub(super) struct NoDisk;

fn refused<T>() -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "the playbook is not kept in a folder"))
}

impl Disk for NoDisk {
    fn create_folder(&self, _: At<'_>) -> io::Result<()> {
        refused()
    }

    fn open(&self, _: At<'_>) -> io::Result<File> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn status(&self, _: At<'_>) -> io::Result<Option<Status>> {
        Ok(None)
    }

    fn list(&self, _: At<'_>) -> io::Result<Vec<OsString>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn create(&self, _: At<'_>, _: &[u8]) -> io::Result<()> {
        refused()
    }

    fn append(&self, _: At<'_>, _: &[u8]) -> io::Result<u64> {
        refused()
    }

    fn set_modified(&self, _: At<'_>, _: SystemTime) -> io::Result<()> {
        refused()
    }

    fn truncate(&self, _: At<'_>, _: u64) -> io::Result<()> {
        refused()
    }

    fn sync(&self, _: At<'_>) -> io::Result<()> {
        refused()
    }

    fn sync_folder(&self, _: At<'_>) -> io::Result<()> {
        refused()
    }

    fn rename(&self, _: At<'_>, _: At<'_>) -> io::Result<()> {
        refused()
    }

    fn link(&self, _: At<'_>, _: At<'_>) -> io::Result<()> {
        refused()
    }

    fn remove(&self, _: At<'_>) -> io::Result<()> {
        refused()
    }

    fn remove_folder(&self, _: At<'_>) -> io::Result<()> {
        refused()
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        RealDisk.resolve(path)
    }

    fn set_mode(&self, _: At<'_>, _: u32) -> io::Result<()> {
        refused()
    }

    fn lock(&self, _: At<'_>, _: Duration) -> io::Result<Locked> {
        Ok(Locked::Held(None))
    }
}
