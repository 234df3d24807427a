//! A file that is held open.

use std::fs::File;
use std::io;

/// Bytes read at a time for a checksum; they fit the processor's cache.
const CHUNK: usize = 256 << 10;

/// An open file: its bytes can be read even if another file takes its name.
#[derive(Debug)]
pub(crate) struct HeldFile(File);

impl HeldFile {
    pub(super) fn of(file: File) -> Self {
        Self(file)
    }

    /// `length` bytes from `at` on.
    ///
    /// # Errors
    /// `UnexpectedEof` when the file is shorter.
    pub(crate) fn read(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        read_exact_at(&self.0, &mut bytes, at)?;
        Ok(bytes)
    }

    /// The first `length` bytes, fewer when the file is shorter.
    pub(crate) fn read_start(&self, length: usize) -> io::Result<Vec<u8>> {
        let n_bytes = self.0.metadata()?.len();
        self.read(0, usize::try_from(n_bytes).unwrap_or(length).min(length))
    }

    /// The CRC-32 of the first `length` bytes.
    ///
    /// # Errors
    /// `UnexpectedEof` when the file is shorter.
    pub(crate) fn checksum(&self, length: u64) -> io::Result<u32> {
        let mut checksum = crc32fast::Hasher::new();
        let mut chunk = vec![0; CHUNK];
        let mut at = 0;
        while at < length {
            let n_bytes = usize::try_from(length - at).unwrap_or(CHUNK).min(CHUNK);
            let bytes = chunk.get_mut(..n_bytes).unwrap_or_default();
            read_exact_at(&self.0, bytes, at)?;
            checksum.update(bytes);
            at += n_bytes as u64;
        }
        Ok(checksum.finalize())
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n_read) => {
                bytes = bytes.get_mut(n_read..).unwrap_or_default();
                at += n_read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_file_keeps_its_bytes_when_another_takes_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let files = crate::folder::Directory::real(folder.path());
        let bytes: Vec<u8> = (0..600_000_u32).map(|nth| nth.to_le_bytes()[0]).collect();
        files.create("held", &bytes).unwrap();
        let held = files.hold("held").unwrap().unwrap();
        files.create("other", b"short").unwrap();
        files.rename("other", "held").unwrap();
        assert_eq!(held.read_start(3).unwrap(), bytes[..3]);
        assert_eq!(held.read_start(700_000).unwrap(), bytes);
        assert_eq!(held.read(299_000, 4).unwrap(), bytes[299_000..299_004]);
        for length in [0, 1, 262_144, 262_145, 600_000] {
            assert_eq!(held.checksum(length as u64).unwrap(), crc32fast::hash(&bytes[..length]), "{length}");
        }
        for error in [held.checksum(600_001).unwrap_err(), held.read(599_999, 2).unwrap_err()] {
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        }
        assert!(files.hold("none").unwrap().is_none());
    }
}
