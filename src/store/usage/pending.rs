//! Usage that a handle has not written yet, because another process was writing usage or the disk refused it.

use std::time::Duration;

use super::Event;
use super::file::LOCK;
use crate::error::folder::{FolderError, Result};
use crate::folder::Lock;
use crate::store::{FolderStore, Snapshot};

/// The most events that are kept in memory.
const MAX_PENDING: usize = 10_000;
/// How long a recall waits for the lock of usage: longer than many appends take, and not for a holder that is stuck.
const WAIT: Duration = Duration::from_millis(50);
/// How long everything else waits for it.
const LONG_WAIT: Duration = Duration::from_secs(1);

/// What has not been appended yet.
#[derive(Default)]
pub(in crate::store) struct Pending {
    events: Vec<Event>,
    /// Lines of the log of receipts.
    receipts: Vec<u8>,
    /// Events over the limit.
    n_dropped: usize,
}

impl FolderStore {
    /// Records the event of a recall, and the line of its receipt if receipts are logged: now, or with a later call if another
    /// process holds the lock of usage.
    pub(crate) fn note(&self, known: &Snapshot, event: Event, receipt: Option<Vec<u8>>) -> Result<()> {
        let mut pending = self.pending.lock();
        if pending.events.len() < MAX_PENDING {
            pending.events.push(event);
            pending.receipts.extend(receipt.unwrap_or_default());
        } else {
            if pending.n_dropped == 0 {
                tracing::warn!("{MAX_PENDING} retrievals could not be written; further ones are not counted");
            }
            pending.n_dropped += 1;
        }
        drop(pending);
        self.flush(known).map(drop)
    }

    /// Appends the usage in memory, unless another process holds the lock of usage. Returns true when nothing is left.
    pub(crate) fn flush(&self, known: &Snapshot) -> Result<bool> {
        let mut pending = self.pending.lock();
        if !pending.events.is_empty() && self.may_append(known) {
            // The lock was waited for already, if earlier events are in memory too.
            let patience = if pending.events.len() > 1 { Duration::ZERO } else { WAIT };
            match self.lock_usage(patience) {
                Ok(_lock) => self.write_pending(known, &mut pending)?,
                Err(FolderError::Locked { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(pending.events.is_empty())
    }

    /// Appends the usage in memory for the last time. What cannot be written is lost, and logged.
    pub(crate) fn close(&self, known: &Snapshot) {
        let mut pending = self.pending.lock();
        if pending.events.is_empty() {
            return;
        }
        let locked = self.refuse_newer(known).and_then(|()| self.lock_usage(LONG_WAIT));
        if let Err(error) = locked.and_then(|_lock| self.write_pending(known, &mut pending)) {
            let n_lost = pending.events.len() + pending.n_dropped;
            tracing::warn!(%error, n_lost, "retrievals could not be counted");
        }
    }

    /// Appends the usage in memory. What cannot be written stays in memory.
    pub(in crate::store) fn append_pending(&self, known: &Snapshot) {
        let mut pending = self.pending.lock();
        if !pending.events.is_empty()
            && self.may_append(known)
            && let Err(error) = self.write_usage(|| self.write_pending(known, &mut pending))
        {
            tracing::warn!(%error, "retrieval counts could not be written; they stay in memory");
        }
    }

    /// Writes the usage file or the log of receipts under their lock. It may be taken while the folder's lock is held, never before it.
    pub(in crate::store) fn write_usage<T>(&self, write: impl FnOnce() -> Result<T>) -> Result<T> {
        let _lock = self.lock_usage(LONG_WAIT)?;
        write()
    }

    fn lock_usage(&self, patience: Duration) -> Result<Lock> {
        self.folder.lock_file_within(LOCK, patience)
    }

    /// A receipt that cannot be logged is dropped.
    fn write_pending(&self, known: &Snapshot, pending: &mut Pending) -> Result<()> {
        self.move_former_usage(known.committed.usage)?;
        self.usage_file().append(known.log.end, &pending.events)?;
        let Pending { receipts, n_dropped, .. } = std::mem::take(pending);
        if n_dropped > 0 {
            tracing::warn!(n_dropped, "retrievals were not counted while they could not be written");
        }
        if !receipts.is_empty()
            && let Err(error) = self.receipt_file().append(&receipts)
        {
            tracing::warn!(%error, "receipts could not be added to the log");
        }
        Ok(())
    }
}
