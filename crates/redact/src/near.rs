//! Passwords among the words of a line: what follows the name of a tool that takes one, or what a sentence says of one.
//!
//! A rule of kind `near` gives the piece of text to look at; here it falls into the words that could be a password, and a word is
//! one if no name, path, address or number is written so.

use std::ops::Range;

use crate::byte_set::ByteSet;
use crate::shape::{is_constant, is_reference, looks_random};

/// Shorter words are too often names.
const MIN_LEN: usize = 8;
/// Longer words are data.
const MAX_LEN: usize = 128;
/// A longer one that only stands near a name is a line of data.
const MAX_TOKEN_LEN: usize = 56;

/// The words of a text that may be a password, as byte ranges; of `user:word` and `-pword` also what follows the mark, which
/// comes first.
pub(crate) fn candidates(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    words(text, MAX_LEN).flat_map(move |word| {
        let inner = text.get(word.clone()).map_or(0, mark_len);
        let inner = (inner > 0).then_some(word.start + inner..word.end);
        inner.into_iter().chain([word.clone()]).chain(fields(text, word))
    })
}

/// The words of a text without the marks around them, up to a length.
fn words(text: &str, max_len: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    let is_end = |c: char| matches!(c, '"' | '\'' | '`' | '<' | '>' | '\\') || c.is_whitespace() || !c.is_ascii();
    words_until(text, max_len, is_end)
}

/// As `words`, and each ends where something is true.
pub(crate) fn words_until(
    text: &str,
    max_len: usize,
    is_end: impl Fn(char) -> bool,
) -> impl Iterator<Item = Range<usize>> {
    let words = words_between(text, is_end).map(|word| trimmed(text, word));
    words.filter(move |word| (1..=max_len).contains(&word.len()))
}

/// What is between some characters.
pub(crate) fn words_between(text: &str, is_gap: impl Fn(char) -> bool) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let (end, next) = end_of_word(text, at, &is_gap);
            let word = std::mem::replace(&mut at, next)..end;
            if !word.is_empty() {
                return Some(word);
            }
        }
        None
    })
}

/// Where a word ends, and where the next one begins.
fn end_of_word(text: &str, start: usize, is_end: impl Fn(char) -> bool) -> (usize, usize) {
    let mut at = start;
    while let Some(byte) = text.as_bytes().get(at) {
        let next =
            if byte.is_ascii() { Some(char::from(*byte)) } else { text.get(at..).and_then(|rest| rest.chars().next()) };
        let Some(next) = next else { break };
        if is_end(next) {
            return (at, at + next.len_utf8());
        }
        at += next.len_utf8();
    }
    (at, text.len())
}

/// The fields of a row of a table that is written without blanks.
fn fields(text: &str, row: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = row.start;
    let whole = text.get(row.clone()).unwrap_or_default();
    let fields = whole.split([',', ';', '|']).map(move |field| {
        let start = at;
        at += field.len() + 1;
        start..start + field.len()
    });
    fields.filter(move |field| *field != row && !field.is_empty())
}

/// A word without the brackets and stops around it.
fn trimmed(text: &str, word: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes().get(word.clone()).unwrap_or_default();
    let lead = bytes.iter().take_while(|b| matches!(b, b'(' | b'[' | b'{' | b',' | b';' | b':' | b'=' | b'|')).count();
    let front = bytes.get(lead..).unwrap_or_default();
    let is_tail = |b: &&u8| matches!(b, b')' | b']' | b'}' | b',' | b';' | b':' | b'.' | b'|');
    word.start + lead..word.end - front.iter().rev().take_while(is_tail).count()
}

/// The length of a flag or a user before the password in the same word.
pub(crate) fn mark_len(word: &str) -> usize {
    static USER: ByteSet = ByteSet::alphanumeric_and(b"_.-/\\");
    let flag = word.strip_prefix('-').and_then(|rest| rest.strip_prefix(|c: char| c.is_ascii_alphabetic()));
    if flag.is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['-', '='])) {
        return 2;
    }
    let user = word.bytes().take_while(|b| USER.has(*b)).count();
    let mark = word.as_bytes().get(user).is_some_and(|b| b":,%=".contains(b));
    if (1..=40).contains(&user) && mark {
        return user + 1;
    }
    let name = word.bytes().take_while(u8::is_ascii_lowercase).count();
    if (2..=20).contains(&name) && word.get(name..).is_some_and(|rest| rest.starts_with('/')) { name + 1 } else { 0 }
}

/// True for what nobody writes but a password: letters and digits with a symbol among them, or in no order.
pub(crate) fn is_odd(word: &str) -> bool {
    static SYMBOLS: ByteSet = ByteSet::of(b"!#$%&*+?^~@");
    let has = |class: fn(&u8) -> bool| word.as_bytes().iter().any(class);
    let body = word.trim_start_matches(['$', '#', '@', '%', '&', '*', '-', '+', '~', '^']);
    // Marks around a word are those of Markdown.
    let body = if body.len() < word.len() { body.trim_end_matches(['*', '+', '~']) } else { body };
    let symbol = SYMBOLS.is_in(body);
    let both = has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit);
    let hex = word.strip_prefix("0x").unwrap_or(word).bytes().all(|b| b.is_ascii_hexdigit() || b"-:".contains(&b));
    let long_enough = (MIN_LEN..=64).contains(&word.len());
    long_enough
        && both
        && !is_constant(word)
        && !is_reference(word)
        && !hex
        && !word.contains(['(', '[', '{'])
        && (symbol || is_shuffled(word))
}

/// Twenty letters and digits or more in a row, of both and in either case, that are no name.
pub(crate) fn is_long_and_random(word: &str) -> bool {
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

/// Letters and digits in no order, or with capitals and a mark that stands between no parts of anything.
pub(crate) fn is_jumble(word: &str) -> bool {
    static CHARS: ByteSet = ByteSet::alphanumeric_and(b"!#$%^&*+?~-_.");
    let has = |class: fn(&u8) -> bool| word.as_bytes().iter().any(class);
    if word.len() < MIN_LEN || !has(u8::is_ascii_digit) {
        return false;
    }
    let marked = word.bytes().all(|b| CHARS.has(b))
        && has(|b| b"!#$%^&*+?~".contains(b))
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase);
    word.len() <= MAX_TOKEN_LEN && ((is_odd(word) && (marked || is_shuffled(word))) || is_long_and_random(word))
}

/// Letters and digits that change places, or letters that change their case, too often for a name.
fn is_shuffled(word: &str) -> bool {
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
    fn words_without_their_marks() {
        for (text, expected) in [
            ("is 'abc', or (d).", vec!["is", "abc", "or", "d"]),
            ("-pabc -u me:abc", vec!["abc", "-pabc", "-u", "abc", "me:abc"]),
            ("：abc。", vec!["abc"]),
        ] {
            let found: Vec<&str> = candidates(text).filter_map(|at| text.get(at)).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_password_is_written_as_nothing_else_is() {
        for word in ["Cedar-lantern74!", "qU4#vb2LmR9x", "k3zdd91hqr4l", "harbor3318Copper#", "9rTq4bVz8w"] {
            assert!(is_odd(word), "{word}");
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
            assert!(!is_odd(word), "{word}");
        }
    }
}
