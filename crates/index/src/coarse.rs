//! Codes of two bits, to choose with which rows are worth scoring by their codes of one byte.

use super::kernels::{FIELDS, LEVELS, LINE, Line, PACK, Sixteen};
use super::rows::Rows;

/// Between two of four levels, in standard deviations: what loses least of a normal distribution (Max, 1960).
const STEP: f32 = 0.996;

/// Sixteen rows side by side: each byte of a line holds [`FIELDS`] codes of one row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coarse {
    lines: Vec<Line>,
    /// One a row; what the sum of products is multiplied by.
    scales: Vec<f32>,
}

impl Coarse {
    /// Rows that have codes: a multiple of sixteen.
    pub(crate) fn len(&self) -> usize {
        self.scales.len()
    }

    /// Bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.lines[..]) + size_of_val(&self.scales[..])
    }

    /// Takes in the whole blocks of rows that are not in yet.
    pub(crate) fn join(&mut self, rows: &Rows) {
        let groups = rows.lines_per_row() * PACK;
        while self.len() + PACK <= rows.len() {
            let start = self.lines.len();
            self.lines.resize(start + groups / FIELDS, Line([0; LINE]));
            for lane in 0..PACK {
                let row = self.len();
                let scale = self.put(start, lane, rows.codes_of(row)) * rows.scale(row);
                self.scales.push(scale);
            }
        }
    }

    /// Writes a row's codes and gives their scale: the one with which the row's product with itself is right.
    fn put(&mut self, start: usize, lane: usize, row: &[Line]) -> f32 {
        let codes = || row.iter().flat_map(|line| line.0).map(f32::from);
        let square: f32 = codes().map(|code| code * code).sum();
        let step = STEP * (square / codes().filter(|code| *code != 0.0).count().max(1) as f32).sqrt().max(1.0);
        let middle = f32::from(LEVELS - 1) / 2.0;
        let mut product = 0.0;
        for (nth, code) in codes().enumerate() {
            let level = (code / step + middle).round().clamp(0.0, 2.0 * middle);
            product += code * (level - middle);
            let (group, component) = (nth / 4, nth % 4);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is below 4")]
            let bits = (level as u8) << (group % FIELDS * (8 / FIELDS));
            let codes = self.lines.get_mut(start + group / FIELDS);
            if let Some(byte) = codes.and_then(|codes| codes.0.get_mut(lane * 4 + component)) {
                *byte |= bits.cast_signed();
            }
        }
        if product > 0.0 { square / product } else { 0.0 }
    }

    /// The rows, sixteen at a time.
    pub(crate) fn blocks(&self, lines_per_row: usize) -> impl Iterator<Item = Sixteen<'_>> {
        let lines = self.lines.chunks_exact((lines_per_row * PACK / FIELDS).max(1));
        lines.zip(self.scales.as_chunks::<PACK>().0).map(|(lines, scales)| Sixteen { lines, scales })
    }
}
