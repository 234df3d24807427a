//! How rows join.
//!
//! A row's own links are chosen among the nearest rows before it, and each of these gets a link back, in the order of the rows. So the
//! links on the lowest level (the ground) follow from the rows alone, not from other links. Threads divide the rows, first by the row
//! that joins, then by the row whose links change, and the graph is the same with any number of them.

use std::ops::Range;

use super::builder::{Builder, number};
use super::cells::Cells;
use super::{Focus, Graph, NONE, Scratch, level_of};
use crate::kernels::Kernel;
use crate::rows::Rows;
use crate::shortlist::Scored;

/// Rows that join together, per thread. More rows take fewer passes over the cells, and more memory.
const CHUNK: usize = 2_048;

/// Candidates that are compared with a kept one in one call.
const TOGETHER: usize = 64;

/// Working memory of an insert.
#[derive(Default)]
struct Work {
    scratch: Scratch,
    own: Selection,
    back: Selection,
}

/// A choice of links among candidates.
#[derive(Default)]
struct Selection {
    candidates: Vec<Scored>,
    open: Vec<Scored>,
    kept: Vec<u32>,
    batch: Vec<u32>,
    sums: Vec<i32>,
}

impl Graph {
    /// Joins the rows that have not joined yet.
    pub(crate) fn join(&mut self, builder: Builder<'_>) {
        let until = builder.rows.len();
        let mut work = Work::default();
        let mut cells: Option<Cells> = None;
        while self.len() < until {
            let start = self.len();
            let cells = match &mut cells {
                Some(cells) if start < cells.end() => cells,
                other => other.insert(Cells::of(start, builder)),
            };
            let end = until.min(cells.end()).min(start + CHUNK * builder.threads.max(1));
            cells.join(end, builder);
            self.join_ground(start..end, cells, builder);
            for row in start..end {
                self.join_above(number(row), builder, &mut work);
            }
        }
    }

    /// Links rows on the lowest level, in both directions. The rows are in their cells.
    fn join_ground(&mut self, range: Range<usize>, cells: &Cells, builder: Builder<'_>) {
        let m = self.shape.links;
        let n = self.shape.ef_construction;
        let ground = self.ground.to_mut();
        ground.resize(range.end * 2 * m, NONE);
        let parts = builder.in_parts(range, |part| {
            let mut chosen: Vec<(u32, u32)> = Vec::with_capacity(part.len() * m);
            let mut selection = Selection::default();
            for (row, found) in part.clone().map(number).zip(cells.nearest_before(part, n, builder)) {
                selection.candidates.clear();
                selection.candidates.extend(found);
                selection.select(row, m, builder.rows, builder.kernel);
                chosen.extend(selection.kept.iter().map(|kept| (*kept, row)));
            }
            chosen
        });
        let mut back: Vec<(u32, u32)> = parts.into_iter().flatten().collect();
        for own in back.chunk_by(|one, other| one.1 == other.1) {
            let links = &mut ground[own[0].1 as usize * 2 * m..];
            for (link, (kept, _)) in links.iter_mut().zip(own) {
                *link = *kept;
            }
        }
        back.sort_unstable();
        link_all_back(ground, 2 * m, &back, builder);
    }

    /// Algorithm 1 on the upper levels, which one row in `links` reaches.
    fn join_above(&mut self, row: u32, builder: Builder<'_>, work: &mut Work) {
        let Builder { rows, kernel, .. } = builder;
        let Work { scratch, own, back } = work;
        let m = self.shape.links;
        let level = level_of(row, m);
        let start = if level > 0 { number(self.upper.len()) } else { NONE };
        self.starts.to_mut().push(start);
        if level > 0 {
            let upper = self.upper.to_mut();
            upper.resize(upper.len() + usize::from(level) * m, NONE);
        }
        if self.entry == NONE {
            (self.entry, self.top) = (row, level);
        }
        if level == 0 || self.entry == row {
            return;
        }
        let ef = self.shape.ef_construction / 2;
        let focus = Focus { codes: rows.codes_of(row as usize), kernel };
        let mut entry = self.descend(rows, focus, level, scratch);
        for level in (1..=level.min(self.top)).rev() {
            scratch.begin(self.len(), ef);
            scratch.see(row);
            self.spread(rows, focus, (level, entry), usize::MAX, |_| true, scratch);
            entry = scratch.pool.best().unwrap_or(entry);
            own.candidates.clear();
            own.candidates.extend(scratch.found());
            own.select(row, m, rows, kernel);
            for (link, kept) in self.links_mut(level, row).iter_mut().zip(&own.kept) {
                *link = *kept;
            }
            for neighbour in &own.kept {
                back.link_back(self.links_mut(level, *neighbour), *neighbour, row, builder);
            }
        }
        if level > self.top {
            (self.entry, self.top) = (row, level);
        }
    }
}

