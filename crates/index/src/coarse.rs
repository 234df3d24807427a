//! The signs of rotated rows' components, a bit each, to decide which rows are worth scoring by their codes of one byte.

use super::kernels::{LINE, Line, MOST_LINES, SignRows, place_of};
use super::key_set::KeySet;
use super::rotation::{STRETCH, rotate};
use super::rows::Rows;

/// Rows a block.
pub(crate) const BLOCK: usize = LINE;

/// Sixty-four rows side by side: each byte of a line holds eight signs of one row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coarse {
    lines: Vec<Line>,
    /// One a row; what the sum of signed components is multiplied by.
    scales: Vec<f32>,
    /// One a row; how much more than the sum says a product may be.
    margins: Vec<f32>,
    /// One a block: the first row's key, where the keys of its rows follow each other.
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

    /// Takes in the whole blocks of rows that are not in yet; none where a row is too long.
    pub(crate) fn join(&mut self, rows: &Rows) {
        let n_lines = rows.lines_per_row() * 8;
        let mut rotated = Vec::new();
        while rows.lines_per_row() <= MOST_LINES && self.len() + BLOCK <= rows.len() {
            let (start, first) = (self.lines.len(), self.len());
            let keys = || (first..first + BLOCK).map(|row| rows.key(row));
            let follow_each_other = keys().zip(keys().skip(1)).all(|(key, next)| key.checked_add(1) == Some(next));
            self.first_keys.push(follow_each_other.then(|| rows.key(first)));
            self.lines.resize(start + n_lines, Line([0; LINE]));
            for nth in 0..BLOCK {
                let row = self.len();
                rotate(rows.codes_of(row), &mut rotated);
                if let Some(lines) = self.lines.get_mut(start..) {
                    put(lines, place_of(nth), &rotated);
                }
                let scale = scale_of(&rotated, rows.scale(row) / STRETCH);
                self.scales.push(scale);
                self.margins.push(margin_of(scale, rotated.len() * LINE));
            }
        }
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
fn put(lines: &mut [Line], place: usize, row: &[[i32; LINE]]) {
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
