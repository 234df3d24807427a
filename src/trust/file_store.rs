//! Trust decisions in files of the user's state, one file per folder.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{FolderIdentity, Reach, TrustRecord, TrustStore};
use crate::error::FolderError;
use crate::folder::disk::RealDisk;
use crate::folder::{Access, Folder, JsonFile, JsonRecord};
use crate::hash::TextHash;

/// A store in a directory that only its user can read and write. The first decision creates it, with mode 0700 on Unix. An
/// unreadable record counts as none, and goes to quarantine when the folder is trusted again.
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
    reach: Reach,
    admitted: BTreeSet<TextHash>,
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
}

fn name(folder: &FolderIdentity) -> String {
    format!("trust-{}", folder.key())
}

impl TrustFile {
    /// An empty file is a record of no folder.
    fn is_of(&self, folder: &FolderIdentity) -> bool {
        self.id == folder.id.to_string() && self.path == folder.path.to_string_lossy()
    }
}

impl TrustStore for FileTrustStore {
    fn find(&self, folder: &FolderIdentity) -> Result<Option<TrustRecord>, FolderError> {
        let state = self.open(Access::ReadOnly)?;
        let file = match JsonFile::<TrustFile>::named(&state, name(folder)).read() {
            Err(error) if super::identity::is_missing(&error) => return Ok(None),
            file => file?,
        };
        Ok(file.is_of(folder).then_some(TrustRecord { reach: file.reach, admitted: file.admitted }))
    }

    fn admit(&self, folder: &FolderIdentity, reach: Reach, texts: &[TextHash]) -> Result<(), FolderError> {
        let state = self.open(Access::ReadWrite)?;
        JsonFile::<TrustFile>::named(&state, name(folder)).change(|file| {
            if !file.is_of(folder) {
                *file = TrustFile { reach, ..TrustFile::default() };
                file.id = folder.id.to_string();
                file.path = folder.path.to_string_lossy().into_owned();
            }
            file.schema = TrustFile::SCHEMA;
            file.reach = file.reach.max(reach);
            file.admitted.extend(texts);
        })
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
