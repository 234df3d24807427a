//! The text that a reader sees, out of the text that a page, a script or a record contains.

use std::borrow::Cow;

use adage_redact::strip_terminal;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// How often a text is decoded: `&amp;#97;` within JSON is encoded twice.
const MAX_PASSES: usize = 3;

/// The longest name of an entity that is decoded, with `&` and `;`.
const LONGEST_ENTITY: usize = 24;

/// Accents by the end of an entity's name: `&eacute;`.
const ACCENTS: [(&str, char); 9] = [
    ("grave", '\u{300}'),
    ("acute", '\u{301}'),
    ("circ", '\u{302}'),
    ("tilde", '\u{303}'),
    ("uml", '\u{308}'),
    ("ring", '\u{30a}'),
    ("cedil", '\u{327}'),
    ("caron", '\u{30c}'),
    ("macr", '\u{304}'),
];

/// Ends of the names of letters in other typefaces: `&afr;`, `&aopf;`, `&ascr;`.
const TYPEFACES: [&str; 3] = ["fr", "opf", "scr"];

/// Letters and the signs that hide others. Any other entity is a sign, which ends a word.
const NAMED: [(&str, &str); 26] = [
    ("amp", "&"),
    ("AMP", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("num", "#"),
    ("percnt", "%"),
    ("bsol", "\\"),
    ("semi", ";"),
    ("apos", "'"),
    ("szlig", "ß"),
    ("aelig", "æ"),
    ("AElig", "Æ"),
    ("oelig", "œ"),
    ("OElig", "Œ"),
    ("oslash", "ø"),
    ("Oslash", "Ø"),
    ("eth", "ð"),
    ("thorn", "þ"),
    ("inodot", "ı"),
    ("filig", "fi"),
    ("fllig", "fl"),
    ("fflig", "ff"),
    ("shy", ""),
    ("zwj", ""),
    ("zwnj", ""),
    ("ZeroWidthSpace", ""),
];

/// The text without entities, percent-encoding and backslash escapes, in compatibility form (NFKC), without invisible characters.
pub(crate) fn decoded(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for _ in 0..MAX_PASSES {
        if !text.contains(['&', '%', '\\']) {
            break;
        }
        let next = pass(&text);
        if *text == *next {
            break;
        }
        text = Cow::Owned(next);
    }
    if text.contains(['\u{1b}', '\u{8}']) {
        text = Cow::Owned(as_printed(&strip_terminal(&text)));
    }
    if !text.is_ascii() {
        let is_plain = is_nfkc_quick(text.chars()) == IsNormalized::Yes && !text.contains(is_invisible);
        if !is_plain {
            text = Cow::Owned(text.nfkc().filter(|c| !is_invisible(*c)).collect());
        }
    }
    text
}

/// The text as a terminal shows it: a character that is printed over another one takes its place. Manual pages print bold and
/// underlined letters so.
fn as_printed(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\u{8}' {
            shown.pop();
        } else {
            shown.push(c);
        }
    }
    shown
}

/// True for a character within a word that nobody sees.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

fn pass(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['&', '%', '\\']) {
        let (before, encoded) = rest.split_at(at);
        decoded.push_str(before);
        let taken = match encoded.as_bytes() {
            [b'&', ..] => entity(encoded, &mut decoded),
            [b'%', ..] => percent(encoded, &mut decoded),
            _ => escape(encoded, &mut decoded),
        };
        let Some(taken) = taken else {
            // The sign is a character as any other.
            let (sign, after) = encoded.split_at(1);
            decoded.push_str(sign);
            rest = after;
            continue;
        };
        rest = encoded.get(taken..).unwrap_or_default();
    }
    decoded.push_str(rest);
    decoded
}

