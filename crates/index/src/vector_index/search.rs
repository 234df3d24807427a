//! The ways of searching an index, and the choice between them.

use serde::Serialize;

use super::sieve::Sifted;
use super::{Links, SCRATCH, VectorIndex, row_number};
use crate::graph::{Effort, Focus, Graph, Scratch};
use crate::kernels::PACK;
use crate::key_set::KeySet;
use crate::rows::{Codes, Rows};
use crate::shortlist::{Neighbour, Shortlist};
use crate::{IndexKind, UnitVector, VectorError};

/// How many rows are scored by one call of a kernel.
const GATHER: usize = 256;

/// The maximum rows that a search in the graph scores again by their floats, unless three times `k` is more.
const RERANKED: usize = 30;

/// Rows that are picked and scored in the time that a search in the graph takes for a candidate. Measured with 100,000 rows of
/// 384: 15 ns per row, 1.1 µs per candidate.
const PICKS_A_CANDIDATE: f32 = 73.0;

/// Twice the number of rows that are picked and scored in the time of one row in the graph: an abandoned search costs half of a scan.
/// Measured as above: 45 ns.
const PICKS_A_STEP: usize = 6;

/// Packs of queries that are scored on some rows before the next rows are read: the rows come from memory once for all of them.
const PACKS: usize = 16;

/// The rows of the base or of the tail, and the number of the first of them in the index.
#[derive(Clone, Copy)]
pub(super) struct NumberedRows<'i> {
    pub(super) rows: &'i Rows,
    pub(super) first: usize,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SearchResult {
    /// Nearest first; ties in the order of keys.
    pub neighbours: Vec<Neighbour>,
    /// The way of searching that answered.
    pub by: IndexKind,
}

/// The keys that a search may find.
#[derive(Clone, Copy, Debug)]
pub enum SearchScope<'a> {
    /// All keys.
    All,
    /// These; those that the index does not have are ignored.
    Only(&'a KeySet),
}

impl VectorIndex {
    /// The `k` nearest of the keys in `among`, or all of them if there are fewer.
    ///
    /// A scan ([`IndexKind::Exact`]) is exact: it skips a row only if the bound on the error of its codes proves that it is farther.
    ///
    /// # Errors
    /// [`VectorError::Dimension`] if the query's length differs from that of the vectors.
    pub fn search(&self, query: &UnitVector, k: usize, among: SearchScope<'_>) -> Result<SearchResult, VectorError> {
        let vector = query.as_slice();
        self.check_dimension(query)?;
        let k = k.min(self.n_wanted(among));
        if k == 0 {
            return Ok(SearchResult { neighbours: Vec::new(), by: IndexKind::Exact });
        }
        let codes = Codes::of(vector);
        // Rows of a graph may be unreachable: if too few are found, the next way is tried.
        if let Some(neighbours) = self.by_graph(vector, &codes, k, among).map(|found| self.decide(found, vector))
            && neighbours.len() == k
        {
            return Ok(SearchResult { neighbours, by: self.base.links.kind() });
        }
        if let Some(neighbours) = self.by_coarse(&codes, k, among).map(|found| self.decide(found, vector))
            && neighbours.len() == k
        {
            return Ok(SearchResult { neighbours, by: IndexKind::Coarse });
        }
        let neighbours = self.decide(self.by_scan(&codes, k, among), vector);
        Ok(SearchResult { neighbours, by: IndexKind::Exact })
    }

    /// [`search`](Self::search) for each of the queries, in their order, faster: up to sixteen are scored in one pass over the rows. A
    /// result is exact if that of a single search is, and may be exact if that one uses signs or the graph.
    ///
    /// # Errors
    /// [`VectorError::Dimension`] if a query's length differs from that of the vectors.
    pub fn search_many(
        &self,
        queries: &[UnitVector],
        k: usize,
        among: SearchScope<'_>,
    ) -> Result<Vec<SearchResult>, VectorError> {
        queries.iter().try_for_each(|query| self.check_dimension(query))?;
        let k = k.min(self.n_wanted(among));
        let mut results = Vec::with_capacity(queries.len());
        for chunk in queries.chunks(PACKS * PACK) {
            if k > 0 && self.prefers_packs(chunk.len(), k, among) {
                results.extend(self.by_packs(chunk, k, among));
            } else {
                let single = chunk.iter().map(|query| self.search(query, k, among));
                results.extend(single.collect::<Result<Vec<_>, _>>()?);
            }
        }
        Ok(results)
    }

