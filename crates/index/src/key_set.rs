//! Sets of keys: bits if they are dense, a sorted list if they are sparse.

/// A list becomes bits if it has more than one key in so many. A list takes 32 bits per key, a bit set one bit for each key up to
/// the largest: at this share both take the same. Bits become a list again at half of it, so that a set at the limit does not change
/// its form with every key.
const SPARSE_SHARE: usize = 32;
const WORD_BITS: usize = 64;

/// A set of keys. Its memory is at most one bit for each key up to the largest, and at most 32 bits for each key in it (64 for a set
/// that shrank).
#[derive(Clone, Debug)]
pub struct KeySet(Form);

#[derive(Clone, Debug)]
enum Form {
    /// Ascending.
    Sparse(Vec<u32>),
    /// The last word is not zero.
    Dense { words: Vec<u64>, len: usize },
}

impl Default for KeySet {
    fn default() -> Self {
        Self(Form::Sparse(Vec::new()))
    }
}

/// The word of a key, and its bit in that word.
fn place(key: u32) -> (usize, u64) {
    (key as usize / WORD_BITS, 1 << (key as usize % WORD_BITS))
}

fn set(words: &mut Vec<u64>, key: u32) {
    let (word, bit) = place(key);
    words.resize(words.len().max(word + 1), 0);
    words.iter_mut().skip(word).take(1).for_each(|word| *word |= bit);
}

impl KeySet {
    /// The number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Sparse(keys) => keys.len(),
            Form::Dense { len, .. } => *len,
        }
    }

    /// True if there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if the key is in the set.
    #[must_use]
    pub fn contains(&self, key: u32) -> bool {
        match &self.0 {
            Form::Sparse(keys) => keys.binary_search(&key).is_ok(),
            Form::Dense { words, .. } => {
                let (word, bit) = place(key);
                words.get(word).is_some_and(|word| word & bit != 0)
            }
        }
    }

    /// One bit for each of the 64 keys from `first` on, the lowest for `first`: set if the key is in the set.
    pub(crate) fn bits_from(&self, first: u32) -> u64 {
        let Form::Dense { words, .. } = &self.0 else {
            let keys = (0..64).filter_map(|nth| Some((nth, first.checked_add(nth)?)));
            return keys.fold(0, |bits, (nth, key)| bits | u64::from(self.contains(key)) << nth);
        };
        let (word, shift) = (first as usize / WORD_BITS, first as usize % WORD_BITS);
        let word_at = |nth: usize| words.get(nth).copied().unwrap_or(0);
        let high = if shift == 0 { 0 } else { word_at(word + 1) << (WORD_BITS - shift) };
        word_at(word) >> shift | high
    }

    /// Adds a key; returns true if it was not in the set.
    pub fn insert(&mut self, key: u32) -> bool {
        let is_new = !self.contains(key);
        if is_new {
            match &mut self.0 {
                Form::Sparse(keys) => keys.insert(keys.partition_point(|other| *other < key), key),
                Form::Dense { words, len } => {
                    set(words, key);
                    *len += 1;
                }
            }
            self.choose_form();
        }
        is_new
    }

    /// Removes a key; returns true if it was in the set.
    pub fn remove(&mut self, key: u32) -> bool {
        let was_in = self.contains(key);
        if was_in {
            match &mut self.0 {
                Form::Sparse(keys) => keys.retain(|other| *other != key),
                Form::Dense { words, len } => {
                    let (word, bit) = place(key);
                    words.iter_mut().skip(word).take(1).for_each(|word| *word &= !bit);
                    *len -= 1;
                }
            }
            self.choose_form();
        }
        was_in
    }

    /// The keys, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let (list, words): (&[u32], &[u64]) = match &self.0 {
            Form::Sparse(keys) => (keys, &[]),
            Form::Dense { words, .. } => (&[], words),
        };
        let some = |word: &u64| *word != 0;
        let bits = (0..).step_by(WORD_BITS).zip(words).flat_map(move |(base, word)| {
            let without_first = move |word: &u64| Some(word & (word - 1)).filter(some);
            let rest = std::iter::successors(Some(*word).filter(some), without_first);
            rest.map(move |word| base + word.trailing_zeros())
        });
        list.iter().copied().chain(bits)
    }

    /// The keys that are in both sets.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (Form::Dense { words: a, .. }, Form::Dense { words: b, .. }) => {
                Self::from_words(a.iter().zip(b).map(|(a, b)| a & b).collect())
            }
            (Form::Dense { .. }, Form::Sparse(_)) => other.intersect(self),
            (Form::Sparse(few), _) => {
                Self::from_sorted(few.iter().copied().filter(|key| other.contains(*key)).collect())
            }
        }
    }

    /// The keys that are in one of the sets, or in both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (Form::Dense { words: a, .. }, Form::Dense { words: b, .. }) => {
                let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
                let mut words = long.clone();
                for (word, other) in words.iter_mut().zip(short) {
                    *word |= other;
                }
                Self::from_words(words)
            }
            (Form::Sparse(a), Form::Sparse(b)) => a.iter().chain(b).copied().collect(),
            (Form::Dense { .. }, Form::Sparse(few)) => {
                let mut all = self.clone();
                for key in few {
                    all.insert(*key);
                }
                all
            }
            (Form::Sparse(_), Form::Dense { .. }) => other.union(self),
        }
    }

    /// The keys of this set that are not in the other.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (Form::Dense { words: a, .. }, Form::Dense { words: b, .. }) => {
                let mut words = a.clone();
                for (word, other) in words.iter_mut().zip(b) {
                    *word &= !other;
                }
                Self::from_words(words)
            }
            (Form::Dense { .. }, Form::Sparse(few)) => {
                let mut rest = self.clone();
                for key in few {
                    rest.remove(*key);
                }
                rest
            }
            (Form::Sparse(list), _) => {
                Self::from_sorted(list.iter().copied().filter(|key| !other.contains(*key)).collect())
            }
        }
    }

    /// From ascending keys without repetition.
    fn from_sorted(keys: Vec<u32>) -> Self {
        let mut set = Self(Form::Sparse(keys));
        set.choose_form();
        set
    }

    fn from_words(words: Vec<u64>) -> Self {
        let len = words.iter().map(|word| word.count_ones() as usize).sum();
        let mut set = Self(Form::Dense { words, len });
        set.choose_form();
        set
    }

    /// Changes the form if the number of keys requires it.
    fn choose_form(&mut self) {
        match &mut self.0 {
            Form::Sparse(keys) => {
                let span = keys.last().map_or(0, |last| *last as usize + 1);
                if keys.len() * SPARSE_SHARE > span.next_multiple_of(WORD_BITS) {
                    let mut words = Vec::with_capacity(span.div_ceil(WORD_BITS));
                    for key in &*keys {
                        set(&mut words, *key);
                    }
                    self.0 = Form::Dense { words, len: keys.len() };
                }
            }
            Form::Dense { words, len } => {
                while words.last() == Some(&0) {
                    words.pop();
                }
                if *len * 2 * SPARSE_SHARE <= words.len() * WORD_BITS {
                    self.0 = Form::Sparse(self.iter().collect());
                }
            }
        }
    }
}

