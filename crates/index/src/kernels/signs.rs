//! Upper bounds of products, from the signs of rows: sixty-four rows with up to four queries, one table look-up per four components.

#[cfg(target_arch = "x86_64")]
use super::signs_x86 as x86;
use super::{CodeLine, Kernel, LINE};

/// Queries in a [`SignPack`].
pub(crate) const TOGETHER: usize = 4;

/// Combinations of four signs.
const TABLE: usize = LINE / TOGETHER;

/// The largest entry of a table. Sums of bytes are widened every [`ADDED`] lines; until then they fit into a byte.
const LARGEST: u8 = 15;

/// Lines of signs between two widenings, with two entries per row each: the lines of signs of one line of codes.
pub(super) const ADDED: usize = 8;

/// The maximum lines of codes per row for which the sums of entries fit into sixteen bits.
pub(crate) const MOST_LINES: usize = u16::MAX as usize / (LARGEST as usize * ADDED * 2);

/// Up to four queries side by side, to be compared with signs in one pass.
#[derive(Clone, Debug)]
pub(crate) struct SignPack {
    /// Line `g` holds a table per query: what each combination of the signs of four components, from number 4·g on, adds.
    pub(super) tables: Vec<CodeLine>,
    /// The value of 1 in an entry, and the excess of the sum, per query.
    pub(super) steps: [f32; TOGETHER],
    pub(super) offsets: [f32; TOGETHER],
    pub(super) n_queries: usize,
}

impl SignPack {
    /// Up to four queries of the same length, each with its scale.
    pub(crate) fn new<'q>(queries: impl Iterator<Item = (&'q [CodeLine], f32)>) -> Self {
        let mut pack = Self { tables: Vec::new(), steps: [0.0; TOGETHER], offsets: [0.0; TOGETHER], n_queries: 0 };
        for (lane, (lines, scale)) in queries.take(TOGETHER).enumerate() {
            pack.set(lane, lines, scale);
        }
        pack
    }

    /// The variance that rounding adds to each query's sums of signed components: an entry is off by at most half a step.
    pub(crate) fn rounding(&self) -> [f32; TOGETHER] {
        self.steps.map(|step| self.tables.len() as f32 * step * step / 12.0)
    }

    fn set(&mut self, lane: usize, codes: &[CodeLine], scale: f32) {
        let groups = || codes.iter().flat_map(|line| line.0.as_chunks::<4>().0);
        let size = |group: &[i8; 4]| group.iter().map(|code| i32::from(code.unsigned_abs())).sum::<i32>();
        let largest = groups().map(size).max().unwrap_or(0).max(1) as f32;
        let entry = f32::from(LARGEST) / (2.0 * largest);
        self.tables.resize(groups().count(), CodeLine([0; LINE]));
        for (line, group) in self.tables.iter_mut().zip(groups()) {
            let Some(table) = line.0.as_chunks_mut::<TABLE>().0.get_mut(lane) else { return };
            let size = size(group);
            for (signs, out) in table.iter_mut().enumerate() {
                let signed = |(nth, code): (usize, &i8)| i32::from(*code) * if signs >> nth & 1 == 1 { 1 } else { -1 };
                let sum = size + group.iter().enumerate().map(signed).sum::<i32>();
                #[expect(clippy::cast_possible_truncation, reason = "it is at most `LARGEST`")]
                let rounded = (sum as f32 * entry + 0.5) as i8;
                *out = rounded;
            }
        }
        let total: i32 = groups().map(size).sum();
        if let (Some(step), Some(offset)) = (self.steps.get_mut(lane), self.offsets.get_mut(lane)) {
            (*step, *offset) = (scale / entry, total as f32 * scale);
        }
        self.n_queries = self.n_queries.max(lane + 1);
    }
}

/// The score that a row has to reach.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) floor: f32,
    /// The factor of the rows' margins.
    pub(crate) spread: f32,
}

/// Blocks of sixty-four rows. A block has a line per eight components, in which byte 4 · (`r` mod 16) + `r` / 16 holds the signs of row
/// `r`: the first component in the lowest bit, set if the component is above 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignRows<'a> {
    pub(crate) lines: &'a [CodeLine],
    /// The factor of a sum of signed components, per row.
    pub(crate) scales: &'a [f32],
    /// What is added to the product, times [`Limit::spread`], per row.
    pub(crate) margins: &'a [f32],
}

/// The byte of a line in which the signs of a row of the block are.
pub(crate) fn place_of(row: usize) -> usize {
    4 * (row % 16) + row / 16
}

/// One bit per row of a block, for each query of a pack.
pub(crate) type Passed = [u64; TOGETHER];

/// Sixty-four rows: their lines of signs, and a scale and a margin per row.
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    pub(super) lines: &'a [CodeLine],
    pub(super) scales: &'a [f32; LINE],
    pub(super) margins: &'a [f32; LINE],
}

impl<'a> SignRows<'a> {
    fn blocks(self, n_lines: usize) -> impl Iterator<Item = Block<'a>> {
        let numbers = self.scales.as_chunks::<LINE>().0.iter().zip(self.margins.as_chunks::<LINE>().0);
        let lines = self.lines.chunks_exact(n_lines.max(1));
        lines.zip(numbers).map(|(lines, (scales, margins))| Block { lines, scales, margins })
    }
}

impl Kernel {
    /// Which rows may reach each query's floor: (Σ signed components) · scale + margin · spread ≥ floor. `out` takes one entry per block.
    pub(crate) fn scan_signs(
        self,
        pack: &SignPack,
        rows: SignRows<'_>,
        limits: &[Limit; TOGETHER],
        out: &mut [Passed],
    ) {
        let blocks = rows.blocks(pack.tables.len() / 2).zip(out);
        match self {
            Self::Portable => portable::scan_signs(pack, blocks, limits),
            // SAFETY: a kernel comes from `available`, which checks that the processor has its instructions.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { x86::scan_signs_avx2(pack, blocks, limits) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni => unsafe { x86::scan_signs_avx512(pack, blocks, limits) },
        }
    }
}

