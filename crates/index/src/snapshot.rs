//! An index as sections of bytes, and back, to store an index in files.
//!
//! To store: write [`VectorIndex::head`] as [`SectionKind::Head`], [`VectorIndex::sums`] as [`SectionKind::Sums`] and each of
//! [`VectorIndex::sections`], and keep [`VectorIndex::stored_keys`] in a format of your own. To load: pass them to
//! [`VectorIndex::from_sections`].
//!
//! The caller checks the sections for damage, except for [`SectionKind::Floats`]: each of its rows is compared with its checksum in
//! [`SectionKind::Sums`] when it is first read, so that opening does not read a large file. [`VectorIndex::is_damaged`] returns whether such
//! a comparison failed. A missing or invalid section, other than floats, checksums and head, is made again from the floats.

use std::sync::Arc;

use super::coarse::Coarse;
use super::config::GraphShape;
use super::float_block::{BLOCK_ROWS, FloatBlock, StoredFloats, floats_of};
use super::graph::Graph;
use super::rows::Rows;
use super::shared::Shared;
use crate::{IndexConfig, VectorIndex};

/// Which section of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SectionKind {
    /// Counts and settings: six little-endian numbers of 32 bits.
    Head,
    /// The vectors, one row after the other.
    Floats,
    /// The rows' one-byte codes.
    Codes,
    /// The scale of each row's codes, a 32-bit float.
    Scales,
    /// The graph's links on the lowest level.
    Ground,
    /// The position of each row's first link in [`SectionKind::Upper`].
    Starts,
    /// The graph's links on the upper levels.
    Upper,
    /// The checksum of each row of the floats.
    Sums,
    /// The signs of the rows' rotated components.
    Signs,
    /// The scale of each row's signs.
    SignScales,
}

impl SectionKind {
    /// All sections, in their order in a file.
    pub const ALL: [Self; 10] = [
        Self::Head,
        Self::Floats,
        Self::Codes,
        Self::Scales,
        Self::Ground,
        Self::Starts,
        Self::Upper,
        Self::Sums,
        Self::Signs,
        Self::SignScales,
    ];
}

pub use super::float_block::row_sum;
pub use super::shared::Bytes;

/// A section and its pieces, in order.
pub type Section<'a> = (SectionKind, Vec<&'a [u8]>);

impl VectorIndex {
    /// All sections except head and sums, in little-endian order.
    ///
    /// `None` on a big-endian machine, and if the index [is damaged](VectorIndex::is_damaged).
    #[must_use]
    pub fn sections(&self) -> Option<Vec<Section<'_>>> {
        if cfg!(target_endian = "big") || self.is_damaged() {
            return None;
        }
        let mut sections = Vec::with_capacity(SectionKind::ALL.len());
        let parts = self.row_parts();
        let floats = parts.iter().flat_map(|rows| rows.float_blocks()).map(bytemuck::cast_slice).collect();
        sections.push((SectionKind::Floats, floats));
        sections.push((SectionKind::Codes, parts.iter().map(|rows| bytemuck::cast_slice(rows.codes())).collect()));
        sections.push((SectionKind::Scales, parts.iter().map(|rows| bytemuck::cast_slice(rows.scales())).collect()));
        let (signs, scales) = self.coarse().parts();
        if !scales.is_empty() {
            sections.push((SectionKind::Signs, vec![bytemuck::cast_slice(signs)]));
            sections.push((SectionKind::SignScales, vec![bytemuck::cast_slice(scales)]));
        }
        if let Some(graph) = self.graph() {
            let ([ground, starts, upper], _) = graph.parts();
            for (part, links) in
                [(SectionKind::Ground, ground), (SectionKind::Starts, starts), (SectionKind::Upper, upper)]
            {
                sections.push((part, vec![bytemuck::cast_slice(links)]));
            }
        }
        Some(sections)
    }

    /// The section [`SectionKind::Head`].
    #[must_use]
    pub fn head(&self) -> Vec<u8> {
        let parts = self.row_parts();
        let entry = self.graph().map_or(u32::MAX, |graph| graph.parts().1);
        let shape = self.config().shape();
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let error = parts.iter().map(|rows| rows.error()).fold(0.0, f32::max);
        let head = [
            small(self.dimension().unwrap_or(0)),
            small(parts.iter().map(|rows| rows.len()).sum()),
            error.to_bits(),
            small(shape.links),
            small(shape.ef_construction),
            entry,
        ];
        head.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    /// The section [`SectionKind::Sums`]: for each row of the floats, its CRC-32 as four little-endian bytes.
    #[must_use]
    pub fn sums(&self) -> Vec<u8> {
        self.row_parts().iter().flat_map(|rows| rows.sums()).flat_map(u32::to_le_bytes).collect()
    }

    /// The key of each stored row, in their order; `None` if the row was removed.
    #[must_use]
    pub fn stored_keys(&self) -> Vec<Option<u32>> {
        self.keys_by_row()
    }

    /// An index from stored sections, with the keys that its rows have now; a row without a key is removed.
    ///
    /// `None` if the floats or their checksums are missing or do not fit the keys. Codes, signs and links that are missing or invalid
    /// are made again. Links are not used if the settings require no graph.
    pub fn from_sections(
        config: IndexConfig,
        section: impl Fn(SectionKind) -> Option<Bytes>,
        keys: &[Option<u32>],
    ) -> Option<Self> {
        if cfg!(target_endian = "big") {
            return None;
        }
        let head = Head::read(&section(SectionKind::Head)?)?;
        let rows = stored_rows(&head, &section, keys)?;
        let coarse = section(SectionKind::Signs).zip(section(SectionKind::SignScales)).and_then(|(signs, scales)| {
            Coarse::from_parts(Shared::stored(&signs)?, floats_of(scales.as_ref().as_ref()).to_vec(), &rows)
        });
        let mut index = Self::new(config);
        let uses_links = index.config().has_graph(head.n_rows) && index.graph().is_some();
        let graph = uses_links.then(|| stored_graph(&head, index.config().shape(), &section)).flatten();
        index.restore(rows, coarse, graph, keys);
        Some(index)
    }
}

