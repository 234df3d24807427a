//! What surrounds a place in a text: the line, the name before it, and the host after it.

use std::ops::Range;

use super::Redactor;
use crate::rules::touches;
use crate::shape::{word_before, words};

/// The greatest length of an identifier, in bytes; of a longer one only the end is read.
const MAX_IDENTIFIER: usize = 40;
/// Bytes of a line that are read before an identifier.
const LINE_BEFORE: usize = 96;

impl Redactor {
    /// True if the line before a value says that the value is public: its name does, or another word of the line.
    pub(super) fn line_says_public(&self, line: &str) -> bool {
        self.ends_with_public_name(line) || self.mentions_public_value(line)
    }

    /// True if the line ends with a name whose last word is that of a number or another public value.
    pub(super) fn ends_with_public_name(&self, line: &str) -> bool {
        let last = words(name_at_end(line).1).last();
        last.is_some_and(|last| self.exceptions.suffixes.has(last) || self.exceptions.public_names.has(last))
    }

    /// True if a word of the line says that the value after it is a digest, embedded data or another public value.
    pub(super) fn mentions_public_value(&self, line: &str) -> bool {
        line.ends_with("base64,")
            || words(name_at_end(line).1).any(|word| self.exceptions.qualifiers.has(word))
            || self.exceptions.mentions_digest(line)
    }

    /// True if the name that contains a keyword, or a word before it, is that of a public value.
    pub(super) fn is_public_name(&self, text: &str, keyword: &Range<usize>) -> bool {
        let before = word_before(text.get(..keyword.start).unwrap_or_default());
        let name = text.get(keyword.start - identifier_before(text, keyword.start)..keyword.end).unwrap_or_default();
        self.exceptions.qualifiers.has(before)
            || self.exceptions.mentions_digest(line_before(text, keyword.start))
            || self.exceptions.has_stem(name)
    }
}

/// True if a word begins at the place: no letter precedes it, or it is a capital after a lower-case letter, as in
/// `dbPass`.
pub(super) fn begins_a_word(text: &str, at: usize) -> bool {
    let previous = Some(at).and_then(|at| at.checked_sub(1));
    let is_camel_case =
        touches(text, previous, u8::is_ascii_lowercase) && touches(text, Some(at), u8::is_ascii_uppercase);
    is_camel_case || !touches(text, previous, u8::is_ascii_alphabetic)
}

/// A line without the marks at its end, and the name at the end of what remains; both may be empty.
pub(super) fn name_at_end(line: &str) -> (&str, &str) {
    let end = line.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let name = end.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').next().unwrap_or_default();
    (end, name)
}

/// True if the line ends within the name of a cloud resource (`arn:aws:…:secret:name`).
pub(super) fn is_in_resource(line: &str) -> bool {
    line.rsplit([' ', '"', '\'']).next().is_some_and(|run| run.starts_with("arn:"))
}

/// The part of the line before the identifier that ends at a place, at most [`LINE_BEFORE`] bytes.
pub(super) fn line_before(text: &str, at: usize) -> &str {
    let end = at - identifier_before(text, at);
    let before = text.get(text.floor_char_boundary(end.saturating_sub(LINE_BEFORE))..end).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default()
}

/// The length in bytes of the identifier that ends at a place, at most [`MAX_IDENTIFIER`].
pub(super) fn identifier_before(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(at.saturating_sub(MAX_IDENTIFIER)..at).unwrap_or_default();
    before.iter().rev().take_while(|b| b.is_ascii_alphanumeric() || b"_-".contains(b)).count()
}

/// The place of the first digit at or after a place; `usize::MAX` if there is none.
pub(super) fn digit_from(text: &str, at: usize) -> usize {
    let ahead = text.as_bytes().get(at..).unwrap_or_default();
    ahead.iter().position(u8::is_ascii_digit).map_or(usize::MAX, |gap| at + gap)
}

/// True for a text that begins with `@` and a local host: a name without a dot, or an address of this machine.
pub(super) fn is_local(rest: &str) -> bool {
    let Some(host) = rest.strip_prefix('@') else { return false };
    let end = host.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)).unwrap_or(host.len());
    let host = host.get(..end).unwrap_or_default();
    !host.contains('.') || host.starts_with("127.") || host.starts_with("0.0.0.0")
}
