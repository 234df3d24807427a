//! Runs of words, by which text that comes again is known.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use regex::Regex;

/// The number of consecutive words that are compared; a shorter sentence is too common.
const RUN: usize = 4;

/// A hash for each run of four words, in order; none for a text of fewer. Case, signs and a page's tags and entities do not count.
#[must_use]
pub fn word_runs(text: &str) -> Vec<u64> {
    static MARKUP: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"</?[A-Za-z][^<>\n]{0,300}>|&(#\w{1,6}|[a-zA-Z]{2,8});").ok());
    let plain = MARKUP.as_ref().map_or(Cow::Borrowed(text), |markup| markup.replace_all(text, " "));
    words(&plain).windows(RUN).map(hash).collect()
}

/// True when at least half of the runs of words of a sentence are among those seen.
#[must_use]
pub fn is_echo(sentence: &str, seen: &HashSet<u64>) -> bool {
    let runs = word_runs(sentence);
    let n_seen = runs.iter().filter(|run| seen.contains(run)).count();
    !runs.is_empty() && n_seen * 2 >= runs.len()
}

/// A hash for each word, without case. A character of a script without blanks is a word.
fn words(text: &str) -> Vec<u64> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
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
        for other in ["call the billing", "the team that is billing calls first, always", ""] {
            assert!(!is_echo(other, &seen), "{other}");
        }
        assert_eq!(word_runs("a b c").len(), 0);
        assert_eq!(word_runs("以后总是运行").len(), 3);
    }
}
