//! How many more lessons may await review.

use crate::lesson::Refusal;
use crate::state::Book;

/// The free places of the list for review. An import displaces no lesson from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReviewCapacity {
    max: usize,
    n_free: usize,
}

impl ReviewCapacity {
    /// The places that are free in this book, of `max`.
    pub(crate) fn of(book: &Book, max: usize) -> Self {
        Self { max, n_free: max.saturating_sub(book.waiting.len()) }
    }

    /// # Errors
    /// `ReviewIsFull`.
    pub(crate) fn check(self) -> Result<(), Refusal> {
        if self.n_free == 0 { Err(Refusal::ReviewIsFull { max: self.max }) } else { Ok(()) }
    }

    /// Takes a place, if one is free.
    pub(crate) fn take_place(&mut self) {
        self.n_free = self.n_free.saturating_sub(1);
    }
}
