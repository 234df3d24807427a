//! Searches by signs: a row is scored by its codes if its signs say that it may be among the nearest.

use std::f32::consts::FRAC_PI_2;
use std::ops::Range;

use super::packed::LEAST_PACKED;
use super::{Base, SearchScope, VectorIndex, row_number};
use crate::coarse::BLOCK;
use crate::kernels::{Limit, Passed, SignPack, TOGETHER};
use crate::rotation::rotated;
use crate::rows::Codes;
use crate::shortlist::Shortlist;

/// The maximum blocks of rows whose signs are compared before the scores raise the limit again.
const TILE: usize = 64;

/// Rows from which comparing signs takes less time than scoring every wanted row, in a single search and in a pack of queries.
/// Measured with 10,000 and 100,000 rows of 384.
#[derive(Clone, Copy, Debug)]
pub(super) struct SieveFrom {
    pub(super) single: usize,
    pub(super) pack: usize,
}

impl SieveFrom {
    pub(super) const MEASURED: Self = Self { single: 3_000, pack: 13_000 };
}

/// A query, what was found for it, and the rows to be scored next.
pub(super) struct Sifted<'s> {
    query: &'s Codes,
    shortlist: &'s mut Shortlist,
    /// The best scores, the largest first, `k` at most.
    best: Vec<f32>,
    /// The score of the k-th best row so far.
    kth: f32,
    pending: Vec<u32>,
}

impl<'s> Sifted<'s> {
    pub(super) fn new(query: &'s Codes, shortlist: &'s mut Shortlist) -> Self {
        Self { query, shortlist, best: Vec::new(), kth: f32::NEG_INFINITY, pending: Vec::new() }
    }

    /// The limit for the next rows. A row's margin holds for the part of a query that is orthogonal to the row: the nearer the row, the
    /// shorter that part. The variance of rounding is multiplied by the row's scale s, and the margin is proportional to √(s² − 1/d), where
    /// s²·d is π/2 for normally distributed components of d dimensions.
    fn limit(&self, rounding: f32) -> Limit {
        const OF_ROUNDING: f32 = FRAC_PI_2 / (FRAC_PI_2 - 1.0);
        let cosine = self.kth.clamp(0.0, 1.0);
        Limit { floor: self.kth, spread: (1.0 - cosine * cosine + OF_ROUNDING * rounding).sqrt() }
    }

    fn offer(&mut self, score: f32, row: u32) {
        self.shortlist.offer(score, row);
        if score <= self.kth {
            return;
        }
        let at = self.best.partition_point(|other| *other >= score);
        self.best.insert(at, score);
        self.best.truncate(self.shortlist.k());
        if self.best.len() == self.shortlist.k() {
            self.kth = self.best.last().copied().unwrap_or(f32::INFINITY);
        }
    }
}

/// Up to four queries, and which rows of the first tile were scored for them.
struct Sieve<'q, 's> {
    pack: SignPack,
    queries: &'q mut [Sifted<'s>],
    scored: [Passed; TILE],
}

/// Which rows are scored.
#[derive(Clone, Copy)]
enum Pass {
    /// Those that their signs say are among the nearest so far.
    Likeliest,
    /// Those that may be among them.
    Likely,
}

impl Sieve<'_, '_> {
    fn limits(&self, pass: Pass) -> [Limit; TOGETHER] {
        let mut limits = [Limit { floor: f32::INFINITY, spread: 0.0 }; TOGETHER];
        for (limit, (query, rounding)) in limits.iter_mut().zip(self.queries.iter().zip(self.pack.rounding())) {
            *limit = match pass {
                Pass::Likeliest => Limit { floor: query.kth, spread: 0.0 },
                Pass::Likely => query.limit(rounding),
            };
        }
        limits
    }
}

impl VectorIndex {
    /// The number of rows of the base that have signs; 0 if comparing these takes longer than scoring rows.
    pub(super) fn n_sifted(&self, n_queries: usize, among: SearchScope<'_>) -> usize {
        let n_signed = self.base.coarse.len();
        let n_wanted = match among {
            SearchScope::All => n_signed,
            SearchScope::Only(keys) => keys.len(),
        };
        let least = if n_queries < LEAST_PACKED {
            self.sieve_from.single + n_signed / 32
        } else {
            self.sieve_from.pack + n_signed / 5 * 2
        };
        if n_wanted < least { 0 } else { n_signed }
    }

