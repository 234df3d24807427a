//! A block of rows: in memory, or in a file and decoded on demand.

use std::fmt;
use std::sync::{Arc, OnceLock};

/// Rows behind a pointer that is shared by clones.
pub(super) enum Block<T> {
    Rows(Arc<Vec<T>>),
    Stored(Arc<StoredBlock<T>>),
}

/// Rows in a file.
pub(super) struct StoredBlock<T> {
    n_rows: usize,
    encoded: Box<dyn Encoded<T>>,
    last: OnceLock<Option<T>>,
    rows: OnceLock<Vec<T>>,
}

/// The bytes of a block's rows.
pub(super) trait Encoded<T>: Send + Sync {
    /// The last row, by which a block is found; none if its bytes are invalid.
    fn last(&self) -> Option<T>;

    /// All rows, of which this is the last.
    fn rows(&self, last: Option<&T>) -> Vec<T>;
}

impl<T> StoredBlock<T> {
    pub(super) fn new(n_rows: usize, encoded: Box<dyn Encoded<T>>) -> Self {
        Self { n_rows, encoded, last: OnceLock::new(), rows: OnceLock::new() }
    }

    fn last(&self) -> Option<&T> {
        self.last.get_or_init(|| self.encoded.last()).as_ref()
    }

    fn rows(&self) -> &[T] {
        self.rows.get_or_init(|| self.encoded.rows(self.last()))
    }

    #[cfg(test)]
    pub(super) fn is_decoded(&self) -> bool {
        self.rows.get().is_some()
    }
}

impl<T> Block<T> {
    pub(super) fn of(rows: Vec<T>) -> Self {
        Self::Rows(Arc::new(rows))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.len(),
            Self::Stored(stored) => stored.n_rows,
        }
    }

    pub(super) fn last(&self) -> Option<&T> {
        match self {
            Self::Rows(rows) => rows.last(),
            Self::Stored(stored) => stored.last(),
        }
    }

    pub(super) fn rows(&self) -> &[T] {
        match self {
            Self::Rows(rows) => rows,
            Self::Stored(stored) => stored.rows(),
        }
    }

    /// True when both are the same rows of memory or of the file.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Rows(one), Self::Rows(other)) => Arc::ptr_eq(one, other),
            (Self::Stored(one), Self::Stored(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl<T: Clone> Block<T> {
    /// The rows for a change; they are copied first if they are shared.
    pub(super) fn rows_mut(&mut self) -> &mut Vec<T> {
        match self {
            Self::Rows(rows) => Arc::make_mut(rows),
            Self::Stored(stored) => {
                *self = Self::of(stored.rows().to_vec());
                self.rows_mut()
            }
        }
    }
}

impl<T> Clone for Block<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Rows(rows) => Self::Rows(Arc::clone(rows)),
            Self::Stored(stored) => Self::Stored(Arc::clone(stored)),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Block<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.rows()).finish()
    }
}
