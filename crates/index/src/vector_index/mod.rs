//! The index: rows, their signs when there are many, and a graph over most of them when there are more.

mod packed;
mod search;
mod sieve;

use std::cell::RefCell;
use std::sync::Arc;

use super::coarse::Coarse;
use super::float_block::BLOCK_ROWS;
use super::graph::{Builder, Graph, Scratch};
#[cfg(feature = "hnsw_rs")]
use super::hnsw_rs::HnswRs;
use super::kernels::Kernel;
use super::rows::Rows;
use crate::config::MOST_THREADS;
use crate::{IndexConfig, IndexKind, UnitVector, VectorError};

use sieve::SieveFrom;

pub use search::{Neighbour, SearchResult, SearchScope};

/// No row.
const NONE: u32 = u32::MAX;

/// Rows join a graph when they are at least one for so many that have: before the first one joins, all are put into cells.
const LEAST_SHARE: usize = 64;

/// Nearest neighbours among unit vectors, in memory.
///
/// A clone shares the rows and the graph with its original and copies what it changes: search one while you change the other, and
/// swap. Keys are the caller's; hand them out from 0, for the memory taken is proportional to the largest.
#[derive(Clone, Debug)]
pub struct VectorIndex {
    config: IndexConfig,
    kernel: Kernel,
    /// Rows that join the base at a time; until then they are scanned.
    batch: usize,
    sieve_from: SieveFrom,
    base: Arc<Base>,
    tail: Arc<Rows>,
    /// Row by key.
    places: Arc<Vec<u32>>,
    /// A bit a row: its key was removed or has another row now.
    dead: Arc<Vec<u64>>,
    n_live: usize,
    /// Some row came from a damaged one.
    was_damaged: bool,
}

/// All rows but the last ones.
#[derive(Clone, Debug)]
struct Base {
    rows: Rows,
    links: Links,
    /// Of the first of the rows, where searches use them.
    coarse: Coarse,
}

impl Base {
    /// The rows that have no signs yet get them, or all lose them: what the settings ask for.
    fn join_coarse(&mut self, config: &IndexConfig) {
        if config.has_signs(self.rows.len(), self.links.len()) {
            self.coarse.join(&self.rows);
        } else {
            self.coarse = Coarse::default();
        }
    }
}

/// The graph over the first of the base's rows, perhaps none of them.
#[derive(Clone, Debug)]
enum Links {
    Own(Graph),
    #[cfg(feature = "hnsw_rs")]
    HnswRs(HnswRs),
}

impl Links {
    fn new(
        config: &IndexConfig,
        #[cfg_attr(not(feature = "hnsw_rs"), expect(unused_variables))] kernel: Kernel,
    ) -> Self {
        let shape = config.shape();
        match config.kind {
            #[cfg(feature = "hnsw_rs")]
            Some(IndexKind::HnswRs) => Self::HnswRs(HnswRs::new(shape, kernel)),
            _ => Self::Own(Graph::new(shape)),
        }
    }

    fn kind(&self) -> IndexKind {
        match self {
            Self::Own(_) => IndexKind::Graph,
            #[cfg(feature = "hnsw_rs")]
            Self::HnswRs(_) => IndexKind::HnswRs,
        }
    }

    /// Rows that have joined.
    fn len(&self) -> usize {
        match self {
            Self::Own(graph) => graph.len(),
            #[cfg(feature = "hnsw_rs")]
            Self::HnswRs(graph) => graph.len(),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Own(graph) => graph.bytes(),
            #[cfg(feature = "hnsw_rs")]
            Self::HnswRs(graph) => graph.bytes(),
        }
    }

