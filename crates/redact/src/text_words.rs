//! Splits a text into words that may be a password.

use std::ops::Range;

use crate::byte_set::ByteSet;

/// The greatest length of a word, in bytes; a longer word is data.
const MAX_LEN: usize = 128;

/// The words of a text that may be a password, as byte ranges. Of `user:word` and `-pword` the part after the mark
/// comes first, then the whole word; the fields of a row follow it.
pub(crate) fn password_candidates(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    words(text, MAX_LEN).flat_map(move |word| {
        let inner = text.get(word.clone()).map_or(0, prefix_len);
        let inner = (inner > 0).then_some(word.start + inner..word.end);
        inner.into_iter().chain([word.clone()]).chain(fields(text, word))
    })
}

/// The words of a text between blanks, quotes and characters beyond ASCII, without the marks around them; those of up
/// to `max_len` bytes.
fn words(text: &str, max_len: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    let is_end = |c: char| matches!(c, '"' | '\'' | '`' | '<' | '>' | '\\') || c.is_whitespace() || !c.is_ascii();
    words_until(text, max_len, is_end)
}

/// The words of a text between the characters for which `is_end` is true, without the marks around them; those of 1 to
/// `max_len` bytes.
pub(crate) fn words_until(
    text: &str,
    max_len: usize,
    is_end: impl Fn(char) -> bool,
) -> impl Iterator<Item = Range<usize>> {
    let words = words_between(text, is_end).map(|word| trimmed(text, word));
    words.filter(move |word| (1..=max_len).contains(&word.len()))
}

/// The non-empty parts of a text between the characters for which `is_gap` is true.
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

/// The end of the word at `start`, and the place after the character that ends it.
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

/// The non-empty fields of a row that is separated by commas, semicolons or bars; none for a row of one field.
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

/// A word without the brackets, separators and stops around it; empty if it has nothing else.
fn trimmed(text: &str, word: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes().get(word.clone()).unwrap_or_default();
    let lead = bytes.iter().take_while(|b| matches!(b, b'(' | b'[' | b'{' | b',' | b';' | b':' | b'=' | b'|')).count();
    let front = bytes.get(lead..).unwrap_or_default();
    let is_tail = |b: &&u8| matches!(b, b')' | b']' | b'}' | b',' | b';' | b':' | b'.' | b'|');
    word.start + lead..word.end - front.iter().rev().take_while(is_tail).count()
}

/// The length in bytes of what precedes the password in the same word: a flag (`-p`), a user (`me:`) or a folder
/// (`secret/`); 0 without any.
pub(crate) fn prefix_len(word: &str) -> usize {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_trimmed_and_values_follow_flags_and_users() {
        for (text, expected) in [
            ("is 'abc', or (d).", vec!["is", "abc", "or", "d"]),
            ("-pabc -u me:abc", vec!["abc", "-pabc", "-u", "abc", "me:abc"]),
            ("：abc。", vec!["abc"]),
        ] {
            let found: Vec<&str> = password_candidates(text).filter_map(|at| text.get(at)).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
