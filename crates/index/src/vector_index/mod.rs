//! The index: rows; signs of them if there are many; a graph over most of them if there are more.

mod links;
mod packed;
mod search;
mod sieve;

use std::cell::RefCell;
use std::sync::Arc;

use super::coarse::Coarse;
use super::float_block::BLOCK_ROWS;
use super::graph::{Graph, Scratch};
use super::kernels::Kernel;
use super::rows::Rows;
use crate::config::MOST_THREADS;
use crate::{IndexConfig, UnitVector, VectorError};

use links::Links;
use sieve::SieveFrom;

pub use search::{SearchResult, SearchScope};

/// No row.
const NONE: u32 = u32::MAX;

/// Rows join a graph once there is one per this many that have joined, because each time all joined rows are put into cells.
const LEAST_SHARE: usize = 64;

/// Nearest neighbours among unit vectors, in memory.
///
/// A clone shares the rows and the graph with its original and copies what it changes: search one while you change the other, and
/// swap. Keys are the caller's. Number them from 0: memory is proportional to the largest key.
#[derive(Clone, Debug)]
pub struct VectorIndex {
    config: IndexConfig,
    kernel: Kernel,
    /// How many rows the tail collects before they join the base.
    batch: usize,
    sieve_from: SieveFrom,
    base: Arc<Base>,
    tail: Arc<Rows>,
    /// The row of each key, or `NONE`.
    places: Arc<Vec<u32>>,
    /// One bit per row: set if its key was removed or has another row now.
    dead: Arc<Vec<u64>>,
    n_live: usize,
    /// True if a row was copied from a damaged one.
    was_damaged: bool,
}

/// All rows except those of the tail.
#[derive(Clone, Debug)]
struct Base {
    rows: Rows,
    links: Links,
    /// The signs of the first of the rows; none if searches do not use them.
    coarse: Coarse,
}

impl Base {
    /// Makes the missing signs, or drops all of them, as the settings require.
    fn join_coarse(&mut self, config: &IndexConfig) {
        if config.has_signs(self.rows.len(), self.links.len()) {
            self.coarse.join(&self.rows);
        } else {
            self.coarse = Coarse::default();
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

    /// The number of keys that can be found.
    #[must_use]
    pub fn len(&self) -> usize {
        self.n_live
    }

    /// True if nothing can be found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.n_live == 0
    }

    /// The number of components of each vector; `None` if the index is empty.
    #[must_use]
    pub fn dimension(&self) -> Option<usize> {
        (self.n_live > 0).then(|| self.tail.dimension())
    }

    /// True if there is a graph to search.
    #[must_use]
    pub fn has_graph(&self) -> bool {
        self.base.links.len() > 0
    }

    /// True if there are signs or a graph, which a snapshot saves from being built again.
    #[must_use]
    pub fn has_signs_or_graph(&self) -> bool {
        self.base.coarse.len() > 0 || self.has_graph()
    }

    /// The vector of a key; `None` if there is none, or if it was stored and is damaged.
    #[must_use]
    pub fn vector(&self, key: u32) -> Option<&[f32]> {
        let row = self.place(key)?;
        let vector = self.row(row).1;
        let (rows, row) = self.part(row);
        (!rows.is_row_damaged(row)).then_some(vector)
    }

    /// True if a stored row was read that does not match its checksum, see [`snapshot`](crate::snapshot). Searches then use its codes,
    /// in which each component is off by at most half a step of the codes. A damaged index cannot be stored again.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.was_damaged || self.row_parts().iter().any(|rows| rows.is_damaged())
    }

    /// The cosine distance of a key's vector, as a search computes it. `None` if there is no vector, or one of another length.
    #[must_use]
    pub fn distance(&self, key: u32, query: &UnitVector) -> Option<f32> {
        let vector = Some(self.row(self.place(key)?).1).filter(|vector| vector.len() == query.as_slice().len())?;
        Some(1.0 - self.kernel.dot(query.as_slice(), vector))
    }