    /// Takes in all rows that have not joined yet.
    fn join(&mut self, rows: &Rows, kernel: Kernel, threads: usize) {
        match self {
            Self::Own(graph) => graph.join(Builder { rows, kernel, threads }),
            #[cfg(feature = "hnsw_rs")]
            Self::HnswRs(graph) => graph.join(rows, rows.len(), kernel),
        }
    }
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl VectorIndex {
    /// An empty index.
    #[must_use]
    pub fn new(config: IndexConfig) -> Self {
        let kernel = Kernel::best();
        let base = Base { rows: Rows::new(0), links: Links::new(&config, kernel), coarse: Coarse::default() };
        Self {
            config,
            kernel,
            batch: BLOCK_ROWS,
            sieve_from: SieveFrom::MEASURED,
            base: Arc::new(base),
            tail: Arc::new(Rows::new(0)),
            places: Arc::default(),
            dead: Arc::default(),
            n_live: 0,
            was_damaged: false,
        }
    }

    /// Another number of rows that join the base at a time.
    #[cfg(test)]
    pub(crate) fn with_batch(mut self, batch: usize) -> Self {
        self.batch = batch;
        self
    }

    /// Signs are compared however few rows there are.
    #[cfg(test)]
    pub(crate) fn with_signs_of_few(mut self) -> Self {
        self.sieve_from = SieveFrom { single: 0, pack: 0 };
        self
    }

    /// Other instructions than the fastest.
    #[cfg(test)]
    pub(crate) fn with_kernel(mut self, kernel: Kernel) -> Self {
        self.kernel = kernel;
        self
    }

    #[cfg(test)]
    pub(crate) fn links(&self) -> &impl std::fmt::Debug {
        &self.base.links
    }

    /// Keys that can be found.
    #[must_use]
    pub fn len(&self) -> usize {
        self.n_live
    }

    /// True when nothing can be found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.n_live == 0
    }

    /// Components of each vector; `None` when there is none.
    #[must_use]
    pub fn dimension(&self) -> Option<usize> {
        (self.n_live > 0).then(|| self.tail.dimension())
    }

    /// True when there is a graph to search.
    #[must_use]
    pub fn has_graph(&self) -> bool {
        self.base.links.len() > 0
    }

    /// True when there are signs to search by, or a graph: what an index that is stored need not make again.
    #[must_use]
    pub fn has_signs_or_graph(&self) -> bool {
        self.base.coarse.len() > 0 || self.has_graph()
    }

    /// The vector under a key; `None` too where it was stored and is damaged.
    #[must_use]
    pub fn vector(&self, key: u32) -> Option<&[f32]> {
        let row = self.place(key)?;
        let vector = self.row(row).1;
        let (rows, row) = self.part(row);
        (!rows.is_row_damaged(row)).then_some(vector)
    }

