//! Word scores: BM25F over weighted fields, for code-aware terms and for character n-grams.

use std::sync::Arc;

use super::ByHash;
use super::grams::{Gram, GramSet, WantedGrams};
use super::word_hashes::WordHashes;

/// Saturation of a term's weight, and how much the length of a field counts (measured: docs/spec/playbook.md, 5.1).
const K1: f32 = 1.2;
const B: f32 = 0.5;

/// A field of more than so many usual lengths is a list of words rather than a situation or an advice, and each of its terms counts less in
/// proportion. Chosen: usual lessons are shorter.
const MAX_LENGTHS: f32 = 4.0;

/// The usual number of grams of a field for each of its terms.
const GRAMS_PER_TERM: f32 = 12.0;

/// The largest weight of a term: `tf·(k1 + 1)/(k1 + tf)` stays below it.
const MAX_WEIGHT: f32 = K1 + 1.0;

/// One text of a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Field<'a> {
    pub(crate) text: &'a str,
    /// The weight of its terms.
    pub(crate) weight: f32,
    /// The usual number of terms of such a field. In a longer one each term counts less.
    pub(crate) usual_terms: f32,
}

/// A document that has a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Posting {
    row: u32,
    /// In units of `MAX_WEIGHT` / 65,535.
    weight: u16,
}

/// The words of a document with their weights, which take time to compute. Clones share them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DocumentWords {
    /// In order.
    terms: Arc<[(u32, u16)]>,
    grams: GramSet,
}

/// An inverted index of documents that can be added and removed. Clones share the postings.
///
/// The weight of a term depends only on its document, so the index is determined by its documents, not by its history, and
/// scores are comparable between indexes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FieldIndex {
    /// The documents of each term, in the order of rows.
    postings: ByHash<u32, Arc<Vec<Posting>>>,
    /// The number of documents of each gram.
    grams: ByHash<Gram, u32>,
    /// By row; none for an unused one. The last one is used.
    documents: Vec<Option<DocumentWords>>,
    n_documents: usize,
}

/// The word score of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct WordScore {
    /// BM25F over terms; larger is better.
    pub(crate) words: f32,
    /// Fraction of the query's idf mass that the document contains, in [0, 1].
    pub(crate) mass: f32,
}

impl FieldIndex {
    /// An index of many documents with different numbers.
    pub(crate) fn of(documents: impl IntoIterator<Item = (u32, DocumentWords)>) -> Self {
        let mut index = Self::default();
        for (row, words) in documents {
            index.put(row, words);
        }
        index
    }

    /// Adds a document under an unused number; the memory of a search depends on the largest number.
    pub(crate) fn put(&mut self, row: u32, words: DocumentWords) {
        for (term, weight) in words.terms.iter() {
            let of_term = Arc::make_mut(self.postings.entry(*term).or_default());
            let place = of_term.partition_point(|known| known.row < row);
            of_term.insert(place, Posting { row, weight: *weight });
        }
        for gram in words.grams.iter() {
            *self.grams.entry(gram).or_default() += 1;
        }
        let place = row as usize;
        if self.documents.len() <= place {
            self.documents.resize(place + 1, None);
        }
        if let Some(document) = self.documents.get_mut(place) {
            *document = Some(words);
            self.n_documents += 1;
        }
    }

