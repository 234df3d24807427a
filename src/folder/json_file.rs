//! Small JSON files, read and replaced whole under the folder's lock.
//!
//! Their content may be lost: an unreadable file counts as empty, and goes to quarantine with the next change.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use adage_redact::path_line;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Folder, Name, Stamp};
use crate::error::folder::{FolderError, Result};
use crate::user_key::{Code, Codes, hex, read_hex};

/// The content of such a file. It must preserve keys that this version does not know.
pub trait JsonRecord: Clone + Default + PartialEq + Serialize + DeserializeOwned {
    /// The file's name, without `.json`.
    const NAME: &'static str;
    /// The version of the file that this program writes.
    const SCHEMA: u64;
    /// The consequence of a broken file, for the log.
    const LOST: &'static str;

    /// The version that was read.
    fn schema(&self) -> u64;
}

/// The maximum number of rows of a record that are kept, by their time.
const MAX_ROWS: usize = 10_000;

/// Keeps the newest rows of a record: at most 10,000, and those as old as the last of them.
pub fn forget_oldest<K: Ord, V, T: Ord + Copy>(rows: &mut BTreeMap<K, V>, time: impl Fn(&V) -> T) {
    if rows.len() > MAX_ROWS {
        let mut times: Vec<T> = rows.values().map(&time).collect();
        times.sort_unstable();
        let oldest = times.get(rows.len() - MAX_ROWS).copied();
        rows.retain(|_, row| oldest.is_none_or(|oldest| time(row) >= oldest));
    }
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
    /// The folder's id, to which codes of the file are bound.
    scope: String,
    record: PhantomData<R>,
}

/// What a file with a code begins with: the code's hex digits, then [`CODE_END`] and the rest of the object.
const CODE: &[u8] = b"{\"code\":\"";
const CODE_END: &[u8] = b"\",";
/// The length of a code, in hex digits.
const CODE_DIGITS: usize = 64;

impl<'a, R: JsonRecord> JsonFile<'a, R> {
    pub(crate) fn new(folder: &'a Folder) -> Self {
        Self { folder, name: R::NAME.into(), scope: String::new(), record: PhantomData }
    }

    /// A file with a name of its own, if there are several of one type.
    pub(crate) fn named(folder: &'a Folder, name: String) -> Self {
        Self { folder, name: name.into(), scope: String::new(), record: PhantomData }
    }

    /// The codes of the file hold in the folder with this id only.
    pub(crate) fn within(self, scope: String) -> Self {
        Self { scope, ..self }
    }

    /// The record; an unreadable file counts as empty.
    pub(crate) fn read(&self) -> Result<R> {
        self.read_by(&Codes::Unneeded)
    }

    /// The record, if the user's own program wrote it; otherwise it counts as empty.
    pub(crate) fn read_by(&self, codes: &Codes) -> Result<R> {
        let bytes = self.folder.files().read_or_empty(self.name(), 0)?;
        let is_own = self.is_own(&bytes, codes);
        if !is_own {
            tracing::warn!("{} is not used: {NOT_OWN}", path_line(self.folder.files().path_of(self.name())));
        }
        Ok(if is_own { parse(&bytes).unwrap_or_default() } else { R::default() })
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
        self.change_by(&Codes::Unneeded, change)
    }

    /// As [`JsonFile::change`]. A record that the user's own program did not write is treated as an unreadable one.
    pub(crate) fn change_by<T>(&self, codes: &Codes, change: impl FnOnce(&mut R) -> T) -> Result<T> {
        let _lock = self.folder.lock()?;
        let files = self.folder.files();
        let bytes = files.read_or_empty(self.name(), 0)?;
        let parsed = if self.is_own(&bytes, codes) {
            parse(&bytes).map_err(|error| error.to_string())
        } else {
            Err(NOT_OWN.to_owned())
        };
        let known: R = match parsed {
            Ok(known) => known,
            Err(reason) => {
                let kept = self.folder.quarantine(&bytes, &self.name, "json")?;
                tracing::warn!(%reason, kept = %path_line(kept), "{}", R::LOST);
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
            let bytes = self.with_code(bytes, codes);
            let temporary = self.folder.write_temporary(&format!("{}.json", self.name), &bytes)?;
            files.rename(temporary, self.name())?;
            files.sync_directory(Name::TOP)?;
        }
        Ok(value)
    }

    fn is_own(&self, bytes: &[u8], codes: &Codes) -> bool {
        let (code, rest) = split_code(bytes);
        bytes.is_empty() || codes.believe(R::NAME, &[self.scope.as_bytes(), rest], code.as_ref())
    }

    /// An object with its code as the first key.
    fn with_code(&self, bytes: Vec<u8>, codes: &Codes) -> Vec<u8> {
        let Some(rest) = bytes.strip_prefix(b"{") else { return bytes };
        match codes.code(R::NAME, &[self.scope.as_bytes(), rest]) {
            Some(code) => [CODE, hex(&code).as_bytes(), CODE_END, rest].concat(),
            None => bytes,
        }
    }

    fn name(&self) -> Name {
        format!("{}.json", self.name).into()
    }
}

/// Why a record is not used.
const NOT_OWN: &str = "your own adage did not write it";

/// The code that an object begins with, and the bytes behind it; without a code, those behind the brace.
fn split_code(bytes: &[u8]) -> (Option<Code>, &[u8]) {
    let after_code = || {
        let (digits, rest) = bytes.strip_prefix(CODE)?.split_at_checked(CODE_DIGITS)?;
        let mut code = Code::default();
        read_hex(std::str::from_utf8(digits).ok()?, &mut code)?;
        Some((Some(code), rest.strip_prefix(CODE_END)?))
    };
    after_code().unwrap_or_else(|| (None, bytes.strip_prefix(b"{").unwrap_or(bytes)))
}

/// An empty file is an empty record: only a crash leaves one.
fn parse<R: JsonRecord>(bytes: &[u8]) -> std::result::Result<R, serde_json::Error> {
    if bytes.is_empty() {
        return Ok(R::default());
    }
    match split_code(bytes) {
        (Some(_), rest) => serde_json::from_slice(&[b"{", rest].concat()),
        (None, _) => serde_json::from_slice(bytes),
    }
}