    /// Scores the rows with signs that may be among the nearest of some queries: first the likeliest of a tile, so that there are good
    /// scores with which all others are compared.
    pub(super) fn sift(&self, queries: &mut [Sifted<'_>], among: SearchScope<'_>) {
        let wanted = self.wanted_blocks(among);
        let mut sieves: Vec<Sieve<'_, '_>> = queries
            .chunks_mut(TOGETHER)
            .map(|queries| {
                let rotated: Vec<_> = queries.iter().map(|each| rotated(each.query)).collect();
                let pack = SignPack::new(rotated.iter().map(|(lines, scale)| (&lines[..], *scale)));
                Sieve { pack, queries, scored: [[0; TOGETHER]; TILE] }
            })
            .collect();
        for tile in tiles(wanted.len().min(TILE), 1) {
            for sieve in &mut sieves {
                self.sift_tile(sieve, tile.clone(), &wanted, Pass::Likeliest);
            }
        }
        for tile in tiles(wanted.len(), TILE) {
            for sieve in &mut sieves {
                self.sift_tile(sieve, tile.clone(), &wanted, Pass::Likely);
            }
        }
    }

    /// Scores the rows of a tile that are wanted, may reach the limit and were not scored before.
    fn sift_tile(&self, sieve: &mut Sieve<'_, '_>, tile: Range<usize>, wanted: &[u64], pass: Pass) {
        let rows = &self.base.rows;
        let limits = sieve.limits(pass);
        let mut passed = [[0; TOGETHER]; TILE];
        let signs = self.base.coarse.blocks(tile.clone(), rows.lines_per_row());
        self.kernel.scan_signs(&sieve.pack, signs, &limits, &mut passed);
        for ((block, wanted), passed) in tile.clone().zip(wanted.get(tile).unwrap_or_default()).zip(passed) {
            let mut nothing = [0; TOGETHER];
            let scored = sieve.scored.get_mut(block).unwrap_or(&mut nothing);
            for (query, (passed, scored)) in sieve.queries.iter_mut().zip(passed.into_iter().zip(scored)) {
                let mut left = passed & wanted & !*scored;
                *scored |= left;
                while left != 0 {
                    let row = block * BLOCK + left.trailing_zeros() as usize;
                    rows.fetch_codes(row);
                    query.pending.push(row_number(row));
                    left &= left - 1;
                }
            }
        }
        sieve.queries.iter_mut().for_each(|query| self.score_pending(query));
    }

    fn score_pending(&self, query: &mut Sifted<'_>) {
        let rows = &self.base.rows;
        let mut sums = Vec::with_capacity(query.pending.len());
        let pending = std::mem::take(&mut query.pending);
        self.kernel.gather(&query.query.lines, rows.codes(), &pending, &mut sums);
        let slack = 2.0 * query.shortlist.slack();
        for (row, sum) in pending.iter().zip(&sums) {
            let score = *sum as f32 * (rows.scale(*row as usize) * query.query.scale);
            if score >= query.kth - slack {
                query.offer(score, *row);
            }
        }
        query.pending = pending;
        query.pending.clear();
    }

    /// One word per block of rows with signs: a row's bit is set if it is live and wanted.
    fn wanted_blocks(&self, among: SearchScope<'_>) -> Vec<u64> {
        let Base { rows, coarse, .. } = &*self.base;
        let live = (0..coarse.len() / BLOCK).map(|block| (block, !self.dead.get(block).copied().unwrap_or(0)));
        match among {
            SearchScope::All => live.map(|(_, live)| live).collect(),
            SearchScope::Only(keys) => live.map(|(block, live)| live & coarse.wanted(block, rows, keys)).collect(),
        }
    }
}

/// Ranges of blocks: the first one has `first` blocks, each later one as many as those before it together, up to [`TILE`].
fn tiles(n_blocks: usize, first: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let end = n_blocks.min(start + start.clamp(first, TILE));
        let tile = start..end;
        start = end;
        (!tile.is_empty()).then_some(tile)
    })
}
