//! The vectors of a vector memory's texts: sections of rows. A row is keyed by the hash of its text, and a section belongs to
//! one model. Vectors are never wrong; they may be missing. A rewritten file begins with an index, whose vectors are rows like
//! the others.

use std::collections::{BTreeMap, BTreeSet};
use std::slice::ChunksExact;
use std::sync::Arc;

use adage_index::snapshot::{Bytes, SectionKind, row_sum};
use adage_index::{UnitVector, VectorIndex};
use adage_redact::path_line;

use crate::error::folder::Result;
use crate::folder::{Folder, Lock, Name};
use crate::lesson::TextHash;
use crate::store::VECTORS;
use crate::store::sections::{Label, MAGIC, SectionView, SectionWriter, Sections};

/// Rows of vectors: the texts' hashes, zero padding to a multiple of 64, the components.
const ROWS: u32 = 1;
/// The hashes of the texts of an index's rows; zeros for a removed row.
const INDEX_TEXTS: u32 = 2;
/// The parts of an index have kinds from this number on, in the order of `SectionKind::ALL`.
const INDEX: u32 = 16;
/// The vectors of an index with a checksum per row, which is checked when the row is read.
const CHECKED_BY_ROW: u32 = 64;
const HASH: usize = 16;

/// How far the file was read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VectorMark {
    inode: u64,
    length: u64,
}

/// Vectors of one model and dimension to be written.
#[derive(Debug, Default)]
struct Group {
    texts: Vec<u8>,
    components: Vec<f32>,
    known: BTreeSet<TextHash>,
}

impl Group {
    /// Adds a row, unless the text has one.
    fn add(&mut self, text: TextHash, row: &[f32]) {
        if self.known.insert(text) {
            self.texts.extend_from_slice(text.as_bytes());
            self.components.extend_from_slice(row);
        }
    }

    fn write(&mut self, model: TextHash, n_columns: usize, writer: &mut SectionWriter) {
        let (Ok(n_columns), Ok(n_rows)) = (u32::try_from(n_columns), u32::try_from(self.known.len())) else { return };
        let label = Label { kind: ROWS, model, n_columns, n_rows };
        self.texts.resize(self.texts.len().next_multiple_of(64), 0);
        writer.push(label, &[&self.texts, bytemuck::cast_slice(&self.components)]);
    }
}

/// The rows of a section; none if its length does not match its header.
fn rows(section: &SectionView) -> Option<impl Iterator<Item = Row<'_>>> {
    let (n_rows, n_columns) = (section.label.n_rows as usize, section.label.n_columns as usize);
    let (texts, components) = section.split_at_checked(n_rows.checked_mul(HASH)?.checked_next_multiple_of(64)?)?;
    let components: &[f32] = bytemuck::try_cast_slice(components).ok()?;
    if n_columns == 0 || components.len() != n_rows.checked_mul(n_columns)? {
        return None;
    }
    Some(under_texts(section.label.model, texts, components.chunks_exact(n_columns)))
}

fn read(folder: &Folder, from: u64) -> Result<Sections> {
    let by_row = |label: Label| label.kind == CHECKED_BY_ROW;
    let (sections, flaws) = Sections::open(folder.files(), VECTORS, from, by_row)?;
    for flaw in flaws {
        let path = folder.files().path_of(VECTORS);
        tracing::warn!(path = %path_line(path), offset = flaw.offset, kind = ?flaw.kind, "vectors could not be read");
    }
    Ok(sections)
}

/// The sections added since the last read; none if there are none.
pub(crate) fn news(folder: &Folder, mark: &mut VectorMark) -> Result<Option<Sections>> {
    let Some(stamp) = folder.files().stamp(VECTORS)? else { return Ok(None) };
    let from = if stamp.inode == mark.inode && stamp.length >= mark.length { mark.length } else { 0 };
    if from > 0 && stamp.length == from {
        return Ok(None);
    }
    let sections = read(folder, from)?;
    *mark = VectorMark { inode: stamp.inode, length: sections.length };
    Ok(Some(sections))
}

