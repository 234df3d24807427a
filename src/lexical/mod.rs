//! Full-text search: BM25 over stems, and BM25F over weighted fields. The module knows texts and numbers, not lessons.

mod code_terms;
mod fields;
mod grams;
mod text_signals;
mod word_hashes;
mod words;

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::sync::Arc;

pub(crate) use code_terms::code_terms;
pub(crate) use fields::{DocumentWords, Field, FieldIndex, WordQuery, WordScore};
pub(crate) use text_signals::{HALF_GRAMS, HALF_WORDS, TextSignals, saturated};
pub(crate) use word_hashes::WordHashes;
pub(crate) use words::{bare_words, content_words, folded, is_telling, stem, subject_words, terms};

/// Term-frequency saturation and length normalisation (Robertson and Zaragoza, "The Probabilistic Relevance Framework",
/// 2009; the usual values).
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// An inverted index of texts that can be added and removed. Clones share the postings.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LexicalIndex {
    /// The texts of each term, in the order of rows.
    postings: ByHash<u64, Arc<Vec<Posting>>>,
    n_texts: u32,
    /// The total number of terms of all texts.
    length: u64,
}

/// A text that has a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Posting {
    row: u32,
    /// The number of occurrences.
    count: u32,
    /// The number of terms of the text.
    length: u32,
    in_head: bool,
}

/// A text that shares terms with the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hit {
    /// The number of the text.
    pub(crate) row: u32,
    /// BM25; larger is better.
    pub(crate) score: f32,
    /// Fraction of the query's idf mass that the text matches, in [0, 1].
    pub(crate) mass: f32,
    /// The fraction that its head matches; at most `mass`.
    pub(crate) head_mass: f32,
}

impl LexicalIndex {
    /// Adds many texts, each under an unused number. A text consists of a head, which states its subject, and a body.
    pub(crate) fn of<H: AsRef<str>, B: AsRef<str>>(texts: impl IntoIterator<Item = (u32, H, B)>) -> Self {
        let mut index = Self::default();
        for (row, head, body) in texts {
            index.put(row, head.as_ref(), body.as_ref());
        }
        index
    }

    /// Adds a text under an unused number; the memory of a search depends on the largest number.
    pub(crate) fn put(&mut self, row: u32, head: &str, body: &str) {
        let postings = postings_of(row, head, body);
        self.n_texts += 1;
        self.length += u64::from(length_of(&postings));
        for (term, posting) in postings {
            let of_term = Arc::make_mut(self.postings.entry(term).or_default());
            of_term.insert(of_term.partition_point(|known| known.row < row), posting);
        }
    }

    /// Removes a text that was added with exactly these words.
    pub(crate) fn take(&mut self, row: u32, head: &str, body: &str) {
        let postings = postings_of(row, head, body);
        self.n_texts = self.n_texts.saturating_sub(1);
        self.length = self.length.saturating_sub(u64::from(length_of(&postings)));
        for term in postings.keys() {
            let Some(of_term) = self.postings.get_mut(term) else { continue };
            let of_term = Arc::make_mut(of_term);
            of_term.retain(|known| known.row != row);
            if of_term.is_empty() {
                self.postings.remove(term);
            }
        }
    }

    /// Every text that shares a term with the query, best first, ties by row.
    ///
    /// A term that is in no text counts with the largest idf: an unknown word reduces the match of every text.
    pub(crate) fn search(&self, query: &str) -> Vec<Hit> {
        let query: BTreeSet<String> = terms(query).collect();
        let mut hits: Vec<Hit> = Vec::new();
        // The position of a row's hit, counted from 1; rows are small numbers.
        let mut places: Vec<usize> = Vec::new();
        let mut total_idf = 0.0;
        let mean_length = self.length as f32 / self.n_texts as f32;
        for term in &query {
            let postings = self.postings.get(&number_of(term)).map_or(&[][..], |of_term| of_term);
            let idf = self.idf(postings.len());
            total_idf += idf;
            if let Some(last) = postings.last().map(|last| last.row as usize).filter(|last| *last >= places.len()) {
                places.resize(last + 1, 0);
            }
            for posting in postings {
                let Some(place) = places.get_mut(posting.row as usize) else { continue };
                if *place == 0 {
                    hits.push(Hit { row: posting.row, score: 0.0, mass: 0.0, head_mass: 0.0 });
                    *place = hits.len();
                }
                let Some(hit) = hits.get_mut(*place - 1) else { continue };
                hit.score += idf * posting.saturation(mean_length);
                hit.mass += idf;
                hit.head_mass += if posting.in_head { idf } else { 0.0 };
            }
        }
        for hit in &mut hits {
            hit.mass /= total_idf;
            hit.head_mass /= total_idf;
        }
        hits.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.row.cmp(&b.row)));
        hits
    }

    /// The stored data of each text, and of all texts.
    #[cfg(test)]
    pub(crate) fn rows(&self) -> impl Iterator<Item = (u32, String)> {
        let all = format!("{} texts of {} terms", self.n_texts, self.length);
        let postings =
            self.postings.iter().flat_map(|(term, of_term)| of_term.iter().map(move |posting| (term, posting)));
        postings
            .map(move |(term, posting)| (posting.row, format!("{term}: {:?}; {all}", Posting { row: 0, ..*posting })))
    }

    /// `ln(1 + (N − n + 0.5) / (n + 0.5))`: positive for every n.
    fn idf(&self, n_with_term: usize) -> f32 {
        let (n_texts, n_with_term) = (self.n_texts as f32, n_with_term as f32);
        ((n_texts - n_with_term + 0.5) / (n_with_term + 0.5)).ln_1p()
    }
}

