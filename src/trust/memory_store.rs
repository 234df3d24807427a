//! Trust decisions that last as long as the process.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::{FolderIdentity, Reach, TrustRecord, TrustStore};
use crate::error::FolderError;
use crate::hash::TextHash;

/// A store in memory, for tests and for hosts that keep decisions elsewhere.
#[derive(Debug, Default)]
pub struct MemoryTrustStore(Mutex<BTreeMap<FolderIdentity, TrustRecord>>);

impl TrustStore for MemoryTrustStore {
    fn find(&self, folder: &FolderIdentity) -> Result<Option<TrustRecord>, FolderError> {
        Ok(self.0.lock().get(folder).cloned())
    }

    fn admit(&self, folder: &FolderIdentity, reach: Reach, texts: &[TextHash]) -> Result<(), FolderError> {
        let mut records = self.0.lock();
        records.entry(folder.clone()).or_insert(TrustRecord { reach, ..TrustRecord::default() }).admit(reach, texts);
        Ok(())
    }
}