    fn check_dimension(&self, query: &UnitVector) -> Result<(), VectorError> {
        let found = query.as_slice().len();
        match self.dimension() {
            Some(expected) if found != expected => Err(VectorError::Dimension { found, expected }),
            _ => Ok(()),
        }
    }

    pub(super) fn n_wanted(&self, among: SearchScope<'_>) -> usize {
        match among {
            SearchScope::All => self.n_live,
            SearchScope::Only(keys) => keys.len().min(self.n_live),
        }
    }

    pub(super) fn decide(&self, shortlist: Shortlist, vector: &[f32]) -> Vec<Neighbour> {
        shortlist.decide(vector, self.kernel, |row| self.row(row as usize), |row| self.fetch(row as usize))
    }

    /// The number of rows that a search in the graph may score before a scan is faster. `None` if a scan is faster in any case.
    fn graph_budget(&self, ef: usize, among: SearchScope<'_>) -> Option<usize> {
        let SearchScope::Only(keys) = among else { return Some(usize::MAX) };
        let share = keys.len() as f32 / self.n_live as f32;
        let n_expected = PICKS_A_CANDIDATE * ef as f32 / share;
        (n_expected <= keys.len() as f32).then(|| keys.len() / PICKS_A_STEP)
    }

    /// The rows that a search in the graph finds, and the best of those that have not joined it. `None` if a scan is faster.
    fn by_graph(
        &self,
        #[cfg_attr(not(feature = "hnsw_rs"), expect(unused_variables))] vector: &[f32],
        query: &Codes,
        k: usize,
        among: SearchScope<'_>,
    ) -> Option<Shortlist> {
        let links = &self.base.links;
        let n_joined = links.len();
        if n_joined == 0 || self.config.kind == Some(IndexKind::Exact) {
            return None;
        }
        let ef = self.config.ef.max(k);
        let effort = Effort { ef, budget: self.graph_budget(ef, among)? };
        let n_reranked = RERANKED.max(3 * k);
        let mut shortlist = self.shortlist(query, k);
        match links {
            Links::Own(graph) => SCRATCH.with_borrow_mut(|scratch| {
                if !self.walk(graph, query, effort, among, scratch) {
                    return None;
                }
                for scored in scratch.found().take(n_reranked) {
                    shortlist.offer(scored.score * query.scale, scored.row);
                }
                Some(())
            })?,
            #[cfg(feature = "hnsw_rs")]
            Links::HnswRs(graph) => {
                let [base, _] = self.parts();
                let is_wanted = |row: u32| self.is_wanted(base, row as usize, among);
                let takes_all = matches!(among, SearchScope::All) && self.n_rows() == self.n_live;
                let filter: Option<&dyn Fn(u32) -> bool> = if takes_all { None } else { Some(&is_wanted) };
                for scored in graph.search(vector, effort, filter)?.into_iter().take(n_reranked) {
                    shortlist.offer(scored.score, scored.row);
                }
            }
        }
        self.scan_from(n_joined, query, among, &mut shortlist);
        Some(shortlist)
    }

    /// A search in the own graph; a separate copy is compiled for each way of filtering.
    fn walk(
        &self,
        graph: &Graph,
        query: &Codes,
        effort: Effort,
        among: SearchScope<'_>,
        scratch: &mut Scratch,
    ) -> bool {
        let rows = &self.base.rows;
        let focus = Focus { codes: &query.lines, kernel: self.kernel };
        let has_dead = self.n_rows() > self.n_live;
        let is_live = |row: u32| !self.is_dead(row as usize);
        match among {
            SearchScope::All if !has_dead => graph.search(rows, focus, effort, |_| true, scratch),
            SearchScope::All => graph.search(rows, focus, effort, is_live, scratch),
            SearchScope::Only(keys) => {
                let is_wanted = |row: u32| is_live(row) && keys.contains(rows.key(row as usize));
                graph.search(rows, focus, effort, is_wanted, scratch)
            }
        }
    }

    /// The rows that may be nearest by their signs, scored by their codes. `None` if there are no signs, or too few rows to compare
    /// them.
    fn by_coarse(&self, query: &Codes, k: usize, among: SearchScope<'_>) -> Option<Shortlist> {
        let n_sifted = self.n_sifted(1, among);
        if n_sifted == 0 {
            return None;
        }
        let mut shortlist = self.shortlist(query, k);
        self.sift(&mut [Sifted::new(query, &mut shortlist)], among);
        self.scan_from(n_sifted, query, among, &mut shortlist);
        Some(shortlist)
    }

