//! The floats of 1,024 rows: in memory, or in a section of a file whose rows are checked when one of them is first read.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::shared::Bytes;

/// Rows per block. A full block is never copied again.
pub(crate) const BLOCK_ROWS: usize = 1024;

/// A block of whole rows. Clones share it.
#[derive(Clone)]
pub(crate) enum FloatBlock {
    Own(Arc<Vec<f32>>),
    Stored(Arc<StoredFloats>),
}

/// Rows in a section of a file.
pub(crate) struct StoredFloats {
    section: Bytes,
    /// Which of the section's numbers.
    range: Range<usize>,
    /// The checksum of each row.
    sums: Vec<u32>,
    /// One bit per row: set once the row was found to match its checksum.
    checked: [AtomicU64; BLOCK_ROWS / 64],
    mended: OnceLock<Mended>,
}

/// A block with a row that did not match its checksum.
struct Mended {
    floats: Vec<f32>,
    /// The rows that were replaced by what their codes represent.
    damaged: Vec<usize>,
}

/// The checksum that a row of vectors is stored with: a CRC-32 over its little-endian components.
#[must_use]
pub fn row_sum(row: &[f32]) -> u32 {
    crc32fast::hash(bytemuck::cast_slice(row))
}

pub(crate) fn floats_of(bytes: &[u8]) -> &[f32] {
    bytemuck::try_cast_slice(bytes).unwrap_or_default()
}

impl StoredFloats {
    pub(crate) fn new(section: Bytes, range: Range<usize>, sums: Vec<u32>) -> Self {
        Self { section, range, sums, checked: Default::default(), mended: OnceLock::new() }
    }

    fn raw(&self) -> &[f32] {
        floats_of(self.section.as_ref().as_ref()).get(self.range.clone()).unwrap_or_default()
    }

    fn row(&self, row: usize, dimension: usize, decoded: &impl Fn(usize) -> Vec<f32>) -> &[f32] {
        let place = row * dimension..(row + 1) * dimension;
        if let Some(mended) = self.mended.get() {
            return mended.floats.get(place).unwrap_or_default();
        }
        let floats = self.raw().get(place.clone()).unwrap_or_default();
        let (word, bit) = (self.checked.get(row / 64), 1 << (row % 64));
        if word.is_some_and(|word| word.load(Ordering::Relaxed) & bit != 0) {
            return floats;
        }
        if self.sums.get(row) == Some(&row_sum(floats)) {
            if let Some(word) = word {
                word.fetch_or(bit, Ordering::Relaxed);
            }
            return floats;
        }
        self.mended.get_or_init(|| self.mend(dimension, decoded)).floats.get(place).unwrap_or_default()
    }

    fn mend(&self, dimension: usize, decoded: &impl Fn(usize) -> Vec<f32>) -> Mended {
        let mut mended = Mended { floats: Vec::with_capacity(self.range.len()), damaged: Vec::new() };
        for (row, (floats, sum)) in self.raw().chunks_exact(dimension).zip(&self.sums).enumerate() {
            if row_sum(floats) == *sum {
                mended.floats.extend_from_slice(floats);
            } else {
                mended.floats.extend(decoded(row));
                mended.damaged.push(row);
            }
        }
        mended
    }
}

impl FloatBlock {
    /// As they are in memory or in the file, checked or not.
    pub(crate) fn raw(&self) -> &[f32] {
        match self {
            Self::Own(floats) => floats,
            Self::Stored(stored) => stored.raw(),
        }
    }

    /// A row's components; of a row that is damaged, what `decoded` gives for it.
    #[inline]
    pub(crate) fn row(&self, row: usize, dimension: usize, decoded: impl Fn(usize) -> Vec<f32>) -> &[f32] {
        match self {
            Self::Own(floats) => floats.get(row * dimension..(row + 1) * dimension).unwrap_or_default(),
            Self::Stored(stored) => stored.row(row, dimension, &decoded),
        }
    }

    /// The rows' checksums: the stored ones, so that damage remains detectable.
    pub(crate) fn sums(&self, dimension: usize) -> Vec<u32> {
        match self {
            Self::Own(floats) => floats.chunks_exact(dimension).map(row_sum).collect(),
            Self::Stored(stored) => stored.sums.clone(),
        }
    }

    /// True when a row was read and found damaged.
    pub(crate) fn is_damaged(&self) -> bool {
        matches!(self, Self::Stored(stored) if stored.mended.get().is_some())
    }

    /// True when this row was found damaged.
    pub(crate) fn is_row_damaged(&self, row: usize) -> bool {
        matches!(self, Self::Stored(stored) if stored.mended.get().is_some_and(|mended| mended.damaged.contains(&row)))
    }
}
