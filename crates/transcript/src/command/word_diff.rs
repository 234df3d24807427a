//! The word-level difference of two command lines.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use similar::{Algorithm, DiffTag, capture_diff_slices};

/// Consecutive words that were replaced, added or removed. Displays as `request → requests`, `+ --force`, `− -x`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WordChange {
    /// The removed words; empty for an addition.
    pub before: String,
    /// The added words; empty for a removal.
    pub after: String,
}

impl fmt::Display for WordChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.before.as_str(), self.after.as_str()) {
            ("", after) => write!(f, "+ {after}"),
            (before, "") => write!(f, "− {before}"),
            (before, after) => write!(f, "{before} → {after}"),
        }
    }
}

/// The words of a line. A word with white space is quoted again, so that it can be typed.
pub(super) fn words(line: &str) -> Vec<String> {
    let Some(words) = shlex::split(line) else { return line.split_whitespace().map(str::to_owned).collect() };
    let quoted = |word: String| {
        if word.contains(char::is_whitespace) {
            shlex::try_quote(&word).map(Cow::into_owned).unwrap_or(word)
        } else {
            word
        }
    };
    words.into_iter().map(quoted).collect()
}

pub(super) fn changes(before: &str, after: &str) -> Vec<WordChange> {
    let (before, after) = (words(before), words(after));
    let operations = capture_diff_slices(Algorithm::Myers, &before, &after);
    let changed = operations.iter().filter(|operation| operation.tag() != DiffTag::Equal);
    let text = |words: &[String], range: std::ops::Range<usize>| words.get(range).unwrap_or_default().join(" ");
    changed
        .map(|operation| WordChange {
            before: text(&before, operation.old_range()),
            after: text(&after, operation.new_range()),
        })
        .collect()
}
