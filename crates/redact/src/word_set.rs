//! A set of words in lower case that is asked in whatever case, without a copy of what it is asked for.

use std::collections::HashSet;

/// Longer words are in no set.
const MAX_LEN: usize = 32;

/// A set of ASCII words in lower case.
#[derive(Default)]
pub(crate) struct WordSet {
    words: HashSet<&'static str>,
    /// For the low bits of a first letter the lengths of the words that begin with it, as bits.
    lengths: [u32; 32],
}

impl WordSet {
    pub(crate) fn extend(&mut self, words: impl Iterator<Item = &'static str>) {
        for word in words.filter(|word| word.len() < MAX_LEN) {
            if let Some(lengths) = self.lengths.get_mut(first(word)) {
                *lengths |= 1 << word.len();
            }
            self.words.insert(word);
        }
    }

    /// A word of the set, in whatever case.
    pub(crate) fn has(&self, word: &str) -> bool {
        if !self.may_have(word) {
            return false;
        }
        let mut lower = [0; MAX_LEN];
        let Some(lower) = lower.get_mut(..word.len()) else { return false };
        lower.copy_from_slice(word.as_bytes());
        lower.make_ascii_lowercase();
        str::from_utf8(lower).is_ok_and(|lower| self.words.contains(lower))
    }

    /// A word of the set as it is written.
    pub(crate) fn has_exactly(&self, word: &str) -> bool {
        self.may_have(word) && self.words.contains(word)
    }

    /// Most words are distinguished by their length and first letter.
    fn may_have(&self, word: &str) -> bool {
        word.len() < MAX_LEN && self.lengths.get(first(word)).is_some_and(|lengths| lengths >> word.len() & 1 == 1)
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// The low bits of the first letter, which are those of its capital.
fn first(word: &str) -> usize {
    usize::from(word.bytes().next().unwrap_or_default() & 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_in_whatever_case() {
        let mut set = WordSet::default();
        set.extend(["commit", "sha256", "of"].into_iter());
        for (word, has, has_exactly) in [
            ("commit", true, true),
            ("Commit", true, false),
            ("SHA256", true, false),
            ("commits", false, false),
            ("summit", false, false),
            ("c", false, false),
            ("", false, false),
            ("oé", false, false),
        ] {
            assert_eq!((set.has(word), set.has_exactly(word)), (has, has_exactly), "{word}");
        }
    }
}
