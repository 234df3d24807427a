//! Small numbers for lessons: an index takes memory by the largest one, so that they are used again.

use std::sync::Arc;

use crate::lesson::{Lesson, LessonId};
use crate::sorted_blocks::Shelf;

/// What a slot holds, found by its number and by the name of its lesson. A clone shares the rows.
#[derive(Clone, Debug)]
pub(crate) struct Slots<T> {
    numbers: Shelf<(LessonId, u32)>,
    rows: Shelf<(u32, T)>,
    /// Numbers below `numbers.len() + free.len()` that are not taken.
    free: Vec<u32>,
}

/// What tells its lesson's name.
pub(crate) trait Named {
    fn name(&self) -> LessonId;
}

impl Named for LessonId {
    fn name(&self) -> LessonId {
        *self
    }
}

impl Named for Arc<Lesson> {
    fn name(&self) -> LessonId {
        self.id
    }
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { numbers: Shelf::default(), rows: Shelf::default(), free: Vec::new() }
    }
}

impl<T: Named + Clone> Slots<T> {
    pub(crate) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    pub(crate) fn number(&self, id: LessonId) -> Option<u32> {
        self.numbers.find(|row| row.0.cmp(&id)).map(|row| row.1)
    }

    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.rows.find(|row| row.0.cmp(&number)).map(|row| &row.1)
    }

    /// The number under which it is known, or gets known now.
    pub(crate) fn put(&mut self, row: T) -> u32 {
        let id = row.name();
        let number = self.number(id).unwrap_or_else(|| {
            let number = self.free.pop().unwrap_or_else(|| u32::try_from(self.numbers.len()).unwrap_or(u32::MAX));
            self.numbers.insert((id, number));
            number
        });
        self.rows.put((number, row), |other| other.0.cmp(&number));
        number
    }

    /// Gives the number back.
    pub(crate) fn take(&mut self, id: LessonId) -> Option<u32> {
        let (_, number) = self.numbers.take(|row| row.0.cmp(&id))?;
        self.rows.take(|row| row.0.cmp(&number));
        self.free.push(number);
        Some(number)
    }

    /// The names that have a number.
    pub(crate) fn names(&self) -> impl Iterator<Item = &LessonId> {
        self.numbers.iter().map(|row| &row.0)
    }

    /// Every slot in use.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.rows.iter().map(|row| (row.0, &row.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::lesson;

    #[test]
    fn numbers_stay_and_are_used_again() {
        let [a, b, c] = ["a", "b", "c"].map(|trigger| lesson(trigger, "s").id);
        let mut slots = Slots::default();
        assert_eq!([a, b, a].map(|id| slots.put(id)), [0, 1, 0]);
        let before = slots.clone();
        assert_eq!((slots.take(a), slots.take(a), slots.get(0)), (Some(0), None, None));
        assert_eq!([c, a].map(|id| slots.put(id)), [0, 2]);
        assert_eq!((before.get(0), slots.get(0), slots.number(a)), (Some(&a), Some(&c), Some(2)));
    }
}
