//! Trust decisions in files of the user's state, one file per folder.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{FolderIdentity, TrustRecord, TrustStore, removed};
use crate::error::{FolderError, Unusable};
use crate::folder::disk::RealDisk;
use crate::folder::{Access, Folder, JsonFile, JsonRecord};
use crate::hash::TextHash;
use crate::user_key::ExportKey;

/// The file with the user's key.
const KEY: &str = "key";

/// A store in a directory that only its user can read and write, with the user's key in the file `key`. The first decision creates
/// the directory, with mode 0700 on Unix. An unreadable record counts as none, and goes to quarantine when the folder is trusted again.
#[derive(Clone, Debug)]
pub struct FileTrustStore {
    directory: PathBuf,
}

/// The file of a record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct TrustFile {
    schema: u64,
    id: String,
    path: String,
    #[serde(flatten)]
    record: TrustRecord,
    /// What an earlier version recorded as removed.
    #[serde(skip_serializing)]
    withdrawn: BTreeSet<TextHash>,
    /// Keys of a later version.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl FileTrustStore {
    /// The store in this directory, which need not exist.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    fn open(&self, access: Access) -> Result<Folder, FolderError> {
        Folder::open(&self.directory, Box::new(RealDisk), access)
    }

    fn read_key(state: &Folder) -> Result<Option<ExportKey>, FolderError> {
        let Some(bytes) = state.files().content(KEY)? else { return Ok(None) };
        let key = std::str::from_utf8(&bytes).ok().and_then(ExportKey::parse);
        let reason = || Unusable::Invalid("it has no key of 64 hex digits".to_owned());
        key.map(Some).ok_or_else(|| FolderError::Unreadable { path: state.files().path_of(KEY), reason: reason() })
    }
}

fn name(folder: &FolderIdentity) -> String {
    format!("trust-{}", folder.key())
}

impl TrustFile {
    /// An empty file is a record of no folder.
    fn is_of(&self, folder: &FolderIdentity) -> bool {
        self.id == folder.id.to_string() && self.path == folder.path.to_string_lossy()
    }

    fn record(&mut self) -> &mut TrustRecord {
        self.record.admitted.extend(std::mem::take(&mut self.withdrawn).into_iter().map(removed));
        &mut self.record
    }
}

impl TrustStore for FileTrustStore {
    fn find(&self, folder: &FolderIdentity) -> Result<Option<TrustRecord>, FolderError> {
        let state = self.open(Access::ReadOnly)?;
        let mut file = match JsonFile::<TrustFile>::named(&state, name(folder)).read() {
            Err(error) if super::identity::is_missing(&error) => return Ok(None),
            file => file?,
        };
        Ok(file.is_of(folder).then(|| file.record().clone()))
    }

    fn change(&self, folder: &FolderIdentity, change: &dyn Fn(&mut TrustRecord)) -> Result<(), FolderError> {
        let state = self.open(Access::ReadWrite)?;
        JsonFile::<TrustFile>::named(&state, name(folder)).change(|file| {
            if !file.is_of(folder) {
                *file = TrustFile::default();
                file.id = folder.id.to_string();
                file.path = folder.path.to_string_lossy().into_owned();
            }
            file.schema = TrustFile::SCHEMA;
            change(file.record());
        })
    }

    fn key(&self) -> Result<Option<ExportKey>, FolderError> {
        match Self::read_key(&self.open(Access::ReadOnly)?) {
            Err(error) if super::identity::is_missing(&error) => Ok(None),
            key => key,
        }
    }

    fn create_key(&self) -> Result<Option<ExportKey>, FolderError> {
        let state = self.open(Access::ReadWrite)?;
        let _lock = state.lock()?;
        if let Some(key) = Self::read_key(&state)? {
            return Ok(Some(key));
        }
        let key = ExportKey::generate();
        let temporary = state.write_temporary(KEY, format!("{}\n", key.to_hex()).as_bytes())?;
        state.files().rename(temporary, KEY)?;
        Ok(Some(key))
    }
}

impl JsonRecord for TrustFile {
    const NAME: &'static str = "trust";
    const SCHEMA: u64 = 1;
    const LOST: &'static str = "the record of a trusted folder was broken: its texts await `adage trust`";

    fn schema(&self) -> u64 {
        self.schema
    }
}
