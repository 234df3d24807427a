//! The user's secret, and codes under it: by them adage recognises what the user's own programs wrote into a file that others may
//! write too.
//!
//! A code is an HMAC-SHA-256 (RFC 2104, FIPS 198-1).

use std::fmt;

use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The length of a key, in bytes.
pub(crate) const KEY_BYTES: usize = 32;

/// A code.
pub(crate) type Code = [u8; 32];

/// A user's secret, by which a playbook recognises the user's own exports, and what the user's programs keep in a memory's folder.
///
/// The host keeps it outside every memory, readable by its user alone: who has it can pass off any lesson as the user's.
///
/// ```
/// use adage::exchange::ExportKey;
///
/// let key = ExportKey::generate();
/// assert_eq!(ExportKey::from_hex(&key.to_hex())?, key);
/// assert!(ExportKey::from_hex("too short").is_err());
/// # Ok::<(), adage::exchange::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ExportKey([u8; KEY_BYTES]);

impl ExportKey {
    /// A new key, from the operating system's randomness.
    #[must_use]
    pub fn generate() -> Self {
        // 122 random bits each: more than the key has.
        let random = (0..3).fold(Sha256::new(), |sha, _| sha.chain_update(Uuid::new_v4().as_bytes()));
        Self(random.finalize().into())
    }

    /// The key as 64 hex digits.
    #[must_use]
    pub fn to_hex(&self) -> String {
        hex(&self.0)
    }

    /// The key of 64 hex digits; surrounding white space is ignored.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut key = [0; KEY_BYTES];
        read_hex(text.trim(), &mut key).map(|()| Self(key))
    }

    /// An HMAC under this key, of nothing yet.
    pub(crate) fn mac(&self) -> Hmac<Sha256> {
        // A key shorter than a block is filled up with zeros, as HMAC says; a whole block cannot have the wrong length.
        let mut block = [0; 64];
        block.iter_mut().zip(self.0).for_each(|(byte, of_key)| *byte = of_key);
        <Hmac<Sha256> as Mac>::new(&block.into())
    }

    /// The code of the parts of a file. Codes for different purposes differ, and so do those of exports and backups, which begin
    /// with a number.
    pub(crate) fn code(&self, purpose: &str, parts: &[&[u8]]) -> Code {
        self.mac_of(purpose, parts).finalize().into_bytes().into()
    }

    /// Whether a code is that of exactly these parts. Compared in constant time.
    pub(crate) fn is_code(&self, purpose: &str, parts: &[&[u8]], code: &Code) -> bool {
        self.mac_of(purpose, parts).verify_slice(code).is_ok()
    }

    fn mac_of(&self, purpose: &str, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac = self.mac();
        mac.update(b"adage ");
        for part in std::iter::once(&purpose.as_bytes()).chain(parts) {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac
    }
}

impl fmt::Debug for ExportKey {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExportKey")
    }
}

/// Who says that a file of a folder is the user's.
#[derive(Clone, Debug)]
pub(crate) enum Codes {
    /// The host, which trusts the path: no code is written or compared.
    Unneeded,
    /// Codes under the user's key.
    Under(ExportKey),
    /// Nobody: there is no key. Nothing that needs a code is believed.
    Impossible,
}

impl Codes {
    /// The code to write.
    pub(crate) fn code(&self, purpose: &str, parts: &[&[u8]]) -> Option<Code> {
        match self {
            Self::Under(key) => Some(key.code(purpose, parts)),
            Self::Unneeded | Self::Impossible => None,
        }
    }

    /// Whether these parts are the user's.
    pub(crate) fn believe(&self, purpose: &str, parts: &[&[u8]], code: Option<&Code>) -> bool {
        match self {
            Self::Unneeded => true,
            Self::Under(key) => code.is_some_and(|code| key.is_code(purpose, parts, code)),
            Self::Impossible => false,
        }
    }
}

/// Bytes as hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Fills the bytes from exactly as many pairs of hex digits.
pub(crate) fn read_hex(text: &str, bytes: &mut [u8]) -> Option<()> {
    if text.len() != 2 * bytes.len() || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_of_one_key_one_purpose_and_exactly_these_parts() {
        let (key, other) = (ExportKey::generate(), ExportKey::generate());
        let code = key.code("a", &[b"bc", b"d"]);
        assert!(key.is_code("a", &[b"bc", b"d"], &code));
        for (purpose, parts) in [("b", [&b"bc"[..], b"d"]), ("a", [b"b", b"cd"]), ("a", [b"bc", b"e"])] {
            assert!(!key.is_code(purpose, &parts, &code), "{purpose} {parts:?}");
        }
        assert!(!key.is_code("a", &[b"bcd"], &code) && !other.is_code("a", &[b"bc", b"d"], &code));
    }

    #[test]
    fn without_a_key_nothing_is_believed_unless_the_host_trusts_the_path() {
        let key = ExportKey::generate();
        let code = key.code("a", &[b"b"]);
        for (codes, with_it, without) in
            [(Codes::Unneeded, true, true), (Codes::Under(key), true, false), (Codes::Impossible, false, false)]
        {
            let believed = (codes.believe("a", &[b"b"], Some(&code)), codes.believe("a", &[b"b"], None));
            assert_eq!(believed, (with_it, without), "{codes:?}");
        }
    }
}