impl FromIterator<u32> for KeySet {
    fn from_iter<I: IntoIterator<Item = u32>>(keys: I) -> Self {
        let mut keys: Vec<u32> = keys.into_iter().collect();
        keys.sort_unstable();
        keys.dedup();
        Self::from_sorted(keys)
    }
}

/// Two sets of the same keys are equal, whatever their forms.
impl PartialEq for KeySet {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for KeySet {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn is_dense(set: &KeySet) -> bool {
        matches!(set.0, Form::Dense { .. })
    }

    #[test]
    fn few_keys_are_a_list_and_many_are_bits() {
        assert!(!is_dense(&KeySet::default()));
        assert!(!is_dense(&[1_000_000].into_iter().collect()));
        assert!(is_dense(&(0..1_000).collect()));
        // 2 keys of 64 are at the border, 3 are past it; one of the 3 has to go before it is a list again.
        let mut set: KeySet = [0, 63].into_iter().collect();
        assert!(!is_dense(&set));
        set.insert(5);
        assert!(is_dense(&set));
        set.remove(5);
        assert!(is_dense(&set));
        set.remove(0);
        assert!(!is_dense(&set));
        assert_eq!(set.iter().collect::<Vec<_>>(), [63]);
    }

    #[test]
    fn the_largest_key_is_a_key() {
        let mut set = KeySet::default();
        assert!(set.insert(u32::MAX));
        assert!(set.contains(u32::MAX) && !set.contains(0));
        assert_eq!(set.iter().collect::<Vec<_>>(), [u32::MAX]);
        assert!(set.remove(u32::MAX) && !set.remove(u32::MAX));
        assert!(set.is_empty());
    }

    /// Keys close together or far apart, so that both forms and their mixtures come up.
    fn keys() -> impl Strategy<Value = Vec<u32>> {
        prop_oneof![
            prop::collection::vec(0_u32..200, 0..120),
            prop::collection::vec(0_u32..100_000, 0..40),
            prop::collection::vec(prop_oneof![0_u32..70, 4_000_u32..4_100], 0..200),
        ]
    }

    fn check(set: &KeySet, model: &BTreeSet<u32>) {
        assert_eq!(set.iter().collect::<Vec<_>>(), model.iter().copied().collect::<Vec<_>>());
        assert_eq!((set.len(), set.is_empty()), (model.len(), model.is_empty()));
        assert!(model.iter().all(|key| set.contains(*key)));
        for first in [0, 37, 64, 4_001, u32::MAX - 3] {
            let is_in = |nth: &u32| first.checked_add(*nth).is_some_and(|key| model.contains(&key));
            assert_eq!(set.bits_from(first), (0..64).filter(is_in).fold(0, |bits, nth| bits | 1 << nth));
        }
        if let Form::Dense { words, .. } = &set.0 {
            assert_ne!(words.last(), Some(&0));
        }
    }

    proptest! {
        #[test]
        fn changes_agree_with_a_tree(start in keys(), changes in prop::collection::vec((any::<bool>(), 0_u32..300), 0..200)) {
            let mut set: KeySet = start.iter().copied().collect();
            let mut model: BTreeSet<u32> = start.into_iter().collect();
            check(&set, &model);
            for (is_insert, key) in changes {
                if is_insert {
                    prop_assert_eq!(set.insert(key), model.insert(key));
                } else {
                    prop_assert_eq!(set.remove(key), model.remove(&key));
                }
                prop_assert_eq!(set.contains(key), is_insert);
            }
            check(&set, &model);
        }

        #[test]
        fn operations_agree_with_a_tree(a in keys(), b in keys()) {
            let (set_a, set_b): (KeySet, KeySet) = (a.iter().copied().collect(), b.iter().copied().collect());
            let (a, b): (BTreeSet<u32>, BTreeSet<u32>) = (a.into_iter().collect(), b.into_iter().collect());
            check(&set_a.intersect(&set_b), &(&a & &b));
            check(&set_a.union(&set_b), &(&a | &b));
            check(&set_a.minus(&set_b), &(&a - &b));
            prop_assert_eq!(set_a == set_b, a == b);
            prop_assert_eq!(set_a.union(&set_b), set_b.union(&set_a));
        }
    }
}
