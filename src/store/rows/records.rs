//! The records of crates above the library in a store of rows.

use serde_json::json;

use super::RowStore;
use crate::error::{Result, StoreError};
use crate::folder::JsonRecord;

impl RowStore {
    /// The record of a type. One that cannot be read counts as empty.
    pub(crate) fn record<R: JsonRecord>(&self) -> Result<R> {
        let found = self.store.record(R::NAME)?;
        Ok(found.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default())
    }

    /// Changes the newest version of a record. If nothing changes, nothing is written.
    pub(crate) fn change_record<R: JsonRecord, T>(&self, change: impl FnOnce(&mut R) -> T) -> Result<T> {
        self.refuse_read_only()?;
        let mut change = Some(change);
        let mut value = None;
        self.store.change_record(R::NAME, &mut |found| {
            let known: R = match found.map(serde_json::from_value) {
                Some(Err(reason)) => {
                    tracing::warn!(%reason, "{}", R::LOST);
                    R::default()
                }
                found => found.and_then(std::result::Result::ok).unwrap_or_default(),
            };
            self.refuse_newer_record(&known)?;
            let mut record = known.clone();
            value = change.take().map(|change| change(&mut record));
            Ok((record != known).then(|| json!(record)))
        })?;
        let what = R::NAME.to_owned();
        let reason = "the store did not give it to be changed".to_owned();
        let store = self.store.name().to_owned();
        value.ok_or_else(|| StoreError::Unreadable { store, what, reason }.into())
    }

    fn refuse_newer_record<R: JsonRecord>(&self, record: &R) -> Result<(), StoreError> {
        if record.schema() <= R::SCHEMA {
            return Ok(());
        }
        Err(StoreError::Version {
            store: self.store.name().to_owned(),
            what: R::NAME,
            found: record.schema().to_string(),
            expected: format!("at most {}", R::SCHEMA),
            advice: "use a newer version of this program",
        })
    }
}
