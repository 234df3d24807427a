//! Trust decisions that last as long as the process.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::{FolderIdentity, TrustRecord, TrustStore};
use crate::error::FolderError;
use crate::user_key::ExportKey;

/// A store in memory, for tests and for hosts that keep decisions elsewhere.
#[derive(Debug, Default)]
pub struct MemoryTrustStore {
    records: Mutex<BTreeMap<FolderIdentity, TrustRecord>>,
    key: Mutex<Option<ExportKey>>,
}

impl TrustStore for MemoryTrustStore {
    fn find(&self, folder: &FolderIdentity) -> Result<Option<TrustRecord>, FolderError> {
        Ok(self.records.lock().get(folder).cloned())
    }

    fn change(&self, folder: &FolderIdentity, change: &dyn Fn(&mut TrustRecord)) -> Result<(), FolderError> {
        change(self.records.lock().entry(folder.clone()).or_default());
        Ok(())
    }

    fn key(&self) -> Result<Option<ExportKey>, FolderError> {
        Ok(self.key.lock().clone())
    }

    fn create_key(&self) -> Result<Option<ExportKey>, FolderError> {
        Ok(Some(self.key.lock().get_or_insert_with(ExportKey::generate).clone()))
    }
}