/// Adds links: pairs of an owner and a row, in ascending order. Each owner's links are changed by one thread.
fn link_all_back(links: &mut [u32], room: usize, pairs: &[(u32, u32)], builder: Builder<'_>) {
    let each = pairs.len().div_ceil(builder.threads.max(1)).max(1);
    std::thread::scope(|scope| {
        let (mut links, mut first, mut pairs) = (links, 0, pairs);
        while let Some((owner, _)) = pairs.get(each.min(pairs.len()).wrapping_sub(1)) {
            let (part, later) = pairs.split_at(pairs.partition_point(|pair| pair.0 <= *owner));
            let next = *owner as usize + 1;
            let (own, others) = std::mem::take(&mut links).split_at_mut((next - first) * room);
            let mut link = move || {
                let mut back = Selection::default();
                for (owner, row) in part {
                    let start = (*owner as usize - first) * room;
                    back.link_back(&mut own[start..start + room], *owner, *row, builder);
                }
            };
            if later.is_empty() {
                link();
            } else {
                scope.spawn(link);
            }
            (links, first, pairs) = (others, next, later);
        }
    });
}

impl Selection {
    /// Algorithm 4: a candidate is kept if it is nearer to the owner than to any candidate kept before. Rows equal to the owner
    /// always are. They get at most half of the room: with links to equals only, no search would get in or out.
    fn select(&mut self, owner: u32, room: usize, rows: &Rows, kernel: Kernel) {
        self.kept.clear();
        let own_scale = rows.scale(owner as usize);
        let own_codes = rows.codes_of(owner as usize);
        let mut n_equal = 0;
        for start in (0..self.candidates.len()).step_by(TOGETHER) {
            self.open.clear();
            // Products over scales: the candidate's own scale is on both sides.
            self.open.extend(self.candidates.iter().skip(start).take(TOGETHER).map(|candidate| Scored {
                score: candidate.score / rows.scale(candidate.row as usize) * own_scale,
                row: candidate.row,
            }));
            for nth in 0..self.kept.len() {
                self.uncover(self.kept[nth], rows, kernel);
            }
            while let Some(Scored { row, .. }) = self.open.first().copied() {
                if self.kept.len() == room {
                    return;
                }
                self.open.remove(0);
                if rows.codes_of(row as usize) == own_codes {
                    if n_equal >= room / 2 {
                        continue;
                    }
                    n_equal += 1;
                }
                self.kept.push(row);
                self.uncover(row, rows, kernel);
            }
        }
    }

    /// Leaves the open candidates that are not nearer to a kept one than to the owner.
    fn uncover(&mut self, kept: u32, rows: &Rows, kernel: Kernel) {
        self.batch.clear();
        self.batch.extend(self.open.iter().map(|candidate| candidate.row));
        kernel.gather(rows.codes_of(kept as usize), rows.codes(), &self.batch, &mut self.sums);
        let scale = rows.scale(kept as usize);
        let mut sums = self.sums.iter();
        self.open.retain(|candidate| sums.next().is_none_or(|sum| *sum as f32 * scale <= candidate.score));
    }

    /// Adds a link to `row`. Without room, the best of the old and the new links are kept.
    fn link_back(&mut self, links: &mut [u32], owner: u32, row: u32, builder: Builder<'_>) {
        let Builder { rows, kernel, .. } = builder;
        if let Some(free) = links.iter_mut().find(|link| **link == NONE) {
            *free = row;
            return;
        }
        self.batch.clear();
        self.batch.extend_from_slice(links);
        self.batch.push(row);
        kernel.gather(rows.codes_of(owner as usize), rows.codes(), &self.batch, &mut self.sums);
        let scored = self.batch.iter().zip(&self.sums);
        self.candidates.clear();
        self.candidates
            .extend(scored.map(|(row, sum)| Scored { score: *sum as f32 * rows.scale(*row as usize), row: *row }));
        self.candidates.sort_unstable_by(Scored::order);
        self.select(owner, links.len(), rows, kernel);
        links.fill(NONE);
        for (link, kept) in links.iter_mut().zip(&self.kept) {
            *link = *kept;
        }
    }
}
