//! Removes or escapes what a terminal obeys: colours, cursor movements, links and titles.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::invisible::visible_chars;
use crate::rules::built;

/// The text without terminal sequences: control sequences (`ESC [ …`) and operating-system commands (`ESC ] …` up to
/// `BEL` or `ESC \`; an unterminated one extends to the next `ESC` or the end of the text). Borrowed if it has none.
///
/// ```
/// assert_eq!(adage_redact::strip_terminal("\u{1b}[31merror\u{1b}[0m: red"), "error: red");
/// assert_eq!(adage_redact::strip_terminal("\u{1b}]8;;https://example.com\u{7}link"), "link");
/// ```
#[must_use]
pub fn strip_terminal(text: &str) -> Cow<'_, str> {
    static SEQUENCE: LazyLock<Regex> =
        LazyLock::new(|| built(Regex::new("\u{1b}(?:\\[[0-?]*[ -/]*[@-~]|\\][^\u{7}\u{1b}]*(?:\u{7}|\u{1b}\\\\)?)")));
    if !text.contains('\u{1b}') {
        return text.into();
    }
    SEQUENCE.replace_all(text, "")
}

/// A text that is safe to print at a terminal: each control character and each invisible character is replaced by
/// U+FFFD, so that its presence is visible. Newlines and tabs are kept.
///
/// ```
/// assert_eq!(adage_redact::printable("a\u{1b}[8mb\u{202e}\r\nc"), "a\u{fffd}[8mb\u{fffd}\nc");
/// ```
#[must_use]
pub fn printable(text: &str) -> String {
    let shown = |(_, c, seen): (_, char, _)| if seen == Some(c) { c } else { char::REPLACEMENT_CHARACTER };
    visible_chars(&text.replace("\r\n", "\n")).map(shown).collect()
}

/// As [`printable`], on one line: newlines are replaced by U+FFFD too, so that a name with a line end cannot begin a
/// line.
///
/// ```
/// assert_eq!(adage_redact::printable_line("name\nerror: none"), "name\u{fffd}error: none");
/// ```
#[must_use]
pub fn printable_line(text: &str) -> String {
    printable(text).replace('\n', "\u{fffd}")
}

/// JSON with `\u` escapes for control characters and invisible characters. The value is the same, as valid JSON has
/// such characters only in strings, except line ends.
///
/// ```
/// assert_eq!(adage_redact::printable_json("[\"a\u{202e}\"]"), "[\"a\\u202e\"]");
/// ```
#[must_use]
pub fn printable_json(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for (_, c, seen) in visible_chars(json) {
        if seen == Some(c) {
            text.push(c);
        } else {
            text.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_sequences_are_removed_and_text_is_kept() {
        for (text, expected) in [
            ("plain [0m text", "plain [0m text"),
            ("\u{1b}[31merror\u{1b}[0m: red", "error: red"),
            ("\u{1b}[33mWARN: Could not find the language\u{1b}[0m", "WARN: Could not find the language"),
            ("\u{1b}[2mCompacted", "Compacted"),
            ("a\u{1b}[2Kb\r\n", "ab\r\n"),
            ("a\r\n\tb  c\u{1b}[0m ", "a\r\n\tb  c "),
            ("\u{1b}[38;5;1mred\u{1b}[?25l", "red"),
            ("\u{1b}[>4;2mkeys\u{1b}[0 qcursor", "keyscursor"),
            ("\u{1b}]8;;x\u{7}link\u{1b}]8;;\u{1b}\\ end", "link end"),
            ("\u{1b}]0;a title without an end", ""),
            ("\u{1b}", "\u{1b}"),
            ("", ""),
        ] {
            assert_eq!(strip_terminal(text), expected, "{text:?}");
        }
        assert!(matches!(strip_terminal("plain"), Cow::Borrowed("plain")));
    }
}
