//! Memory-mapped files.

#![expect(unsafe_code, reason = "a memory map has no safe constructor; the argument is at the call")]

use std::fs::File;
use std::io;
use std::ops::Deref;

/// The bytes of a file as they were when it was mapped.
#[derive(Debug)]
pub(crate) struct Mapped(Option<memmap2::Mmap>);

impl Mapped {
    /// Maps a file at its present length.
    ///
    /// Only for files that are never changed in place: they are replaced by a rename or appended to, never truncated or
    /// overwritten, not even by a playbook that is opened in the same folder.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let length = usize::try_from(file.metadata()?.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        if length == 0 {
            return Ok(Self(None));
        }
        // SAFETY: the map is read-only, and its length is the file's at this moment. No writer of this crate cuts or
        // overwrites a mapped file: one that is replaced keeps its inode, and with it its bytes, for as long as it is
        // mapped, and appended bytes lie behind the mapped ones. Another program that cuts the file could make a read
        // fault; the folder is private to its user (0700) and the file belongs to this crate.
        let map = unsafe { memmap2::MmapOptions::new().len(length).map(file)? };
        Ok(Self(Some(map)))
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}
