//! `NumPy` files of version 1.

use std::path::Path;

use crate::Failure;

/// The data of a file, and the length of its last axis. `kind` is the type of its elements, such as `<f4`.
pub(crate) fn read(path: &Path, kind: &str) -> Result<(Vec<u8>, usize), Failure> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let start = bytes.strip_prefix(b"\x93NUMPY\x01\x00").ok_or_else(|| format!("{} is not npy 1.0", path.display()))?;
    let (length, rest) = start.split_first_chunk::<2>().ok_or("truncated npy header")?;
    let (header, data) =
        rest.split_at_checked(usize::from(u16::from_le_bytes(*length))).ok_or("truncated npy header")?;
    let header = std::str::from_utf8(header)?;
    if !header.contains(kind) || header.contains("'fortran_order': True") {
        return Err(format!("{} has {header}, expected {kind} in C order", path.display()).into());
    }
    let shape = header.split('(').nth(1).and_then(|rest| rest.split(')').next()).ok_or("npy header without a shape")?;
    let width = shape.split(',').map(str::trim).rfind(|axis| !axis.is_empty()).ok_or("npy header without a shape")?;
    Ok((data.to_vec(), width.parse()?))
}

/// Writes rows of f32.
pub(crate) fn write<'a>(
    path: &Path,
    n_components: usize,
    rows: impl ExactSizeIterator<Item = &'a [f32]>,
) -> Result<(), Failure> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {n_components}), }}", rows.len());
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{header:117}\n").as_bytes());
    bytes.extend(rows.flatten().flat_map(|component| component.to_le_bytes()));
    Ok(std::fs::write(path, bytes)?)
}

/// Little-endian f32.
pub(crate) fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}
