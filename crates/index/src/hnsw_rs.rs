//! The graph of the crate `hnsw_rs`: the only file that names it, and what it needs to be kept from.
//!
//! It ends the process when a row may have more than 256 links, and panics on a negative or undefined distance, and under its
//! own distances on vectors of different lengths. It can neither be copied nor forget a row, and a filtered search that finds too
//! little walks through the whole graph.

use std::cell::Cell;
use std::sync::Arc;

use ::hnsw_rs::anndists::dist::distances::Distance;
use ::hnsw_rs::hnsw::{Hnsw, Point};
use parking_lot::Mutex;

use super::config::GraphShape;
use super::graph::Effort;
use super::kernels::Kernel;
use super::rows::Rows;
use super::shortlist::Scored;

/// Levels, as many as it has room for.
const LEVELS: usize = 16;

/// One less than its documentation allows, for it keeps the number in a byte, where 256 is none.
const MOST_LINKS: usize = 255;

/// 1 − cos of unit vectors.
struct Cosine(Kernel);

impl Distance<f32> for Cosine {
    fn eval(&self, one: &[f32], other: &[f32]) -> f32 {
        // Rounded, the product of equal vectors may exceed 1; and the maximum of NaN and 0 is 0.
        (1.0 - self.0.dot(one, other)).max(0.0)
    }
}

/// A graph over the first rows of an index.
///
/// Rows can only be added, so clones share one graph. The clone that has all its rows may add more; the others pass over what is
/// not theirs, and one of them that is to grow makes a graph of its own.
#[derive(Clone)]
pub(crate) struct HnswRs {
    shape: GraphShape,
    shared: Arc<Shared>,
    n_rows: usize,
}

struct Shared {
    graph: Hnsw<'static, f32, Cosine>,
    /// Rows in the graph, of whichever clone. Locked while some are added.
    n_rows: Mutex<usize>,
}

impl Shared {
    fn new(shape: GraphShape, kernel: Kernel) -> Self {
        let links = shape.links.clamp(2, MOST_LINKS);
        // The second argument only reserves memory.
        Self { graph: Hnsw::new(links, 0, LEVELS, shape.ef_construction.max(2), Cosine(kernel)), n_rows: Mutex::new(0) }
    }
}

impl HnswRs {
    pub(crate) fn new(shape: GraphShape, kernel: Kernel) -> Self {
        Self { shape, shared: Arc::new(Shared::new(shape, kernel)), n_rows: 0 }
    }

    /// Rows that have joined.
    pub(crate) fn len(&self) -> usize {
        self.n_rows
    }

    /// Bytes of the graph with its own copy of the vectors, as it lays them out in this version; what the allocator adds is not
    /// counted.
    pub(crate) fn bytes(&self) -> usize {
        // A link is a counted pointer to a pointer and a distance; a row has a counted lock around a list of lists, one a level.
        const LINK: usize = 8 + 16 + 16;
        const ROW: usize = 8 + 16 + size_of::<Point<'static, f32>>() + 16 + 8 + 24 + LEVELS * 24;
        let points = self.shared.graph.get_point_indexation();
        (0..=usize::from(points.get_max_level_observed()))
            .flat_map(|level| points.get_layer_iterator(level))
            .map(|point| {
                let n_links: usize = point.get_neighborhood_id().iter().map(Vec::len).sum();
                ROW + size_of_val(point.get_v()) + n_links * LINK
            })
            .sum()
    }

    /// Takes in the rows that have not joined yet, up to the `until`-th.
    pub(crate) fn join(&mut self, rows: &Rows, until: usize, kernel: Kernel) {
        let until = until.min(rows.len());
        if !self.append(rows, until) {
            *self = Self::new(self.shape, kernel);
            self.append(rows, until);
        }
    }

    /// False when another clone has added rows that are not this one's.
    fn append(&mut self, rows: &Rows, until: usize) -> bool {
        let mut n_rows = self.shared.n_rows.lock();
        if *n_rows != self.n_rows {
            return false;
        }
        for row in self.n_rows..until {
            self.shared.graph.insert((rows.floats(row), row));
        }
        *n_rows = until.max(self.n_rows);
        self.n_rows = *n_rows;
        true
    }

