//! A hierarchical navigable small world graph (HNSW; Malkov and Yashunin, 2018, algorithms 1, 2, 4 and 5) over the codes of rows.
//!
//! Links are in one block of memory, a fixed number per row. Rows join in the order of their numbers, and the level of a row
//! follows from its number: the same rows give the same graph, whatever batches they join in.
#![expect(clippy::indexing_slicing, reason = "row numbers are below `len`: made here, or checked by `from_parts`")]

mod build;
mod builder;
mod cells;
mod pool;

use pool::Pool;

pub(crate) use builder::Builder;

use super::config::GraphShape;
use super::kernels::{CodeLine, Kernel, prefetch};
use super::rows::Rows;
use super::shared::Shared;
use super::shortlist::Scored;

/// No link.
const NONE: u32 = u32::MAX;

/// No row has a higher level: with 8 links, one row in 8¹⁶ would.
const MAX_LEVEL: u8 = 15;

/// The links of the rows that have joined.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    shape: GraphShape,
    /// The links on the lowest level.
    ground: Shared<u32>,
    /// Where a row's upper links begin in `upper`, or `NONE`.
    starts: Shared<u32>,
    upper: Shared<u32>,
    /// The row at which searches begin, or `NONE`.
    entry: u32,
    /// The level of `entry`, the highest of all rows.
    top: u8,
}

/// How much a search in a graph may do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// The number of nearest rows that are kept while searching.
    pub(crate) ef: usize,
    /// The number of rows scored after which the search is abandoned.
    pub(crate) budget: usize,
}

/// The working memory of a search, which the next search reuses.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    seen: Vec<u64>,
    pool: Pool,
    batch: Vec<u32>,
    sums: Vec<i32>,
}

/// The codes of the vector whose neighbours are searched.
#[derive(Clone, Copy)]
pub(crate) struct Focus<'a> {
    pub(crate) codes: &'a [CodeLine],
    pub(crate) kernel: Kernel,
}

impl Scratch {
    fn begin(&mut self, n_rows: usize, ef: usize) {
        self.seen.clear();
        self.seen.resize(n_rows.div_ceil(64), 0);
        self.pool.begin(ef);
    }

    /// Marks a row as seen; true the first time.
    #[inline]
    fn see(&mut self, row: u32) -> bool {
        let (word, bit) = (row as usize / 64, 1_u64 << (row % 64));
        // A mapped file that is overwritten meanwhile may contain links to rows that do not exist.
        let Some(seen) = self.seen.get_mut(word) else { return false };
        let is_new = *seen & bit == 0;
        *seen |= bit;
        is_new
    }

    /// Scores of the rows in `batch`, in its order.
    #[inline]
    fn score(&mut self, focus: Focus<'_>, rows: &Rows) {
        focus.kernel.gather(focus.codes, rows.codes(), &self.batch, &mut self.sums);
    }

    /// The wanted rows that the last search found, best first.
    pub(crate) fn found(&self) -> impl Iterator<Item = Scored> {
        self.pool.found()
    }
}

impl Graph {
    pub(crate) fn new(shape: GraphShape) -> Self {
        Self {
            shape,
            ground: Shared::default(),
            starts: Shared::default(),
            upper: Shared::default(),
            entry: NONE,
            top: 0,
        }
    }

    /// The number of rows that have joined.
    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Bytes of the links.
    pub(crate) fn bytes(&self) -> usize {
        4 * (self.ground.len() + self.starts.len() + self.upper.len())
    }

    /// For a snapshot: the links on the lowest level, the starts of the upper links, the upper links; and the entry.
    pub(crate) fn parts(&self) -> ([&[u32]; 3], u32) {
        ([&self.ground, &self.starts, &self.upper], self.entry)
    }

    /// A graph from stored parts. `None` if a link leads to a row that does not exist or is not on its level, or if the parts do not
    /// fit together.
    pub(crate) fn from_parts(shape: GraphShape, [ground, starts, upper]: [Shared<u32>; 3], entry: u32) -> Option<Self> {
        let m = shape.links;
        let n_rows = starts.len();
        let is_row = |row: u32, level: u8| row == NONE || ((row as usize) < n_rows && level_of(row, m) >= level);
        if ground.len() != n_rows * 2 * m || !ground.iter().all(|row| is_row(*row, 0)) {
            return None;
        }
        let mut next = 0;
        for (row, start) in (0_u32..).zip(&*starts) {
            let level = level_of(row, m);
            let expected = if level == 0 { NONE } else { u32::try_from(next).ok()? };
            if *start != expected {
                return None;
            }
            for level in 1..=level {
                let links = upper.get(next..next + m)?;
                if !links.iter().all(|row| is_row(*row, level)) {
                    return None;
                }
                next += m;
            }
        }
        let top = if n_rows == 0 { 0 } else { level_of(entry, m) };
        let has_entry = if n_rows == 0 { entry == NONE } else { entry != NONE && is_row(entry, 0) };
        let is_top = (0_u32..).zip(&*starts).all(|(row, _)| level_of(row, m) <= top);
        (next == upper.len() && has_entry && is_top).then_some(Self { shape, ground, starts, upper, entry, top })
    }

