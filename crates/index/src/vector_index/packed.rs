//! Many queries at once: rows are scored for sixteen queries per pass.

use super::search::NumberedRows;
use super::sieve::Sifted;
use super::{SearchResult, SearchScope, VectorIndex, row_number};
use crate::kernels::{CodeLine, PACK, Pack, PackScores};
use crate::rows::Codes;
use crate::shortlist::Shortlist;
use crate::{IndexKind, UnitVector};

/// Rows that are scored for all packs before the next ones.
const TILE: usize = 128;

/// Queries from which a pack takes less time than single scans. Measured with 10,000 and 100,000 rows of 384: 7 and 6.
pub(super) const LEAST_PACKED: usize = 8;

/// Rows that are scored in a pack, for one query, in the time that a search in the graph takes for a candidate. Measured as above.
const PACKED_A_CANDIDATE: usize = 1_000;

/// Sixteen queries, and what was found for each.
type Packed = (Pack, Vec<Shortlist>);

impl VectorIndex {
    /// True if scoring every wanted row, for sixteen queries at a time, takes less time than one search per query.
    pub(super) fn prefers_packs(&self, n_queries: usize, k: usize, among: SearchScope<'_>) -> bool {
        if n_queries < LEAST_PACKED {
            return false;
        }
        let n_rows = if self.is_picked(among) { self.n_wanted(among) } else { self.n_rows() };
        let has_graph = self.has_graph() && self.config.kind != Some(IndexKind::Exact);
        let asks_for_graph = has_graph && self.config.kind.is_some();
        !has_graph || (!asks_for_graph && n_rows < self.config.ef.max(k) * PACKED_A_CANDIDATE)
    }

    /// Scores every wanted row for every query.
    pub(super) fn by_packs(&self, queries: &[UnitVector], k: usize, among: SearchScope<'_>) -> Vec<SearchResult> {
        let codes: Vec<Codes> = queries.iter().map(|query| Codes::of(query.as_slice())).collect();
        let mut packs: Vec<Packed> = codes
            .chunks(PACK)
            .map(|codes| {
                let pack = Pack::new(codes.iter().map(|codes| (&codes.lines[..], codes.scale)));
                (pack, codes.iter().map(|codes| self.shortlist(codes, k)).collect())
            })
            .collect();
        let n_sifted = self.n_sifted(queries.len(), among);
        if n_sifted > 0 {
            let shortlists = packs.iter_mut().flat_map(|(_, shortlists)| shortlists);
            let mut sifted: Vec<Sifted<'_>> =
                codes.iter().zip(shortlists).map(|(codes, shortlist)| Sifted::new(codes, shortlist)).collect();
            self.sift(&mut sifted, among);
        }
        let by = if n_sifted > 0 { IndexKind::Coarse } else { IndexKind::Exact };
        let parts = self.parts();
        match among {
            SearchScope::Only(keys) if n_sifted == 0 && self.is_picked(among) => {
                for (part, picked) in parts.into_iter().zip(self.rows_of(keys)) {
                    self.scan_picked(part, &picked, &mut packs);
                }
            }
            _ => {
                let [base, tail] = parts;
                self.scan_packs(base, n_sifted, among, &mut packs);
                self.scan_packs(tail, 0, among, &mut packs);
            }
        }
        let shortlists = packs.into_iter().flat_map(|(_, shortlists)| shortlists);
        let decided = shortlists.zip(queries).map(|(shortlist, query)| self.decide(shortlist, query.as_slice()));
        decided.map(|neighbours| SearchResult { neighbours, by }).collect()
    }

    /// True if the rows of some keys are copied side by side: one copy for all packs costs less than scoring unwanted rows.
    fn is_picked(&self, among: SearchScope<'_>) -> bool {
        matches!(among, SearchScope::Only(keys) if keys.len() < self.n_rows() - self.n_rows() / 8)
    }

    /// Scores the rows from number `start` on for packs of queries: a tile of rows for all packs, then the next tile.
    fn scan_packs(&self, part: NumberedRows<'_>, start: usize, among: SearchScope<'_>, packs: &mut [Packed]) {
        let NumberedRows { rows, first } = part;
        for start in (start..rows.len()).step_by(TILE) {
            let end = rows.len().min(start + TILE);
            let number = |nth: usize| {
                let row = start + nth;
                self.is_wanted(part, row, among).then(|| row_number(first + row))
            };
            self.scan_tile(rows.tile(start..end), number, packs);
        }
    }

    /// The same for rows that are not adjacent: they are copied side by side, once for all packs.
    fn scan_picked(&self, NumberedRows { rows, first }: NumberedRows<'_>, picked: &[u32], packs: &mut [Packed]) {
        let mut codes = Vec::with_capacity(TILE * rows.lines_per_row());
        let mut scales = Vec::with_capacity(TILE);
        for picked in picked.chunks(TILE) {
            codes.clear();
            scales.clear();
            for row in picked {
                let (row_codes, row_scale) = rows.tile(*row as usize..*row as usize + 1);
                codes.extend_from_slice(row_codes);
                scales.extend_from_slice(row_scale);
            }
            let number = |nth: usize| picked.get(nth).map(|row| row_number(first + *row as usize));
            self.scan_tile((&codes, &scales), number, packs);
        }
    }

    /// Scores a tile of rows for all packs. `number` returns the number in the index of the nth row, or `None` if the row is not wanted.
    fn scan_tile(
        &self,
        (codes, scales): (&[CodeLine], &[f32]),
        number: impl Fn(usize) -> Option<u32>,
        packs: &mut [Packed],
    ) {
        let rows = self.kernel.pack_rows(codes, scales);
        let mut scores = [PackScores::NONE; TILE];
        for (pack, shortlists) in packs {
            let mut floors = [f32::INFINITY; PACK];
            for (floor, shortlist) in floors.iter_mut().zip(&*shortlists) {
                *floor = shortlist.floor();
            }
            self.kernel.scan_pack(pack, &rows, &floors, &mut scores);
            let passed = scores.iter().take(scales.len()).enumerate().filter(|(_, scores)| scores.passed != 0);
            for (row, scores) in passed.filter_map(|(nth, scores)| Some((number(nth)?, scores))) {
                let mut left = scores.passed;
                while left != 0 {
                    let lane = left.trailing_zeros() as usize;
                    left &= left - 1;
                    if let (Some(shortlist), Some(score)) = (shortlists.get_mut(lane), scores.scores.get(lane)) {
                        shortlist.offer(*score, row);
                    }
                }
            }
        }
    }
}
