//! Removes characters that a person does not see and a model may obey.

/// The text without invisible characters: control characters, direction marks, tag characters, invisible blanks, and
/// all others that Unicode lists as ignorable in display. Tabs are kept, and line ends of any kind become newlines.
///
/// Joiners and variation selectors are kept where a script or an emoji needs them: [`visible_chars`].
///
/// ```
/// assert_eq!(adage_redact::strip_invisible("a\u{202e}b\r\nc"), "ab\nc");
/// assert_eq!(adage_redact::strip_invisible("ab\u{200d}c \u{2764}\u{fe0f}"), "abc \u{2764}\u{fe0f}");
/// ```
#[must_use]
pub fn strip_invisible(text: &str) -> String {
    visible_chars(text).filter_map(|(_, _, seen)| seen).collect()
}

/// The result of [`strip_invisible`] for a single character: itself, a newline for another line end, a blank for an
/// empty Braille cell, or `None` if it is removed.
#[must_use]
pub fn visible(c: char) -> Option<char> {
    match c {
        '\r' | '\u{2028}' | '\u{2029}' | '\u{85}' | '\u{b}' | '\u{c}' => Some('\n'),
        '\n' | '\t' => Some(c),
        '\u{2800}' => Some(' '),
        c if c.is_control() || is_ignorable(c) || is_noncharacter(c) => None,
        c => Some(c),
    }
}

/// Each character of a text with its byte offset and the result of [`strip_invisible`] for it, `None` if it is removed.
/// In addition to [`visible`]:
///
/// - `\r\n` is one newline;
/// - one variation selector for text or emoji is kept after an emoji, and between a digit and a keycap;
/// - one joiner is kept within an emoji sequence, and one joiner or non-joiner between letters of a script that joins its
///   letters (Arabic, Syriac, Mongolian, the Indic scripts, …), or after a virama.
pub fn visible_chars(text: &str) -> impl Iterator<Item = (usize, char, Option<char>)> {
    let mut chars = text.char_indices().peekable();
    let (mut previous, mut before) = ('\0', '\0');
    std::iter::from_fn(move || {
        let (at, c) = chars.next()?;
        let next = chars.peek().map_or('\0', |(_, next)| *next);
        let seen = match c {
            '\r' if next == '\n' => None,
            VARIATION_TEXT | VARIATION_EMOJI => is_varied(previous, next).then_some(c),
            ZERO_WIDTH_NON_JOINER | ZERO_WIDTH_JOINER => is_joined(c, before, previous, next).then_some(c),
            c => visible(c),
        };
        (before, previous) = (previous, c);
        Some((at, c, seen))
    })
}

const ZERO_WIDTH_NON_JOINER: char = '\u{200c}';
const ZERO_WIDTH_JOINER: char = '\u{200d}';
const VARIATION_TEXT: char = '\u{fe0e}';
const VARIATION_EMOJI: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';

/// True for the Unicode property `Default_Ignorable_Code_Point` and for the marks of interlinear annotations.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// True for the Unicode property `Noncharacter_Code_Point`.
fn is_noncharacter(c: char) -> bool {
    u32::from(c) & 0xfffe == 0xfffe || matches!(c, '\u{fdd0}'..='\u{fdef}')
}

/// True between two characters where a variation selector changes the first one.
fn is_varied(previous: char, next: char) -> bool {
    is_emoji(previous) || (matches!(previous, '0'..='9' | '#' | '*') && next == KEYCAP)
}

/// True where a joiner or non-joiner changes its neighbours. `before` is the character before `previous`.
fn is_joined(joiner: char, before: char, previous: char, next: char) -> bool {
    let ends_emoji = is_emoji(previous) || (previous == VARIATION_EMOJI && is_emoji(before));
    let is_of_script = joining_script(previous).is_some_and(|script| joining_script(next) == Some(script));
    (joiner == ZERO_WIDTH_JOINER && ends_emoji && is_emoji(next)) || is_of_script || is_virama(previous)
}

/// A number for the script of a letter that is joined to its neighbours; `None` for other characters.
fn joining_script(c: char) -> Option<u32> {
    let is_arabic = matches!(c,
        '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}' | '\u{870}'..='\u{8ff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}');
    let is_of_other_script = matches!(c,
        '\u{700}'..='\u{74f}' | '\u{7c0}'..='\u{86f}' | '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{18af}'
        | '\u{1900}'..='\u{1bff}' | '\u{a840}'..='\u{abff}' | '\u{10ac0}'..='\u{10fff}' | '\u{11000}'..='\u{11fff}'
        | '\u{1e900}'..='\u{1e95f}');
    let block = if is_arabic { 0x600 } else { u32::from(c) & !0x7f };
    ((is_arabic || is_of_other_script) && (c.is_alphabetic() || is_virama(c))).then_some(block)
}

/// True for a virama, the sign that removes the vowel of the letter before it. A joiner after it decides the form of
/// the letter.
fn is_virama(c: char) -> bool {
    matches!(
        c,
        '\u{94d}'
            | '\u{9cd}'
            | '\u{a4d}'
            | '\u{acd}'
            | '\u{b4d}'
            | '\u{bcd}'
            | '\u{c4d}'
            | '\u{ccd}'
            | '\u{d4d}'
            | '\u{dca}'
            | '\u{1039}'
            | '\u{103a}'
            | '\u{17d2}'
            | '\u{1b44}'
            | '\u{a953}'
            | '\u{a9c0}'
            | '\u{11046}'
            | '\u{1107f}'
            | '\u{110b9}'
            | '\u{11133}'
            | '\u{111c0}'
    )
}

