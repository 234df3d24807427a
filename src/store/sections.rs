//! A file of sections: blocks of numbers that are appended or replaced whole, and read through a memory map.
//!
//! Numbers have the machine's byte order, which is part of the magic number: a file of another byte order is foreign. The file
//! begins with 64 bytes that hold the magic number. A section begins at a multiple of 64 with a header of 64 bytes, followed by
//! its bytes and zero padding to the next multiple of 64. Header and bytes have separate checksums. A section that is truncated
//! or damaged is skipped and reported; reading continues at the next valid header.

use std::ops::{Deref, Range};
use std::sync::Arc;

use super::vectors::codec;
use crate::error::folder::Result;
use crate::folder::{Directory, Mapped};
use crate::hash::TextHash;

/// The magic number of the file, with its version.
pub(super) const MAGIC: &[u8; 8] = if cfg!(target_endian = "little") { b"adages\0\x01" } else { b"adagesB\x01" };
/// The first bytes of a section.
const SECTION: &[u8; 8] = b"section\0";
/// The alignment of sections, and the length of a header.
const ALIGN: usize = 64;

/// The description of a section's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    /// The kind of content, a number chosen by the owner.
    pub(crate) kind: u32,
    /// The model that it belongs to.
    pub(crate) model: TextHash,
    /// Columns and rows, for the owner.
    pub(crate) n_columns: u32,
    pub(crate) n_rows: u32,
}

/// A part of the file that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flaw {
    /// Its offset in bytes.
    pub(crate) offset: u64,
    pub(crate) kind: FlawKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlawKind {
    /// The file does not begin with the magic number, or is of another version. It is not read.
    Foreign,
    /// There is no section where one should begin.
    NoSection,
    /// The file ends before the section does.
    Cut,
    /// The bytes of the section do not match its checksum.
    Flipped,
}

/// A section's bytes; the memory map lives as long as this value.
#[derive(Clone, Debug)]
pub(crate) struct SectionView {
    pub(crate) label: Label,
    map: Arc<Mapped>,
    range: Range<usize>,
}

impl Deref for SectionView {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.get(self.range.clone()).unwrap_or_default()
    }
}

impl AsRef<[u8]> for SectionView {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl SectionView {
    /// The section at an offset, if the map contains all of its bytes, and their checksum.
    fn at(map: &Arc<Mapped>, at: usize) -> std::result::Result<(Self, u32), FlawKind> {
        let header = map.get(at..).and_then(read_header);
        let (label, length, checksum) = header.ok_or(FlawKind::NoSection)?;
        let range = at + ALIGN..(at + ALIGN).saturating_add(length);
        map.get(range.clone()).ok_or(FlawKind::Cut)?;
        Ok((Self { label, map: Arc::clone(map), range }, checksum))
    }
}

/// The sections of a file as it was when it was opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sections {
    sections: Vec<SectionView>,
    /// The length of the file.
    pub(crate) length: u64,
}