    /// Finds the nearest rows that `is_wanted` accepts: [`Effort::ef`] of them, or all that are reached if there are fewer; see
    /// [`Scratch::found`]. Returns false, and finds nothing useful, if more than [`Effort::budget`] rows would be scored.
    pub(crate) fn search(
        &self,
        rows: &Rows,
        focus: Focus<'_>,
        effort: Effort,
        is_wanted: impl Fn(u32) -> bool,
        scratch: &mut Scratch,
    ) -> bool {
        scratch.begin(self.len(), effort.ef);
        if self.entry == NONE {
            return true;
        }
        let entry = self.descend(rows, focus, 0, scratch);
        self.spread(rows, focus, (0, entry), effort.budget, is_wanted, scratch)
    }

    /// The nearest row that a greedy walk finds, from the entry down to the level above `level`.
    fn descend(&self, rows: &Rows, focus: Focus<'_>, level: u8, scratch: &mut Scratch) -> Scored {
        scratch.batch.clear();
        scratch.batch.push(self.entry);
        scratch.score(focus, rows);
        let mut best = Scored { score: scratch.sums[0] as f32 * rows.scale(self.entry as usize), row: self.entry };
        for level in (level + 1..=self.top).rev() {
            loop {
                let start = best.row;
                scratch.batch.clear();
                scratch.batch.extend(self.links(level, start).iter().take_while(|link| **link != NONE));
                scratch.score(focus, rows);
                for (row, sum) in scratch.batch.iter().zip(&scratch.sums) {
                    let score = *sum as f32 * rows.scale(*row as usize);
                    if score > best.score {
                        best = Scored { score, row: *row };
                    }
                }
                if best.row == start {
                    break;
                }
            }
        }
        best
    }

    /// Algorithm 2: a best-first search on one level, into the pool. Returns false if more than `budget` rows would be scored.
    #[inline]
    fn spread(
        &self,
        rows: &Rows,
        focus: Focus<'_>,
        (level, entry): (u8, Scored),
        budget: usize,
        is_wanted: impl Fn(u32) -> bool,
        scratch: &mut Scratch,
    ) -> bool {
        scratch.see(entry.row);
        scratch.pool.insert(entry, is_wanted(entry.row));
        let mut n_scored = 1;
        while let Some(row) = scratch.pool.take_open() {
            self.gather_unseen(level, row, scratch);
            n_scored += scratch.batch.len();
            if n_scored > budget {
                return false;
            }
            for soon in scratch.pool.upcoming() {
                self.fetch_links(level, soon);
            }
            scratch.score(focus, rows);
            for (row, sum) in scratch.batch.iter().zip(&scratch.sums) {
                let scored = Scored { score: *sum as f32 * rows.scale(*row as usize), row: *row };
                if scratch.pool.accepts(scored.score) && scratch.pool.insert(scored, is_wanted(*row)) {
                    self.fetch_links(level, *row);
                }
            }
        }
        true
    }

    /// Puts the linked rows that were not seen yet into the batch.
    #[inline]
    fn gather_unseen(&self, level: u8, row: u32, scratch: &mut Scratch) {
        scratch.batch.clear();
        for link in self.links(level, row).iter().take_while(|link| **link != NONE) {
            if scratch.see(*link) {
                scratch.batch.push(*link);
            }
        }
    }

    /// Prefetches the links of a row.
    #[inline]
    fn fetch_links(&self, level: u8, row: u32) {
        const LINKS_A_LINE: usize = 16;
        for line in self.links(level, row).chunks(LINKS_A_LINE) {
            prefetch(line.first());
        }
    }

    /// The range of a row's links among those of a level.
    #[inline]
    fn span(&self, level: u8, row: u32) -> std::ops::Range<usize> {
        let m = self.shape.links;
        if level == 0 {
            let start = row as usize * 2 * m;
            start..start + 2 * m
        } else {
            let start = self.starts.get(row as usize).map_or(0, |start| *start as usize) + (usize::from(level) - 1) * m;
            start..start + m
        }
    }

    #[inline]
    fn links(&self, level: u8, row: u32) -> &[u32] {
        let block = if level == 0 { &self.ground } else { &self.upper };
        block.get(self.span(level, row)).unwrap_or_default()
    }

    fn links_mut(&mut self, level: u8, row: u32) -> &mut [u32] {
        let span = self.span(level, row);
        let block = if level == 0 { self.ground.to_mut() } else { self.upper.to_mut() };
        &mut block[span]
    }
}

/// The highest level of a row: ⌊−ln(u) / ln(m)⌋, with u in (0, 1] from the row's number.
fn level_of(row: u32, m: usize) -> u8 {
    // SplitMix64 (Steele, Lea and Flood, 2014).
    let mut z = u64::from(row).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    let u = ((z >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    let level = -u.ln() / (m.max(2) as f64).ln();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is not negative, and cut at 15")]
    let level = level.min(f64::from(MAX_LEVEL)) as u8;
    level
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_has_a_sixteenth_of_the_one_below() {
        // Of 2²⁰ rows 65,536 are expected on level 1 and 4,096 on level 2, with deviations of 248 and 64.
        let n_from = |level: u8| (0..1 << 20).filter(|row| level_of(*row, 16) >= level).count();
        assert!(n_from(1).abs_diff(65_536) < 1_000, "{}", n_from(1));
        assert!(n_from(2).abs_diff(4_096) < 256, "{}", n_from(2));
        assert!((0..1 << 20).all(|row| level_of(row, 0) <= MAX_LEVEL));
    }
}
