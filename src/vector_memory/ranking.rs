//! The ranking of documents by their best chunks (docs/spec/playbook.md, 8).

use std::collections::BTreeMap;

use adage_index::{IndexKind, KeySet, SearchScope, UnitVector};

use super::lookup::{Hit, Lookup, LookupResult};
use super::view::View;
use crate::error::vector_memory::Result;
use crate::lexical::{TextSignals, WordQuery, WordScore};

/// The number of chunks that are compared by all signals: so many of the best by vectors, and by words. More if the limit is higher.
const MIN_CANDIDATES: usize = 50;

/// A chunk that matches the query.
struct Match {
    chunk: u32,
    score: f32,
    distance: Option<f32>,
}

/// A query with its vector, if there is one, and its words, if they count.
struct Asked<'a> {
    view: &'a View,
    vector: Option<&'a UnitVector>,
    words: Option<WordQuery>,
    /// The word score of each chunk, by number.
    scores: Vec<WordScore>,
    /// The chunks that the filter selects; none for all.
    among: Option<KeySet>,
    max_distance: f32,
}

/// Answers a query on a state that has followed.
pub(super) fn rank(view: &View, lookup: &Lookup, vector: Option<&UnitVector>) -> Result<LookupResult> {
    let words = lookup.words().map(|text| WordQuery::new(text, &[&view.words.index]));
    let n_chunks = view.chunks.chunks.len();
    let scores = words.as_ref().map(|words| words.scores(&view.words.index)).unwrap_or_default();
    let among = view.chunks.among(lookup.filter.keys(&view.documents).as_deref());
    let asked = Asked { view, vector, words, scores, among, max_distance: lookup.max_distance };
    let mut k = MIN_CANDIDATES.max(lookup.limit);
    loop {
        let (matches, by) = asked.matches(k)?;
        let best = asked.best_of_documents(matches);
        if best.len() >= lookup.limit || k >= n_chunks {
            return Ok(asked.hits(best, lookup.limit, by));
        }
        // The candidates are chunks of few documents.
        k = k.saturating_mul(4);
    }
}

impl Asked<'_> {
    /// The `k` best chunks by each kind of signal, with the score by all; in no particular order.
    fn matches(&self, k: usize) -> Result<(Vec<Match>, Option<IndexKind>)> {
        let mut chunks = self.best_by_words(k);
        let mut by = None;
        if let Some(vector) = self.vector {
            let among = self.among.as_ref().map_or(SearchScope::All, SearchScope::Only);
            let found = self.view.chunks.vectors.search(vector, k, among)?;
            chunks.extend(found.neighbours.iter().map(|near| near.key));
            by = Some(found.by);
        }
        chunks.sort_unstable();
        chunks.dedup();
        let matches = chunks.into_iter().map(|chunk| self.matched(chunk));
        Ok((matches.filter(|matched| matched.distance.is_none_or(|far| far <= self.max_distance)).collect(), by))
    }

    fn best_by_words(&self, k: usize) -> Vec<u32> {
        let is_meant = |chunk: u32| self.among.as_ref().is_none_or(|among| among.contains(chunk));
        let mut best: Vec<(f32, u32)> = (0..)
            .zip(&self.scores)
            .filter(|(_, score)| score.words > 0.0)
            .map(|(chunk, score)| (score.words, chunk))
            .collect();
        best.retain(|(_, chunk)| is_meant(*chunk));
        best.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        best.into_iter().take(k).map(|(_, chunk)| chunk).collect()
    }

    fn matched(&self, chunk: u32) -> Match {
        let distance = self.vector.and_then(|vector| self.view.chunks.vectors.distance(chunk, vector));
        let cosine = distance.map(|distance| 1.0 - distance);
        let score = match &self.words {
            None => cosine.unwrap_or(-1.0),
            Some(words) => {
                let of_chunk = self.scores.get(chunk as usize).copied().unwrap_or_default();
                let grams = words.grams(&self.view.words.index, chunk);
                let signals = TextSignals { cosine, words: of_chunk, grams };
                if self.vector.is_some() { signals.by_all() } else { signals.by_words() }
            }
        };
        Match { chunk, score, distance }
    }

    /// The best chunk of each document, best first, ties in the order of keys.
    fn best_of_documents(&self, matches: Vec<Match>) -> Vec<(u32, Match)> {
        let mut best: BTreeMap<u32, Match> = BTreeMap::new();
        for matched in matches {
            let Some(document) = self.view.chunks.chunk(matched.chunk).map(|chunk| chunk.document) else { continue };
            if best.get(&document).is_none_or(|known| known.score < matched.score) {
                best.insert(document, matched);
            }
        }
        let mut best: Vec<(u32, Match)> = best.into_iter().collect();
        best.sort_by(|(_, one), (_, other)| other.score.total_cmp(&one.score));
        best
    }

    fn hits(&self, best: Vec<(u32, Match)>, limit: usize, by: Option<IndexKind>) -> LookupResult {
        let mut hits = Vec::with_capacity(limit.min(best.len()));
        for (key, Match { chunk, score, distance }) in best.into_iter().take(limit) {
            let document = self.view.documents.document(key).cloned();
            if let Some((document, chunk)) = document.zip(self.view.chunks.chunk(chunk)) {
                hits.push(Hit { document, score, distance, chunk: chunk.range.clone() });
            }
        }
        LookupResult { hits, by }
    }
}
