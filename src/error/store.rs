//! Errors of a store that is not a folder.

use std::error::Error;
use std::time::Duration;

/// An error of a [`Store`](crate::extend::Store). A message names the store without its password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store does not answer. Nothing was written; what was read last can still be read.
    #[error("{store} cannot be reached; nothing was written, try again when it is back")]
    Unreachable {
        /// The store.
        store: String,
        /// The reason.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The connection was lost during a write, and the store did not come back to say whether the write took effect. It took effect
    /// as a whole or not at all.
    #[error(
        "{store} was lost during a write, which took effect as a whole or not at all; read again before you repeat it"
    )]
    Unresolved {
        /// The store.
        store: String,
        /// The reason.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The store answers and refuses. Nothing was written.
    #[error("{store} refuses to {action}; {advice}")]
    Refused {
        /// The store.
        store: String,
        /// What it was asked for.
        action: &'static str,
        /// What to do about it.
        advice: &'static str,
        /// The reason.
        source: Box<dyn Error + Send + Sync>,
    },
    /// Others held the store's lock for the time limit. Nothing was written; try again.
    #[error("{store} is busy, and was not free within {:.1} s; try again", waited.as_secs_f64())]
    Busy {
        /// The store.
        store: String,
        /// The time limit.
        waited: Duration,
    },
    /// The store was opened for reading.
    #[error("{store} is open for reading only")]
    ReadOnly {
        /// The store.
        store: String,
    },
    /// The store has another version than this program needs.
    #[error("{store} has {what} {found}, this program needs {expected}; {advice}")]
    Version {
        /// The store.
        store: String,
        /// What has the version.
        what: &'static str,
        /// The version that was found.
        found: String,
        /// The versions that can be used.
        expected: String,
        /// What to do about it.
        advice: &'static str,
    },
    /// Something in the store is not what this program writes. It was not changed.
    #[error("{what} in {store} cannot be read: {reason}")]
    Unreadable {
        /// The store.
        store: String,
        /// The row or record.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A memory is to be moved into a store that has one. Nothing was written.
    #[error("{store} is not empty: it has generation {generation}; name another playbook of it")]
    NotEmpty {
        /// The store.
        store: String,
        /// The number of its commits.
        generation: u64,
    },
}
