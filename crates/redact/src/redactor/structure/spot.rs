//! A value and what surrounds it.

use std::cell::OnceCell;
use std::ops::Range;

use crate::shape::decode;

/// Bytes before and after a value that are read on its line.
const REACH: usize = 512;
/// The greatest length of an encoded value, in bytes.
const MAX_RUN: usize = 16_384;

/// A value in a text.
pub(super) struct Spot<'t> {
    pub(super) text: &'t str,
    pub(super) at: Range<usize>,
    words_before: OnceCell<Vec<String>>,
}

impl<'t> Spot<'t> {
    /// The value at a place. A name and its `=` at the start of the place are not part of the value.
    pub(super) fn of(text: &'t str, at: &Range<usize>) -> Self {
        let found = text.get(at.clone()).unwrap_or_default();
        let name = found.split_once('=').map(|(name, _)| name).filter(|name| {
            (1..=24).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_')
        });
        let is_padding = found.trim_end_matches('=').len() == name.map_or(0, str::len);
        let lead = name.filter(|_| !is_padding).map_or(0, |name| name.len() + 1);
        Self { text, at: at.start + lead..at.end, words_before: OnceCell::new() }
    }

    /// The value as it was found, which may be a part of an encoded value.
    pub(super) fn value(&self) -> &'t str {
        self.text.get(self.at.clone()).unwrap_or_default()
    }

    /// The line before the value, at most [`REACH`] bytes.
    pub(super) fn before(&self) -> &'t str {
        self.before_place(self.at.start)
    }

    /// The words of the line before the value in lower case, which several structures read.
    pub(super) fn words_before(&self) -> &[String] {
        self.words_before.get_or_init(|| lower_words(self.before()))
    }

    /// The word before the value in lower case; empty without one.
    pub(super) fn last_word(&self) -> &str {
        self.words_before().last().map(String::as_str).unwrap_or_default()
    }

    /// The line up to the end of the value.
    pub(super) fn line(&self) -> &'t str {
        self.text.get(self.at.start - self.before().len()..self.at.end).unwrap_or_default()
    }

    /// The line after the value, at most [`REACH`] bytes.
    pub(super) fn behind(&self) -> &'t str {
        let end = self.text.floor_char_boundary((self.at.end + REACH).min(self.text.len()));
        let rest = self.text.get(self.at.end..end).unwrap_or_default();
        rest.split('\n').next().unwrap_or_default()
    }

    /// What follows the value without a blank, at most [`MAX_RUN`] bytes.
    pub(super) fn rest(&self) -> &'t str {
        let end = self.text.floor_char_boundary((self.at.end + MAX_RUN).min(self.text.len()));
        let rest = self.text.get(self.at.end..end).unwrap_or_default();
        rest.split(char::is_whitespace).next().unwrap_or_default()
    }

    /// The text from the last place of a name, in lower case, to the value; `None` if the line before it has none of the names.
    pub(super) fn gap_after(&self, names: &[&str]) -> Option<&'t str> {
        let before = self.before();
        let lower = before.to_ascii_lowercase();
        let ends = names.iter().filter_map(|name| lower.rfind(name).map(|at| at + name.len()));
        ends.max().and_then(|end| before.get(end..))
    }

    /// At most `n_bytes` bytes before the value, of any line.
    pub(super) fn lead(&self, n_bytes: usize) -> &'t str {
        self.text
            .get(self.text.floor_char_boundary(self.at.start.saturating_sub(n_bytes))..self.at.start)
            .unwrap_or_default()
    }

    /// The lines above that of the value, the nearest first, of at most [`REACH`] bytes together.
    pub(super) fn lines_above(&self) -> impl Iterator<Item = &'t str> {
        self.lead(REACH).rsplit('\n').skip(1)
    }

    /// The runs of base64 characters that contain the value, of the standard alphabet and of the one for URLs.
    pub(super) fn runs(&self) -> [Range<usize>; 2] {
        [b"+/", b"-_"].map(|marks| self.run(marks))
    }

    fn run(&self, marks: &[u8]) -> Range<usize> {
        let bytes = self.text.as_bytes();
        let is_of_run = |b: &&u8| b.is_ascii_alphanumeric() || marks.contains(b);
        let before = bytes.get(..self.at.start).unwrap_or_default();
        let start = self.at.start - before.iter().rev().take(MAX_RUN).take_while(is_of_run).count();
        let behind = bytes.get(start..).unwrap_or_default();
        let body = start + behind.iter().take(MAX_RUN).take_while(is_of_run).count();
        let padding = bytes.get(body..).unwrap_or_default().iter().take(2).take_while(|b| **b == b'=').count();
        start..body + padding
    }

    /// Each run that is whole base64 and contains the value: the line before it, and its bytes.
    pub(super) fn decoded(&self) -> impl Iterator<Item = (&'t str, Vec<u8>)> {
        let contains = |run: &Range<usize>| run.start <= self.at.start && run.end >= self.at.end;
        self.runs().into_iter().filter(contains).filter_map(|run| {
            let value = self.text.get(run.clone())?;
            let is_whole = value.trim_end_matches('=').len() % 4 != 1;
            Some((self.before_place(run.start), decode(value)?)).filter(|_| is_whole)
        })
    }

    fn before_place(&self, place: usize) -> &'t str {
        let start = self.text.floor_char_boundary(place.saturating_sub(REACH));
        let before = self.text.get(start..place).unwrap_or_default();
        before.rsplit('\n').next().unwrap_or_default()
    }
}

#[cfg(test)]
impl<'t> Spot<'t> {
    /// The first place of a value in a text.
    pub(super) fn first(text: &'t str, value: &str) -> Self {
        let start = text.find(value).unwrap_or_default();
        Self::of(text, &(start..start + value.len()))
    }

    /// The last place of a value in a text.
    pub(super) fn last(text: &'t str, value: &str) -> Self {
        let start = text.rfind(value).unwrap_or_default();
        Self::of(text, &(start..start + value.len()))
    }
}

/// So many bytes that look random.
#[cfg(test)]
pub(super) fn some_bytes(n_bytes: u8) -> Vec<u8> {
    (0..n_bytes).map(|at| at.wrapping_mul(151).wrapping_add(89)).collect()
}

/// True for hexadecimal digits of one of the lengths.
pub(super) fn is_hex_of(value: &str, lengths: &[usize]) -> bool {
    lengths.contains(&value.len()) && value.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The words of a text in lower case: runs of letters and digits.
pub(super) fn lower_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