mod portable {
    use super::{Block, CodeLine, LINE, Limit, Passed, SignPack, TABLE, TOGETHER, place_of};

    /// Combinations of eight signs.
    const BYTE: usize = 256;

    pub(super) fn scan_signs<'a>(
        pack: &SignPack,
        blocks: impl Iterator<Item = (Block<'a>, &'a mut Passed)>,
        limits: &[Limit; TOGETHER],
    ) {
        let mut blocks: Vec<(Block<'_>, &mut Passed)> = blocks.collect();
        let numbers = pack.steps.iter().zip(&pack.offsets).zip(limits).take(pack.n_queries);
        for (lane, ((step, offset), limit)) in numbers.enumerate() {
            let mut sums = vec![[0_u16; LINE]; blocks.len()];
            for (nth, tables) in pack.tables.as_chunks::<2>().0.iter().enumerate() {
                let entries = joined(tables, lane);
                for (sums, (block, _)) in sums.iter_mut().zip(&blocks) {
                    let signs = block.lines.get(nth).map_or(&[0; LINE], |line| &line.0);
                    for (sum, signs) in sums.iter_mut().zip(signs) {
                        let entry = entries.get(usize::from(signs.cast_unsigned()));
                        *sum += u16::from(entry.copied().unwrap_or(0));
                    }
                }
            }
            for (sums, (Block { scales, margins, .. }, out)) in sums.iter().zip(&mut blocks) {
                let mut passed = 0;
                for (row, (scale, margin)) in scales.iter().zip(*margins).enumerate() {
                    let sum = sums.get(place_of(row)).copied().unwrap_or(0);
                    let most = (f32::from(sum) * step - offset) * scale + margin * limit.spread;
                    passed |= u64::from(most >= limit.floor) << row;
                }
                if let Some(out) = out.get_mut(lane) {
                    *out = passed;
                }
            }
        }
    }

    /// What each combination of eight signs adds for a query: one look-up instead of two.
    fn joined(tables: &[CodeLine; 2], lane: usize) -> [u8; BYTE] {
        let [low, high] = tables.each_ref().map(|line| line.0.as_chunks::<TABLE>().0.get(lane).unwrap_or(&[0; TABLE]));
        let mut joined = [0; BYTE];
        for (entries, high) in joined.as_chunks_mut::<TABLE>().0.iter_mut().zip(high) {
            for (entry, low) in entries.iter_mut().zip(low) {
                *entry = (low + high).cast_unsigned();
            }
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::lines;
    use super::*;
    use proptest::prelude::*;

    /// What a pack says of one row of a block, by the definition.
    fn most(query: &[CodeLine], scale: f32, signs: impl Fn(usize) -> bool, row_scale: f32, margin: f32) -> f32 {
        let codes: Vec<i32> = query.iter().flat_map(|line| line.0).map(i32::from).collect();
        let largest =
            codes.chunks(4).map(|group| group.iter().map(|code| code.abs()).sum::<i32>()).max().unwrap().max(1);
        let entry = 15.0 / (2.0 * largest as f32);
        let entries = codes.chunks(4).enumerate().map(|(group, codes)| {
            let sum: i32 = codes
                .iter()
                .enumerate()
                .map(|(nth, code)| code.abs() + if signs(4 * group + nth) { *code } else { -code })
                .sum();
            (sum as f32 * entry + 0.5).floor()
        });
        let sum: f32 = entries.sum();
        let total: i32 = codes.iter().map(|code| code.abs()).sum();
        (sum * (scale / entry) - total as f32 * scale) * row_scale + margin * 0.5
    }

    proptest! {
        #[test]
        fn every_kernel_compares_signs_alike(
            codes in lines(),
            bytes in prop::collection::vec(any::<i8>(), 3 * 8 * 8 * LINE),
            n_queries in 1_usize..=TOGETHER,
            scales in prop::collection::vec((0.001_f32..0.1, 0.0_f32..0.1), 3 * LINE),
            floor in -2000.0_f32..2000.0,
        ) {
            let n_lines = codes.len() / 5;
            let signs: Vec<CodeLine> = bytes.chunks(LINE).map(|line| CodeLine(line.try_into().unwrap())).take(3 * 8 * n_lines).collect();
            let (scales, margins): (Vec<f32>, Vec<f32>) = scales.into_iter().unzip();
            let rows = SignRows { lines: &signs, scales: &scales, margins: &margins };
            let queries: Vec<&[CodeLine]> = codes.chunks(n_lines).take(n_queries).collect();
            let pack = SignPack::new(queries.iter().map(|query| (*query, 0.5)));
            for kernel in Kernel::available() {
                let mut passed = [[0; TOGETHER]; 3];
                kernel.scan_signs(&pack, rows, &[Limit { floor: floor * 0.01, spread: 0.5 }; TOGETHER], &mut passed);
                for row in 0..3 * LINE {
                    let (block, row_in_block) = (row / LINE, row % LINE);
                    let sign = |nth: usize| signs[block * 8 * n_lines + nth / 8].0[place_of(row_in_block)] >> (nth % 8) & 1 == 1;
                    for (lane, query) in queries.iter().enumerate() {
                        let expected = most(query, 0.5, sign, scales[row], margins[row]) >= floor * 0.01;
                        prop_assert_eq!(passed[block][lane] >> row_in_block & 1 == 1, expected, "{:?}, row {}", kernel, row);
                    }
                }
            }
        }
    }
}
