//! Small numbers for lessons, or for the rows of lessons. The memory of an index depends on the largest number, so freed numbers are reused.

use std::cmp::Ordering;

use super::pieces::{Pieces, StoredPieces};
use crate::sorted_blocks::{SortedBlocks, StoredRow};

/// Rows by number and by their key, such as the id of a lesson. Clones share the rows.
#[derive(Clone, Debug)]
pub(crate) struct IdMap<K, T> {
    numbers: SortedBlocks<(K, u32)>,
    rows: SortedBlocks<(u32, T)>,
    /// Numbers below `numbers.len() + free.len()` that are not in use.
    free: Vec<u32>,
}

impl<K, T> Default for IdMap<K, T> {
    fn default() -> Self {
        Self { numbers: SortedBlocks::default(), rows: SortedBlocks::default(), free: Vec::new() }
    }
}

impl<K: Copy + Ord, T: Clone> IdMap<K, T>
where
    (K, u32): Clone + Ord,
{
    pub(crate) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    pub(crate) fn number(&self, id: K) -> Option<u32> {
        self.numbers.find(|row| row.0.cmp(&id)).map(|row| row.1).filter(|number| self.is_number(*number))
    }

    /// How many numbers are or were in use. Only a damaged file contains others.
    pub(super) fn n_numbers(&self) -> usize {
        self.numbers.len() + self.free.len()
    }

    pub(super) fn is_number(&self, number: u32) -> bool {
        (number as usize) < self.n_numbers()
    }

    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.rows.find(|row| row.0.cmp(&number)).map(|row| &row.1)
    }

    /// Adds or replaces the row of a lesson. Returns its number, which does not change until the lesson is removed.
    pub(crate) fn put(&mut self, id: K, row: T) -> u32 {
        let number = self.number(id).unwrap_or_else(|| {
            let number = self.free.pop().unwrap_or_else(|| u32::try_from(self.numbers.len()).unwrap_or(u32::MAX));
            self.numbers.insert((id, number));
            number
        });
        self.rows.put((number, row), |other| other.0.cmp(&number));
        number
    }

    /// Removes a row and frees its number.
    pub(crate) fn take(&mut self, id: K) -> Option<u32> {
        let number = self.number(id)?;
        self.numbers.take(|row| row.0.cmp(&id));
        self.rows.take(|row| row.0.cmp(&number));
        self.free.push(number);
        Some(number)
    }

    /// The ids that have a number.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &K> {
        self.numbers.iter().map(|row| &row.0)
    }

    /// The keys from the first one on that is not below `order`, with their numbers.
    pub(super) fn from(&self, order: impl Fn(&K) -> Ordering) -> impl Iterator<Item = (K, u32)> {
        self.numbers.iter_from(move |row| order(&row.0)).copied().filter(|row| self.is_number(row.1))
    }

    /// Every row with its number.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.rows.iter().map(|row| (row.0, &row.1))
    }
}

impl<R: Copy + Ord> IdMap<R, R>
where
    (R, u32): StoredRow,
    (u32, R): StoredRow,
{
    pub(super) fn write(&self, pieces: &mut Pieces<'_>) {
        pieces.push_rows(&self.numbers);
        pieces.push_rows(&self.rows);
        pieces.push_value(&self.free);
    }

    pub(super) fn read(pieces: &mut StoredPieces<'_>) -> Option<Self> {
        let stored = Self { numbers: pieces.rows()?, rows: pieces.rows()?, free: pieces.value()? };
        let is_whole = stored.numbers.len() == stored.rows.len();
        (is_whole && stored.free.iter().all(|number| stored.is_number(*number))).then_some(stored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::LessonId;
    use crate::testing::lesson;

    fn read(numbers: &[(LessonId, u32)], free: &[u32]) -> Option<IdMap<LessonId, LessonId>> {
        let mut pieces = Pieces::default();
        pieces.push_rows(&SortedBlocks::of(numbers.to_vec()));
        pieces.push_rows(&SortedBlocks::of(numbers.iter().map(|row| (row.1, row.0)).collect()));
        pieces.push_value(free.to_vec());
        IdMap::read(&mut StoredPieces(&mut pieces.into_stored()))
    }

    #[test]
    fn a_file_does_not_lead_to_numbers_that_take_memory() {
        let [a, b] = ["a", "b"].map(|trigger| lesson(trigger, "s").id);
        assert_eq!(read(&[(a, 0), (b, 2)], &[1]).unwrap().number(b), Some(2));
        assert!(read(&[(a, 0)], &[u32::MAX]).is_none());
        let mut forged = read(&[(a, 0), (b, u32::MAX)], &[1]).unwrap();
        assert_eq!((forged.number(b), forged.take(b)), (None, None));
        assert_eq!([forged.put(b, b), forged.put(a, a)], [1, 0]);
    }

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
