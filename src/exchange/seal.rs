//! The seal of an export: a code over all of it under the user's key, by which an import recognises the user's own.
//!
//! HMAC-SHA-256 (RFC 2104, FIPS 198-1) over the header's version and count and over each row as it is written, with its length
//! before it. One code for the whole file: a code per row would let rows be left out, repeated, reordered and joined.

use hmac::{Hmac, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use super::Error;
use crate::user_key::{ExportKey, KEY_BYTES, hex, read_hex};

/// The key of the object that a sealed export begins with.
const HEADER: &str = "adage_export";

/// The version of the header; a later one is not recognised.
const VERSION: u64 = 1;

impl ExportKey {
    /// Parses a key from [`ExportKey::to_hex`]; surrounding white space is ignored.
    ///
    /// # Errors
    /// [`Error::BadKey`].
    pub fn from_hex(text: &str) -> Result<Self, Error> {
        Self::parse(text).ok_or(Error::BadKey { expected: 2 * KEY_BYTES, found: text.trim().len() })
    }
}

/// Whether a text is the user's own export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seal {
    /// It has no seal, or there was no key to check it with.
    None,
    /// It is the user's own, complete and unchanged.
    Own,
    /// Its seal does not match: another user made it, or it was changed.
    Broken,
}

/// The rows with a header that seals them.
pub(super) fn seal(key: &ExportKey, rows: &str) -> String {
    let lines: Vec<&str> = rows.lines().collect();
    let code = hex(&code(key, &lines).finalize().into_bytes());
    format!("{}\n{rows}", json!({HEADER: {"version": VERSION, "lessons": lines.len(), "mac": code}}))
}

/// Whether the header of a text seals exactly its rows.
pub(super) fn check(key: Option<&ExportKey>, text: &str) -> Seal {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let header = lines.next().and_then(|line| serde_json::from_str::<Value>(line).ok()).filter(is_header);
    let (Some(header), Some(key)) = (header, key) else { return Seal::None };
    let rows: Vec<&str> = lines.collect();
    match sealed_code(&header, rows.len()) {
        // Compared in constant time.
        Some(expected) if code(key, &rows).verify_slice(&expected).is_ok() => Seal::Own,
        _ => Seal::Broken,
    }
}

/// What the rows of a backup's list begin with: no row of an export is this.
const BACKUP: &str = "adage backup";

/// The code of a backup's list of files, in hex.
pub(crate) fn backup_code(key: &ExportKey, list: &str) -> String {
    hex(&code(key, &[BACKUP, list]).finalize().into_bytes())
}

/// Whether a code is that of exactly this list. Compared in constant time.
pub(crate) fn is_backup_code(key: &ExportKey, list: &str, found: &str) -> bool {
    let mut expected = [0; 32];
    read_hex(found, &mut expected).is_some() && code(key, &[BACKUP, list]).verify_slice(&expected).is_ok()
}

/// True for the object that a sealed export begins with: it is not a lesson.
pub(super) fn is_header(row: &Value) -> bool {
    row.as_object().is_some_and(|row| row.len() == 1 && row.contains_key(HEADER))
}

/// The code of a header for this many rows.
fn sealed_code(header: &Value, n_rows: usize) -> Option<[u8; 32]> {
    let header = header.get(HEADER)?;
    let is_ours = header.get("version")? == VERSION && header.get("lessons")? == n_rows;
    let mut code = [0; 32];
    read_hex(header.get("mac")?.as_str().filter(|_| is_ours)?, &mut code).map(|()| code)
}

fn code(key: &ExportKey, rows: &[&str]) -> Hmac<Sha256> {
    let mut mac = key.mac();
    for number in [VERSION, rows.len() as u64] {
        mac.update(&number.to_le_bytes());
    }
    for row in rows {
        mac.update(&(row.len() as u64).to_le_bytes());
        mac.update(row.as_bytes());
    }
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number was computed with another implementation of HMAC.
    #[test]
    fn the_code_is_the_specified_one() {
        let key = ExportKey::from_hex(&"0b".repeat(32)).unwrap();
        let sealed = seal(&key, "{}\n{\"a\":1}\n");
        let expected = "45b5b66fda0089da86a97928e927293c00addb689b37346e10a7509338bb9418";
        assert_eq!(
            sealed,
            format!("{{\"adage_export\":{{\"lessons\":2,\"mac\":\"{expected}\",\"version\":1}}}}\n{{}}\n{{\"a\":1}}\n")
        );
    }

    #[test]
    fn a_seal_is_of_one_key_and_of_exactly_these_rows() {
        let (key, other) = (ExportKey::generate(), ExportKey::generate());
        let sealed = seal(&key, "{\"a\":1}\n{\"b\":2}\n");
        for (text, expected) in [
            (sealed.clone(), Seal::Own),
            (sealed.replace('\n', "\r\n"), Seal::Own),
            (sealed.replace("\"a\"", "\"c\""), Seal::Broken),
            (sealed.replace("\"lessons\":2", "\"lessons\":3"), Seal::Broken),
            (sealed.replace("\"version\":1", "\"version\":2"), Seal::Broken),
            (format!("{sealed}{{}}\n"), Seal::Broken),
            ("{\"a\":1}\n".to_owned(), Seal::None),
        ] {
            assert_eq!(check(Some(&key), &text), expected, "{text}");
        }
        assert_eq!((check(Some(&other), &sealed), check(None, &sealed)), (Seal::Broken, Seal::None));
    }
}
