//! A set of lower-case words with lookup regardless of case, without allocation.

use std::collections::HashSet;

/// Words of this length or more, in bytes, are not in any set.
const MAX_LEN: usize = 32;

/// A set of ASCII words in lower case.
#[derive(Default)]
pub(crate) struct WordSet {
    words: HashSet<&'static str>,
    /// For each first letter, by its low five bits, the lengths of its words, as bits.
    lengths: [u32; 32],
}

impl WordSet {
    pub(crate) fn of(words: impl Iterator<Item = &'static str>) -> Self {
        let mut set = Self::default();
        for word in words.filter(|word| word.len() < MAX_LEN) {
            if let Some(lengths) = set.lengths.get_mut(first(word)) {
                *lengths |= 1 << word.len();
            }
            set.words.insert(word);
        }
        set
    }

    /// True for a word of the set, regardless of case.
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

    /// True for a word of the set in lower case.
    pub(crate) fn has_exactly(&self, word: &str) -> bool {
        self.may_have(word) && self.words.contains(word)
    }

    /// False if no word of the set has the length and the first letter of this one. Rules out most words without
    /// hashing.
    fn may_have(&self, word: &str) -> bool {
        word.len() < MAX_LEN && self.lengths.get(first(word)).is_some_and(|lengths| lengths >> word.len() & 1 == 1)
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// The low five bits of the first byte, which are equal in both cases of a letter; 0 for an empty word.
fn first(word: &str) -> usize {
    usize::from(word.bytes().next().unwrap_or_default() & 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookup_ignores_case_unless_exact() {
        let set = WordSet::of(["commit", "sha256", "of"].into_iter());
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