/// The vectors of a model in these sections, for the texts that `keep` accepts. If a text has several, the last one counts.
pub(crate) fn vectors(
    sections: &Sections,
    model: TextHash,
    keep: impl Fn(&TextHash) -> bool,
) -> BTreeMap<TextHash, UnitVector> {
    let mut found = BTreeMap::new();
    for (_, text, row) in all_rows(sections).filter(|(its_model, text, _)| *its_model == model && keep(text)) {
        if let Some(vector) = UnitVector::from_stored(row.to_vec()) {
            found.insert(text, vector);
        }
    }
    found
}

/// A model, a text, and its vector.
type Row<'r> = (TextHash, TextHash, &'r [f32]);

/// The undamaged rows of the index, then the other rows.
fn all_rows(sections: &Sections) -> impl Iterator<Item = Row<'_>> {
    let floats = sections.get(CHECKED_BY_ROW).zip(sections.get(index_kind(SectionKind::Sums)));
    let of_index = floats.zip(sections.get(INDEX_TEXTS)).filter_map(|((floats, sums), texts)| {
        let sums: &[u32] = bytemuck::try_cast_slice(sums).ok()?;
        let rows = index_rows(floats, texts)?.zip(sums);
        Some(rows.filter_map(|(row, sum)| (row_sum(row.2) == *sum).then_some(row)))
    });
    // Written by an earlier version, with one checksum for the section.
    let whole = sections.get(index_kind(SectionKind::Floats)).zip(sections.get(INDEX_TEXTS));
    let whole = whole.filter_map(|(floats, texts)| index_rows(floats, texts));
    of_index.flatten().chain(whole.flatten()).chain(sections.get(ROWS).filter_map(rows).flatten())
}

fn index_rows<'r>(floats: &'r SectionView, texts: &'r SectionView) -> Option<impl Iterator<Item = Row<'r>> + use<'r>> {
    let components: &[f32] = bytemuck::try_cast_slice(floats).ok()?;
    let label = floats.label;
    let rows = components.chunks_exact(label.n_columns.max(1) as usize);
    let belongs = texts.label.model == label.model && texts.len() == rows.len() * HASH;
    belongs.then(|| under_texts(label.model, texts, rows))
}

/// Rows with the texts of these hashes.
fn under_texts<'r>(
    model: TextHash,
    texts: &'r [u8],
    rows: ChunksExact<'r, f32>,
) -> impl Iterator<Item = Row<'r>> + use<'r> {
    let (texts, _) = texts.as_chunks::<HASH>();
    texts.iter().zip(rows).map(move |(text, row)| (model, TextHash::from_bytes(*text), row))
}

fn stored_kind(part: SectionKind) -> u32 {
    if part == SectionKind::Floats { CHECKED_BY_ROW } else { index_kind(part) }
}

fn index_kind(part: SectionKind) -> u32 {
    (INDEX..).zip(SectionKind::ALL).find_map(|(kind, other)| (other == part).then_some(kind)).unwrap_or(INDEX)
}

/// A stored index, and the text of each of its rows.
pub(crate) struct StoredIndex {
    pub(crate) texts: Vec<TextHash>,
    sections: BTreeMap<SectionKind, SectionView>,
}

impl StoredIndex {
    /// The index of a model among sections, as far as it is complete.
    pub(crate) fn among(sections: &Sections, model: TextHash) -> Option<Self> {
        let texts = sections.get(INDEX_TEXTS).find(|section| section.label.model == model)?;
        let (texts, _) = texts.as_chunks::<HASH>();
        let texts = texts.iter().map(|text| TextHash::from_bytes(*text)).collect();
        let part = |part| sections.get(stored_kind(part)).find(|section| section.label.model == model);
        let sections = SectionKind::ALL.into_iter().filter_map(|name| Some((name, part(name)?.clone()))).collect();
        Some(Self { texts, sections })
    }

    pub(crate) fn section(&self, part: SectionKind) -> Option<Bytes> {
        Some(Arc::new(self.sections.get(&part)?.clone()))
    }
}

/// An index to be stored: its model, and the text of each live row.
pub(crate) struct IndexToStore<'i> {
    pub(crate) model: TextHash,
    pub(crate) index: &'i VectorIndex,
    pub(crate) texts: Vec<Option<TextHash>>,
}

