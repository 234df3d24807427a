//! Character n-grams of words, which match different spellings of a word.

use std::sync::Arc;

use super::hashed;
use super::words::is_stop_word;

/// Lengths of the n-grams of `<word>`.
const LENGTHS: std::ops::RangeInclusive<usize> = 3..=5;

/// Bits of a gram's hash. The other 8 of a row hold its weight.
const HASH_BITS: u32 = 24;

/// Grams of a query are looked up in a table of this many bits first.
const FILTER_BITS: u32 = 14;

/// The hash of an n-gram. Collisions in a text are rare, and only confuse two grams.
pub(super) type Gram = u32;

/// Calls `found` with each occurrence of an n-gram of a word; never for a stop word.
pub(super) fn word_grams(run: &str, mut found: impl FnMut(Gram)) {
    let word = run.to_lowercase();
    if is_stop_word(&word) {
        return;
    }
    let framed = format!("<{word}>");
    let bounds: Vec<usize> = framed.char_indices().map(|(at, _)| at).chain([framed.len()]).collect();
    for n in LENGTHS {
        for ends in bounds.windows(n + 1) {
            if let [from, .., to] = ends {
                found(hashed(framed.get(*from..*to).unwrap_or_default()) >> (32 - HASH_BITS));
            }
        }
    }
}

/// The grams of a text, each with a weight in 1..=255: in order, four bytes a gram.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GramSet(Arc<[u32]>);

impl GramSet {
    /// Built from sorted, distinct grams.
    pub(super) fn of(rows: impl IntoIterator<Item = (Gram, u8)>) -> Self {
        Self(rows.into_iter().map(|(gram, weight)| (gram << 8) | u32::from(weight)).collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Gram> {
        self.0.iter().map(|row| row >> 8)
    }
}

/// The grams of a query, each with its idf.
#[derive(Clone, Debug)]
pub(super) struct WantedGrams {
    /// In order, distinct.
    grams: Vec<(Gram, f32)>,
    /// A bit set by the upper bits of each gram: it rules out most grams of a text.
    filter: Vec<u64>,
}

impl WantedGrams {
    /// Built from sorted, distinct grams with their idf.
    pub(super) fn of(grams: Vec<(Gram, f32)>) -> Self {
        let mut filter = vec![0; 1 << (FILTER_BITS - 6)];
        for (gram, _) in &grams {
            let bit = gram >> (HASH_BITS - FILTER_BITS);
            if let Some(word) = filter.get_mut((bit >> 6) as usize) {
                *word |= 1_u64 << (bit & 63);
            }
        }
        Self { grams, filter }
    }

    /// The sum of idf times weight over the grams of a text.
    pub(super) fn score(&self, text: &GramSet) -> f32 {
        let mut score = 0.0;
        for row in text.0.iter() {
            let gram = row >> 8;
            let bit = gram >> (HASH_BITS - FILTER_BITS);
            let is_candidate = self.filter.get((bit >> 6) as usize).is_some_and(|word| word >> (bit & 63) & 1 == 1);
            if is_candidate && let Ok(at) = self.grams.binary_search_by_key(&gram, |wanted| wanted.0) {
                score += self.grams.get(at).map_or(0.0, |wanted| wanted.1) * (row & 0xff) as f32;
            }
        }
        score
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::runs;
    use super::*;

    #[test]
    fn a_word_has_the_grams_of_its_framed_form() {
        let count = |text: &str| {
            let mut n = 0;
            runs(text).for_each(|run| word_grams(run, |_| n += 1));
            n
        };
        // <lock>: 4 of three, 3 of four, 2 of five.
        assert_eq!(count("lock"), 9);
        assert_eq!(count("a lock, the key"), 9 + 3 + 2 + 1);
        assert_eq!(count("7"), 1);
        assert_eq!(count("of the"), 0);
    }

    #[test]
    fn shared_grams_are_summed_by_idf_and_weight() {
        let text = GramSet::of([(3, 10), (5, 255), (900_000, 1)]);
        assert_eq!(text.iter().collect::<Vec<_>>(), [3, 5, 900_000]);
        let wanted = WantedGrams::of(vec![(3, 2.0), (4, 9.0), (900_000, 0.5)]);
        assert!((wanted.score(&text) - 20.5).abs() < 1e-6);
        assert!(WantedGrams::of(Vec::new()).score(&text).abs() < 1e-6);
    }
}
