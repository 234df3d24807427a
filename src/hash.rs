//! The hash of a text, which identifies lessons, files and vectors.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The first 128 bits of a text's SHA-256, written as 32 hex digits.
///
/// Lessons are compared, promoted and recorded as removed by this hash, so it must resist deliberate collisions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextHash([u8; 16]);

impl TextHash {
    /// Hashes the parts in order. `["ab", "c"]` and `["a", "bc"]` differ.
    #[must_use]
    pub fn of<P: AsRef<[u8]>>(parts: &[P]) -> Self {
        let mut sha = Sha256::new();
        for part in parts {
            let part = part.as_ref();
            sha.update((part.len() as u64).to_le_bytes());
            sha.update(part);
        }
        let mut short = [0; 16];
        short.copy_from_slice(sha.finalize().split_at(16).0);
        Self(short)
    }

    /// The sixteen bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for TextHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for TextHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for TextHash {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const SHAPE: &str = "a text hash is 32 hex digits";
        if text.len() != 32 || !text.is_ascii() {
            return Err(SHAPE);
        }
        u128::from_str_radix(text, 16).map(|number| Self(number.to_be_bytes())).map_err(|_| SHAPE)
    }
}

impl Serialize for TextHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TextHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_separates_its_parts_and_survives_a_round_trip() {
        assert_ne!(TextHash::of(&["ab", "c"]), TextHash::of(&["a", "bc"]));
        let hash = TextHash::of(&["lesson"]);
        assert_eq!(hash.to_string().parse(), Ok(hash));
        assert!("zz".parse::<TextHash>().is_err());
    }
}