impl IndexToStore<'_> {
    /// False if this type of index is not stored.
    fn write(&self, writer: &mut SectionWriter) -> bool {
        let (Some(sections), Some(n_columns)) = (self.index.sections(), self.index.dimension()) else { return false };
        let (Ok(n_rows), Ok(n_columns)) = (u32::try_from(self.texts.len()), u32::try_from(n_columns)) else {
            return false;
        };
        let label = |kind| Label { kind, model: self.model, n_columns, n_rows };
        let texts: Vec<u8> =
            self.texts.iter().flat_map(|text| text.map_or([0; HASH], |text| *text.as_bytes())).collect();
        writer.push(label(INDEX_TEXTS), &[&texts]);
        writer.push(label(index_kind(SectionKind::Head)), &[&self.index.head()]);
        writer.push(label(index_kind(SectionKind::Sums)), &[&self.index.sums()]);
        for (part, pieces) in sections {
            writer.push(label(stored_kind(part)), &pieces);
        }
        true
    }
}

/// Appends vectors of a model. Returns the length of the file. The file is not synced: lost vectors are embedded again.
pub(crate) fn append(
    folder: &Folder,
    model: TextHash,
    vectors: &[(TextHash, UnitVector)],
    _lock: &Lock,
) -> Result<u64> {
    let files = folder.files();
    let length = files.stamp(VECTORS)?.map_or(0, |stamp| stamp.length);
    if vectors.is_empty() {
        return Ok(length);
    }
    let start = files.read_start(VECTORS, MAGIC.len())?;
    // A foreign file or one of another version is replaced: nothing of it could be read.
    let length = if start == MAGIC { length } else { 0 };
    let mut writer = SectionWriter::behind(length);
    write_rows(vectors.iter().map(|(text, vector)| (model, *text, vector.as_slice())), &mut writer);
    let bytes = writer.into_bytes();
    if length > 0 {
        files.append(VECTORS, &bytes)?;
    } else {
        let temporary = folder.write_temporary("vectors", &bytes)?;
        files.rename(temporary, VECTORS)?;
    }
    Ok(length + bytes.len() as u64)
}

/// Writes the rows of models, the first row of each text and model. Returns how many rows were given.
fn write_rows<'r>(rows: impl Iterator<Item = Row<'r>>, writer: &mut SectionWriter) -> usize {
    let mut groups: BTreeMap<(TextHash, usize), Group> = BTreeMap::new();
    let mut n_rows = 0;
    for (model, text, row) in rows {
        groups.entry((model, row.len())).or_default().add(text, row);
        n_rows += 1;
    }
    for ((model, n_columns), mut group) in groups {
        group.write(model, n_columns, writer);
    }
    n_rows
}

/// Writes a new file: an index, these vectors of a model, and the rows of the old file for live texts of any model.
pub(crate) fn rewrite<'v>(
    folder: &Folder,
    live: &BTreeSet<TextHash>,
    index: Option<&IndexToStore<'_>>,
    own: impl Iterator<Item = Row<'v>>,
    _lock: &Lock,
) -> Result<()> {
    let mut writer = SectionWriter::behind(0);
    let indexed: BTreeSet<(TextHash, TextHash)> = match index {
        Some(index) if index.write(&mut writer) => {
            index.texts.iter().flatten().map(|text| (index.model, *text)).collect()
        }
        _ => BTreeSet::new(),
    };
    let is_wanted = |model, text| live.contains(&text) && !indexed.contains(&(model, text));
    let old = read(folder, 0)?;
    #[expect(
        clippy::unnecessary_filter_map,
        reason = "its items may live shorter than those of `own`: as long as the file's"
    )]
    let own = own.filter_map(|row| is_wanted(row.0, row.1).then_some(row));
    let rows = own.chain(all_rows(&old).filter(|row| is_wanted(row.0, row.1)));
    let n_rows = write_rows(rows, &mut writer);
    if n_rows == 0 && indexed.is_empty() && old.length == 0 {
        return Ok(());
    }
    let temporary = folder.write_temporary("vectors", &writer.into_bytes())?;
    folder.files().rename(temporary, VECTORS)?;
    folder.files().sync_directory(Name::TOP)
}
