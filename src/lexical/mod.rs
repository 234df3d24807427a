//! Search by words: BM25 over stems. The engine knows texts and numbers, never lessons.

mod words;

use std::collections::{BTreeSet, HashMap};

pub(crate) use words::{content_words, is_telling, stem, terms};

/// Term-frequency saturation and length normalisation (Robertson and Zaragoza, "The Probabilistic Relevance Framework",
/// 2009; the usual values).
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// An inverted index over a fixed list of texts.
#[derive(Debug, Default)]
pub(crate) struct LexicalIndex {
    postings: HashMap<String, Vec<Posting>>,
    lengths: Vec<f32>,
    mean_length: f32,
}

#[derive(Clone, Copy, Debug)]
struct Posting {
    row: usize,
    count: f32,
    in_head: bool,
}

/// A text that shares terms with the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hit {
    /// Which text, in the order in which they were given.
    pub(crate) row: usize,
    /// BM25; larger is better.
    pub(crate) score: f32,
    /// Share of the query's idf mass that the text matches, in [0, 1].
    pub(crate) mass: f32,
    /// The share that its head matches; at most `mass`.
    pub(crate) head_mass: f32,
}

impl LexicalIndex {
    /// Each text is a head, which says what it is about, and a body.
    pub(crate) fn new<H: AsRef<str>, B: AsRef<str>>(texts: impl IntoIterator<Item = (H, B)>) -> Self {
        let mut index = Self::default();
        for (row, (head, body)) in texts.into_iter().enumerate() {
            let mut counts: HashMap<String, Posting> = HashMap::new();
            let mut length = 0.0;
            let head = terms(head.as_ref()).map(|term| (term, true));
            let body = terms(body.as_ref()).map(|term| (term, false));
            for (term, in_head) in head.chain(body) {
                counts.entry(term).or_insert(Posting { row, count: 0.0, in_head }).count += 1.0;
                length += 1.0;
            }
            index.lengths.push(length);
            for (term, posting) in counts {
                index.postings.entry(term).or_default().push(posting);
            }
        }
        if !index.lengths.is_empty() {
            index.mean_length = index.lengths.iter().sum::<f32>() / index.lengths.len() as f32;
        }
        index
    }

    /// Every text that shares a term with the query and that `accept` lets through, best first, ties by row.
    ///
    /// Inverse document frequency is taken over all texts, whatever `accept` says. A term that no text has counts with the
    /// largest idf there is: what the playbook has never heard of speaks against every text.
    pub(crate) fn search(&self, query: &str, accept: &dyn Fn(usize) -> bool) -> Vec<Hit> {
        let query: BTreeSet<String> = terms(query).collect();
        let mut hits: HashMap<usize, Hit> = HashMap::new();
        let mut total_idf = 0.0;
        for term in &query {
            let postings = self.postings.get(term).map_or(&[][..], Vec::as_slice);
            let idf = self.idf(postings.len());
            total_idf += idf;
            for posting in postings {
                let row = posting.row;
                let hit = hits.entry(row).or_insert(Hit { row, score: 0.0, mass: 0.0, head_mass: 0.0 });
                hit.score += idf * self.saturation(*posting);
                hit.mass += idf;
                hit.head_mass += if posting.in_head { idf } else { 0.0 };
            }
        }
        let mut hits: Vec<Hit> = hits.into_values().filter(|hit| accept(hit.row)).collect();
        for hit in &mut hits {
            hit.mass /= total_idf;
            hit.head_mass /= total_idf;
        }
        hits.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.row.cmp(&b.row)));
        hits
    }

    /// `ln(1 + (N − n + 0.5) / (n + 0.5))`: positive for every n.
    fn idf(&self, n_with_term: usize) -> f32 {
        let (n_texts, n_with_term) = (self.lengths.len() as f32, n_with_term as f32);
        ((n_texts - n_with_term + 0.5) / (n_with_term + 0.5)).ln_1p()
    }

    fn saturation(&self, posting: Posting) -> f32 {
        let length = self.lengths.get(posting.row).copied().unwrap_or_default();
        let norm = K1 * (1.0 - B + B * length / self.mean_length);
        posting.count * (K1 + 1.0) / (posting.count + norm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_worked_out_by_hand() {
        // Lengths 2, 2, 4; mean 8/3. "apple": n = 1 of 3, idf = ln(1 + 2.5/1.5) = ln(8/3) = 0.98083.
        let index = LexicalIndex::new([("apple pear", ""), ("plum", "pear"), ("plum", "plum cherry grape")]);
        let hits = index.search("apple", &|_| true);
        // Row 0: norm = 1.2·(0.25 + 0.75·2/(8/3)) = 0.975; 0.98083·2.2/1.975 = 1.09257.
        assert_eq!(hits.len(), 1);
        assert!((hits[0].score - 1.09257).abs() < 1e-4, "{hits:?}");
        assert!((hits[0].mass - 1.0).abs() < 1e-6);
        // "plum": n = 2, idf = ln(1 + 1.5/2.5) = 0.47000. Row 2: norm = 1.2·(0.25 + 0.75·4/(8/3)) = 1.65;
        // 0.47000·2·2.2/3.65 = 0.56658. Row 1: 0.47000·2.2/1.975 = 0.52355.
        let hits = index.search("plum", &|_| true);
        assert_eq!(hits.iter().map(|hit| hit.row).collect::<Vec<_>>(), [2, 1]);
        assert!((hits[0].score - 0.56658).abs() < 1e-4 && (hits[1].score - 0.52355).abs() < 1e-4, "{hits:?}");
    }

    #[test]
    fn unknown_terms_count_against_every_text() {
        let index = LexicalIndex::new([("apple", "pear"), ("plum pear", "")]);
        // idf(pear) = ln(1 + 0.5/2.5) = 0.18232; idf(unknown) = ln(1 + 2.5/0.5) = 1.79176.
        let hits = index.search("pear zeppelin", &|_| true);
        let share = 0.18232 / (0.18232 + 1.79176);
        assert!(hits.iter().all(|hit| (hit.mass - share).abs() < 1e-4), "{hits:?}");
        let heads: Vec<(usize, f32)> = hits.iter().map(|hit| (hit.row, hit.head_mass)).collect();
        assert!(heads[0] == (0, 0.0) && heads[1].0 == 1 && (heads[1].1 - share).abs() < 1e-4, "{heads:?}");
    }

    #[test]
    fn ties_come_by_row_and_rows_can_be_left_out() {
        let index = LexicalIndex::new([("a fig", ""), ("the fig", ""), ("", "fig")]);
        assert_eq!(index.search("figs", &|row| row != 0).iter().map(|hit| hit.row).collect::<Vec<_>>(), [1, 2]);
        assert!(index.search("the of and", &|_| true).is_empty());
        assert!(LexicalIndex::default().search("fig", &|_| true).is_empty());
    }
}
