//! The nearest earlier rows of many rows at once: rows are in cells around centres, and a row is compared with those of the cells
//! around it (an inverted file, as in Jégou, Douze and Schmid, 2011).
//!
//! The centres follow from the row's number and the rows before it, so a row finds the same ones whether rows join one at a time
//! or all at once.

use std::ops::Range;

use super::builder::{Builder, number};
use super::pool::{falling, score_of};
use crate::kernels::{CodeLine, LINE, PACK, Pack, PackScores};
use crate::rows::{Codes, Rows};
use crate::shortlist::Scored;

/// Rows up to which there is one cell. Beyond, the centres are placed again each time the number of rows has doubled.
const LEAST: usize = 2_048;

/// Cells with whose rows a new row is compared. Measured with 100,000 rows: 32 give about the recall of a graph that is built by
/// searching it; 64 take a quarter longer than 48.
const PROBES: usize = 48;

/// Rows per centre in the sample by which centres are placed, and how often each centre is moved to the middle of its rows.
const SAMPLE: usize = 64;
const ROUNDS: usize = 2;

/// Rows that are compared with a cell together.
const TILE: usize = 64;

/// The rows, each in the cell of its nearest centre.
pub(super) struct Cells {
    /// The rows that look into these cells.
    range: Range<usize>,
    centres: Vec<CodeLine>,
    scales: Vec<f32>,
    members: Vec<Cell>,
    n_joined: usize,
}

/// The rows of a cell, ascending, and their codes side by side.
#[derive(Clone, Default)]
struct Cell {
    rows: Vec<u32>,
    packs: Vec<Pack>,
}

/// A row and its score as one number: ordered by score, the best first, then by row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ranked(u64);

/// A row whose nearest earlier rows are searched.
struct Search {
    row: u32,
    /// The cells around it, the nearest first.
    probes: Vec<u16>,
    found: Vec<Ranked>,
    /// The score from which a row may be among them.
    floor: f32,
}

impl Ranked {
    #[inline]
    fn new(score: f32, row: u32) -> Self {
        Self(u64::from(falling(score)) << 32 | u64::from(row))
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the halves are meant")]
    fn scored(self) -> Scored {
        Scored { score: score_of((self.0 >> 32) as u32), row: self.0 as u32 }
    }
}

impl Cell {
    fn push(&mut self, row: u32, rows: &Rows) {
        let lane = self.rows.len() % PACK;
        if lane == 0 {
            self.packs.push(Pack::new(std::iter::empty()));
        }
        if let Some(pack) = self.packs.last_mut() {
            pack.set(lane, rows.codes_of(row as usize), rows.scale(row as usize));
        }
        self.rows.push(row);
    }
}

impl Search {
    /// Keeps the `n` best.
    fn keep_best(&mut self, n: usize) {
        if self.found.len() > n && n > 0 {
            self.floor = self.found.select_nth_unstable(n - 1).1.scored().score;
            self.found.truncate(n);
        }
    }
}

impl Cells {
    /// The cells for a row and those after it, without rows yet.
    pub(super) fn of(row: usize, builder: Builder<'_>) -> Self {
        let n_before = if row < LEAST { 0 } else { 1_usize << row.ilog2() };
        let n_cells = if n_before == 0 { 1 } else { 1_usize << n_before.ilog2().div_ceil(2) };
        let range = n_before..(2 * n_before).max(LEAST);
        let (centres, scales, members) = (Vec::new(), Vec::new(), vec![Cell::default(); n_cells]);
        let mut cells = Self { range, centres, scales, members, n_joined: 0 };
        for nth in 0..n_cells {
            let row = nth * n_before / n_cells;
            let (codes, scales) = builder.rows.tile(row..row + 1);
            cells.centres.extend_from_slice(codes);
            cells.scales.extend_from_slice(scales);
        }
        let n_sample = n_before.min(n_cells * SAMPLE);
        let sample: Vec<u32> = (0..n_sample).map(|nth| number(nth * n_before / n_sample)).collect();
        for _ in 0..ROUNDS {
            cells.place(&sample, builder);
        }
        cells
    }

    /// The first row that looks into other cells.
    pub(super) fn end(&self) -> usize {
        self.range.end
    }