    /// True when a stored row was read that did not fit its checksum, see [`snapshot`](crate::snapshot). Searches take what its codes
    /// say for it, in which a component is at most half a code's step off. The index is not stored again.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.was_damaged || self.row_parts().iter().any(|rows| rows.is_damaged())
    }

    /// The cosine distance of the vector under a key, as a search computes it. `None` when there is none, or of another length.
    #[must_use]
    pub fn distance(&self, key: u32, query: &UnitVector) -> Option<f32> {
        let vector = Some(self.row(self.place(key)?).1).filter(|vector| vector.len() == query.as_slice().len())?;
        Some(1.0 - self.kernel.dot(query.as_slice(), vector))
    }

    /// Sets the number of candidates of a search in the graph.
    pub fn set_ef(&mut self, ef: usize) {
        self.config.ef = ef;
    }

    /// Bytes in memory: of the vectors' floats, and of everything else.
    #[must_use]
    pub fn bytes(&self) -> (usize, usize) {
        let (base, tail) = (self.base.rows.bytes(), self.tail.bytes());
        let maps = size_of_val(&self.places[..]) + size_of_val(&self.dead[..]);
        (base.0 + tail.0, base.1 + tail.1 + maps + self.base.links.bytes() + self.base.coarse.bytes())
    }

    /// Adds a vector, or replaces the one under the same key.
    ///
    /// # Errors
    /// [`VectorError::Dimension`] when it is not as long as the others; nothing is changed.
    pub fn put(&mut self, key: u32, vector: &UnitVector) -> Result<(), VectorError> {
        self.put_all([(key, vector)])
    }

    /// Adds or replaces many: all, or on an error none.
    ///
    /// # Errors
    /// [`VectorError::Dimension`] when one is not as long as the others.
    pub fn put_all<'v>(&mut self, rows: impl IntoIterator<Item = (u32, &'v UnitVector)>) -> Result<(), VectorError> {
        let rows: Vec<(u32, &UnitVector)> = rows.into_iter().collect();
        let Some(first) = rows.first() else { return Ok(()) };
        if self.n_live == 0 {
            // Nothing is left that a vector of another length could not stand beside.
            *self = Self {
                batch: self.batch,
                sieve_from: self.sieve_from,
                kernel: self.kernel,
                ..Self::new(self.config.clone())
            };
        }
        let expected = self.dimension().unwrap_or(first.1.as_slice().len());
        if let Some((_, other)) = rows.iter().find(|(_, vector)| vector.as_slice().len() != expected) {
            return Err(VectorError::Dimension { found: other.as_slice().len(), expected });
        }
        if self.n_rows() == 0 {
            self.tail = Arc::new(Rows::new(expected));
            Arc::make_mut(&mut self.base).rows = Rows::new(expected);
        }
        let mut is_sealed = false;
        for (key, vector) in rows {
            is_sealed |= self.push(key, vector.as_slice());
        }
        if is_sealed {
            self.join_when_due();
        }
        Ok(())
    }

    /// True when the base has more rows than before.
    fn push(&mut self, key: u32, vector: &[f32]) -> bool {
        self.remove_row(key);
        let row = self.n_rows();
        Arc::make_mut(&mut self.tail).push(key, vector);
        let places = Arc::make_mut(&mut self.places);
        if places.len() <= key as usize {
            places.resize(key as usize + 1, NONE);
        }
        if let Some(place) = places.get_mut(key as usize) {
            *place = row_number(row);
        }
        if row.is_multiple_of(64) {
            Arc::make_mut(&mut self.dead).push(0);
        }
        self.n_live += 1;
        let is_full = self.tail.len() >= self.batch;
        if is_full {
            self.seal();
        }
        self.compact_when_due();
        is_full
    }

    pub(super) fn config(&self) -> &IndexConfig {
        &self.config
    }

    /// The rows, in two parts.
    pub(super) fn row_parts(&self) -> [&Rows; 2] {
        [&self.base.rows, &self.tail]
    }

    /// The graph, where it is our own.
    #[cfg_attr(not(feature = "hnsw_rs"), expect(clippy::unnecessary_wraps, reason = "there is another kind of graph"))]
    pub(super) fn graph(&self) -> Option<&Graph> {
        match &self.base.links {
            Links::Own(graph) => Some(graph),
            #[cfg(feature = "hnsw_rs")]
            Links::HnswRs(_) => None,
        }
    }

    /// The key of each row, none where it was removed.
    pub(super) fn keys_by_row(&self) -> Vec<Option<u32>> {
        (0..self.n_rows()).map(|row| (!self.is_dead(row)).then(|| self.row(row).0)).collect()
    }

    /// The signs of the base's rows.
    pub(super) fn coarse(&self) -> &Coarse {
        &self.base.coarse
    }

    /// Takes over rows, the signs of some of them and a graph over some of them; the rest joins the graph with the next batch. Of two
    /// rows with one key the later one counts.
    pub(super) fn restore(&mut self, rows: Rows, coarse: Option<Coarse>, graph: Option<Graph>, keys: &[Option<u32>]) {
        let n_rows = rows.len();
        let mut places: Vec<u32> = Vec::new();
        let mut dead = vec![0_u64; n_rows.div_ceil(64)];
        let mut bury = |row: usize| {
            if let Some(word) = dead.get_mut(row / 64) {
                *word |= 1 << (row % 64);
            }
        };
        self.n_live = 0;
        for (row, key) in keys.iter().enumerate().take(n_rows) {
            let Some(key) = key.map(|key| key as usize) else {
                bury(row);
                continue;
            };
            if places.len() <= key {
                places.resize(key + 1, NONE);
            }
            let Some(place) = places.get_mut(key) else { continue };
            if *place == NONE {
                self.n_live += 1;
            } else {
                bury(*place as usize);
            }
            *place = row_number(row);
        }
        self.tail = Arc::new(Rows::new(rows.dimension()));
        let links = graph.map_or_else(|| Links::new(&self.config, self.kernel), Links::Own);
        let mut base = Base { rows, links, coarse: coarse.unwrap_or_default() };
        base.join_coarse(&self.config);
        self.base = Arc::new(base);
        self.places = Arc::new(places);
        self.dead = Arc::new(dead);
    }

    /// The tail's rows become part of the base.
    fn seal(&mut self) {
        let empty = Arc::new(Rows::new(self.tail.dimension()));
        let tail = std::mem::replace(&mut self.tail, empty);
        let base = Arc::make_mut(&mut self.base);
        base.rows.append(&tail);
        base.join_coarse(&self.config);
    }

    /// Rows of the base become part of the graph where there is one, when they are enough.
    fn join_when_due(&mut self) {
        let (n_rows, n_joined) = (self.base.rows.len(), self.base.links.len());
        let least = self.batch.max(n_joined / LEAST_SHARE);
        if self.config.has_graph(n_rows) && n_rows - n_joined >= least {
            let base = Arc::make_mut(&mut self.base);
            base.links.join(&base.rows, self.kernel, self.config.build_threads.clamp(1, MOST_THREADS));
            base.join_coarse(&self.config);
        }
    }

    /// Takes a key out. False when it was not there.
    pub fn remove(&mut self, key: u32) -> bool {
        let was_there = self.remove_row(key);
        self.compact_when_due();
        was_there
    }

    fn remove_row(&mut self, key: u32) -> bool {
        let Some(row) = self.place(key) else { return false };
        if let Some(word) = Arc::make_mut(&mut self.dead).get_mut(row / 64) {
            *word |= 1 << (row % 64);
        }
        if let Some(place) = Arc::make_mut(&mut self.places).get_mut(key as usize) {
            *place = NONE;
        }
        self.n_live -= 1;
        true
    }

    fn compact_when_due(&mut self) {
        let n_dead = self.n_rows() - self.n_live;
        if n_dead > 64 && n_dead * 3 > self.n_rows() {
            self.compact();
        }
    }

    /// Builds the index again without what was removed; it does so by itself when a third is.
    pub fn compact(&mut self) {
        if self.n_rows() == self.n_live {
            return;
        }
        let mut fresh = Self {
            batch: self.batch,
            sieve_from: self.sieve_from,
            kernel: self.kernel,
            ..Self::new(self.config.clone())
        };
        if let Some(dimension) = self.dimension() {
            fresh.tail = Arc::new(Rows::new(dimension));
            Arc::make_mut(&mut fresh.base).rows = Rows::new(dimension);
        }
        for row in (0..self.n_rows()).filter(|row| !self.is_dead(*row)) {
            let (key, vector) = self.row(row);
            fresh.push(key, vector);
        }
        fresh.join_when_due();
        fresh.was_damaged = self.is_damaged();
        *self = fresh;
    }

    fn n_rows(&self) -> usize {
        self.base.rows.len() + self.tail.len()
    }

    fn place(&self, key: u32) -> Option<usize> {
        self.places.get(key as usize).filter(|row| **row != NONE).map(|row| *row as usize)
    }

    fn part(&self, row: usize) -> (&Rows, usize) {
        let n_base = self.base.rows.len();
        if row < n_base { (&self.base.rows, row) } else { (&self.tail, row - n_base) }
    }

    /// A row's key and vector.
    fn row(&self, row: usize) -> (u32, &[f32]) {
        let (rows, row) = self.part(row);
        (rows.key(row), rows.floats(row))
    }

    fn fetch(&self, row: usize) {
        let (rows, row) = self.part(row);
        rows.fetch_floats(row);
    }

    #[inline]
    fn is_dead(&self, row: usize) -> bool {
        self.dead.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "as many rows do not fit into memory")]
fn row_number(row: usize) -> u32 {
    row as u32
}
