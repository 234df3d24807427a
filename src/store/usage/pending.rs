//! Usage that a handle has not written yet, because another process was committing.

use std::time::Duration;

use super::Event;
use crate::error::folder::Result;
use crate::store::{Snapshot, Store};

/// The most events that are kept in memory.
const MAX_PENDING: usize = 10_000;
/// How long a handle that is dropped waits for the lock: longer than many commits take, and not for a holder that is stuck.
const LAST_WAIT: Duration = Duration::from_millis(500);

/// What has not been appended yet.
#[derive(Default)]
pub(in crate::store) struct Pending {
    events: Vec<Event>,
    /// Lines of the log of receipts.
    receipts: Vec<u8>,
    /// Events over the limit.
    n_dropped: usize,
}

impl Store {
    /// Records the event of a recall, and the line of its receipt if receipts are logged: now, or with a later call if another
    /// process is committing.
    pub(crate) fn note(&self, known: &Snapshot, event: Event, receipt: Option<Vec<u8>>) -> Result<()> {
        let mut pending = self.pending.lock();
        if pending.events.len() < MAX_PENDING {
            pending.events.push(event);
            pending.receipts.extend(receipt.unwrap_or_default());
        } else {
            if pending.n_dropped == 0 {
                tracing::warn!("the folder has been locked for {MAX_PENDING} retrievals; further ones are not counted");
            }
            pending.n_dropped += 1;
        }
        drop(pending);
        self.flush(known).map(drop)
    }

    /// Appends the usage in memory, unless another process is committing. Returns true when nothing is left.
    pub(crate) fn flush(&self, known: &Snapshot) -> Result<bool> {
        let mut pending = self.pending.lock();
        if !pending.events.is_empty()
            && self.may_append(known)
            && let Some(_lock) = self.folder.try_lock()?
        {
            self.write_pending(known, &mut pending)?;
        }
        Ok(pending.events.is_empty())
    }

    /// Appends the usage in memory for the last time. It waits for the lock for a moment; what cannot be written is lost, and logged.
    pub(crate) fn close(&self, known: &Snapshot) {
        let mut pending = self.pending.lock();
        if pending.events.is_empty() {
            return;
        }
        let locked = self.refuse_newer(known).and_then(|()| self.folder.lock_within(LAST_WAIT));
        if let Err(error) = locked.and_then(|_lock| self.write_pending(known, &mut pending)) {
            let n_lost = pending.events.len() + pending.n_dropped;
            tracing::warn!(%error, n_lost, "retrievals could not be counted");
        }
    }

    /// Appends the usage in memory. The caller holds the lock. What cannot be written stays in memory.
    pub(in crate::store) fn append_pending_locked(&self, known: &Snapshot) {
        let mut pending = self.pending.lock();
        if self.may_append(known)
            && let Err(error) = self.write_pending(known, &mut pending)
        {
            tracing::warn!(%error, "retrieval counts could not be written; they stay in memory");
        }
    }

    /// A receipt that cannot be logged is dropped.
    fn write_pending(&self, known: &Snapshot, pending: &mut Pending) -> Result<()> {
        if pending.events.is_empty() {
            return Ok(());
        }
        self.move_former_usage(known.committed.usage)?;
        self.usage_file().append(known.log.end, &pending.events)?;
        let Pending { receipts, n_dropped, .. } = std::mem::take(pending);
        if n_dropped > 0 {
            tracing::warn!(n_dropped, "retrievals were not counted while the folder was locked");
        }
        if !receipts.is_empty()
            && let Err(error) = self.receipt_file().append(&receipts)
        {
            tracing::warn!(%error, "receipts could not be added to the log");
        }
        Ok(())
    }
}