    /// Moves each centre to the middle of the sampled rows to which it is the nearest.
    fn place(&mut self, sample: &[u32], builder: Builder<'_>) {
        let rows = builder.rows;
        let lines = rows.lines_per_row();
        let mut sums = vec![0.0_f32; self.centres.len() * LINE];
        for (row, cell) in sample.iter().zip(self.nearest(sample, builder)) {
            let scale = rows.scale(*row as usize);
            let codes = rows.codes_of(*row as usize).iter().flat_map(|line| line.0);
            for (sum, code) in sums[usize::from(cell) * lines * LINE..].iter_mut().zip(codes) {
                *sum += f32::from(code) * scale;
            }
        }
        let centres = self.centres.chunks_exact_mut(lines.max(1)).zip(&mut self.scales);
        for (sum, (centre, scale)) in sums.chunks_exact_mut((lines * LINE).max(1)).zip(centres) {
            let norm = sum.iter().map(|component| component * component).sum::<f32>().sqrt();
            if norm > 0.0 {
                for component in sum.iter_mut() {
                    *component /= norm;
                }
                let codes = Codes::of(sum);
                centre.copy_from_slice(&codes.lines);
                *scale = codes.scale;
            }
        }
    }

    /// The scores of some rows with each centre, sixteen rows at a time.
    fn score(&self, picked: &[u32], builder: Builder<'_>, mut each: impl FnMut(usize, &[PackScores])) {
        let mut scores = vec![PackScores::NONE; self.members.len()];
        let centres = builder.kernel.pack_rows(&self.centres, &self.scales);
        for picked in picked.chunks(PACK) {
            let codes = picked.iter().map(|row| (builder.rows.codes_of(*row as usize), 1.0));
            builder.kernel.scan_pack(&Pack::new(codes), &centres, &[f32::NEG_INFINITY; PACK], &mut scores);
            each(picked.len(), &scores);
        }
    }

    /// The nearest centre of each of some rows.
    fn nearest(&self, picked: &[u32], builder: Builder<'_>) -> Vec<u16> {
        if self.members.len() == 1 {
            return vec![0; picked.len()];
        }
        let mut nearest = Vec::with_capacity(picked.len());
        self.score(picked, builder, |n_lanes, scores| {
            let (mut best, mut centres) = ([f32::NEG_INFINITY; PACK], [0_u16; PACK]);
            for (centre, scores) in (0_u16..).zip(scores) {
                for ((best, nearest), score) in best.iter_mut().zip(&mut centres).zip(scores.scores) {
                    if score > *best {
                        (*best, *nearest) = (score, centre);
                    }
                }
            }
            nearest.extend_from_slice(&centres[..n_lanes]);
        });
        nearest
    }

    /// The nearest centres of each of some rows, the nearest first.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "there are fewer centres than 2^16: the square root of 2^32 rows"
    )]
    fn probes(&self, picked: &[u32], builder: Builder<'_>) -> Vec<Vec<u16>> {
        if self.members.len() == 1 {
            return vec![vec![0]; picked.len()];
        }
        let mut probes = Vec::with_capacity(picked.len());
        let mut order: Vec<Ranked> = Vec::with_capacity(self.members.len());
        self.score(picked, builder, |n_lanes, scores| {
            for lane in 0..n_lanes {
                order.clear();
                order.extend((0..).zip(scores).map(|(centre, scores)| Ranked::new(scores.scores[lane], centre)));
                if order.len() > PROBES {
                    order.select_nth_unstable(PROBES);
                    order.truncate(PROBES);
                }
                order.sort_unstable();
                probes.push(order.iter().map(|ranked| ranked.scored().row as u16).collect());
            }
        });
        probes
    }

    /// Puts the rows up to `until` into their cells.
    pub(super) fn join(&mut self, until: usize, builder: Builder<'_>) {
        let nearest = builder.in_parts(self.n_joined..until, |part| {
            let rows: Vec<u32> = part.map(number).collect();
            self.nearest(&rows, builder)
        });
        for (row, cell) in (self.n_joined..until).zip(nearest.into_iter().flatten()) {
            self.members[usize::from(cell)].push(number(row), builder.rows);
        }
        self.n_joined = until;
    }

    /// For each of the rows, which have joined: the `n` nearest among the rows before it, the nearest first.
    pub(super) fn nearest_before(
        &self,
        range: Range<usize>,
        n: usize,
        builder: Builder<'_>,
    ) -> impl Iterator<Item = impl Iterator<Item = Scored>> {
        let picked: Vec<u32> = range.map(number).collect();
        let probes = self.probes(&picked, builder);
        let mut searches: Vec<Search> = picked
            .into_iter()
            .zip(probes)
            .map(|(row, probes)| Search { row, probes, found: Vec::with_capacity(2 * n), floor: f32::NEG_INFINITY })
            .collect();
        // A row's own cell first: it sets a floor for the others.
        for is_own in [true, false] {
            let mut askers: Vec<Vec<u32>> = vec![Vec::new(); self.members.len()];
            for (nth, search) in (0_u32..).zip(&searches) {
                let (own, others) = search.probes.split_at(1);
                for cell in if is_own { own } else { others } {
                    askers[usize::from(*cell)].push(nth);
                }
            }
            for (askers, cell) in askers.iter().zip(&self.members) {
                scan(cell, askers, &mut searches, n, builder);
            }
        }
        searches.into_iter().map(move |mut search| {
            search.keep_best(n);
            search.found.sort_unstable();
            search.found.into_iter().map(Ranked::scored)
        })
    }
}

