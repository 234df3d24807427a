//! The vectors of an index: codes of one byte a component to look for candidates with, the floats to decide with.

use std::sync::Arc;

use super::float_block::{BLOCK_ROWS, FloatBlock, row_sum};
use super::kernels::{CodeLine, LINE, prefetch};
use super::shared::Shared;

/// A vector as codes: component ≈ code · scale.
#[derive(Clone, Debug)]
pub(crate) struct Codes {
    pub(crate) lines: Vec<CodeLine>,
    pub(crate) scale: f32,
    /// ‖vector − codes · scale‖.
    pub(crate) error: f32,
}

impl Codes {
    /// The largest component becomes 127. The last line is filled up with 0.
    pub(crate) fn of(vector: &[f32]) -> Self {
        let largest = vector.iter().fold(0.0_f32, |largest, component| largest.max(component.abs()));
        // A unit vector has a component that is not zero.
        let scale = (largest / 127.0).max(f32::MIN_POSITIVE);
        let mut square = 0.0_f32;
        let lines = vector
            .chunks(LINE)
            .map(|chunk| {
                let mut line = CodeLine([0; LINE]);
                for (code, component) in line.0.iter_mut().zip(chunk) {
                    let rounded = (component / scale).round();
                    square += (component - rounded * scale).powi(2);
                    #[expect(clippy::cast_possible_truncation, reason = "it is in -127..=127")]
                    let narrow = rounded as i8;
                    *code = narrow;
                }
                line
            })
            .collect();
        Self { lines, scale, error: square.sqrt() }
    }
}

/// Rows stored one after the other, numbered from 0. Each has a key of the caller's.
#[derive(Clone)]
pub(crate) struct Rows {
    dimension: usize,
    /// Lines of codes per row.
    lines: usize,
    codes: Shared<CodeLine>,
    scales: Vec<f32>,
    keys: Vec<u32>,
    full: Vec<FloatBlock>,
    open: Vec<f32>,
    /// The largest error among the rows' codes.
    error: f32,
}