    pub(super) fn shortlist(&self, query: &Codes, k: usize) -> Shortlist {
        Shortlist::new(k, self.base.rows.slack(query.error).max(self.tail.slack(query.error)))
    }

    fn by_scan(&self, query: &Codes, k: usize, among: SearchScope<'_>) -> Shortlist {
        let mut shortlist = self.shortlist(query, k);
        match among {
            SearchScope::Only(keys) if keys.len() < self.n_rows() / 2 => self.pick(keys, query, &mut shortlist),
            _ => self.scan_from(0, query, among, &mut shortlist),
        }
        shortlist
    }

    /// Scores the rows from number `start` of the base on, and those of the tail.
    fn scan_from(&self, start: usize, query: &Codes, among: SearchScope<'_>, shortlist: &mut Shortlist) {
        let rows = &self.base.rows;
        self.scan(rows, 0, start..rows.len(), query, among, shortlist);
        self.scan(&self.tail, rows.len(), 0..self.tail.len(), query, among, shortlist);
    }

    /// Scores a range of adjacent rows. `first` is the number of the first row of `rows` in the index.
    fn scan(
        &self,
        rows: &Rows,
        first: usize,
        range: std::ops::Range<usize>,
        query: &Codes,
        among: SearchScope<'_>,
        shortlist: &mut Shortlist,
    ) {
        let mut sums = [0_i32; GATHER];
        let has_dead = self.n_rows() > self.n_live;
        let lines = rows.lines_per_row();
        for start in range.clone().step_by(GATHER) {
            let end = range.end.min(start + GATHER);
            let codes = rows.codes().get(start * lines..end * lines).unwrap_or_default();
            self.kernel.scan(&query.lines, codes, &mut sums);
            let scales = rows.scales().get(start..end).unwrap_or_default();
            for (row, (sum, scale)) in (start..end).zip(sums.iter().zip(scales)) {
                let score = *sum as f32 * (scale * query.scale);
                if score < shortlist.floor() || (has_dead && self.is_dead(first + row)) {
                    continue;
                }
                if let SearchScope::Only(keys) = among
                    && !keys.contains(rows.key(row))
                {
                    continue;
                }
                shortlist.offer(score, row_number(first + row));
            }
        }
    }

    /// Scores the rows of some keys.
    fn pick(&self, keys: &KeySet, query: &Codes, shortlist: &mut Shortlist) {
        let mut sums = Vec::with_capacity(GATHER);
        for (NumberedRows { rows, first }, picked) in self.parts().into_iter().zip(self.rows_of(keys)) {
            for batch in picked.chunks(GATHER) {
                self.kernel.gather(&query.lines, rows.codes(), batch, &mut sums);
                for (row, sum) in batch.iter().zip(&sums) {
                    let row = *row as usize;
                    shortlist.offer(*sum as f32 * (rows.scale(row) * query.scale), row_number(first + row));
                }
            }
        }
    }

    /// The base and the tail.
    pub(super) fn parts(&self) -> [NumberedRows<'_>; 2] {
        [
            NumberedRows { rows: &self.base.rows, first: 0 },
            NumberedRows { rows: &self.tail, first: self.base.rows.len() },
        ]
    }

    /// The rows of some keys, as numbers in the base and in the tail.
    pub(super) fn rows_of(&self, keys: &KeySet) -> [Vec<u32>; 2] {
        let n_base = self.base.rows.len();
        let mut picked = [Vec::with_capacity(keys.len()), Vec::new()];
        let [base, tail] = &mut picked;
        keys.iter().filter_map(|key| self.place(key)).for_each(|row| {
            if row < n_base { base.push(row_number(row)) } else { tail.push(row_number(row - n_base)) }
        });
        picked
    }

    /// True for a live row whose key the search may find.
    pub(super) fn is_wanted(&self, part: NumberedRows<'_>, row: usize, among: SearchScope<'_>) -> bool {
        !self.is_dead(part.first + row)
            && match among {
                SearchScope::All => true,
                SearchScope::Only(keys) => keys.contains(part.rows.key(row)),
            }
    }
}
