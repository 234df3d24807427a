//! What is before a place of a text, or behind it.

use crate::rules::touches;

/// No letter is before, or a small one before a capital (`dbPass`).
pub(super) fn begins_a_word(text: &str, at: usize) -> bool {
    let previous = Some(at).and_then(|at| at.checked_sub(1));
    let hump = touches(text, previous, u8::is_ascii_lowercase) && touches(text, Some(at), u8::is_ascii_uppercase);
    hump || !touches(text, previous, u8::is_ascii_alphabetic)
}

/// A line without the marks at its end, and the name that it then ends with.
pub(super) fn name_at_end(line: &str) -> (&str, &str) {
    let end = line.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let name = end.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').next().unwrap_or_default();
    (end, name)
}

/// True within the name of a resource, which has its kind in front (`arn:aws:…:secret:name`).
pub(super) fn is_in_resource(line: &str) -> bool {
    line.rsplit([' ', '"', '\'']).next().is_some_and(|run| run.starts_with("arn:"))
}

/// What is on the line before the identifier at a place, at most 96 bytes.
pub(super) fn line_before(text: &str, at: usize) -> &str {
    let end = at - identifier_before(text, at);
    let before = text.get(text.floor_char_boundary(end.saturating_sub(96))..end).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default()
}

/// How many bytes of the same identifier are before a place.
pub(super) fn identifier_before(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(at.saturating_sub(40)..at).unwrap_or_default();
    before.iter().rev().take_while(|b| b.is_ascii_alphanumeric() || b"_-".contains(b)).count()
}

/// Where the next digit is, from a place on; far behind the text if there is none.
pub(super) fn digit_from(text: &str, at: usize) -> usize {
    let ahead = text.as_bytes().get(at..).unwrap_or_default();
    ahead.iter().position(u8::is_ascii_digit).map_or(usize::MAX, |gap| at + gap)
}

/// `@` and a host without a dot, as in examples and on one's own machine.
pub(super) fn is_local(rest: &str) -> bool {
    let Some(host) = rest.strip_prefix('@') else { return false };
    let end = host.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)).unwrap_or(host.len());
    let host = host.get(..end).unwrap_or_default();
    !host.contains('.') || host.starts_with("127.") || host.starts_with("0.0.0.0")
}