/// The numbers of [`SectionKind::Head`], in their order there.
struct Head {
    dimension: usize,
    n_rows: usize,
    /// The largest error among the rows' codes.
    error: f32,
    shape: GraphShape,
    /// The row at which searches enter the graph.
    entry: u32,
}

impl Head {
    fn read(bytes: &Bytes) -> Option<Self> {
        let [dimension, n_rows, error, links, ef_construction, entry] =
            <[u32; 6]>::try_from(numbers_of(bytes)?).ok()?;
        Some(Self {
            dimension: dimension as usize,
            n_rows: n_rows as usize,
            error: f32::from_bits(error),
            shape: GraphShape { links: links as usize, ef_construction: ef_construction as usize },
            entry,
        })
    }
}

fn stored_rows(head: &Head, section: impl Fn(SectionKind) -> Option<Bytes>, keys: &[Option<u32>]) -> Option<Rows> {
    let Head { dimension, n_rows, error, .. } = *head;
    let floats = section(SectionKind::Floats)?;
    let n_floats = floats_of(floats.as_ref().as_ref()).len();
    if dimension == 0 || n_rows != keys.len() || n_rows.checked_mul(dimension) != Some(n_floats) {
        return None;
    }
    let sums = numbers_of(&section(SectionKind::Sums)?).filter(|sums| sums.len() == n_rows)?;
    let floats = stored_floats(&floats, &sums, dimension)?;
    let codes = section(SectionKind::Codes).zip(section(SectionKind::Scales)).and_then(|(codes, scales)| {
        Some((Shared::stored(&codes)?, floats_of(scales.as_ref().as_ref()).to_vec(), error))
    });
    let row_keys = keys.iter().map(|key| key.unwrap_or(u32::MAX)).collect();
    Rows::from_parts(dimension, row_keys, floats, codes)
}

/// The whole blocks, each row of which is checked when it is first read, and the floats of the rest, which are checked now. `None` if
/// one of these does not match its checksum.
fn stored_floats(floats: &Bytes, sums: &[u32], dimension: usize) -> Option<(Vec<FloatBlock>, Vec<f32>)> {
    let block = BLOCK_ROWS * dimension;
    let mut sums = sums.chunks_exact(BLOCK_ROWS);
    let blocks: Vec<FloatBlock> = (0..)
        .zip(sums.by_ref())
        .map(|(nth, sums): (usize, _)| {
            let range = nth * block..(nth + 1) * block;
            FloatBlock::Stored(Arc::new(StoredFloats::new(Arc::clone(floats), range, sums.to_vec())))
        })
        .collect();
    let rest = floats_of(floats.as_ref().as_ref()).get(blocks.len() * block..).unwrap_or_default();
    let is_intact = rest.chunks_exact(dimension).map(row_sum).eq(sums.remainder().iter().copied());
    is_intact.then(|| (blocks, rest.to_vec()))
}

/// `None` if a section is missing or invalid, or if the graph was made with other settings.
fn stored_graph(head: &Head, shape: GraphShape, section: impl Fn(SectionKind) -> Option<Bytes>) -> Option<Graph> {
    let links = |part| Shared::stored(&section(part)?);
    let [ground, starts, upper] =
        [links(SectionKind::Ground)?, links(SectionKind::Starts)?, links(SectionKind::Upper)?];
    let fits = head.shape == shape && starts.len() <= head.n_rows;
    fits.then(|| Graph::from_parts(shape, [ground, starts, upper], head.entry)).flatten()
}

fn numbers_of(bytes: &Bytes) -> Option<Vec<u32>> {
    bytemuck::try_cast_slice(bytes.as_ref().as_ref()).ok().map(<[u32]>::to_vec)
}

#[cfg(test)]
mod tests;
