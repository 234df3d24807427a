//! Usage in a store of rows: retrievals are appended at once, or with a later call if the store is away.

use std::time::Duration;

use serde_json::json;

use super::{RowStore, UsageEvent};
use crate::credit::outcome_line;
use crate::error::Result;
use crate::store::{Event, Snapshot};

/// The most events that are kept in memory.
const MAX_PENDING: usize = 10_000;

impl RowStore {
    /// Appends an event, if `make` returns one for the newest state; again if other feedback was appended meanwhile.
    pub(crate) fn append_event<T>(
        &self,
        patience: Duration,
        mut make: impl FnMut(&Snapshot) -> Result<(Option<Event>, T)>,
    ) -> Result<(Snapshot, T)> {
        self.refuse_read_only()?;
        self.append_pending();
        self.try_often(patience, |_| {
            let (known, mut snapshot) = self.newest_with_receipts()?;
            let (event, value) = make(&snapshot)?;
            let Some(event) = event else { return Ok(Some((snapshot, value))) };
            let new = UsageEvent {
                key: uuid::Uuid::new_v4().to_string(),
                event: json!(event),
                line: self.outcome_line(&event),
            };
            if !self.store.append_feedback(&new, known.last_feedback)? {
                return Ok(None);
            }
            snapshot.count(event, &self.feedback);
            Ok(Some((snapshot, value)))
        })
    }

    fn outcome_line(&self, event: &Event) -> Option<String> {
        let Event::Outcome { receipt, feedback, at } = event else { return None };
        let line = outcome_line(*receipt, *feedback, *at);
        self.credit.log_receipts.then(|| String::from_utf8_lossy(&line).trim_end().to_owned())
    }

    /// Records the event of a retrieval, and the line of its receipt if receipts are logged.
    pub(crate) fn note(&self, event: &Event, line: Option<&[u8]>) {
        let Event::Shown { receipt, .. } = event else { return };
        let mut pending = self.pending.lock();
        if pending.len() >= MAX_PENDING {
            tracing::warn!("{MAX_PENDING} retrievals could not be written; this one is not counted");
            return;
        }
        let line = line.map(|line| String::from_utf8_lossy(line).trim_end().to_owned());
        pending.push(UsageEvent { key: receipt.to_string(), event: json!(event), line });
        drop(pending);
        self.append_pending();
    }

    /// Appends the retrievals in memory. Returns true when nothing is left.
    pub(crate) fn flush(&self) -> Result<bool> {
        let mut pending = self.pending.lock();
        if !pending.is_empty() && self.may_write {
            self.store.append(&pending)?;
            pending.clear();
        }
        Ok(pending.is_empty())
    }

    /// Appends the retrievals in memory for the last time. What cannot be written is lost, and logged.
    pub(crate) fn close(&self) {
        if let Err(error) = self.flush() {
            tracing::warn!(%error, n_lost = self.pending.lock().len(), "retrievals could not be counted");
        }
    }

    /// Appends the retrievals in memory; they stay there if the store is away.
    pub(super) fn append_pending(&self) {
        if let Err(error) = self.flush() {
            tracing::warn!(%error, "retrieval counts could not be written; they stay in memory");
        }
    }
}