/// Scores the rows of a cell for the searches that probe it.
fn scan(cell: &Cell, askers: &[u32], searches: &mut [Search], n: usize, builder: Builder<'_>) {
    let rows = builder.rows;
    let mut codes = Vec::with_capacity(TILE * rows.lines_per_row());
    let mut out = [PackScores::NONE; TILE];
    for askers in askers.chunks(TILE) {
        codes.clear();
        for nth in askers {
            codes.extend_from_slice(rows.codes_of(searches[*nth as usize].row as usize));
        }
        let asked = builder.kernel.pack_rows(&codes, &[1.0; TILE][..askers.len()]);
        for (pack, members) in cell.packs.iter().zip(cell.rows.chunks(PACK)) {
            builder.kernel.scan_pack(pack, &asked, &[f32::NEG_INFINITY; PACK], &mut out);
            for (nth, scores) in askers.iter().zip(&out) {
                offer(&mut searches[*nth as usize], members, &scores.scores, n);
            }
        }
    }
}

/// Keeps those of up to sixteen rows that are before the search's row and reach its floor.
#[inline]
fn offer(search: &mut Search, members: &[u32], scores: &[f32; PACK], n: usize) {
    let floor = search.floor;
    let mut passed = 0_u16;
    for (lane, score) in scores.iter().enumerate() {
        passed |= u16::from(*score >= floor) << lane;
    }
    passed &= u16::MAX >> (PACK - members.len());
    while passed != 0 {
        let lane = passed.trailing_zeros() as usize;
        passed &= passed - 1;
        if members[lane] < search.row {
            search.found.push(Ranked::new(scores[lane], members[lane]));
        }
    }
    if search.found.len() + PACK > 2 * n.max(PACK) {
        search.keep_best(n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Kernel;

    #[test]
    fn in_one_cell_the_nearest_are_the_nearest_of_all_before() {
        let mut rows = Rows::new(8);
        for row in 0..300 {
            let vector: Vec<f32> = (0..8).map(|nth| ((row * 31 + nth * 17) as f32 * 0.7).sin()).collect();
            rows.push(row, &vector);
        }
        let builder = Builder { rows: &rows, kernel: Kernel::best(), threads: 1 };
        let mut cells = Cells::of(0, builder);
        cells.join(300, builder);
        for (row, found) in (0_usize..).zip(cells.nearest_before(0..300, 20, builder)) {
            let mut sums = vec![0; 300];
            Kernel::Portable.scan(rows.codes_of(row), rows.codes(), &mut sums);
            let before =
                (0..row).map(|other| Scored { score: sums[other] as f32 * rows.scale(other), row: number(other) });
            let mut expected: Vec<Scored> = before.collect();
            expected.sort_by(Scored::order);
            expected.truncate(20);
            assert_eq!(found.collect::<Vec<_>>(), expected, "row {row}");
        }
    }
}
