//! Finds the words of a list in a text, regardless of the case of ASCII letters.
//!
//! Every process that learns builds these lists, so building has to be fast: each word stands under a code of its first three bytes, which a
//! search computes at each place of the text (Wu and Manber, "A fast algorithm for multi-pattern searching", 1994, without its shifts).

use std::iter;
use std::ops::Range;

/// Number of codes: five bits for each of three bytes, which are equal in both cases of a letter.
const N_CODES: usize = 1 << 15;

/// Finds each occurrence of the words of a list.
pub(crate) struct WordFinder<W> {
    words: Vec<W>,
    /// For each code the place in `chains` of its first word, or [`NONE`].
    first: Vec<u16>,
    /// The index of a word, and the place of the next word of the same code.
    chains: Vec<(u16, u16)>,
}

/// The end of a chain.
const NONE: u16 = u16::MAX;

impl<W: AsRef<str>> WordFinder<W> {
    /// A finder of these words. A word of three bytes or more has one code, one of two bytes 32, and one of one byte 1,024; together fewer
    /// than 65,535.
    pub(crate) fn new(words: Vec<W>) -> Self {
        let mut first = vec![NONE; N_CODES];
        let mut chains = Vec::with_capacity(2 * words.len());
        let indexed: Vec<(u16, &W)> = (0..).zip(&words).collect();
        for (index, word) in indexed.into_iter().rev() {
            // A shorter word has the codes of whatever may follow it.
            let bytes = word.as_ref().as_bytes();
            let n_codes = 1 << (5 * 3_usize.saturating_sub(bytes.len()));
            for first in first.iter_mut().skip(code(bytes).into()).take(n_codes) {
                debug_assert!(chains.len() < NONE.into());
                chains.push((index, *first));
                *first = u16::try_from(chains.len() - 1).unwrap_or(NONE);
            }
        }
        Self { words, first, chains }
    }

    /// Each occurrence and its word, in the order of their ends; of those with one end, the longest first.
    pub(crate) fn find(&self, text: &str) -> Vec<(Range<usize>, &W)> {
        let mut found: Vec<(Range<usize>, &W)> = self.occurrences(text.as_bytes()).collect();
        found.sort_by_key(|(at, _)| (at.end, at.start));
        found
    }

    /// True if a word of the list occurs.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.occurrences(text.as_bytes()).next().is_some()
    }

    /// Each occurrence and its word, in the order of their starts.
    fn occurrences(&self, text: &[u8]) -> impl Iterator<Item = (Range<usize>, &W)> {
        (0..text.len()).flat_map(move |start| {
            let rest = text.get(start..).unwrap_or_default();
            self.of_code(code(rest)).filter_map(move |word| {
                let bytes = word.as_ref().as_bytes();
                let is_here = rest.get(..bytes.len())?.eq_ignore_ascii_case(bytes);
                is_here.then(|| (start..start + bytes.len(), word))
            })
        })
    }

    /// The words of a code, in the order of the list.
    fn of_code(&self, code: u16) -> impl Iterator<Item = &W> {
        let link = |place: u16| self.chains.get(usize::from(place));
        let first = self.first.get(usize::from(code)).and_then(|first| link(*first));
        iter::successors(first, move |(_, next)| link(*next))
            .filter_map(|(index, _)| self.words.get(usize::from(*index)))
    }
}

/// The code of the first three bytes; 0 in place of those that are missing.
fn code(bytes: &[u8]) -> u16 {
    let bits = |at: usize| bytes.get(at).map_or(0, |byte| u16::from(byte & 31));
    bits(0) << 10 | bits(1) << 5 | bits(2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All places of all words, by comparing at each place.
    fn expected<'w>(words: &'w [String], text: &str) -> Vec<(Range<usize>, &'w String)> {
        let mut out = Vec::new();
        for end in 0..=text.len() {
            for start in 0..end {
                let Some(part) = text.get(start..end) else { continue };
                let here = words.iter().filter(|word| part.eq_ignore_ascii_case(word));
                out.extend(here.map(|word| (start..end, word)));
            }
        }
        out
    }

    proptest! {
        #[test]
        fn each_occurrence_is_found(
            words in prop::collection::vec("[abAé. ]{1,5}|密码", 0..12),
            text in "([abABé. 密码]|密码){0,30}",
        ) {
            let finder = WordFinder::new(words.clone());
            prop_assert_eq!(finder.find(&text), expected(&words, &text));
            prop_assert_eq!(finder.is_in(&text), !expected(&words, &text).is_empty());
        }
    }
}