/// True for the base or a part of an emoji, except digits.
fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2194}'..='\u{2199}' | '\u{21a9}'..='\u{21aa}'
        | '\u{231a}'..='\u{231b}' | '\u{2328}' | '\u{23cf}' | '\u{23e9}'..='\u{23f3}' | '\u{23f8}'..='\u{23fa}' | '\u{24c2}'
        | '\u{25aa}'..='\u{25ab}' | '\u{25b6}' | '\u{25c0}' | '\u{25fb}'..='\u{25fe}' | '\u{2600}'..='\u{27bf}'
        | '\u{2934}'..='\u{2935}' | '\u{2b05}'..='\u{2b07}' | '\u{2b1b}'..='\u{2b1c}' | '\u{2b50}' | '\u{2b55}' | '\u{3030}'
        | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    #[test]
    fn invisible_characters_are_removed() {
        assert_eq!(strip_invisible("a\u{200b}b\u{202e}c\u{e0061}d\re\r\nf\u{7}g\u{feff}\t👩‍💻"), "abcd\ne\nfg\t👩‍💻");
        assert_eq!(strip_invisible("a\u{2800}b"), "a b");
    }

    #[test]
    fn every_character_that_unicode_lists_as_ignorable_is_removed() {
        let ignorable = Regex::new(r"^\p{Default_Ignorable_Code_Point}$").unwrap();
        let noncharacter = Regex::new(r"^\p{Noncharacter_Code_Point}$").unwrap();
        let mut n_dropped = 0;
        for c in '\0'..=char::MAX {
            let text = c.to_string();
            let is_dropped = ignorable.is_match(&text) || noncharacter.is_match(&text);
            if is_dropped {
                assert_eq!(strip_invisible(&format!("a{c}b{c}{c}c{c}")), "abc", "U+{:04X}", u32::from(c));
                n_dropped += 1;
            }
        }
        assert!(n_dropped > 4_000, "{n_dropped}");
    }

    #[test]
    fn every_emoji_keeps_one_variation_selector() {
        let emoji = Regex::new(r"^[\p{Emoji_Presentation}\p{Extended_Pictographic}&&\p{Emoji}]$").unwrap();
        for c in ('\u{80}'..=char::MAX).filter(|c| emoji.is_match(&c.to_string())) {
            let text = format!("{c}\u{fe0f}");
            assert_eq!(strip_invisible(&text), text, "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn selectors_and_joiners_between_other_letters_are_removed() {
        let selectors: Vec<char> = ('\u{fe00}'..='\u{fe0f}').collect();
        for (hidden, kept) in [
            (selectors.iter().collect::<String>(), ""),
            (selectors.iter().flat_map(|c| ['q', *c]).collect(), "qqqqqqqqqqqqqqqq"),
            ("z\u{200d}y\u{200c}z\u{200c}\u{200d}".to_owned(), "zyz"),
            ("\u{2705}\u{fe0f}\u{fe0f}\u{fe0e}\u{fe00}".to_owned(), "\u{2705}\u{fe0f}"),
            ("\u{645}\u{200c}\u{200c}\u{200d}\u{62e}".to_owned(), "\u{645}\u{62e}"),
            ("\u{645}\u{200c}x\u{200d}\u{62e}".to_owned(), "\u{645}x\u{62e}"),
            ("\u{1f600}\u{200d}\u{200d}\u{200d}x".to_owned(), "\u{1f600}x"),
            ("7\u{fe0f}7\u{fe0e}".to_owned(), "77"),
            ("漢\u{e0100}字\u{fe00}".to_owned(), "漢字"),
        ] {
            assert_eq!(strip_invisible(&hidden), kept, "{}", hidden.escape_unicode());
        }
    }

    #[test]
    fn joined_words_and_emoji_are_unchanged() {
        for text in [
            // Persian: "I want", "books", "is being done"
            "می\u{200c}خواهم کتاب\u{200c}ها انجام می\u{200c}شود",
            // Hindi, Marathi, Bengali, Kannada, Malayalam, Sinhala
            "क\u{94d}\u{200d}ष विद्या",
            "दुसऱ\u{94d}\u{200d}या",
            "র\u{200d}\u{9cd}যাম উদ\u{9cd}\u{200c}ঘাটন",
            "ರ\u{200d}\u{ccd}ಯಾಂಕ್",
            "അവന\u{d4d}\u{200d} പറഞ്ഞു",
            "ශ\u{dca}\u{200d}රී ලංකා",
            // Emoji: families, skin, flags, keycaps, hearts, rainbow
            "👩\u{200d}👩\u{200d}👧\u{200d}👦 👩🏽\u{200d}🔧 🇩🇪 1\u{fe0f}\u{20e3} ❤\u{fe0f} ❤\u{fe0f}\u{200d}🔥 🏳\u{fe0f}\u{200d}🌈 ☀\u{fe0e} ⚠\u{fe0f} ™\u{fe0f}",
            "日本語 한국어 עברית ไทย ⠓⠑⠇⠇⠕",
        ] {
            assert_eq!(strip_invisible(text), text, "{}", text.escape_unicode());
        }
    }

    #[test]
    fn offsets_are_those_of_the_original_text() {
        let seen: Vec<_> = visible_chars("é\r\nx\u{200d}").collect();
        let expected =
            [(0, 'é', Some('é')), (2, '\r', None), (3, '\n', Some('\n')), (4, 'x', Some('x')), (5, '\u{200d}', None)];
        assert_eq!(seen, expected);
    }
}
