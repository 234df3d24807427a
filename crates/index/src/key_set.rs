//! Sets of keys: bits while they are dense, a sorted list while they are few.

use std::cmp::Ordering;

/// A bit set costs one bit for every key up to the largest, a list 32 bits for every key there is. So a list is the
/// smaller of the two up to one key in 32, and it becomes bits past that; bits become a list again only at half of it, so
/// that a set at the border does not change its form with every key.
const SPARSE_SHARE: usize = 32;
const WORD_BITS: usize = 64;

/// A set of keys. Memory: at most one bit for every key up to the largest, at most 32 bits for every key in it (64 for a
/// set that shrank).
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

/// The word of a key and the bit in it.
fn place(key: u32) -> (usize, u64) {
    (key as usize / WORD_BITS, 1 << (key as usize % WORD_BITS))
}

impl KeySet {
    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Sparse(keys) => keys.len(),
            Form::Dense { len, .. } => *len,
        }
    }

    /// True when there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True when the key is in it.
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

    /// True when the key is new.
    pub fn insert(&mut self, key: u32) -> bool {
        let is_new = match &mut self.0 {
            Form::Sparse(keys) => match keys.binary_search(&key) {
                Ok(_) => false,
                Err(position) => {
                    keys.insert(position, key);
                    true
                }
            },
            Form::Dense { words, len } => {
                let (word, bit) = place(key);
                if words.len() <= word {
                    words.resize(word + 1, 0);
                }
                let is_new = words.get_mut(word).is_some_and(|word| {
                    let is_new = *word & bit == 0;
                    *word |= bit;
                    is_new
                });
                *len += usize::from(is_new);
                is_new
            }
        };
        self.settle();
        is_new
    }

    /// True when the key was in it.
    pub fn remove(&mut self, key: u32) -> bool {
        let was_in = match &mut self.0 {
            Form::Sparse(keys) => match keys.binary_search(&key) {
                Ok(position) => {
                    keys.remove(position);
                    true
                }
                Err(_) => false,
            },
            Form::Dense { words, len } => {
                let (word, bit) = place(key);
                let was_in = words.get_mut(word).is_some_and(|word| {
                    let was_in = *word & bit != 0;
                    *word &= !bit;
                    was_in
                });
                *len -= usize::from(was_in);
                was_in
            }
        };
        self.settle();
        was_in
    }

    /// The keys, ascending.
    #[must_use]
    pub fn iter(&self) -> Keys<'_> {
        match &self.0 {
            Form::Sparse(keys) => Keys { list: keys.iter(), words: [].iter(), base: 0, word: 0 },
            // The first step over the words brings the base to 0.
            Form::Dense { words, .. } => {
                Keys { list: [].iter(), words: words.iter(), base: 0_u32.wrapping_sub(64), word: 0 }
            }
        }
    }

    /// The keys of both.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (Form::Dense { words: a, .. }, Form::Dense { words: b, .. }) => {
                Self::from_words(a.iter().zip(b).map(|(a, b)| a & b).collect())
            }
            (Form::Sparse(a), Form::Sparse(b)) => merged(a, b, Kept { left: false, both: true, right: false }),
            (Form::Sparse(list), _) => {
                Self::from_sorted(list.iter().copied().filter(|key| other.contains(*key)).collect())
            }
            (_, Form::Sparse(list)) => {
                Self::from_sorted(list.iter().copied().filter(|key| self.contains(*key)).collect())
            }
        }
    }

    /// The keys of either.
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
            (Form::Sparse(a), Form::Sparse(b)) => merged(a, b, Kept { left: true, both: true, right: true }),
            (Form::Sparse(few), _) => other.with(few),
            (_, Form::Sparse(few)) => self.with(few),
        }
    }

    /// The keys of this one that the other has not.
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
            (Form::Sparse(a), Form::Sparse(b)) => merged(a, b, Kept { left: true, both: false, right: false }),
            (Form::Sparse(list), _) => {
                Self::from_sorted(list.iter().copied().filter(|key| !other.contains(*key)).collect())
            }
            (_, Form::Sparse(few)) => {
                let mut rest = self.clone();
                for key in few {
                    rest.remove(*key);
                }
                rest
            }
        }
    }

    fn with(&self, few: &[u32]) -> Self {
        let mut all = self.clone();
        for key in few {
            all.insert(*key);
        }
        all
    }

    /// From keys that ascend.
    fn from_sorted(keys: Vec<u32>) -> Self {
        let mut set = Self(Form::Sparse(keys));
        set.settle();
        set
    }

    fn from_words(words: Vec<u64>) -> Self {
        let len = words.iter().map(|word| word.count_ones() as usize).sum();
        let mut set = Self(Form::Dense { words, len });
        set.settle();
        set
    }

    /// Takes the form that is due.
    fn settle(&mut self) {
        match &mut self.0 {
            Form::Sparse(keys) => {
                let span = keys.last().map_or(0, |last| *last as usize + 1);
                if keys.len() * SPARSE_SHARE > span.next_multiple_of(WORD_BITS) {
                    let mut words = vec![0_u64; span.div_ceil(WORD_BITS)];
                    for key in &*keys {
                        let (word, bit) = place(*key);
                        if let Some(word) = words.get_mut(word) {
                            *word |= bit;
                        }
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

/// Which keys of two lists a merge keeps.
#[derive(Clone, Copy)]
struct Kept {
    left: bool,
    both: bool,
    right: bool,
}

fn merged(mut a: &[u32], mut b: &[u32], kept: Kept) -> KeySet {
    let mut keys = Vec::new();
    while let (Some((left, a_rest)), Some((right, b_rest))) = (a.split_first(), b.split_first()) {
        let (key, is_kept) = match left.cmp(right) {
            Ordering::Less => (left, kept.left),
            Ordering::Equal => (left, kept.both),
            Ordering::Greater => (right, kept.right),
        };
        if is_kept {
            keys.push(*key);
        }
        if left <= right {
            a = a_rest;
        }
        if right <= left {
            b = b_rest;
        }
    }
    if kept.left {
        keys.extend_from_slice(a);
    }
    if kept.right {
        keys.extend_from_slice(b);
    }
    KeySet::from_sorted(keys)
}

/// The keys of a set, ascending.
pub struct Keys<'a> {
    list: std::slice::Iter<'a, u32>,
    words: std::slice::Iter<'a, u64>,
    /// The key of the first bit of `word`.
    base: u32,
    /// The bits that were not given out yet.
    word: u64,
}

impl Iterator for Keys<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if let Some(key) = self.list.next() {
            return Some(*key);
        }
        while self.word == 0 {
            self.word = *self.words.next()?;
            self.base = self.base.wrapping_add(64);
        }
        let bit = self.word.trailing_zeros();
        self.word &= self.word - 1;
        Some(self.base + bit)
    }
}

impl<'a> IntoIterator for &'a KeySet {
    type Item = u32;
    type IntoIter = Keys<'a>;

    fn into_iter(self) -> Keys<'a> {
        self.iter()
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