impl Sections {
    /// Reads the file from `from` on: the length at an earlier read of the same file, or 0. A missing file has no sections.
    ///
    /// Every byte is read once to check the checksums, except in sections that are `by_row`: their owner checks each row.
    pub(crate) fn open(
        files: &Directory,
        name: &'static str,
        from: u64,
        by_row: impl Fn(Label) -> bool,
    ) -> Result<(Self, Vec<Flaw>)> {
        // Only files of this format are mapped: other files may be truncated while they are mapped.
        let start = files.read_start(name, MAGIC.len())?;
        if !start.is_empty() && start != MAGIC {
            let length = files.stamp(name)?.map_or(0, |stamp| stamp.length);
            return Ok((Self { sections: Vec::new(), length }, vec![Flaw { offset: 0, kind: FlawKind::Foreign }]));
        }
        let Some(map) = files.map(name)?.map(Arc::new) else { return Ok(Default::default()) };
        let (mut sections, mut flaws) = (Self { sections: Vec::new(), length: map.len() as u64 }, Vec::new());
        if !map.starts_with(MAGIC) {
            flaws.push(Flaw { offset: 0, kind: FlawKind::Foreign });
            return Ok((sections, flaws));
        }
        let mut at = usize::try_from(from).unwrap_or(usize::MAX).max(ALIGN).next_multiple_of(ALIGN);
        while at < map.len() {
            let checked = SectionView::at(&map, at).and_then(|(section, checksum)| {
                let is_whole = by_row(section.label) || crc32fast::hash(&section) == checksum;
                is_whole.then_some(section).ok_or(FlawKind::Flipped)
            });
            let kind = match checked {
                Ok(section) => {
                    at = section.range.end.next_multiple_of(ALIGN);
                    sections.sections.push(section);
                    continue;
                }
                Err(kind) => kind,
            };
            // Consecutive bytes that are not a section are one flaw.
            if kind != FlawKind::NoSection || flaws.last().is_none_or(|flaw| flaw.kind != kind) {
                flaws.push(Flaw { offset: at as u64, kind });
            }
            at += ALIGN;
        }
        Ok((sections, flaws))
    }

    /// The sections of a kind, in the order of the file.
    pub(crate) fn get(&self, kind: u32) -> impl Iterator<Item = &SectionView> {
        self.sections.iter().filter(move |section| section.label.kind == kind)
    }
}

/// The label, the length of the section's bytes and their checksum.
fn read_header(bytes: &[u8]) -> Option<(Label, usize, u32)> {
    let (sealed, rest) = bytes.split_first_chunk::<60>()?;
    let (checksum, _) = rest.split_first_chunk::<4>()?;
    if crc32fast::hash(sealed) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let rest = sealed.strip_prefix(SECTION)?;
    let (fields, _) = bincode::decode_from_slice::<(u64, [u32; 4], [u8; 16]), _>(rest, codec()).ok()?;
    let (length, [kind, n_columns, n_rows, checksum], model) = fields;
    let label = Label { kind, model: TextHash::from_bytes(model), n_columns, n_rows };
    Some((label, usize::try_from(length).ok()?, checksum))
}

/// The encoded new sections, for a new file or the end of an existing one.
#[derive(Debug)]
pub(crate) struct SectionWriter {
    bytes: Vec<u8>,
}

impl SectionWriter {
    /// Starts after `length` bytes of a file; at 0, a new file.
    pub(crate) fn behind(length: u64) -> Self {
        let mut bytes = Vec::new();
        if length == 0 {
            bytes.extend_from_slice(MAGIC);
            bytes.resize(ALIGN, 0);
        } else {
            let past = usize::try_from(length % ALIGN as u64).unwrap_or(0);
            bytes.resize(past.next_multiple_of(ALIGN) - past, 0);
        }
        Self { bytes }
    }

