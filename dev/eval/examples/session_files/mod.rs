//! The session files that examples read.

use std::error::Error;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The file, or all session files below the folder.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let path = entry?.path();
        let name = path.to_string_lossy();
        if path.is_dir() || [".jsonl", ".json", ".jsonl.gz", ".json.gz"].iter().any(|end| name.ends_with(end)) {
            found.extend(files(&path)?);
        }
    }
    found.sort();
    Ok(found)
}

/// The bytes of a file, unpacked if it is gzipped.
pub(crate) fn unpacked(file: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let bytes = std::fs::read(file)?;
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let mut unpacked = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut unpacked)?;
    Ok(unpacked)
}
