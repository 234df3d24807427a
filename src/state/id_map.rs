//! Small numbers for lessons, or for the rows of lessons. The memory of an index depends on the largest number, so freed numbers are reused.

use std::collections::BTreeMap;
use std::ops::RangeBounds;

/// Rows by number and by their key, such as the id of a lesson.
#[derive(Clone, Debug)]
pub(crate) struct IdMap<K, T> {
    numbers: BTreeMap<K, u32>,
    /// By number; none for an unused one.
    rows: Vec<Option<T>>,
    /// The unused numbers.
    free: Vec<u32>,
}

impl<K, T> Default for IdMap<K, T> {
    fn default() -> Self {
        Self { numbers: BTreeMap::new(), rows: Vec::new(), free: Vec::new() }
    }
}

impl<K: Copy + Ord, T> IdMap<K, T> {
    pub(crate) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    pub(crate) fn number(&self, id: K) -> Option<u32> {
        self.numbers.get(&id).copied()
    }

    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.rows.get(number as usize)?.as_ref()
    }

    /// Adds or replaces the row of a lesson. Returns its number, which does not change until the lesson is removed.
    pub(crate) fn put(&mut self, id: K, row: T) -> u32 {
        let number = self.number(id).or_else(|| self.free.pop());
        let number = number.unwrap_or_else(|| u32::try_from(self.rows.len()).unwrap_or(u32::MAX));
        self.numbers.insert(id, number);
        match self.rows.get_mut(number as usize) {
            Some(known) => *known = Some(row),
            None => self.rows.push(Some(row)),
        }
        number
    }

    /// Removes a row and frees its number.
    pub(crate) fn take(&mut self, id: K) -> Option<u32> {
        let number = self.numbers.remove(&id)?;
        if let Some(row) = self.rows.get_mut(number as usize) {
            *row = None;
        }
        self.free.push(number);
        Some(number)
    }

    /// The ids that have a number.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &K> {
        self.numbers.keys()
    }

    /// The keys in a range, with their numbers.
    pub(super) fn range(&self, keys: impl RangeBounds<K>) -> impl Iterator<Item = (K, u32)> {
        self.numbers.range(keys).map(|(key, number)| (*key, *number))
    }

    /// Every row with its number.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..).zip(&self.rows).filter_map(|(number, row)| Some((number, row.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::lesson;

    #[test]
    fn numbers_stay_and_are_used_again() {
        let [a, b, c] = ["a", "b", "c"].map(|trigger| lesson(trigger, "s").id);
        let mut ids = IdMap::default();
        assert_eq!([a, b, a].map(|id| ids.put(id, id)), [0, 1, 0]);
        let before = ids.clone();
        assert_eq!((ids.take(a), ids.take(a), ids.get(0)), (Some(0), None, None));
        assert_eq!([c, a].map(|id| ids.put(id, id)), [0, 2]);
        assert_eq!((before.get(0), ids.get(0), ids.number(a)), (Some(&a), Some(&c), Some(2)));
    }
}
