//! A hierarchical navigable small world graph (Malkov and Yashunin, 2018, algorithms 1, 2, 4 and 5) over the codes of rows.
//!
//! Links lie in one block of memory, a fixed number a row. Rows join in the order of their numbers, and the level of a row
//! follows from its number: the same rows give the same graph, however they came.
#![expect(clippy::indexing_slicing, reason = "row numbers are below `len`: made here, or checked by `from_parts`")]

mod build;
mod cells;

pub(crate) use build::Builder;

use super::kernels::{Kernel, Line, prefetch};
use super::rows::Rows;
use super::shared::Shared;
use super::shortlist::Scored;

/// No link.
const NONE: u32 = u32::MAX;

/// No row has a higher level: with 8 links, one row in 8¹⁶ would.
const MAX_LEVEL: u8 = 15;

/// How a graph is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GraphShape {
    /// Links a row on the upper levels, and at most made for a new row; on the lowest level a row has room for twice as many.
    pub(crate) links: usize,
    /// Candidates looked at for a new row's links.
    pub(crate) ef_construction: usize,
}

/// The links.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    shape: GraphShape,
    ground: Shared<u32>,
    /// Where a row's upper links begin in `upper`, or `NONE`.
    starts: Shared<u32>,
    upper: Shared<u32>,
    entry: u32,
    top: u8,
}

/// A search's working memory, used again by the next one.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    seen: Vec<u64>,
    pool: Vec<Entry>,
    batch: Vec<u32>,
    sums: Vec<i32>,
}

/// A row in the pool of a search, as a number whose order is that of the pool: the score, the best first; then the row; then
/// whether it is wanted and whether it is still to be looked around from. Rows are below 2³⁰: more do not fit into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u64);

/// A score as a number, the larger the score the smaller.
#[inline]
fn falling(score: f32) -> u32 {
    let bits = score.to_bits();
    // Floats as numbers in the same order: the bits of negative ones are turned, the others get the highest bit.
    let rising = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    !rising
}

/// The score that [`falling`] made a number of.
#[inline]
fn score_of(falling: u32) -> f32 {
    let rising = !falling;
    f32::from_bits(if rising >> 31 == 1 { rising & !(1 << 31) } else { !rising })
}

impl Entry {
    const OPEN: u64 = 1;
    const WANTED: u64 = 2;

    #[inline]
    fn new(scored: Scored, is_wanted: bool) -> Self {
        let wanted = if is_wanted { Self::WANTED } else { 0 };
        Self(u64::from(falling(scored.score)) << 32 | u64::from(scored.row) << 2 | wanted | Self::OPEN)
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
    fn row(self) -> u32 {
        (self.0 as u32) >> 2
    }

    #[inline]
    fn score(self) -> f32 {
        score_of((self.0 >> 32) as u32)
    }

    #[inline]
    fn is_open(self) -> bool {
        self.0 & Self::OPEN != 0
    }

    #[inline]
    fn is_wanted(self) -> bool {
        self.0 & Self::WANTED != 0
    }

    #[inline]
    fn close(&mut self) {
        self.0 &= !Self::OPEN;
    }

    #[inline]
    fn scored(self) -> Scored {
        Scored { score: self.score(), row: self.row() }
    }
}

/// A row to look around from: its codes, whoever's they are.
#[derive(Clone, Copy)]
pub(crate) struct Focus<'a> {
    pub(crate) codes: &'a [Line],
    pub(crate) kernel: Kernel,
}

impl Scratch {
    fn begin(&mut self, n_rows: usize) {
        self.seen.clear();
        self.seen.resize(n_rows.div_ceil(64), 0);
        self.pool.clear();
    }

