//! Small JSON files beside the playbook: read whole, changed whole, under the folder's lock.
//!
//! Each is a memory that can be lost: an unreadable file counts as none, and goes to quarantine when it is next changed.

use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Place;
use crate::error::{Error, Result};

/// What stands in such a file. Keys that this version does not know are its own to keep.
pub(crate) trait Record: Clone + Default + PartialEq + Serialize + DeserializeOwned {
    /// The file's name, without `.json`.
    const NAME: &'static str;
    /// The version of the file that this program writes.
    const SCHEMA: u64;
    /// What a broken file means, for the log.
    const LOST: &'static str;

    /// The version that was read.
    fn schema(&self) -> u64;
}

impl Place {
    /// What is known; an unreadable file counts as none.
    pub(crate) fn read_record<R: Record>(&self) -> Result<R> {
        let bytes = self.read_or_empty(&self.record::<R>(), 0)?;
        Ok(parse(&bytes).unwrap_or_default())
    }

    /// Changes what is known, on its newest state. Nothing is written when nothing changes.
    pub(crate) fn change_record<R: Record, T>(&self, change: impl FnOnce(&mut R) -> T) -> Result<T> {
        let _lock = self.lock()?;
        let path = self.record::<R>();
        let bytes = self.read_or_empty(&path, 0)?;
        let known: R = match parse(&bytes) {
            Ok(known) => known,
            Err(reason) => {
                let kept = self.quarantine(&bytes, R::NAME, "json")?;
                tracing::warn!(%reason, kept = %kept.display(), "{}", R::LOST);
                R::default()
            }
        };
        let (found, supported) = (known.schema(), R::SCHEMA);
        if found > supported {
            return Err(Error::NewerSchema { found, supported });
        }
        let mut record = known.clone();
        let value = change(&mut record);
        if record != known {
            let mut bytes = serde_json::json!(record).to_string().into_bytes();
            bytes.push(b'\n');
            let temporary = self.write_temporary(&format!("{}.json", R::NAME), &bytes)?;
            self.rename(&temporary, &path)?;
            self.sync_folder(self.folder.path())?;
        }
        Ok(value)
    }

    fn record<R: Record>(&self) -> PathBuf {
        self.folder.path().join(format!("{}.json", R::NAME))
    }
}

/// An empty file is an empty record: a crash can leave none other.
fn parse<R: Record>(bytes: &[u8]) -> std::result::Result<R, serde_json::Error> {
    if bytes.is_empty() { Ok(R::default()) } else { serde_json::from_slice(bytes) }
}
