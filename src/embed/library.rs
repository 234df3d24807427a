//! Checks a shared library before it is loaded: the system's loader may end the process if the file is wrong.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::error::EmbedError;

/// How a shared library of this system begins.
const MAGIC: &[&[u8]] = if cfg!(windows) {
    &[b"MZ"]
} else if cfg!(target_vendor = "apple") {
    // 64 bits, and several architectures in one file.
    &[b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"]
} else {
    &[ELF]
};

const ELF: &[u8] = b"\x7fELF";

/// The library's canonical path.
pub(super) fn examine(path: &Path) -> Result<PathBuf, EmbedError> {
    let refused = |reason: String| EmbedError::Runtime { path: path.to_owned(), reason };
    let library = path.canonicalize().map_err(|error| refused(error.to_string()))?;
    if !library.is_file() {
        return Err(refused("it is not a file".to_owned()));
    }
    look_into(&library).map_err(|error| refused(error.to_string()))?;
    Ok(library)
}

fn look_into(library: &Path) -> io::Result<()> {
    let mut file = File::open(library)?;
    let mut header = Vec::new();
    (&mut file).take(64).read_to_end(&mut header)?;
    if !MAGIC.iter().any(|magic| header.starts_with(magic)) {
        return Err(io::Error::other("it is not a shared library of this system"));
    }
    let (n_bytes, expected) = (file.metadata()?.len(), elf_length(&mut file, &header)?);
    if n_bytes < expected {
        return Err(io::Error::other(format!("it is cut short: it has {n_bytes} bytes of {expected}")));
    }
    Ok(())
}

/// How long an ELF file has to be to hold its segments and its table of sections (ELF-64, little-endian; zero for others):
/// the loader maps a file that was cut short as if it were whole, and the process ends at the first touch.
fn elf_length(file: &mut File, header: &[u8]) -> io::Result<u64> {
    const WIDE_AND_LITTLE_ENDIAN: &[u8] = &[2, 1];
    if !header.starts_with(ELF) || header.get(4..6) != Some(WIDE_AND_LITTLE_ENDIAN) {
        return Ok(0);
    }
    // e_phoff, e_phentsize, e_phnum; e_shoff, e_shentsize, e_shnum.
    let (segments, segment_size, n_segments) =
        (number(header, 0x20, 8), number(header, 0x36, 2), number(header, 0x38, 2));
    let (sections, section_size, n_sections) =
        (number(header, 0x28, 8), number(header, 0x3a, 2), number(header, 0x3c, 2));
    let mut end =
        sections.saturating_add(section_size * n_sections).max(segments.saturating_add(segment_size * n_segments));
    let mut table = Vec::new();
    file.seek(SeekFrom::Start(segments))?;
    file.take(segment_size * n_segments).read_to_end(&mut table)?;
    for segment in table.chunks_exact(usize::try_from(segment_size).unwrap_or(0).max(1)) {
        // p_offset, p_filesz.
        end = end.max(number(segment, 0x08, 8).saturating_add(number(segment, 0x20, 8)));
    }
    Ok(end)
}

/// A little-endian number; zero where the bytes end before it does.
fn number(bytes: &[u8], start: usize, width: usize) -> u64 {
    let bytes = bytes.get(start..start + width).unwrap_or_default();
    bytes.iter().rev().fold(0, |number, byte| (number << 8) | u64::from(*byte))
}
