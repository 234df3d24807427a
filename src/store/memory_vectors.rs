//! The vectors of a vector memory's texts: sections of rows, each row under the hash of its text and each section of one
//! model. Never wrong, at most missing.

use std::collections::{BTreeMap, BTreeSet};

use super::disk::Lock;
use super::place::Place;
use super::sections::{Label, MAGIC, SectionView, SectionWriter, Sections};
use crate::embed::UnitVector;
use crate::error::{Error, Result};
use crate::lesson::TextHash;

/// Rows of vectors: the texts' hashes, zeros up to a multiple of 64, the components.
const ROWS: u32 = 1;
const HASH: usize = 16;

/// How far the file was read.
#[derive(Debug, Default)]
pub(crate) struct VectorMark {
    inode: u64,
    length: u64,
}

/// Vectors of one model and dimension, ready to be written.
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

    fn write(&mut self, model: TextHash, n_columns: u32, writer: &mut SectionWriter) {
        let Ok(n_rows) = u32::try_from(self.known.len()) else { return };
        let label = Label { kind: ROWS, model, n_columns, n_rows };
        self.texts.resize(self.texts.len().next_multiple_of(64), 0);
        writer.push(label, &[&self.texts, bytemuck::cast_slice(&self.components)]);
    }
}

/// The rows of a section; nothing when its length does not fit what it says.
fn rows(section: &SectionView) -> Option<impl Iterator<Item = (TextHash, &[f32])>> {
    let (n_rows, n_columns) = (section.label.n_rows as usize, section.label.n_columns as usize);
    let (texts, components) = section.split_at_checked(n_rows.checked_mul(HASH)?.checked_next_multiple_of(64)?)?;
    let components: &[f32] = bytemuck::try_cast_slice(components).ok()?;
    if n_columns == 0 || components.len() != n_rows.checked_mul(n_columns)? {
        return None;
    }
    let (texts, _) = texts.as_chunks::<HASH>();
    let texts = texts.iter().map(|text| TextHash::from_bytes(*text));
    Some(texts.zip(components.chunks_exact(n_columns)))
}

fn read(place: &Place, from: u64) -> Result<Sections> {
    let path = place.folder.vectors();
    let (sections, flaws) = Sections::open(place.disk.as_ref(), &path, from).map_err(Error::io("read", &path))?;
    for flaw in flaws {
        tracing::warn!(path = %path.display(), offset = flaw.offset, kind = ?flaw.kind, "vectors could not be read");
    }
    Ok(sections)
}

/// What the file holds of a model since the last look; `keep` says which texts are asked for. The last one counts where a
/// text has several.
pub(crate) fn look(
    place: &Place,
    mark: &mut VectorMark,
    model: TextHash,
    keep: impl Fn(&TextHash) -> bool,
) -> Result<BTreeMap<TextHash, UnitVector>> {
    let mut found = BTreeMap::new();
    let Some(stamp) = place.stamp(&place.folder.vectors())? else { return Ok(found) };
    let from = if stamp.inode == mark.inode && stamp.length >= mark.length { mark.length } else { 0 };
    if from > 0 && stamp.length == from {
        return Ok(found);
    }
    let sections = read(place, from)?;
    *mark = VectorMark { inode: stamp.inode, length: sections.length };
    for section in sections.get(ROWS).filter(|section| section.label.model == model) {
        for (text, row) in rows(section).into_iter().flatten().filter(|(text, _)| keep(text)) {
            if let Some(vector) = UnitVector::from_stored(row.to_vec()) {
                found.insert(text, vector);
            }
        }
    }
    Ok(found)
}

/// Appends vectors of a model; the length of the file afterwards. Not made safe: what is lost is embedded again.
pub(crate) fn append(place: &Place, model: TextHash, vectors: &[(TextHash, UnitVector)], _lock: &Lock) -> Result<u64> {
    let path = place.folder.vectors();
    let length = place.stamp(&path)?.map_or(0, |stamp| stamp.length);
    if vectors.is_empty() {
        return Ok(length);
    }
    let start = place.disk.read_start(&path, MAGIC.len()).map_err(Error::io("read", &path))?;
    // A file that is not ours, or of another version, is made anew: nothing of it was understood.
    let length = if start == MAGIC { length } else { 0 };
    let mut writer = SectionWriter::behind(length);
    for (n_columns, mut group) in by_dimension(vectors) {
        group.write(model, n_columns, &mut writer);
    }
    let bytes = writer.into_bytes();
    if length > 0 {
        place.disk.append(&path, &bytes).map_err(Error::io("append to", &path))?;
    } else {
        let temporary = place.write_temporary("vectors", &bytes)?;
        place.rename(&temporary, &path)?;
    }
    Ok(length + bytes.len() as u64)
}

fn by_dimension(vectors: &[(TextHash, UnitVector)]) -> BTreeMap<u32, Group> {
    let mut groups: BTreeMap<u32, Group> = BTreeMap::new();
    for (text, vector) in vectors {
        if let Ok(n_columns) = u32::try_from(vector.as_slice().len()) {
            groups.entry(n_columns).or_default().add(*text, vector.as_slice());
        }
    }
    groups
}

/// Writes the file anew: these vectors of a model, and what the old file holds of any model for live texts.
pub(crate) fn rewrite<'v>(
    place: &Place,
    live: &BTreeSet<TextHash>,
    own: impl Iterator<Item = (TextHash, TextHash, &'v [f32])>,
    _lock: &Lock,
) -> Result<()> {
    let mut groups: BTreeMap<(TextHash, u32), Group> = BTreeMap::new();
    for (model, text, row) in own.filter(|(_, text, _)| live.contains(text)) {
        if let Ok(n_columns) = u32::try_from(row.len()) {
            groups.entry((model, n_columns)).or_default().add(text, row);
        }
    }
    let old = read(place, 0)?;
    for section in old.get(ROWS) {
        for (text, row) in rows(section).into_iter().flatten().filter(|(text, _)| live.contains(text)) {
            groups.entry((section.label.model, section.label.n_columns)).or_default().add(text, row);
        }
    }
    let path = place.folder.vectors();
    if groups.is_empty() && old.length == 0 {
        return Ok(());
    }
    let mut writer = SectionWriter::behind(0);
    for ((model, n_columns), mut group) in groups {
        group.write(model, n_columns, &mut writer);
    }
    let temporary = place.write_temporary("vectors", &writer.into_bytes())?;
    place.rename(&temporary, &path)?;
    place.sync_folder(place.folder.path())
}
