//! Finds the words of a list in a text, regardless of the case of ASCII letters.
//!
//! Every process that learns builds these lists, so building has to be fast: each word stands under a code of its first three bytes, which a
//! search computes at each place of the text (Wu and Manber, "A fast algorithm for multi-pattern searching", 1994, without its shifts).

use std::ops::Range;

/// Number of codes: five bits for each of three bytes, which are equal in both cases of a letter.
const N_CODES: usize = 1 << 15;
/// The end of a chain.
const NONE: u16 = u16::MAX;

/// Finds each occurrence of the words of a list.
pub(crate) struct WordFinder<W> {
    words: Vec<W>,
    /// For each code the place in `chains` of its first word, or [`NONE`].
    first: Vec<u16>,
    /// The words of each code.
    chains: Vec<Link>,
}

/// A word under one of its codes.
struct Link {
    /// Its first eight bytes in which case and more is left out, and the bits that it sets of them.
    head: u64,
    mask: u64,
    /// The index of the word.
    word: u16,
    /// The place of the next word of the same code, or [`NONE`].
    next: u16,
}

impl<W: AsRef<str>> WordFinder<W> {
    /// A finder of these words. A word of three bytes or more has one code, one of two bytes 32, and one of one byte 1,024; together fewer
    /// than 65,535.
    pub(crate) fn new(words: Vec<W>) -> Self {
        let mut first = vec![NONE; N_CODES];
        let mut chains = Vec::with_capacity(2 * words.len());
        let indexed: Vec<(u16, &W)> = (0..).zip(&words).collect();
        for (word, text) in indexed.into_iter().rev() {
            let bytes = text.as_ref().as_bytes();
            let (head, mask) = (head(bytes), u64::MAX >> (8 * 8_usize.saturating_sub(bytes.len())));
            // A shorter word has the codes of whatever may follow it.
            let n_codes = 1 << (5 * 3_usize.saturating_sub(bytes.len()));
            for first in first.iter_mut().skip(code(head)).take(n_codes) {
                debug_assert!(chains.len() < NONE.into());
                chains.push(Link { head, mask, word, next: *first });
                *first = u16::try_from(chains.len() - 1).unwrap_or(NONE);
            }
        }
        Self { words, first, chains }
    }

    /// Calls `found` with each occurrence and its word, in the order of their starts.
    pub(crate) fn find<'f>(&'f self, text: &str, mut found: impl FnMut(Range<usize>, &'f W)) {
        for start in 0..text.len() {
            let rest = text.as_bytes().get(start..).unwrap_or_default();
            let here = head(rest);
            let mut link = self.link(self.first.get(code(here)).copied().unwrap_or(NONE));
            while let Some(Link { head, mask, word, next }) = link {
                link = self.link(*next);
                if (here ^ head) & mask == 0
                    && let Some(word) = self.words.get(usize::from(*word))
                    && let length = word.as_ref().len()
                    && rest.get(..length).is_some_and(|here| here.eq_ignore_ascii_case(word.as_ref().as_bytes()))
                {
                    found(start..start + length, word);
                }
            }
        }
    }

    /// True if a word of the list occurs.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        let mut is_in = false;
        self.find(text, |_, _| is_in = true);
        is_in
    }

    fn link(&self, place: u16) -> Option<&Link> {
        self.chains.get(usize::from(place))
    }
}

/// Five bits of each of the first eight bytes, the first one lowest; 0 in place of those that are missing.
fn head(bytes: &[u8]) -> u64 {
    let eight = bytes.first_chunk().copied().unwrap_or_else(|| {
        let mut eight = [0; 8];
        eight.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte);
        eight
    });
    u64::from_le_bytes(eight) & 0x1f1f_1f1f_1f1f_1f1f
}

/// The bits of the first three bytes, the first one highest.
#[expect(clippy::cast_possible_truncation, reason = "15 bits")]
fn code(head: u64) -> usize {
    ((head & 31) << 10 | (head >> 8 & 31) << 5 | head >> 16 & 31) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_occurrence_is_found(
            words in prop::collection::vec("[abAé. ]{1,10}|密码", 0..12),
            text in "([abABé. 密码]|密码){0,30}",
        ) {
            let finder = WordFinder::new(words.clone());
            let mut found = Vec::new();
            finder.find(&text, |at, word| found.push((at.start, at.end, word)));
            let mut expected = Vec::new();
            for (start, _) in text.char_indices() {
                let rest = &text.as_bytes()[start..];
                let here = words.iter().filter(|word| {
                    rest.get(..word.len()).is_some_and(|here| here.eq_ignore_ascii_case(word.as_bytes()))
                });
                expected.extend(here.map(|word| (start, start + word.len(), word)));
            }
            prop_assert_eq!(finder.is_in(&text), !expected.is_empty());
            prop_assert_eq!(found, expected);
        }
    }
}
