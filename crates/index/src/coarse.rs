//! The signs of rotated rows' components, a bit each, to decide which rows are worth scoring by their codes of one byte.

use super::kernels::{CodeLine, LINE, MOST_LINES, SignRows, place_of};
use super::key_set::KeySet;
use super::rotation::{STRETCH, rotate};
use super::rows::Rows;
use super::shared::Shared;

/// Rows per block.
pub(crate) const BLOCK: usize = LINE;

/// Sixty-four rows side by side: each byte of a line holds eight signs of one row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coarse {
    lines: Shared<CodeLine>,
    /// The factor of the sum of signed components, per row.
    scales: Vec<f32>,
    /// How far a product may exceed its estimate, per row.
    margins: Vec<f32>,
    /// The first row's key, per block, if the keys of its rows are consecutive.
    first_keys: Vec<Option<u32>>,
}

impl Coarse {
    /// Rows that have signs: a multiple of sixty-four.
    pub(crate) fn len(&self) -> usize {
        self.scales.len()
    }

    /// Bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let numbers = size_of_val(&self.scales[..]) + size_of_val(&self.margins[..]);
        size_of_val(&self.lines[..]) + numbers + size_of_val(&self.first_keys[..])
    }

    /// Makes the signs of the whole blocks of rows that have none yet. Rows that are too long get none.
    pub(crate) fn join(&mut self, rows: &Rows) {
        if rows.lines_per_row() > MOST_LINES {
            return;
        }
        let n_lines = rows.lines_per_row() * 8;
        let mut rotated = Vec::new();
        for start in (self.len()..rows.len()).step_by(BLOCK).filter(|start| start + BLOCK <= rows.len()) {
            let mut lines = vec![CodeLine([0; LINE]); n_lines];
            for row in start..start + BLOCK {
                rotate(rows.codes_of(row), &mut rotated);
                put(&mut lines, place_of(row - start), &rotated);
                self.scales.push(scale_of(&rotated, rows.scale(row) / STRETCH));
            }
            self.lines.to_mut().extend_from_slice(&lines);
        }
        self.complete(rows);
    }

    /// What follows from the rows and their scales.
    fn complete(&mut self, rows: &Rows) {
        let n_components = rows.lines_per_row() * LINE;
        let scales = self.scales.iter().skip(self.margins.len());
        self.margins.extend(scales.map(|scale| margin_of(*scale, n_components)));
        for block in self.first_keys.len()..self.len() / BLOCK {
            let keys = || (block * BLOCK..(block + 1) * BLOCK).map(|row| rows.key(row));
            let follow_each_other = keys().zip(keys().skip(1)).all(|(key, next)| key.checked_add(1) == Some(next));
            self.first_keys.push(follow_each_other.then(|| rows.key(block * BLOCK)));
        }
    }

    /// What a snapshot keeps: the signs and the scales.
    pub(crate) fn parts(&self) -> (&[CodeLine], &[f32]) {
        (&self.lines, &self.scales)
    }

    /// Signs as they were stored, of the first of these rows. `None` when they do not belong to them.
    pub(crate) fn from_parts(lines: Shared<CodeLine>, scales: Vec<f32>, rows: &Rows) -> Option<Self> {
        let is_whole = scales.len().is_multiple_of(BLOCK)
            && scales.len() <= rows.len()
            && lines.len() == scales.len() / BLOCK * rows.lines_per_row() * 8;
        is_whole.then(|| {
            let mut coarse = Self { lines, scales, ..Self::default() };
            coarse.complete(rows);
            coarse
        })
    }

    /// A bit for each row of a block: its key is in the set.
    pub(crate) fn wanted(&self, block: usize, rows: &Rows, keys: &KeySet) -> u64 {
        match self.first_keys.get(block).copied().flatten() {
            Some(first) => keys.bits_from(first),
            None => {
                (0..BLOCK).fold(0, |bits, nth| bits | u64::from(keys.contains(rows.key(block * BLOCK + nth))) << nth)
            }
        }
    }

    /// Some blocks of rows.
    pub(crate) fn blocks(&self, blocks: std::ops::Range<usize>, lines_per_row: usize) -> SignRows<'_> {
        let n_lines = lines_per_row * 8;
        let rows = blocks.start * BLOCK..blocks.end * BLOCK;
        SignRows {
            lines: self.lines.get(blocks.start * n_lines..blocks.end * n_lines).unwrap_or_default(),
            scales: self.scales.get(rows.clone()).unwrap_or_default(),
            margins: self.margins.get(rows).unwrap_or_default(),
        }
    }
}

/// Writes a row's signs, eight into one byte of each line.
fn put(lines: &mut [CodeLine], place: usize, row: &[[i32; LINE]]) {
    for (line, components) in lines.iter_mut().zip(row.as_flattened().as_chunks::<8>().0) {
        if let Some(byte) = line.0.get_mut(place) {
            let sign = |(nth, component): (usize, &i32)| u8::from(*component > 0) << nth;
            *byte = components.iter().enumerate().map(sign).sum::<u8>().cast_signed();
        }
    }
}

/// The one with which a row's product with itself is right: 1 / Σ |component|.
fn scale_of(row: &[[i32; LINE]], scale: f32) -> f32 {
    let sum: f32 =
        row.iter().map(|line| line.iter().map(|component| component.unsigned_abs()).sum::<u32>() as f32).sum();
    if sum > 0.0 { 1.0 / (sum * scale) } else { 0.0 }
}

/// A unit vector's product with the vector of a row's signs, scaled, is a·(true product) plus what the part of the signs' vector that
/// is orthogonal to the row adds. Over random rotations that part has the standard deviation √((s²·d − 1) / (d − 1)) for a
/// scale s and d components (Gao and Long, `RaBitQ`, 2024).
fn margin_of(scale: f32, dimension: usize) -> f32 {
    let d = dimension as f32;
    DEVIATIONS * ((scale * scale * d - 1.0).max(0.0) / (d - 1.0).max(1.0)).sqrt()
}

/// Standard deviations that a row's product may be above what its signs say.
const DEVIATIONS: f32 = 3.5;
