//! The words of a text as features: single words, pairs of neighbours, and the first words.

use unicode_segmentation::UnicodeSegmentation;

use crate::heuristics::wording::folded;

/// The most words that are read; people rarely type more.
const MAX_WORDS: usize = 400;
/// The most words of an agent's reply that are read: agreement is at its beginning.
const MAX_REPLY_WORDS: usize = 12;
/// The most characters of a word that are kept.
const MAX_CHARS: usize = 24;

/// Features of words that a person typed: `w word`, `w word_next`, `^ opening`, `^ opening_next`.
pub(super) fn of_words(text: &str) -> Vec<String> {
    let words = tokens(text, MAX_WORDS);
    let opening = words.iter().take(2).map(String::as_str).collect::<Vec<_>>();
    let mut features = grams("w", &words);
    features.extend(opening.first().map(|first| format!("^ {first}")));
    if opening.len() == 2 {
        features.push(format!("^ {}", opening.join("_")));
    }
    features
}

/// Features of what the agent says next: `> word`, `> word_next`.
pub(super) fn of_reply(text: &str) -> Vec<String> {
    grams(">", &tokens(text, MAX_REPLY_WORDS))
}

fn grams(kind: &str, words: &[String]) -> Vec<String> {
    let pairs = words.windows(2).map(|pair| format!("{kind} {}", pair.join("_")));
    words.iter().map(|word| format!("{kind} {word}")).chain(pairs).collect()
}

/// Words in lower case. A number becomes `0`, and a path, flag or identifier `<name>`; question and exclamation marks are words.
fn tokens(text: &str, max: usize) -> Vec<String> {
    let mut tokens = Vec::new();
    for chunk in text.split_whitespace() {
        if tokens.len() >= max {
            break;
        }
        let is_name = super::is_name(chunk);
        if is_name {
            tokens.push("<name>".to_owned());
        } else {
            tokens.extend(folded(chunk).unicode_words().map(word));
        }
        tokens.extend(chunk.ends_with(['?', '？']).then(|| "?".to_owned()));
        tokens.extend(chunk.ends_with(['!', '！']).then(|| "!".to_owned()));
    }
    tokens.truncate(max);
    tokens
}

fn word(word: &str) -> String {
    if word.contains(|c: char| c.is_ascii_digit()) { "0".to_owned() } else { word.chars().take(MAX_CHARS).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_pairs_and_openings_are_features() {
        let features = of_words("No, keep src/a.rs at 120!");
        let expected = [
            "w no",
            "w keep",
            "w <name>",
            "w at",
            "w 0",
            "w !",
            "w no_keep",
            "w keep_<name>",
            "w <name>_at",
            "w at_0",
            "w 0_!",
            "^ no",
            "^ no_keep",
        ];
        assert_eq!(features, expected);
        assert_eq!(of_reply("You\u{2019}re right"), ["> you're", "> right", "> you're_right"]);
        assert_eq!(of_words("别改"), ["w 别", "w 改", "w 别_改", "^ 别", "^ 别_改"]);
        assert!(of_words("").is_empty());
    }
}
