//! Estimates the tokens of a text without a tokenizer.

/// The letters per token in a plain word, and white space characters per token in a run.
const CHARS_PER_TOKEN: usize = 4;
/// Longer words are unlikely to be in a vocabulary.
const MAX_PLAIN_CHARS: usize = 16;

/// Estimates the tokens of a text (docs/spec/playbook.md, 5.4). Vocabularies differ; the estimate is rather too large than too
/// small:
///
/// | part of the text | tokens, rounded up |
/// |---|---|
/// | a word of at most 16 ASCII letters, only the first of which may be upper case | one per 4 letters |
/// | such a word that is longer | one per 2 letters |
/// | a number; a word with other upper-case letters | two per 3 characters |
/// | a word of ASCII letters and digits | one per character |
/// | a single blank between words | none |
/// | other white space | one per 4 characters |
/// | an emoji, or a Han character, beyond the basic plane | two |
/// | any other character: punctuation, other scripts | one |
pub(crate) fn estimated_tokens(text: &str) -> usize {
    let mut n_tokens = 0;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let run = run_of(first, rest);
        n_tokens += match first {
            c if c.is_ascii_alphanumeric() => tokens_of_word(run),
            c if c.is_ascii_whitespace() => tokens_of_blanks(run),
            '\u{1f000}'..='\u{1faff}' | '\u{20000}'..='\u{3ffff}' => 2,
            _ => 1,
        };
        rest = rest.get(run.len()..).unwrap_or_default();
    }
    n_tokens
}

/// The word or white space at the start of the text, or its first character.
fn run_of(first: char, text: &str) -> &str {
    let end = if first.is_ascii_alphanumeric() {
        text.find(|c: char| !c.is_ascii_alphanumeric())
    } else if first.is_ascii_whitespace() {
        text.find(|c: char| !c.is_ascii_whitespace())
    } else {
        Some(first.len_utf8())
    };
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

fn tokens_of_word(word: &str) -> usize {
    let n_digits = word.bytes().filter(u8::is_ascii_digit).count();
    let n_upper_inside = word.bytes().skip(1).filter(u8::is_ascii_uppercase).count();
    if n_digits > 0 && n_digits < word.len() {
        word.len()
    } else if n_digits > 0 || n_upper_inside > 0 {
        (2 * word.len()).div_ceil(3)
    } else if word.len() > MAX_PLAIN_CHARS {
        word.len().div_ceil(2)
    } else {
        word.len().div_ceil(CHARS_PER_TOKEN)
    }
}

fn tokens_of_blanks(blanks: &str) -> usize {
    if blanks == " " { 0 } else { blanks.len().div_ceil(CHARS_PER_TOKEN) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_a_text_counts_as_specified() {
        for (text, expected) in [
            ("", 0),
            ("Read", 1),
            ("reads", 2),
            ("read the file", 3),
            ("internationalisation", 10),
            ("8080", 3),
            ("SQL", 2),
            ("getUser", 5),
            ("3f2b8c1e", 8),
            ("a, b", 3),
            ("a\n    b", 4),
            ("先读", 2),
            ("größe", 4),
            ("🚀", 2),
            ("👩\u{200d}🔧", 5),
        ] {
            assert_eq!(estimated_tokens(text), expected, "{text:?}");
        }
    }
}