impl Rows {
    pub(crate) fn new(dimension: usize) -> Self {
        Self {
            dimension,
            lines: dimension.div_ceil(LINE),
            codes: Shared::default(),
            scales: Vec::new(),
            keys: Vec::new(),
            full: Vec::new(),
            open: Vec::new(),
            error: 0.0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    pub(crate) fn push(&mut self, key: u32, vector: &[f32]) {
        debug_assert_eq!(vector.len(), self.dimension, "checked by the index");
        let codes = Codes::of(vector);
        self.codes.to_mut().extend_from_slice(&codes.lines);
        self.scales.push(codes.scale);
        self.error = self.error.max(codes.error);
        self.keys.push(key);
        self.open.extend_from_slice(vector);
        if self.open.len() == BLOCK_ROWS * self.dimension {
            self.full.push(FloatBlock::Own(Arc::new(std::mem::take(&mut self.open))));
        }
    }

    /// Appends the rows of another. Whole blocks of floats are shared, not copied, if its own blocks are whole.
    pub(crate) fn append(&mut self, other: &Self) {
        self.codes.to_mut().extend_from_slice(&other.codes);
        self.scales.extend_from_slice(&other.scales);
        self.keys.extend_from_slice(&other.keys);
        self.error = self.error.max(other.error);
        if self.open.is_empty() {
            self.full.extend(other.full.iter().cloned());
            self.open.clone_from(&other.open);
            return;
        }
        for row in 0..other.len() {
            self.open.extend_from_slice(other.floats(row));
            if self.open.len() == BLOCK_ROWS * self.dimension {
                self.full.push(FloatBlock::Own(Arc::new(std::mem::take(&mut self.open))));
            }
        }
    }

    /// Rows as they were stored: whole blocks of floats and the rest, and the codes where they were stored too. `None` when the
    /// parts do not belong together.
    pub(crate) fn from_parts(
        dimension: usize,
        keys: Vec<u32>,
        (full, open): (Vec<FloatBlock>, Vec<f32>),
        codes: Option<(Shared<CodeLine>, Vec<f32>, f32)>,
    ) -> Option<Self> {
        let block = BLOCK_ROWS * dimension;
        let n_floats = full.len() * block + open.len();
        let is_whole = dimension > 0
            && n_floats == keys.len() * dimension
            && open.len() < block
            && full.iter().all(|floats| floats.raw().len() == block);
        if !is_whole {
            return None;
        }
        let mut rows = Self { keys, full, open, ..Self::new(dimension) };
        let codes = codes.filter(|(codes, scales, error)| {
            codes.len() == rows.len() * rows.lines && scales.len() == rows.len() && error.is_finite()
        });
        if let Some((codes, scales, error)) = codes {
            (rows.codes, rows.scales, rows.error) = (codes, scales, error);
        } else {
            for row in 0..rows.len() {
                let codes = Codes::of(rows.floats(row));
                rows.codes.to_mut().extend_from_slice(&codes.lines);
                rows.scales.push(codes.scale);
                rows.error = rows.error.max(codes.error);
            }
            // There were no stored codes to replace a damaged row by.
            if rows.is_damaged() {
                return None;
            }
        }
        Some(rows)
    }

    /// All components, block by block, as they are stored.
    pub(crate) fn float_blocks(&self) -> impl Iterator<Item = &[f32]> {
        self.full.iter().map(FloatBlock::raw).chain([&self.open[..]])
    }

    /// The checksum of each row's components.
    pub(crate) fn sums(&self) -> Vec<u32> {
        let full = self.full.iter().flat_map(|block| block.sums(self.dimension));
        full.chain(self.open.chunks_exact(self.dimension.max(1)).map(row_sum)).collect()
    }

    /// True when a row was read whose components did not fit their checksum.
    pub(crate) fn is_damaged(&self) -> bool {
        self.full.iter().any(FloatBlock::is_damaged)
    }

    /// True when this row was read, and its components did not fit their checksum.
    pub(crate) fn is_row_damaged(&self, row: usize) -> bool {
        self.full.get(row / BLOCK_ROWS).is_some_and(|block| block.is_row_damaged(row % BLOCK_ROWS))
    }

    /// The largest error among the rows' codes.
    pub(crate) fn error(&self) -> f32 {
        self.error
    }

    /// The row's components; of a stored row that is damaged, what its codes represent.
    pub(crate) fn floats(&self, row: usize) -> &[f32] {
        let place = row % BLOCK_ROWS;
        match self.full.get(row / BLOCK_ROWS) {
            Some(block) => block.row(place, self.dimension, |other| self.decoded(row - place + other)),
            None => self.open.get(place * self.dimension..(place + 1) * self.dimension).unwrap_or_default(),
        }
    }

    /// The components that the row's codes represent.
    fn decoded(&self, row: usize) -> Vec<f32> {
        let scale = self.scale(row);
        let codes = self.codes_of(row).iter().flat_map(|line| line.0);
        let mut components: Vec<f32> = codes.take(self.dimension).map(|code| f32::from(code) * scale).collect();
        components.resize(self.dimension, 0.0);
        components
    }

    /// Prefetches the row's components.
    pub(crate) fn fetch_floats(&self, row: usize) {
        let (block, start) = (self.full.get(row / BLOCK_ROWS), row % BLOCK_ROWS * self.dimension);
        let floats = block.map_or(&self.open[..], FloatBlock::raw).get(start..start + self.dimension);
        for line in floats.unwrap_or_default().chunks(LINE / size_of::<f32>()) {
            prefetch(line.first());
        }
    }

    /// Prefetches the row's codes.
    #[inline]
    pub(crate) fn fetch_codes(&self, row: usize) {
        for line in self.codes_of(row) {
            prefetch(Some(line));
        }
    }

    pub(crate) fn key(&self, row: usize) -> u32 {
        self.keys.get(row).copied().unwrap_or(u32::MAX)
    }

    /// All codes, `lines_per_row` lines per row.
    pub(crate) fn codes(&self) -> &[CodeLine] {
        &self.codes
    }

    pub(crate) fn lines_per_row(&self) -> usize {
        self.lines
    }

    pub(crate) fn codes_of(&self, row: usize) -> &[CodeLine] {
        self.codes.get(row * self.lines..(row + 1) * self.lines).unwrap_or_default()
    }

    /// The codes and the scales of some rows.
    pub(crate) fn tile(&self, rows: std::ops::Range<usize>) -> (&[CodeLine], &[f32]) {
        let codes = self.codes.get(rows.start * self.lines..rows.end * self.lines).unwrap_or_default();
        (codes, self.scales.get(rows).unwrap_or_default())
    }

    pub(crate) fn scales(&self) -> &[f32] {
        &self.scales
    }

    #[inline]
    pub(crate) fn scale(&self, row: usize) -> f32 {
        self.scales.get(row).copied().unwrap_or(0.0)
    }

    /// How far the product of codes may be from the product of the vectors, for a query of this quantisation error.
    ///
    /// With q̂ and r̂ the vectors that the codes represent: q·r − q̂·r̂ = (q − q̂)·r + q̂·(r − r̂), so by Cauchy and Schwarz at
    /// most `e_q · 1 + (1 + e_q) · e_r`. What rounding the floats adds is below 10⁻⁵.
    pub(crate) fn slack(&self, query_error: f32) -> f32 {
        query_error + (1.0 + query_error) * self.error + 1e-5
    }

    /// Bytes that the rows take, floats apart from the rest.
    pub(crate) fn bytes(&self) -> (usize, usize) {
        let floats = (self.full.len() * BLOCK_ROWS * self.dimension + self.open.len()) * size_of::<f32>();
        (floats, size_of_val(&self.codes[..]) + size_of_val(&self.scales[..]) + size_of_val(&self.keys[..]))
    }
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rows").field("dimension", &self.dimension).field("len", &self.len()).finish_non_exhaustive()
    }
}
