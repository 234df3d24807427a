//! Characters that a person does not see and a model may obey.

/// A text without what a person does not see and a model may obey: control characters (line ends become newlines, tabs
/// are kept), direction marks, tag characters, invisible blanks, supplementary variation selectors.
///
/// ```
/// assert_eq!(adage_redact::strip_invisible("a\u{202e}b\r\nc"), "ab\nc");
/// ```
#[must_use]
pub fn strip_invisible(text: &str) -> String {
    text.replace("\r\n", "\n").chars().filter_map(visible).collect()
}

/// What [`strip_invisible`] makes of one character: itself, a newline for a line end of another kind, or `None`.
#[must_use]
pub fn visible(c: char) -> Option<char> {
    match c {
        '\r' | '\u{2028}' | '\u{2029}' | '\u{85}' | '\u{b}' | '\u{c}' => Some('\n'),
        '\n' | '\t' => Some(c),
        '\u{ad}'
        | '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{61c}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{2060}'..='\u{2064}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{206f}'
        | '\u{3164}'
        | '\u{ffa0}'
        | '\u{e0000}'..='\u{e0fff}' => None,
        c if c.is_control() => None,
        c => Some(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_invisible_is_dropped() {
        assert_eq!(strip_invisible("a\u{200b}b\u{202e}c\u{e0061}d\re\r\nf\u{7}g\u{feff}\t👩‍💻"), "abcd\ne\nfg\t👩‍💻");
    }
}