    /// Sets the number of candidates of a search in the graph, [`IndexConfig::ef`].
    pub fn set_ef(&mut self, ef: usize) {
        self.config.ef = ef;
    }

    /// Bytes in memory: those of the vectors' floats, and those of everything else.
    #[must_use]
    pub fn bytes(&self) -> (usize, usize) {
        let (base, tail) = (self.base.rows.bytes(), self.tail.bytes());
        let maps = size_of_val(&self.places[..]) + size_of_val(&self.dead[..]);
        (base.0 + tail.0, base.1 + tail.1 + maps + self.base.links.bytes() + self.base.coarse.bytes())
    }

    /// Adds a vector, or replaces the one under the same key.
    ///
    /// # Errors
    /// [`VectorError::Dimension`] if its length differs from that of the others; nothing is changed.
    pub fn put(&mut self, key: u32, vector: &UnitVector) -> Result<(), VectorError> {
        self.put_all([(key, vector)])
    }

    /// Adds or replaces several vectors: all of them, or none if there is an error. Of two with one key, the last one counts.
    ///
    /// # Errors
    /// [`VectorError::Dimension`] if their lengths differ from each other's or from those in the index.
    pub fn put_all<'v>(&mut self, rows: impl IntoIterator<Item = (u32, &'v UnitVector)>) -> Result<(), VectorError> {
        let rows: Vec<(u32, &UnitVector)> = rows.into_iter().collect();
        let Some(first) = rows.first() else { return Ok(()) };
        if self.n_live == 0 {
            // Without other vectors, any length is valid.
            *self = self.emptied();
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

    /// Removes a key; returns false if it was not there.
    pub fn remove(&mut self, key: u32) -> bool {
        let was_there = self.remove_row(key);
        self.compact_when_due();
        was_there
    }

    /// Builds the index again without the removed rows. This also happens by itself once they are more than a third.
    pub fn compact(&mut self) {
        if self.n_rows() == self.n_live {
            return;
        }
        let mut fresh = self.emptied();
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

    pub(super) fn config(&self) -> &IndexConfig {
        &self.config
    }

    /// The rows of the base and of the tail.
    pub(super) fn row_parts(&self) -> [&Rows; 2] {
        [&self.base.rows, &self.tail]
    }

    /// The graph, if it is the own one.
    #[cfg_attr(not(feature = "hnsw_rs"), expect(clippy::unnecessary_wraps, reason = "there is another kind of graph"))]
    pub(super) fn graph(&self) -> Option<&Graph> {
        match &self.base.links {
            Links::Own(graph) => Some(graph),
            #[cfg(feature = "hnsw_rs")]
            Links::HnswRs(_) => None,
        }
    }

    /// The key of each row; `None` if the row was removed.
    pub(super) fn keys_by_row(&self) -> Vec<Option<u32>> {
        (0..self.n_rows()).map(|row| (!self.is_dead(row)).then(|| self.row(row).0)).collect()
    }

    /// The signs of the base's rows.
    pub(super) fn coarse(&self) -> &Coarse {
        &self.base.coarse
    }

    /// Replaces the content by rows, the signs of the first of them and a graph over the first of them. The other rows join the graph
    /// with the next batch. Of two rows with one key, the later one counts.
    pub(super) fn restore(&mut self, rows: Rows, coarse: Option<Coarse>, graph: Option<Graph>, keys: &[Option<u32>]) {
        let n_rows = rows.len();
        let mut places: Vec<u32> = Vec::new();
        let mut dead = vec![0_u64; n_rows.div_ceil(64)];
        for (row, key) in keys.iter().enumerate().take(n_rows) {
            let replaced = match key {
                Some(key) => replace_place(&mut places, *key, row),
                None => Some(row),
            };
            if let Some(row) = replaced {
                mark(&mut dead, row);
            }
        }
        self.n_live = places.iter().filter(|row| **row != NONE).count();
        self.tail = Arc::new(Rows::new(rows.dimension()));
        let links = graph.map_or_else(|| Links::new(&self.config, self.kernel), Links::Own);
        let mut base = Base { rows, links, coarse: coarse.unwrap_or_default() };
        base.join_coarse(&self.config);
        self.base = Arc::new(base);
        self.places = Arc::new(places);
        self.dead = Arc::new(dead);
    }

    /// Adds a row; returns true if the tail was full and has joined the base.
    fn push(&mut self, key: u32, vector: &[f32]) -> bool {
        self.remove_row(key);
        let row = self.n_rows();
        Arc::make_mut(&mut self.tail).push(key, vector);
        replace_place(Arc::make_mut(&mut self.places), key, row);
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

    fn remove_row(&mut self, key: u32) -> bool {
        let Some(row) = self.place(key) else { return false };
        mark(Arc::make_mut(&mut self.dead).as_mut_slice(), row);
        if let Some(place) = Arc::make_mut(&mut self.places).get_mut(key as usize) {
            *place = NONE;
        }
        self.n_live -= 1;
        true
    }

    /// Moves the tail's rows to the base.
    fn seal(&mut self) {
        let empty = Arc::new(Rows::new(self.tail.dimension()));
        let tail = std::mem::replace(&mut self.tail, empty);
        let base = Arc::make_mut(&mut self.base);
        base.rows.append(&tail);
        base.join_coarse(&self.config);
    }

    /// Joins the base's rows to the graph, if there is to be one and enough of them have not joined.
    fn join_when_due(&mut self) {
        let (n_rows, n_joined) = (self.base.rows.len(), self.base.links.len());
        let least = self.batch.max(n_joined / LEAST_SHARE);
        if self.config.has_graph(n_rows) && n_rows - n_joined >= least {
            let base = Arc::make_mut(&mut self.base);
            base.links.join(&base.rows, self.kernel, self.config.build_threads.clamp(1, MOST_THREADS));
            base.join_coarse(&self.config);
        }
    }

    fn compact_when_due(&mut self) {
        let n_dead = self.n_rows() - self.n_live;
        if n_dead > 64 && n_dead * 3 > self.n_rows() {
            self.compact();
        }
    }

    /// An empty index with the same settings.
    fn emptied(&self) -> Self {
        let (kernel, batch, sieve_from) = (self.kernel, self.batch, self.sieve_from);
        Self { kernel, batch, sieve_from, ..Self::new(self.config.clone()) }
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

/// Sets the row of a key; returns the row that it had before, if any.
fn replace_place(places: &mut Vec<u32>, key: u32, row: usize) -> Option<usize> {
    let key = key as usize;
    if places.len() <= key {
        places.resize(key + 1, NONE);
    }
    let place = places.get_mut(key)?;
    let before = std::mem::replace(place, row_number(row));
    (before != NONE).then_some(before as usize)
}

/// Sets the bit of a row.
fn mark(rows: &mut [u64], row: usize) {
    if let Some(word) = rows.get_mut(row / 64) {
        *word |= 1 << (row % 64);
    }
}

/// Settings that only tests change.
#[cfg(test)]
impl VectorIndex {
    /// Changes how many rows the tail collects.
    pub(crate) fn with_batch(mut self, batch: usize) -> Self {
        self.batch = batch;
        self
    }

    /// Compares signs however few rows there are.
    pub(crate) fn with_signs_of_few(mut self) -> Self {
        self.sieve_from = SieveFrom { single: 0, pack: 0 };
        self
    }

    /// Uses other instructions than the fastest.
    pub(crate) fn with_kernel(mut self, kernel: Kernel) -> Self {
        self.kernel = kernel;
        self
    }

    pub(crate) fn links(&self) -> &impl std::fmt::Debug {
        &self.base.links
    }
}