    /// True the first time.
    #[inline]
    fn see(&mut self, row: u32) -> bool {
        let (word, bit) = (row as usize / 64, 1_u64 << (row % 64));
        // A file that somebody overwrites while it is mapped may name rows that are not there.
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

    /// What the last search found, best first.
    pub(crate) fn found(&self) -> impl Iterator<Item = Scored> {
        self.pool.iter().filter(|entry| entry.is_wanted()).map(|entry| entry.scored())
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

    /// Rows that have joined.
    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Bytes of the links.
    pub(crate) fn bytes(&self) -> usize {
        4 * (self.ground.len() + self.starts.len() + self.upper.len())
    }

    /// What a snapshot keeps: the links on the ground, where upper links begin, the upper links; and the entry.
    pub(crate) fn parts(&self) -> ([&[u32]; 3], u32) {
        ([&self.ground, &self.starts, &self.upper], self.entry)
    }

    /// A graph as it was stored. `None` when a link leads nowhere or to a row that is not on its level, or the parts do not
    /// belong together.
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

    /// The nearest rows for which `is_wanted`, into `scratch`: `ef` of them where there are so many. More than `budget` rows are not
    /// scored: then the answer is `false` and what was found is worth nothing.
    pub(crate) fn search(
        &self,
        rows: &Rows,
        focus: Focus<'_>,
        (ef, budget): (usize, usize),
        is_wanted: impl Fn(u32) -> bool,
        scratch: &mut Scratch,
    ) -> bool {
        scratch.begin(self.len());
        if self.entry == NONE {
            return true;
        }
        let entry = self.descend(rows, focus, 0, scratch);
        self.spread(rows, focus, (0, entry), (ef, budget), is_wanted, scratch)
    }

    /// From the top to the level above `level`: always on to the nearest neighbour.
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

    /// Algorithm 2. The pool is sorted, best first, and ends with the `ef`-th wanted row: rows that are not wanted are ways, not
    /// results.
    #[inline]
    fn spread(
        &self,
        rows: &Rows,
        focus: Focus<'_>,
        (level, entry): (u8, Scored),
        (ef, budget): (usize, usize),
        is_wanted: impl Fn(u32) -> bool,
        scratch: &mut Scratch,
    ) -> bool {
        scratch.see(entry.row);
        let first = Entry::new(entry, is_wanted(entry.row));
        scratch.pool.push(first);
        let mut n_wanted = usize::from(first.is_wanted());
        let mut n_scored = 1;
        let mut next = 0;
        // What a row has to exceed once there are enough.
        let mut worst = f32::NEG_INFINITY;
        loop {
            while scratch.pool.get(next).is_some_and(|entry| !entry.is_open()) {
                next += 1;
            }
            let Some(entry) = scratch.pool.get_mut(next) else { return true };
            entry.close();
            let row = entry.row();
            scratch.batch.clear();
            for link in self.links(level, row) {
                if *link == NONE {
                    break;
                }
                if scratch.see(*link) {
                    scratch.batch.push(*link);
                }
            }
            n_scored += scratch.batch.len();
            if n_scored > budget {
                return false;
            }
            // Where the way probably goes on.
            for soon in scratch.pool.iter().skip(next + 1).take(2) {
                self.fetch_links(level, soon.row());
            }
            scratch.score(focus, rows);
            for (row, sum) in scratch.batch.iter().zip(&scratch.sums) {
                let scored = Scored { score: *sum as f32 * rows.scale(*row as usize), row: *row };
                if scored.score <= worst {
                    continue;
                }
                let new = Entry::new(scored, is_wanted(*row));
                let at = scratch.pool.partition_point(|other| *other < new);
                scratch.pool.insert(at, new);
                if at <= next + 1 {
                    self.fetch_links(level, *row);
                }
                next = next.min(at);
                n_wanted += usize::from(new.is_wanted());
                if n_wanted > ef {
                    // The worst wanted row goes, and the ways behind the one that is then the worst.
                    while scratch.pool.pop().is_some_and(|entry| !entry.is_wanted()) {}
                    n_wanted -= 1;
                }
                if n_wanted == ef {
                    while scratch.pool.last().is_some_and(|entry| !entry.is_wanted()) {
                        scratch.pool.pop();
                    }
                    worst = scratch.pool.last().map_or(worst, |entry| entry.score());
                }
            }
        }
    }

    /// Asks for the links of a row before they are needed.
    #[inline]
    fn fetch_links(&self, level: u8, row: u32) {
        const LINKS_A_LINE: usize = 16;
        for line in self.links(level, row).chunks(LINKS_A_LINE) {
            prefetch(line.first());
        }
    }

    /// Where a row's links of a level are in the block of that level.
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

/// ⌊−ln(u) / ln(m)⌋ with u in (0, 1] from the row's number.
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