    /// Removes a document, if it is in the index.
    pub(crate) fn take(&mut self, row: u32) {
        let Some(words) = self.documents.get_mut(row as usize).and_then(Option::take) else { return };
        self.n_documents -= 1;
        while self.documents.last().is_some_and(Option::is_none) {
            self.documents.pop();
        }
        for (term, _) in words.terms.iter() {
            let Some(of_term) = self.postings.get_mut(term) else { continue };
            let of_term = Arc::make_mut(of_term);
            of_term.retain(|known| known.row != row);
            if of_term.is_empty() {
                self.postings.remove(term);
            }
        }
        for gram in words.grams.iter() {
            let Some(count) = self.grams.get_mut(&gram) else { continue };
            *count -= 1;
            if *count == 0 {
                self.grams.remove(&gram);
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.n_documents
    }

    /// The stored data of each document.
    #[cfg(test)]
    pub(crate) fn rows(&self) -> impl Iterator<Item = (u32, String)> {
        let (n, grams) = (self.len(), self.grams.len());
        let documents = (0..).zip(&self.documents).filter_map(|(row, words)| Some((row, words.as_ref()?)));
        documents.map(move |(row, words)| (row, format!("{words:?}; {n} documents, {grams} grams")))
    }

    fn with_term(&self, term: u32) -> &[Posting] {
        self.postings.get(&term).map_or(&[], |of_term| of_term)
    }

    fn n_with_gram(&self, gram: Gram) -> u32 {
        self.grams.get(&gram).copied().unwrap_or_default()
    }
}

/// A query's terms and grams, with their idf over several indexes together.
#[derive(Clone, Debug)]
pub(crate) struct WordQuery {
    /// Terms with their idf.
    terms: Vec<(u32, f32)>,
    /// The total idf of all terms, including those in no document.
    total_idf: f32,
    /// The idf of a term that one document has.
    max_idf: f32,
    grams: WantedGrams,
}

impl WordQuery {
    pub(crate) fn new(text: &str, indexes: &[&FieldIndex]) -> Self {
        let n_documents: usize = indexes.iter().map(|index| index.len()).sum();
        let idf = |n_with: usize| idf(n_documents, n_with);
        let mut words = WordHashes::default();
        let terms: Vec<(u32, f32)> = distinct(|found| words.terms(text, found))
            .into_iter()
            .map(|term| (term, idf(indexes.iter().map(|index| index.with_term(term).len()).sum())))
            .collect();
        let grams = distinct(|found| words.grams(text, found))
            .into_iter()
            .map(|gram| (gram, indexes.iter().map(|index| index.n_with_gram(gram) as usize).sum()))
            .filter(|(_, n_with)| *n_with > 0)
            .map(|(gram, n_with)| (gram, idf(n_with) * MAX_WEIGHT / f32::from(u8::MAX)));
        Self {
            max_idf: idf(1),
            total_idf: terms.iter().map(|(_, idf)| idf).sum(),
            terms,
            grams: WantedGrams::of(grams.collect()),
        }
    }

    /// The score of each document of an index, by its number; zero for unused numbers.
    pub(crate) fn scores(&self, index: &FieldIndex) -> Vec<WordScore> {
        let mut scores = vec![WordScore::default(); index.documents.len()];
        let unit = MAX_WEIGHT / f32::from(u16::MAX);
        for (term, idf) in &self.terms {
            let share = idf / self.total_idf;
            for posting in index.with_term(*term) {
                if let Some(score) = scores.get_mut(posting.row as usize) {
                    score.words += idf * f32::from(posting.weight) * unit;
                    score.mass += share;
                }
            }
        }
        scores
    }

    /// How rare the rarest word of a text is that the query has too: its idf, as a fraction of that of a word which one document has.
    pub(crate) fn rarity(&self, text: &str) -> f32 {
        let wanted = distinct(|found| WordHashes::default().terms(text, found));
        let known = self.terms.iter().filter(|(term, _)| wanted.binary_search(term).is_ok());
        known.map(|(_, term_idf)| term_idf / self.max_idf).fold(0.0, f32::max)
    }

    /// BM25F over character n-grams.
    pub(crate) fn grams(&self, index: &FieldIndex, row: u32) -> f32 {
        let words = index.documents.get(row as usize).and_then(Option::as_ref);
        words.map_or(0.0, |words| self.grams.score(&words.grams))
    }
}

impl DocumentWords {
    pub(crate) fn of(fields: &[Field<'_>], words: &mut WordHashes) -> Self {
        let terms = weights(fields, 1.0, |text, found| words.terms(text, found));
        let grams = weights(fields, GRAMS_PER_TERM, |text, found| words.grams(text, found));
        let part = |weight: f32, parts: f32| (weight / MAX_WEIGHT * parts).round().clamp(1.0, parts);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped above")]
        Self {
            terms: terms.into_iter().map(|(term, weight)| (term, part(weight, 65_535.0) as u16)).collect(),
            grams: GramSet::of(grams.into_iter().map(|(gram, weight)| (gram, part(weight, 255.0) as u8))),
        }
    }
}

/// The saturated weight of each hash that `hashes` finds in the fields, in the order of hashes:
/// `tf = Σ weight·count/((1 − b + b·l)·max(1, l/4))` with `l` = length/usual length, then `tf·(k1 + 1)/(k1 + tf)`.
fn weights(fields: &[Field<'_>], usual_factor: f32, mut hashes: impl FnMut(&str, &mut Vec<u32>)) -> Vec<(u32, f32)> {
    // More than most documents need, so that they do not grow.
    let (mut found, mut of_field) = (Vec::<u64>::with_capacity(2_048), Vec::with_capacity(1_024));
    let mut shares = Vec::with_capacity(fields.len());
    for (place, field) in (0_u64..).zip(fields) {
        of_field.clear();
        hashes(field.text, &mut of_field);
        let length = of_field.len() as f32 / (field.usual_terms * usual_factor);
        shares.push(field.weight / ((1.0 - B + B * length) * (length / MAX_LENGTHS).max(1.0)));
        found.extend(of_field.iter().map(|hash| u64::from(*hash) << 32 | place));
    }
    // Sorted by hash, then by field: the parts are added in the order of fields, so that the same text gives the same bits.
    found.sort_unstable();
    let hash = |row: u64| u32::try_from(row >> 32).unwrap_or_default();
    let share = |row: &u64| usize::try_from(row & u64::from(u32::MAX)).ok().and_then(|place| shares.get(place));
    let of_hash = |same: &[u64]| {
        let frequency: f32 = same.iter().filter_map(share).sum();
        Some((hash(*same.first()?), frequency * MAX_WEIGHT / (K1 + frequency)))
    };
    let mut weights = Vec::with_capacity(found.len());
    weights.extend(found.chunk_by(|one, other| hash(*one) == hash(*other)).filter_map(of_hash));
    weights
}

fn distinct(hashes: impl FnOnce(&mut Vec<u32>)) -> Vec<u32> {
    let mut found = Vec::new();
    hashes(&mut found);
    found.sort_unstable();
    found.dedup();
    found
}

/// `ln(1 + (N − n + 0.5) / (n + 0.5))`: positive for every n. What no document has counts like what one has: the largest idf
/// that a word of theirs can have.
fn idf(n_documents: usize, n_with: usize) -> f32 {
    let (all, with) = (n_documents as f32, n_with.max(1) as f32);
    ((all - with + 0.5).max(0.5) / (with + 0.5)).ln_1p()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    fn field(text: &str, weight: f32) -> Field<'_> {
        Field { text, weight, usual_terms: 2.0 }
    }

    fn index(texts: &[[&str; 2]]) -> FieldIndex {
        FieldIndex::of((0..).zip(texts).map(|(row, [head, body])| (row, words(&[field(head, 3.0), field(body, 1.0)]))))
    }

    fn words(fields: &[Field<'_>]) -> DocumentWords {
        DocumentWords::of(fields, &mut WordHashes::default())
    }

    fn check(found: f32, expected: f32) {
        assert!((found - expected).abs() < 1e-3, "{found} is not {expected}");
    }

    #[test]
    fn scores_of_three_documents_equal_the_hand_computed_ones() {
        let index = index(&[["apple pear", "plum"], ["plum plum cherry fig", ""], ["fig", ""]]);
        let query = WordQuery::new("apple plums", &[&index]);
        let scores = query.scores(&index);
        // "apple": n = 1 of 3, idf = ln(1 + 2.5/1.5) = 0.98083; "plum": n = 2, idf = ln(1 + 1.5/2.5) = 0.47000.
        // Row 0: apple in a head of 2 terms, tf = 3; 3·2.2/(1.2 + 3) = 1.57143. Plum in a body of one term: norm 0.75,
        // tf = 1.33333; 1.33333·2.2/2.53333 = 1.15789.
        check(scores[0].words, 0.98083 * 1.57143 + 0.47 * 1.15789);
        check(scores[0].mass, 1.0);
        // Row 1: plum twice in a head of 4: norm 1.5, tf = 4; 4·2.2/5.2 = 1.69231.
        check(scores[1].words, 0.47 * 1.69231);
        check(scores[1].mass, 0.47 / 1.45083);
        assert_eq!(scores[2], WordScore::default());
    }

    #[test]
    fn in_a_field_of_more_than_four_usual_lengths_each_word_counts_less_in_proportion() {
        let of = |n_terms: usize| {
            vec!["apple"].into_iter().chain(std::iter::repeat_n("pear", n_terms - 1)).collect::<Vec<_>>()
        };
        let weight = |n_terms: usize| {
            let text = of(n_terms).join(" ");
            let index = FieldIndex::of([(0, words(&[field(&text, 3.0)])), (1, words(&[field("fig", 3.0)]))]);
            WordQuery::new("apple", &[&index]).scores(&index)[0].words / std::f32::consts::LN_2
        };
        // Eight terms where two are usual: norm 2.5, tf = 1.2; 1.2·2.2/2.4 = 1.1.
        check(weight(8), 1.1);
        // Forty: norm 10.5 five times, tf = 0.05714; 0.05714·2.2/1.25714 = 0.1.
        check(weight(40), 0.1);
    }

    #[test]
    fn an_unknown_word_weighs_as_much_as_the_rarest_known_one() {
        let one = index(&[["apple", "pear"]]);
        check(WordQuery::new("apple zeppelin", &[&one]).scores(&one)[0].mass, 0.5);
        let none = FieldIndex::default();
        assert!(WordQuery::new("apple", &[&none]).scores(&none).is_empty());
        assert!(WordQuery::new("", &[]).scores(&one)[0].mass.abs() < 1e-6);
    }

    #[test]
    fn rarity_is_counted_over_all_indexes_together() {
        let (one, other) = (index(&[["apple", ""]]), index(&[["apple", ""], ["pear", ""]]));
        let alone = WordQuery::new("apple", &[&one]).scores(&one)[0].words;
        let together = WordQuery::new("apple", &[&one, &other]).scores(&one)[0].words;
        // One of one: ln(1 + 0.5/1.5); two of three: ln(1 + 1.5/2.5).
        check(together / alone, 0.47 / 0.287_68);
    }

    #[test]
    fn another_spelling_of_a_word_shares_grams() {
        let index = index(&[["reserializing", ""], ["deployment", ""]]);
        let query = WordQuery::new("serialise", &[&index]);
        assert!(query.scores(&index).iter().all(|score| score.words.abs() < 1e-6));
        assert!(query.grams(&index, 0) > 1.0 && query.grams(&index, 1).abs() < 1e-6);
        assert!(query.grams(&index, 7).abs() < 1e-6, "no such document");
    }

    proptest! {
        #[test]
        fn index_after_changes_equals_one_made_of_the_remaining_documents(
            changes in prop::collection::vec((0_u32..9, prop::option::of(("[a-d]{0,3}( [a-d]{1,2}){0,4}", "( [a-f]{1,2}){0,5}"))), 0..40),
        ) {
            let (mut index, mut texts) = (FieldIndex::default(), BTreeMap::<u32, (String, String)>::new());
            for (row, text) in changes {
                index.take(row);
                texts.remove(&row);
                if let Some((head, body)) = text {
                    index.put(row, words(&[field(&head, 3.0), field(&body, 1.0)]));
                    texts.insert(row, (head, body));
                }
            }
            let fresh = texts.iter().map(|(row, (head, body))| (*row, words(&[field(head, 3.0), field(body, 1.0)])));
            prop_assert_eq!(index, FieldIndex::of(fresh));
        }
    }
}
