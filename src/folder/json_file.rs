//! Small JSON files: read whole, changed whole, under the folder's lock.
//!
//! Each is a memory that can be lost: an unreadable file counts as none, and goes to quarantine when it is next changed.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Folder, Name, Stamp};
use crate::error::folder::{FolderError, Result};

/// The content of such a file. Keys that this version does not know are its own to keep.
pub(crate) trait JsonRecord: Clone + Default + PartialEq + Serialize + DeserializeOwned {
    /// The file's name, without `.json`.
    const NAME: &'static str;
    /// The version of the file that this program writes.
    const SCHEMA: u64;
    /// What a broken file means, for the log.
    const LOST: &'static str;

    /// The version that was read.
    fn schema(&self) -> u64;
}

/// A record as it was read last, and the stamp of the file then.
#[derive(Debug)]
pub(crate) struct KnownJson<R>(Option<(Stamp, Arc<R>)>);

impl<R> Default for KnownJson<R> {
    fn default() -> Self {
        Self(None)
    }
}

/// A file of the folder with such a content.
pub(crate) struct JsonFile<'a, R> {
    folder: &'a Folder,
    /// Its name, without `.json`.
    name: Cow<'static, str>,
    record: PhantomData<R>,
}

impl<'a, R: JsonRecord> JsonFile<'a, R> {
    pub(crate) fn new(folder: &'a Folder) -> Self {
        Self { folder, name: R::NAME.into(), record: PhantomData }
    }

    /// A file with another name, where there is one for each of several.
    pub(crate) fn named(folder: &'a Folder, name: String) -> Self {
        Self { folder, name: name.into(), record: PhantomData }
    }

    /// The record; an unreadable file counts as none.
    pub(crate) fn read(&self) -> Result<R> {
        let bytes = self.folder.files().read_or_empty(self.name(), 0)?;
        Ok(parse(&bytes).unwrap_or_default())
    }

    /// The record, read again only where its stamp does not prove that `known` is it.
    pub(crate) fn read_unless_known(&self, known: &mut KnownJson<R>) -> Result<Arc<R>> {
        let Some(stamp) = self.folder.files().stamp(self.name())? else { return Ok(Arc::default()) };
        match &known.0 {
            Some((before, record)) if before.is_surely(&stamp) => Ok(Arc::clone(record)),
            _ => {
                let record = Arc::new(self.read()?);
                known.0 = Some((stamp, Arc::clone(&record)));
                Ok(record)
            }
        }
    }

    /// Changes the record, in its newest state. Nothing is written when nothing changes.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut R) -> T) -> Result<T> {
        let _lock = self.folder.lock()?;
        let files = self.folder.files();
        let bytes = files.read_or_empty(self.name(), 0)?;
        let known: R = match parse(&bytes) {
            Ok(known) => known,
            Err(reason) => {
                let kept = self.folder.quarantine(&bytes, &self.name, "json")?;
                tracing::warn!(%reason, kept = %kept.display(), "{}", R::LOST);
                R::default()
            }
        };
        let (found, supported) = (known.schema(), R::SCHEMA);
        if found > supported {
            return Err(FolderError::NewerSchema { path: files.path_of(self.name()), found, supported });
        }
        let mut record = known.clone();
        let value = change(&mut record);
        if record != known {
            let mut bytes = serde_json::json!(record).to_string().into_bytes();
            bytes.push(b'\n');
            let temporary = self.folder.write_temporary(&format!("{}.json", self.name), &bytes)?;
            files.rename(temporary, self.name())?;
            files.sync_directory(Name::TOP)?;
        }
        Ok(value)
    }

    fn name(&self) -> Name {
        format!("{}.json", self.name).into()
    }
}

/// An empty file is an empty record: a crash can leave none other.
fn parse<R: JsonRecord>(bytes: &[u8]) -> std::result::Result<R, serde_json::Error> {
    if bytes.is_empty() { Ok(R::default()) } else { serde_json::from_slice(bytes) }
}
