//! Words that look like a password by their characters alone, wherever they are.

use crate::byte_set::ByteSet;
use crate::shape::{is_constant, is_reference, looks_random};

/// The least length of such a word, in bytes; shorter words are too often names.
const MIN_LEN: usize = 8;
/// The greatest length of a password-like word, in bytes.
const MAX_LEN: usize = 64;
/// The greatest length of a random word that is only near a name, in bytes; a longer word is data.
const MAX_RANDOM_LEN: usize = 56;

/// True for a word of letters and digits that also has a symbol, or interleaves the two as no name does. False for
/// constants, references, hexadecimal numbers and code.
pub(crate) fn is_password_like(word: &str) -> bool {
    static SYMBOLS: ByteSet = ByteSet::of(b"!#$%&*+?^~@");
    let has = |class: fn(&u8) -> bool| word.as_bytes().iter().any(class);
    let body = word.trim_start_matches(['$', '#', '@', '%', '&', '*', '-', '+', '~', '^']);
    // Marks on both sides are emphasis in Markdown.
    let body = if body.len() < word.len() { body.trim_end_matches(['*', '+', '~']) } else { body };
    let symbol = SYMBOLS.is_in(body);
    let both = has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit);
    let hex = word.strip_prefix("0x").unwrap_or(word).bytes().all(|b| b.is_ascii_hexdigit() || b"-:".contains(&b));
    let long_enough = (MIN_LEN..=MAX_LEN).contains(&word.len());
    long_enough
        && both
        && !is_constant(word)
        && !is_reference(word)
        && !hex
        && !word.contains(['(', '[', '{'])
        && (symbol || is_interleaved(word))
}

/// True if a word contains a random run of twenty or more characters with digits and letters of both cases.
fn is_long_and_random(word: &str) -> bool {
    let is_random = |run: &str| {
        let has = |class: fn(&u8) -> bool| run.as_bytes().iter().any(class);
        run.len() >= 20
            && has(u8::is_ascii_uppercase)
            && has(u8::is_ascii_lowercase)
            && has(u8::is_ascii_digit)
            && looks_random(run)
    };
    word.split(|c: char| !c.is_ascii_alphanumeric()).any(is_random)
}

/// True for a password-like word that interleaves letters and digits or has a symbol and letters of both cases, and for
/// a word with a long random run; up to [`MAX_RANDOM_LEN`].
pub(crate) fn is_random_word(word: &str) -> bool {
    static CHARS: ByteSet = ByteSet::alphanumeric_and(b"!#$%^&*+?~-_.");
    let has = |class: fn(&u8) -> bool| word.as_bytes().iter().any(class);
    if word.len() < MIN_LEN || !has(u8::is_ascii_digit) {
        return false;
    }
    let marked = word.bytes().all(|b| CHARS.has(b))
        && has(|b| b"!#$%^&*+?~".contains(b))
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase);
    word.len() <= MAX_RANDOM_LEN
        && ((is_password_like(word) && (marked || is_interleaved(word))) || is_long_and_random(word))
}

/// True for random letters and digits in which digits, or letters of different case, alternate too often for a name.
fn is_interleaved(word: &str) -> bool {
    let has = |class: fn(&u8) -> bool| word.as_bytes().iter().any(class);
    let parts = word.split(['.', '_', '-']);
    let plain = word.bytes().all(|b| b.is_ascii_alphanumeric())
        || (word.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
            && parts.clone().all(|part| part.len() >= 4)
            && has(u8::is_ascii_uppercase)
            && has(u8::is_ascii_lowercase));
    let class = |b: &u8| (b.is_ascii_digit(), b.is_ascii_uppercase());
    let n_changes = word.as_bytes().chunk_by(|a, b| class(a) == class(b)).count();
    let n_digits = word.bytes().filter(u8::is_ascii_digit).count();
    let often = n_changes >= 5 && n_changes * 10 >= word.len() * 3;
    let unspeakable = n_changes >= 3 && n_digits >= 2 && word.len() >= 11;
    plain && looks_random(word) && (often || unspeakable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_distinguished_from_names_addresses_and_versions() {
        for word in ["Cedar-lantern74!", "qU4#vb2LmR9x", "k3zdd91hqr4l", "harbor3318Copper#", "9rTq4bVz8w"] {
            assert!(is_password_like(word), "{word}");
        }
        for word in [
            "ann22@corp.internal",
            "src/lib2.rs/x!",
            "Base64Url",
            "v1.22.333-beta4",
            "123e4567-e89b-12d3-a456-426614174000",
            "3f9a0c7be15d2468",
            "Vec::new2!",
            "https://a1.test/?x",
            "2026-01-02T03:04:05Z",
            "node22-alpine",
            "#issue1234",
            "i18n-keys2",
            "sha256sum",
            "UPPER_42!",
        ] {
            assert!(!is_password_like(word), "{word}");
        }
    }
}
