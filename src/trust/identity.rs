//! The identity of a memory folder: a random id in it, together with its path.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::Serialize;
use uuid::Uuid;

use crate::error::folder::{FolderError, Result};
use crate::folder::{Directory, Entry, Folder, Name};
use crate::hash::TextHash;

/// The file with a folder's id.
pub(super) const ID: &str = "id";
/// The length of an id, as text.
const ID_BYTES: usize = 36;

/// The random id of a folder. A folder that replaces another one has a different id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FolderId(Uuid);

impl FolderId {
    pub(super) fn generate() -> Self {
        Self(Uuid::new_v4())
    }
}

impl fmt::Display for FolderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for FolderId {
    type Err = &'static str;

    /// Accepts only the canonical spelling.
    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let id = text.parse().map(Self).ok().filter(|id| id.to_string() == text);
        id.ok_or("a folder's id is a UUID in lower case")
    }
}

impl Serialize for FolderId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A memory folder as recorded in a user's state. A copy at another path has another identity, and so has another folder at the
/// same path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[non_exhaustive]
pub struct FolderIdentity {
    /// Its id.
    pub id: FolderId,
    /// Its path: absolute and without links.
    #[serde(serialize_with = "crate::path_text::shown")]
    pub path: PathBuf,
}

impl FolderIdentity {
    pub(super) fn of(id: FolderId, folder: &Folder) -> Self {
        Self { id, path: folder.path().to_owned() }
    }

    /// A hash of both, used as a file name.
    pub(super) fn key(&self) -> TextHash {
        TextHash::of(&[self.id.to_string().as_bytes(), self.path.as_os_str().as_encoded_bytes()])
    }
}

/// The id of a folder; none if it has none.
///
/// # Errors
/// The file does not contain a valid id.
pub(super) fn read(files: &Directory) -> Result<Option<FolderId>> {
    let bytes = match files.read_start(ID, ID_BYTES + 2)? {
        bytes if bytes.is_empty() && files.entry(ID)? == Entry::Missing => return Ok(None),
        bytes => bytes,
    };
    let text = std::str::from_utf8(&bytes).unwrap_or_default();
    let id = text.strip_suffix('\n').unwrap_or(text).parse();
    id.map(Some).map_err(|_| FolderError::NoFolderId { path: files.path_of(ID) })
}

/// Writes the id of a folder. The caller holds the lock.
pub(super) fn write(folder: &Folder, id: FolderId) -> Result<()> {
    let temporary = folder.write_temporary(ID, format!("{id}\n").as_bytes())?;
    folder.files().rename(temporary, ID)?;
    folder.files().sync_directory(Name::TOP)
}

/// The id of a folder, which gets one if it has none.
pub(super) fn ensure(folder: &Folder) -> Result<FolderId> {
    if let Some(id) = read(folder.files())? {
        return Ok(id);
    }
    let _lock = folder.lock()?;
    if let Some(id) = read(folder.files())? {
        return Ok(id);
    }
    let id = FolderId::generate();
    write(folder, id)?;
    Ok(id)
}

pub(super) fn is_missing(error: &FolderError) -> bool {
    matches!(error, FolderError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
}