    /// The nearest rows for which `is_wanted`, or all where it is `None`, best first: `ef` of them where it finds so many. `None`
    /// when more than `budget` rows came into question.
    pub(crate) fn search(
        &self,
        query: &[f32],
        Effort { ef, budget }: Effort,
        is_wanted: Option<&dyn Fn(u32) -> bool>,
    ) -> Option<Vec<Scored>> {
        let n_asked = Cell::new(0_usize);
        let filter = |row: &usize| {
            n_asked.set(n_asked.get() + 1);
            // A search cannot be stopped, but it soon ends when everything is wanted.
            n_asked.get() > budget || (*row < self.n_rows && is_wanted.is_none_or(|is_wanted| is_wanted(number(*row))))
        };
        // While it is locked, rows are being added that are not this clone's. Those that are added from here on only take places.
        let is_all_mine = self.shared.n_rows.try_lock().is_some_and(|n_rows| *n_rows == self.n_rows);
        let found = if is_wanted.is_none() && is_all_mine {
            self.shared.graph.search(query, ef, ef)
        } else {
            self.shared.graph.search_filter(query, ef, ef, Some(&filter))
        };
        if n_asked.get() > budget {
            return None;
        }
        let mine = found.into_iter().filter(|near| near.d_id < self.n_rows);
        Some(mine.map(|near| Scored { score: 1.0 - near.distance, row: number(near.d_id) }).collect())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "an index has less than 2^32 rows, as keys are u32")]
fn number(row: usize) -> u32 {
    row as u32
}

impl std::fmt::Debug for HnswRs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HnswRs").field("shape", &self.shape).field("n_rows", &self.n_rows).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: GraphShape = GraphShape { links: 4, ef_construction: 20 };

    /// Rows on a circle, one a degree.
    fn circle(degrees: std::ops::Range<u8>) -> Rows {
        let mut rows = Rows::new(2);
        for degree in degrees {
            let (sin, cos) = f32::from(degree).to_radians().sin_cos();
            rows.push(u32::from(degree), &[cos, sin]);
        }
        rows
    }

    fn found(graph: &HnswRs, query: [f32; 2], ef: usize, is_wanted: impl Fn(u32) -> bool) -> Vec<u32> {
        let found = graph.search(&query, Effort { ef, budget: usize::MAX }, Some(&is_wanted)).unwrap();
        found.into_iter().map(|near| near.row).collect()
    }

    #[test]
    fn a_distance_is_never_negative_nor_undefined() {
        let cosine = Cosine(Kernel::Portable);
        for (one, other) in
            [([1.000_001, 0.0], [1.0, 0.0]), ([f32::NAN, 0.0], [1.0, 0.0]), ([f32::MAX; 2], [f32::MAX; 2])]
        {
            assert!(cosine.eval(&one, &other).to_bits() == 0.0_f32.to_bits(), "{one:?}");
        }
    }

    #[test]
    fn any_number_of_links_leaves_the_process_alive() {
        for links in [0, 1, 255, 256, 257, usize::MAX] {
            let mut graph = HnswRs::new(GraphShape { links, ef_construction: 0 }, Kernel::Portable);
            graph.join(&circle(0..90), usize::MAX, Kernel::Portable);
            assert_eq!(found(&graph, [1.0, 0.0], 30, |_| true)[..2], [0, 1], "{links}");
        }
    }

    #[test]
    fn a_filter_that_lets_nothing_through_finds_nothing() {
        let mut graph = HnswRs::new(SHAPE, Kernel::Portable);
        assert!(found(&graph, [1.0, 0.0], 1, |_| true).is_empty());
        graph.join(&circle(0..200), usize::MAX, Kernel::Portable);
        for ef in [0, 1, 2, 50] {
            assert!(found(&graph, [1.0, 0.0], ef, |_| false).is_empty());
        }
        assert_eq!(graph.search(&[1.0, 0.0], Effort { ef: 10, budget: 20 }, Some(&|_| false)), None);
    }

    #[test]
    fn clones_share_until_both_grow() {
        let rows = circle(0..100);
        let mut first = HnswRs::new(SHAPE, Kernel::Portable);
        first.join(&rows, 50, Kernel::Portable);
        let mut second = first.clone();
        first.join(&rows, 100, Kernel::Portable);
        assert!(Arc::ptr_eq(&first.shared, &second.shared));
        assert_eq!(first.len(), 100);
        let query = circle(80..81);
        assert_eq!(found(&first, [query.floats(0)[0], query.floats(0)[1]], 10, |_| true)[0], 80);
        assert_eq!(second.search(query.floats(0), Effort { ef: 10, budget: usize::MAX }, None).unwrap()[0].row, 49);
        let mut others = Rows::new(2);
        others.append(&circle(0..50));
        others.append(&circle(150..200));
        second.join(&others, 100, Kernel::Portable);
        assert!(!Arc::ptr_eq(&first.shared, &second.shared));
        assert_eq!(second.search(query.floats(0), Effort { ef: 10, budget: usize::MAX }, None).unwrap()[0].row, 49);
        // 100 links or more, 40 bytes each, beside the rows.
        assert!(second.bytes() > 100 * (8 + 4 * 40), "{}", second.bytes());
    }
}
