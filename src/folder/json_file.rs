//! Small JSON files, read and replaced whole under the folder's lock.
//!
//! Their content may be lost: an unreadable file counts as empty, and goes to quarantine with the next change.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Folder, Name, Stamp};
use crate::error::folder::{FolderError, Result};

/// The content of such a file. It must preserve keys that this version does not know.
pub(crate) trait JsonRecord: Clone + Default + PartialEq + Serialize + DeserializeOwned {
    /// The file's name, without `.json`.
    const NAME: &'static str;
    /// The version of the file that this program writes.
    const SCHEMA: u64;
    /// The consequence of a broken file, for the log.
    const LOST: &'static str;

    /// The version that was read.
    fn schema(&self) -> u64;
}

/// The record from the last read, with the file's stamp at that time.
#[derive(Debug)]
pub(crate) struct KnownJson<R>(Option<(Stamp, Arc<R>)>);

impl<R> Default for KnownJson<R> {
    fn default() -> Self {
        Self(None)
    }
}

/// A JSON file of the folder with this content.
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

    /// A file with a name of its own, if there are several of one type.
    pub(crate) fn named(folder: &'a Folder, name: String) -> Self {
        Self { folder, name: name.into(), record: PhantomData }
    }

    /// The record; an unreadable file counts as empty.
    pub(crate) fn read(&self) -> Result<R> {
        let bytes = self.folder.files().read_or_empty(self.name(), 0)?;
        Ok(parse(&bytes).unwrap_or_default())
    }

    /// The record; it is read again only if the stamp does not prove that `known` is current.
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

    /// Changes the newest state of the record. If nothing changes, nothing is written.
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

/// An empty file is an empty record: only a crash leaves one.
fn parse<R: JsonRecord>(bytes: &[u8]) -> std::result::Result<R, serde_json::Error> {
    if bytes.is_empty() { Ok(R::default()) } else { serde_json::from_slice(bytes) }
}