/// Appends the character of an entity at the beginning of a text; returns the entity's length.
fn entity(text: &str, decoded: &mut String) -> Option<usize> {
    let head = text.get(1..text.floor_char_boundary(LONGEST_ENTITY))?;
    if let Some(number) = head.strip_prefix('#') {
        let (digits, radix) = number.strip_prefix(['x', 'X']).map_or((number, 10), |digits| (digits, 16));
        let n_digits = digits.bytes().take_while(|byte| char::from(*byte).is_digit(radix)).count();
        let (digits, after) = digits.split_at(n_digits);
        decoded.push(char::from_u32(u32::from_str_radix(digits, radix).ok()?)?);
        // A browser reads `&#97` as well.
        let after = after.strip_prefix(';').unwrap_or(after);
        return Some(1 + head.len() - after.len());
    }
    let length = head.find(';')?;
    let name =
        head.get(..length).filter(|name| name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_alphanumeric()))?;
    let letter = name.chars().next().filter(char::is_ascii_alphabetic)?;
    let kind = name.get(1..)?;
    if let Some((_, named)) = NAMED.iter().find(|(known, _)| *known == name) {
        decoded.push_str(named);
    } else if let Some((_, accent)) = ACCENTS.iter().find(|(known, _)| *known == kind) {
        decoded.extend([letter, *accent]);
    } else if TYPEFACES.contains(&kind) {
        decoded.push(letter);
    } else {
        decoded.push(' ');
    }
    Some(length + 2)
}

/// Appends what a run of `%61%62` means; returns its length.
fn percent(text: &str, decoded: &mut String) -> Option<usize> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [b'%', high, low, after @ ..] = rest {
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let (Some(high), Some(low)) = (digit(*high), digit(*low)) else { break };
        bytes.push(high << 4 | low);
        rest = after;
    }
    decoded.push_str(&String::from_utf8_lossy(&bytes));
    (!bytes.is_empty()).then_some(bytes.len() * 3)
}

/// Appends the character of a backslash escape: `\u0061`, `\u{61}`, `\x61`, `\n`; returns the escape's length.
fn escape(text: &str, decoded: &mut String) -> Option<usize> {
    let kind = text.chars().nth(1)?;
    // Enough for the longest, so that a text of many is read once.
    let text = text.get(..text.floor_char_boundary(16))?;
    let digits = text.get(2..).unwrap_or_default();
    if kind == '\\' {
        // Written down twice; the next pass reads what is left.
        decoded.push('\\');
        return Some(2);
    }
    if matches!(kind, 'n' | 't' | 'r') {
        decoded.push(' ');
        return Some(2);
    }
    let braced = digits.strip_prefix('{').and_then(|inner| inner.split_once('}'));
    let (digits, around) = braced.map_or((digits, 0), |(inner, _)| (inner, 2));
    let n_digits = match kind {
        'u' if braced.is_some() => digits.len(),
        'u' => 4,
        'x' => 2,
        'U' => 8,
        _ => return None,
    };
    let mut code = u32::from_str_radix(digits.get(..n_digits)?, 16).ok()?;
    let mut length = 2 + around + n_digits;
    // A pair of surrogates is one character.
    if (0xd800..0xdc00).contains(&code) {
        let low = text.get(length..)?.strip_prefix("\\u")?.get(..4)?;
        code = 0x10000 + ((code - 0xd800) << 10) + (u32::from_str_radix(low, 16).ok()?.checked_sub(0xdc00)? & 0x3ff);
        length += 6;
    }
    decoded.push(char::from_u32(code)?);
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_letter_gives_the_letter() {
        for (encoded, seen) in [
            ("&#97;lw&#x61;y&#X73; &#97lways", "always always"),
            ("&amp;#97; &amp;amp;#97;", "a a"),
            ("\\u0026#97; \\u{61}\\x61\\U00000061", "a aaa"),
            ("%61lways %C3%A9 100% %zz", "always é 100% %zz"),
            ("&eacute; &Uuml; &aopf;&bfr; &nbsp;x", "é Ü ab  x"),
            ("&fflig;x &szlig;", "ffx ß"),
            ("ａｌｗａｙｓ ﬁx 𝐚", "always fix a"),
            ("al\u{200b}wa\u{ad}ys al&shy;ways al&#8203;ways", "always always always"),
            ("a && b; &unclosed \\d \\ud83d\\ude00", "a && b; &unclosed \\d 😀"),
            ("&#xffffffff; &#; \\u00 %", "&#xffffffff; &#; \\u00 %"),
            ("a\\nb", "a b"),
            ("a\u{8}al\u{8}l _\u{8}i\u{8}is", "al is"),
            ("\u{1b}[1mal\u{1b}[0mways \\u001b[31mx", "always x"),
        ] {
            assert_eq!(decoded(encoded), seen, "{encoded}");
        }
    }

    #[test]
    fn a_text_without_codes_is_not_copied() {
        assert!(matches!(decoded("always é 以后"), Cow::Borrowed(_)));
    }
}
