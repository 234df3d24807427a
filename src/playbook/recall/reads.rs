//! Serializes reads of the folder by the threads of a handle: if many threads detect a commit at once, one reads it for all.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard};

#[derive(Default)]
pub(in crate::playbook) struct Reads {
    one_at_a_time: Mutex<()>,
    n_begun: AtomicU64,
}

impl Reads {
    /// The number of reads begun so far.
    pub(in crate::playbook) fn n_begun(&self) -> u64 {
        self.n_begun.load(Ordering::Acquire)
    }

    /// Waits for this thread's turn to read. None if a read has completed that began after the first `n_begun`: its result is
    /// recent enough.
    pub(in crate::playbook) fn begin(&self, n_begun: u64) -> Option<MutexGuard<'_, ()>> {
        let turn = self.one_at_a_time.lock();
        if self.n_begun() > n_begun {
            return None;
        }
        self.n_begun.fetch_add(1, Ordering::AcqRel);
        Some(turn)
    }

    /// Waits for this thread's turn to read, even if another thread has read meanwhile.
    pub(in crate::playbook) fn begin_own(&self) -> MutexGuard<'_, ()> {
        let turn = self.one_at_a_time.lock();
        self.n_begun.fetch_add(1, Ordering::AcqRel);
        turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_reads_for_all_that_wait() {
        let reads = Reads::default();
        let arrived = reads.n_begun();
        drop(reads.begin(arrived).unwrap());
        assert!(reads.begin(arrived).is_none());
        let later = reads.n_begun();
        drop(reads.begin_own());
        assert!(reads.begin(later).is_none());
        // A read that began before this call may have missed something.
        assert!(reads.begin(reads.n_begun()).is_some());
    }
}