    /// Adds a section made of parts that follow each other.
    pub(crate) fn push(&mut self, label: Label, parts: &[&[u8]]) {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let mut checksum = crc32fast::Hasher::new();
        for part in parts {
            checksum.update(part);
        }
        let mut header = Vec::with_capacity(ALIGN);
        header.extend_from_slice(SECTION);
        header.extend_from_slice(&(length as u64).to_le_bytes());
        for number in [label.kind, label.n_columns, label.n_rows, checksum.finalize()] {
            header.extend_from_slice(&number.to_le_bytes());
        }
        header.extend_from_slice(label.model.as_bytes());
        header.resize(ALIGN - 4, 0);
        header.extend_from_slice(&crc32fast::hash(&header).to_le_bytes());
        self.bytes.extend_from_slice(&header);
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        let n_padding = length.next_multiple_of(ALIGN) - length;
        self.bytes.resize(self.bytes.len() + n_padding, 0);
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(kind: u32) -> Label {
        Label { kind, model: TextHash::of(&["model"]), n_columns: 3, n_rows: kind + 1 }
    }

    const CONTENTS: [&[u8]; 4] = [b"", b"a few bytes", &[7; 64], &[9; 150]];

    fn file() -> Vec<u8> {
        let mut writer = SectionWriter::behind(0);
        for (kind, content) in (0..).zip(CONTENTS) {
            let (start, end) = content.split_at(content.len() / 2);
            writer.push(label(kind), &[start, end]);
        }
        writer.into_bytes()
    }

    fn open(bytes: &[u8], from: u64) -> (Vec<(Label, Vec<u8>)>, Vec<Flaw>) {
        let folder = tempfile::tempdir().unwrap();
        let files = Directory::real(folder.path());
        files.create("sections", bytes).unwrap();
        let (sections, flaws) = Sections::open(&files, "sections", from, |_| false).unwrap();
        assert_eq!(sections.length, bytes.len() as u64);
        (sections.sections.iter().map(|section| (section.label, section.to_vec())).collect(), flaws)
    }

    #[test]
    fn written_sections_are_read_back_aligned() {
        let bytes = file();
        let folder = tempfile::tempdir().unwrap();
        let files = Directory::real(folder.path());
        assert_eq!(Sections::open(&files, "sections", 0, |_| false).unwrap().0.length, 0);
        files.create("sections", &bytes).unwrap();
        let (sections, flaws) = Sections::open(&files, "sections", 0, |_| false).unwrap();
        assert!(flaws.is_empty(), "{flaws:?}");
        for (kind, content) in (0..).zip(CONTENTS) {
            let found: Vec<&SectionView> = sections.get(kind).collect();
            assert_eq!((found.len(), found[0].label, &**found[0]), (1, label(kind), content));
            assert_eq!(found[0].as_ptr().align_offset(ALIGN), 0);
        }
        // A view outlives the value that it came from.
        let held = sections.get(2).next().cloned().unwrap();
        drop((sections, folder));
        assert_eq!(*held, [7; 64]);
    }

    #[test]
    fn a_flipped_byte_loses_its_section_only_and_is_reported() {
        let whole = file();
        let expected = open(&whole, 0).0;
        for place in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[place] ^= 0x10;
            let (found, flaws) = open(&flipped, 0);
            assert!(found.iter().all(|section| expected.contains(section)), "byte {place}");
            let is_foreign = place < MAGIC.len();
            assert!(is_foreign || found.len() + 1 >= expected.len(), "byte {place}: {flaws:?}");
            assert!(found.len() == expected.len() || !flaws.is_empty(), "byte {place}");
        }
    }

    #[test]
    fn a_truncation_loses_the_sections_after_it_and_appending_continues() {
        let whole = file();
        let expected = open(&whole, 0).0;
        for length in 1..whole.len() {
            let mut bytes = whole[..length].to_vec();
            let (before, _) = open(&bytes, 0);
            assert_eq!(before, expected[..before.len()], "cut at {length}");
            let mut writer = SectionWriter::behind(length as u64);
            writer.push(label(9), &[b"new"]);
            bytes.extend(writer.into_bytes());
            if length < MAGIC.len() {
                continue;
            }
            let (after, _) = open(&bytes, 0);
            assert_eq!(after.len(), before.len() + 1, "cut at {length}");
            assert_eq!(after.last(), Some(&(label(9), b"new".to_vec())));
            assert_eq!(open(&bytes, length as u64).0.len(), 1, "cut at {length}");
        }
    }

    #[test]
    fn a_foreign_file_is_reported_and_not_read() {
        for bytes in [&b"adagev\0\x01something"[..], b"adages\0\x02", b"x"] {
            assert_eq!(open(bytes, 0), (Vec::new(), vec![Flaw { offset: 0, kind: FlawKind::Foreign }]));
        }
        assert!(open(b"", 0).0.is_empty());
    }
}
