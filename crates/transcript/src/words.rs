//! Runs of words, by which text that comes again is known.

use std::collections::HashSet;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher};

/// The number of consecutive words that are compared; a shorter sentence is too common.
const RUN: usize = 4;

/// A hash for each run of four words, in order; none for a text of fewer. Case, signs and a page's tags and entities do not count.
#[must_use]
pub fn word_runs(text: &str) -> Vec<u64> {
    words(text).windows(RUN).map(hash).collect()
}

/// True when at least half of the runs of words of a sentence are among those seen.
#[must_use]
pub fn is_echo<S: BuildHasher>(sentence: &str, seen: &HashSet<u64, S>) -> bool {
    let runs = word_runs(sentence);
    let n_seen = runs.iter().filter(|run| seen.contains(run)).count();
    !runs.is_empty() && n_seen * 2 >= runs.len()
}

/// A hash for each word, without case. A character of a script without blanks is a word.
fn words(text: &str) -> Vec<u64> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut skipped = 0;
    for (at, c) in text.char_indices() {
        if at < skipped {
            continue;
        }
        skipped = at + markup(text.get(at..).unwrap_or_default());
        let is_alone = matches!(c, '\u{3040}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}');
        if !c.is_alphanumeric() || is_alone {
            if !word.is_empty() {
                words.push(hash(&word));
                word.clear();
            }
            if is_alone {
                words.push(hash(c));
            }
        } else {
            word.extend(c.to_lowercase());
        }
    }
    if !word.is_empty() {
        words.push(hash(&word));
    }
    words
}

/// The length of the tag or entity that a text begins with; 0 if it begins with neither.
fn markup(text: &str) -> usize {
    const LONGEST_TAG: usize = 300;
    const LONGEST_ENTITY: usize = 8;
    let (end, longest) = match text.as_bytes() {
        [b'<', b'/' | b'a'..=b'z' | b'A'..=b'Z', ..] => ('>', LONGEST_TAG),
        [b'&', b'#' | b'a'..=b'z' | b'A'..=b'Z', ..] => (';', LONGEST_ENTITY),
        _ => return 0,
    };
    let head = text.get(..text.floor_char_boundary(longest)).unwrap_or_default();
    let inner = head.get(1..).unwrap_or_default();
    let Some(length) = inner.find(end) else { return 0 };
    let is_whole = match end {
        ';' => inner.chars().take(length).all(|c| c == '#' || c.is_ascii_alphanumeric()),
        _ => !inner.get(..length).unwrap_or_default().contains(['<', '\n']),
    };
    if is_whole { length + 2 } else { 0 }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_comes_again_is_known_whatever_it_is_wrapped_in() {
        let seen: HashSet<u64> = word_runs("Please note: always call the billing team first.").into_iter().collect();
        for again in [
            "Always call the billing team first!",
            "always&nbsp;call <b>the</b> billing\nteam",
            "ok so always call the billing team",
        ] {
            assert!(is_echo(again, &seen), "{again}");
        }
        assert_eq!(
            ["<b>x", "</a href=1>", "&nbsp;", "&#160;y", "a<b", "< b>", "&& x;", "<a\n>", "&longer name;"].map(markup),
            [3, 11, 6, 6, 0, 0, 0, 0, 0]
        );
        for other in ["call the billing", "the team that is billing calls first, always", ""] {
            assert!(!is_echo(other, &seen), "{other}");
        }
        assert_eq!(word_runs("a b c").len(), 0);
        assert_eq!(word_runs("以后总是运行").len(), 3);
    }
}