impl Posting {
    fn saturation(&self, mean_length: f32) -> f32 {
        let count = self.count as f32;
        let norm = K1 * (1.0 - B + B * self.length as f32 / mean_length);
        count * (K1 + 1.0) / (count + norm)
    }
}

/// By term.
fn postings_of(row: u32, head: &str, body: &str) -> HashMap<u64, Posting> {
    let mut postings: HashMap<u64, Posting> = HashMap::new();
    let mut length = 0;
    let head = terms(head).map(|term| (term, true));
    let body = terms(body).map(|term| (term, false));
    for (term, in_head) in head.chain(body) {
        postings.entry(number_of(&term)).or_insert(Posting { row, count: 0, length: 0, in_head }).count += 1;
        length += 1;
    }
    for posting in postings.values_mut() {
        posting.length = length;
    }
    postings
}

/// The number of terms of a text, by its postings.
fn length_of(postings: &HashMap<u64, Posting>) -> u32 {
    postings.values().next().map_or(0, |posting| posting.length)
}

/// Terms as 64-bit hashes, to save memory. Collisions in a playbook are very unlikely, and only confuse two words.
fn number_of(term: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    term.hash(&mut hasher);
    hasher.finish()
}

/// A map whose keys are hashes of texts.
type ByHash<K, V> = HashMap<K, V, BuildHasherDefault<HashedHasher>>;

/// Spreads the bits of a key that is a hash already.
#[derive(Clone, Copy, Debug, Default)]
struct HashedHasher(u64);

impl Hasher for HashedHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(self.0 ^ u64::from(*byte));
        }
    }

    fn write_u32(&mut self, hash: u32) {
        self.write_u64(hash.into());
    }

    fn write_u64(&mut self, hash: u64) {
        // 2⁶⁴ divided by the golden ratio (Knuth, "The Art of Computer Programming", 6.4).
        self.0 = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// A 32-bit hash of a text (FNV-1a, folded).
fn hashed(text: &str) -> u32 {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    #[expect(clippy::cast_possible_truncation, reason = "folded")]
    let folded = (hash ^ (hash >> 32)) as u32;
    folded
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    fn index(texts: &[(&str, &str)]) -> LexicalIndex {
        LexicalIndex::of((0..).zip(texts).map(|(row, (head, body))| (row, *head, *body)))
    }

    fn found(hits: &[Hit]) -> Vec<u32> {
        hits.iter().map(|hit| hit.row).collect()
    }

    #[test]
    fn scores_are_those_worked_out_by_hand() {
        // Lengths 2, 2, 4; mean 8/3. "apple": n = 1 of 3, idf = ln(1 + 2.5/1.5) = ln(8/3) = 0.98083.
        let index = index(&[("apple pear", ""), ("plum", "pear"), ("plum", "plum cherry grape")]);
        let hits = index.search("apple");
        // Row 0: norm = 1.2·(0.25 + 0.75·2/(8/3)) = 0.975; 0.98083·2.2/1.975 = 1.09257.
        assert_eq!(hits.len(), 1);
        assert!((hits[0].score - 1.09257).abs() < 1e-4, "{hits:?}");
        assert!((hits[0].mass - 1.0).abs() < 1e-6);
        // "plum": n = 2, idf = ln(1 + 1.5/2.5) = 0.47000. Row 2: norm = 1.2·(0.25 + 0.75·4/(8/3)) = 1.65;
        // 0.47000·2·2.2/3.65 = 0.56658. Row 1: 0.47000·2.2/1.975 = 0.52355.
        let hits = index.search("plum");
        assert_eq!(found(&hits), [2, 1]);
        assert!((hits[0].score - 0.56658).abs() < 1e-4 && (hits[1].score - 0.52355).abs() < 1e-4, "{hits:?}");
    }

    #[test]
    fn unknown_terms_count_against_every_text() {
        let index = index(&[("apple", "pear"), ("plum pear", "")]);
        // idf(pear) = ln(1 + 0.5/2.5) = 0.18232; idf(unknown) = ln(1 + 2.5/0.5) = 1.79176.
        let hits = index.search("pear zeppelin");
        let share = 0.18232 / (0.18232 + 1.79176);
        assert!(hits.iter().all(|hit| (hit.mass - share).abs() < 1e-4), "{hits:?}");
        let heads: Vec<(u32, f32)> = hits.iter().map(|hit| (hit.row, hit.head_mass)).collect();
        assert!(heads[0] == (0, 0.0) && heads[1].0 == 1 && (heads[1].1 - share).abs() < 1e-4, "{heads:?}");
    }

    #[test]
    fn ties_come_by_row() {
        let index = index(&[("a fig", ""), ("the fig", ""), ("", "fig")]);
        assert_eq!(found(&index.search("figs")), [0, 1, 2]);
        assert!(index.search("the of and").is_empty());
        assert!(LexicalIndex::default().search("fig").is_empty());
    }

    proptest! {
        #[test]
        fn texts_that_come_and_go_leave_what_is_made_of_the_rest(
            changes in prop::collection::vec((0_u32..9, prop::option::of(("[a-d]{0,3}( [a-d]{1,2}){0,4}", "( [a-f]{1,2}){0,5}"))), 0..40),
        ) {
            let (mut index, mut texts) = (LexicalIndex::default(), BTreeMap::<u32, (String, String)>::new());
            for (row, text) in changes {
                if let Some((head, body)) = texts.remove(&row) {
                    index.take(row, &head, &body);
                }
                if let Some((head, body)) = text {
                    index.put(row, &head, &body);
                    texts.insert(row, (head, body));
                }
            }
            prop_assert_eq!(index, LexicalIndex::of(texts.iter().map(|(row, (head, body))| (*row, head, body))));
        }
    }
}
