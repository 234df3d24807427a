//! Shortens texts for display.

/// The words of a text on one line of at most `max_chars` characters, separated by single blanks. A longer text is cut
/// after a word and ends with `…`; it is cut inside a word that would leave more than half of the line empty. A
/// `max_chars` of 0 gives `…` for any other text than an empty one.
///
/// ```
/// assert_eq!(adage_redact::one_line("one two\n  three", 20), "one two three");
/// assert_eq!(adage_redact::one_line("one two three", 9), "one two…");
/// ```
#[must_use]
pub fn one_line(text: &str, max_chars: usize) -> String {
    shorten(&text.split_whitespace().collect::<Vec<_>>().join(" "), max_chars)
}

/// The text without the blanks around it. A text of more than `max_chars` characters is cut like [`one_line`]; its line
/// ends are kept.
#[must_use]
pub fn shorten(text: &str, max_chars: usize) -> String {
    let text = text.trim();
    if text.chars().count() <= max_chars {
        return text.to_owned();
    }
    let cut: String = text.chars().take(max_chars.saturating_sub(1)).collect();
    let at_word = cut.rfind(char::is_whitespace).and_then(|end| cut.get(..end)).map(str::trim_end);
    let kept = at_word.filter(|at_word| at_word.len() * 2 > cut.len()).unwrap_or(&cut);
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_cut_after_a_word_and_long_words_inside() {
        assert_eq!(one_line("one two three", 20), "one two three");
        assert_eq!(one_line("one two\n three", 9), "one two…");
        assert_eq!(one_line("onetwothree", 5), "onet…");
        assert_eq!(shorten(" one\ntwo ", 20), "one\ntwo");
        assert_eq!(shorten("one\ntwo three", 9), "one\ntwo…");
        assert_eq!(shorten(&"x".repeat(2_000), 1_024).chars().count(), 1_024);
    }

    proptest! {
        #[test]
        fn no_result_exceeds_the_limit(text in ".{0,60}", max in 1_usize..40) {
            prop_assert!(one_line(&text, max).chars().count() <= max);
            prop_assert!(shorten(&text, max).chars().count() <= max);
        }
    }
}
