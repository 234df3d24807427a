//! The format of a journal: for each file of a transaction, the content before and after.

use std::path::{Path, PathBuf};

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use crate::hash::TextHash;
use crate::id::ChangeId;

/// The version of the journal that this program writes.
const SCHEMA: u64 = 1;

/// A transaction as recorded in a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Journal {
    /// The id for an undo.
    pub id: ChangeId,
    /// When it was made.
    pub at: DateTime<FixedOffset>,
    /// A description for people.
    pub what: String,
    /// Whether it can be undone.
    pub record: Undoable,
    /// Its files.
    pub files: Vec<JournalFile>,
}

/// Whether the journal of a completed transaction is kept, so that it can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Undoable {
    /// It is kept: the last 32, for 30 days.
    #[serde(rename = "kept")]
    Yes,
    /// It is removed.
    #[serde(rename = "dropped")]
    No,
}

/// One file of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalFile {
    /// Its absolute path.
    pub path: PathBuf,
    /// The content before; none if there was no file.
    pub before: Option<Vec<u8>>,
    /// The content after; none if the file is removed.
    pub after: Option<Vec<u8>>,
    /// The file's permissions, if known.
    pub mode: Option<u32>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    schema: u64,
    id: ChangeId,
    at: DateTime<FixedOffset>,
    what: String,
    record: Undoable,
    files: Vec<FileHeader>,
}

#[derive(Serialize, Deserialize)]
struct FileHeader {
    /// Relative to the folder for the folder's own files, so that the folder can be moved; otherwise absolute.
    #[serde(with = "crate::path_text::exact")]
    path: PathBuf,
    /// The lengths of the contents.
    before: Option<usize>,
    after: Option<usize>,
    mode: Option<u32>,
}

/// The hash of a file's content.
#[must_use]
pub fn content_hash(bytes: &[u8]) -> TextHash {
    TextHash::of(&[bytes])
}

/// The journal as bytes: a line of JSON, the contents one after another, and a line with the hash of all of these. `folder` is
/// the folder that contains the journal.
pub(super) fn render(journal: &Journal, folder: &Path) -> serde_json::Result<Vec<u8>> {
    let length = |bytes: &Option<Vec<u8>>| bytes.as_ref().map(Vec::len);
    let header = Header {
        schema: SCHEMA,
        id: journal.id,
        at: journal.at,
        what: journal.what.clone(),
        record: journal.record,
        files: journal
            .files
            .iter()
            .map(|file| FileHeader {
                path: file.path.strip_prefix(folder).unwrap_or(&file.path).to_owned(),
                before: length(&file.before),
                after: length(&file.after),
                mode: file.mode,
            })
            .collect(),
    };
    let mut bytes = serde_json::to_vec(&header)?;
    bytes.push(b'\n');
    for content in journal.files.iter().flat_map(|file| [&file.before, &file.after]).flatten() {
        bytes.extend(content);
    }
    let seal = seal(&bytes);
    bytes.extend(seal);
    Ok(bytes)
}

fn seal(bytes: &[u8]) -> Vec<u8> {
    format!("\n{}\n", content_hash(bytes)).into_bytes()
}

/// The length of the hash line: a newline, hex digits and a newline.
const SEAL_BYTES: usize = 34;

/// The inverse of [`render`]; none for anything else, such as a journal that was cut or changed. `folder` is the folder that
/// contains the journal now.
pub(super) fn parse(bytes: &[u8], folder: &Path) -> Option<Journal> {
    let (sealed, found) = bytes.split_at_checked(bytes.len().checked_sub(SEAL_BYTES)?)?;
    if found != seal(sealed) {
        return None;
    }
    let end = sealed.iter().position(|byte| *byte == b'\n')?;
    let header: Header = serde_json::from_slice(sealed.get(..end)?).ok()?;
    let mut rest = sealed.get(end + 1..)?;
    let mut take = |length: Option<usize>| -> Option<Option<Vec<u8>>> {
        let Some(length) = length else { return Some(None) };
        let (content, after) = rest.split_at_checked(length)?;
        rest = after;
        Some(Some(content.to_vec()))
    };
    let mut files = Vec::new();
    for FileHeader { path, before, after, mode } in header.files {
        files.push(JournalFile { path: folder.join(path), before: take(before)?, after: take(after)?, mode });
    }
    let is_whole = rest.is_empty() && header.schema == SCHEMA;
    is_whole.then_some(Journal { id: header.id, at: header.at, what: header.what, record: header.record, files })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    #[test]
    fn a_journal_is_read_whole_or_not_at_all() {
        let file = |path: &str, before: Option<&[u8]>, after: Option<&[u8]>| JournalFile {
            path: path.into(),
            before: before.map(<[u8]>::to_vec),
            after: after.map(<[u8]>::to_vec),
            mode: Some(0o640),
        };
        let journal = Journal {
            id: ChangeId::at(at(0), content_hash(b"x")),
            at: at(0),
            what: "a \"patch\"\n".to_owned(),
            record: Undoable::Yes,
            files: vec![
                file("/folder/a", Some(b"one\n\xff"), Some(b"")),
                file("/b", None, Some(b"\n\n{}")),
                file("/c", Some(b"gone"), None),
            ],
        };
        let folder = Path::new("/folder");
        let bytes = render(&journal, folder).unwrap();
        assert_eq!(parse(&bytes, Path::new("/moved")).unwrap().files[0].path, Path::new("/moved/a"));
        assert_eq!(parse(&bytes, folder), Some(journal));
        for cut in 0..bytes.len() {
            assert_eq!(parse(&bytes[..cut], folder), None, "cut at {cut}");
            let mut flipped = bytes.clone();
            flipped[cut] ^= 1;
            assert_eq!(parse(&flipped, folder), None, "flipped at {cut}");
        }
    }
}
