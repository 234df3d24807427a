//! Sets of bytes, for loops over all bytes of a text.

use std::ops::RangeInclusive;

/// A set of bytes, as a table of all 256.
#[derive(Debug)]
pub(crate) struct ByteSet([bool; 256]);

impl ByteSet {
    /// The set of these bytes.
    pub(crate) const fn of(bytes: &[u8]) -> Self {
        Self([false; 256]).and(bytes)
    }

    /// The set of ASCII letters and digits, and of these bytes.
    pub(crate) const fn alphanumeric_and(bytes: &[u8]) -> Self {
        Self::of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789").and(bytes)
    }

    #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
    const fn and(mut self, bytes: &[u8]) -> Self {
        let mut at = 0;
        while at < bytes.len() {
            self.0[bytes[at] as usize] = true;
            at += 1;
        }
        self
    }

    pub(crate) fn add(&mut self, range: RangeInclusive<u8>) {
        for byte in range {
            if let Some(has) = self.0.get_mut(usize::from(byte)) {
                *has = true;
            }
        }
    }

    pub(crate) fn has(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte)).copied().unwrap_or_default()
    }

    /// True if any byte of a text is in the set.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        text.bytes().any(|byte| self.has(byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_exactly_the_bytes_that_it_was_made_of() {
        static SET: ByteSet = ByteSet::alphanumeric_and(b"_-");
        for byte in 0..=255_u8 {
            assert_eq!(SET.has(byte), byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-', "{byte}");
        }
        assert!(ByteSet::of(b"=:").is_in("a=b") && !ByteSet::of(b"=:").is_in("a b"));
    }
}
