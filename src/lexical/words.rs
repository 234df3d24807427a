//! Words and stems.

use std::borrow::Cow;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use unicode_segmentation::UnicodeSegmentation;

/// English stop words, sorted.
const STOP_WORDS: [&str; 125] = [
    "a", "about", "above", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "being", "below", "between", "both", "but", "by", "called", "can", "could", "did",
    "do", "does", "doing", "don", "down", "during", "each", "few", "for", "from", "further", "had", "has", "have",
    "having", "he", "her", "here", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just",
    "many", "me", "more", "most", "much", "my", "no", "nor", "not", "now", "of", "off", "on", "once", "one", "only",
    "or", "other", "our", "out", "over", "own", "s", "same", "she", "should", "so", "some", "such", "t", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "through", "to", "too", "under",
    "until", "up", "us", "very", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom",
    "whose", "why", "will", "with", "would", "you", "your", "yours",
];

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

/// The terms of a text for BM25: runs of letters and digits, lower case, without stop words, stemmed (Snowball English).
pub(crate) fn terms(text: &str) -> impl Iterator<Item = String> {
    subject_words(text).map(|word| stem(&word))
}

/// The words of a text without stemming: runs of letters and digits, lower case, without stop words.
pub(crate) fn subject_words(text: &str) -> impl Iterator<Item = String> {
    let words: Vec<String> = runs(&folded(text)).map(str::to_lowercase).collect();
    words.into_iter().filter(|word| !is_stop_word(word))
}

/// The text with every letter in its usual form (NFKC): full-width letters, half-width kana, ligatures and superscripts are those letters.
pub(crate) fn folded(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfkc().collect())
}

/// The words that say what a text is about (docs/spec/playbook.md, 5.1): runs that begin with a letter, longer than two
/// characters.
pub(crate) fn content_words(text: &str) -> impl Iterator<Item = String> {
    let text = folded(text);
    let words = text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_') && word.chars().nth(2).is_some());
    words.map(str::to_lowercase).collect::<Vec<_>>().into_iter()
}

/// The words of a text in lower case, without surrounding punctuation. Symbols that are part of a word are kept: C++ is not C#.
pub(crate) fn bare_words(text: &str) -> impl Iterator<Item = String> {
    let is_outer = |c: char| "\"'`“”‘’«»()[]{}*,;:!?…".contains(c);
    let bare = move |word: &str| {
        word.trim_matches(is_outer).trim_end_matches(['.', '-', '–', '—']).trim_matches(is_outer).to_lowercase()
    };
    let words: Vec<String> = folded(text).split_whitespace().map(bare).collect();
    words.into_iter().filter(|word| !word.is_empty())
}

/// The stem of a lower-case word (Snowball English).
pub(crate) fn stem(lower: &str) -> String {
    STEMMER.stem(lower).into_owned()
}

/// True if a stem is not a stop word.
pub(crate) fn is_telling(stem: &str) -> bool {
    stem.chars().any(char::is_alphanumeric) && !is_stop_word(stem)
}

pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Runs of letters and digits, as written.
pub(super) fn runs(text: &str) -> impl Iterator<Item = &str> {
    // Split by Unicode word boundaries first, so that texts without spaces (Chinese, Japanese) are split too.
    text.unicode_words().flat_map(|word| word.split(|c: char| !c.is_alphanumeric())).filter(|run| !run.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_stems_without_stop_words() {
        let of = |text| terms(text).collect::<Vec<_>>();
        assert_eq!(of("The parsers were parsing `utf8` dates"), ["parser", "pars", "utf8", "date"]);
        assert_eq!(of("the of a"), Vec::<String>::new());
        assert_eq!(of("Größe, größe!"), ["größe", "größe"]);
        assert_eq!(of("ＧＰＵ ﬁle m² ﾃｽﾄ"), ["gpu", "file", "m2", "テスト"]);
    }

    #[test]
    fn each_stop_word_is_found() {
        assert!(STOP_WORDS.is_sorted() && STOP_WORDS.iter().all(|word| is_stop_word(word)));
        assert!(!is_stop_word("") && !is_stop_word("zebra"));
    }

    #[test]
    fn content_words_begin_with_a_letter_and_are_longer_than_two() {
        let of = |text| content_words(text).collect::<Vec<_>>();
        assert_eq!(of("is a of 404 abc x_1 Big"), ["abc", "x_1", "big"]);
    }
}
