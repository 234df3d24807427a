//! Texts as a person may see them: secrets masked, and characters that are not seen written out.

use adage::redact::{mask, one_line, written_out};
use chrono::{DateTime, FixedOffset};

/// A text of the memory, on any number of lines.
pub(crate) fn shown(text: &str) -> String {
    written_out(&mask(text).text)
}

/// The same on one line of at most this many characters.
pub(crate) fn brief(text: &str, max_chars: usize) -> String {
    one_line(&shown(text), max_chars)
}

pub(crate) fn day(time: DateTime<FixedOffset>) -> String {
    time.format("%Y-%m-%d").to_string()
}

pub(crate) fn minute(time: DateTime<FixedOffset>) -> String {
    time.format("%Y-%m-%d %H:%M").to_string()
}

/// A count with its noun: `1 lesson`, `5,000 lessons`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

pub(crate) fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// An error with its causes, as text of a page.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    shown(&causes.map(ToString::to_string).collect::<Vec<_>>().join(": "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_written_out_and_numbers_grouped() {
        assert_eq!(shown("a\u{202e}b\nc"), "a\\u{202e}b\nc");
        assert_eq!([grouped(0), grouped(999), grouped(5_000), grouped(1_234_567)], ["0", "999", "5,000", "1,234,567"]);
        assert_eq!(counted(1, "lesson"), "1 lesson");
    }
}
