//! Seed phrases of wallets: rows of words of the English list of BIP 39.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use crate::text_words::words_between;

/// The English list of BIP 39 (<https://github.com/bitcoin/bips/blob/master/bip-0039/english.txt>), as the reference implementation
/// `mnemonic` has it (MIT licence).
const LIST: &str = include_str!("seed_words.txt");
/// The least number of words in a phrase.
const MIN_WORDS: usize = 12;
/// Phrases have 12, 15, 18, 21 or 24 words.
const STEP: usize = 3;
/// The greatest number of bytes between two words, such as a line break and a number.
const MAX_GAP: usize = 8;

static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| LIST.split_whitespace().collect());

/// The seed phrases of a text, in order. Prose has no row of twelve words of the list, as it lacks the words that join
/// sentences. A row in alphabetical order is a part of the list, and one with few different words is an example.
pub(crate) fn find(text: &str) -> Vec<Range<usize>> {
    let is_gap = |c: char| c.is_whitespace() || c.is_ascii_digit() || matches!(c, ',' | '.' | ')' | ':' | '"' | '\'');
    let mut phrases = Vec::new();
    let mut row: Vec<Range<usize>> = Vec::new();
    for at in words_between(text, is_gap) {
        let is_listed = text.get(at.clone()).is_some_and(|word| WORDS.contains(word));
        let is_next = row.last().is_none_or(|last| at.start - last.end <= MAX_GAP);
        if !is_listed || !is_next {
            phrases.extend(phrase(text, &row));
            row.clear();
        }
        if is_listed {
            row.push(at);
        }
    }
    phrases.extend(phrase(text, &row));
    phrases
}

/// The place of the phrase at the end of a row of listed words; a word such as `phrase` before it is listed too.
fn phrase(text: &str, row: &[Range<usize>]) -> Option<Range<usize>> {
    let row = row.get(row.len() % STEP..).filter(|row| row.len() >= MIN_WORDS)?;
    let words: Vec<&str> = row.iter().filter_map(|at| text.get(at.clone())).collect();
    let n_different = words.iter().collect::<HashSet<_>>().len();
    let is_varied = n_different * 4 >= words.len() * 3;
    (is_varied && !words.is_sorted()).then_some(row.first()?.start..row.last()?.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PHRASE: &str = "orbit velvet canyon mule oxygen tiny lumber gadget spice hidden rival acid";

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = find(text).into_iter().filter_map(|at| text.get(at)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn the_list_is_complete() {
        assert_eq!(WORDS.len(), 2048);
        assert!(WORDS.iter().all(|word| (3..=8).contains(&word.len())));
    }

    #[test]
    fn rows_of_listed_words_are_phrases_in_any_notation() {
        check(&format!("import it: {PHRASE} and send"), &[PHRASE]);
        check(&format!("my seed phrase is here: {PHRASE}"), &[PHRASE]);
        check(&format!("phrase: {PHRASE}\n"), &[PHRASE]);
        let listed = PHRASE.replace(' ', "\n7. ");
        check(&format!("1. {listed}"), &[&listed]);
        let quoted = PHRASE.replace(' ', "\", \"");
        check(&format!("[\"{quoted}\"]"), &[&quoted]);
    }

    #[test]
    fn prose_parts_of_the_list_and_examples_are_no_phrases() {
        for text in [
            PHRASE.replace("acid", "acidic"),
            PHRASE.replace("mule oxygen", "mule of oxygen"),
            "abandon ability able about above absent absorb abstract absurd abuse access accident".to_owned(),
            "abandon ".repeat(11) + "about",
            "orbit velvet canyon".to_owned(),
            String::new(),
        ] {
            check(&text, &[]);
        }
    }
}
