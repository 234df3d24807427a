//! JSON as programs really send it: behind byte order marks, as UTF-16, with raw control characters, halves of characters and bytes
//! that are no text. What is plain is repaired, and the repair is named; what is not plain is an error.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use serde_json::Value;

use crate::error::Error;

/// What was repaired in a text of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum JsonRepair {
    /// A byte order mark was left out.
    ByteOrderMark,
    /// The text was UTF-16.
    Utf16,
    /// A byte that is no UTF-8 became U+FFFD.
    InvalidByte,
    /// A raw control character in a string became an escape.
    ControlCharacter,
    /// Half of a surrogate pair became U+FFFD.
    HalfCharacter,
    /// A comma before a closing bracket was left out.
    TrailingComma,
    /// Commas or control characters after the value were left out.
    TextAfter,
}

impl fmt::Display for JsonRepair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ByteOrderMark => "a byte order mark is left out",
            Self::Utf16 => "it is UTF-16 and is read as such",
            Self::InvalidByte => "a byte that is not UTF-8 is read as U+FFFD",
            Self::ControlCharacter => "a raw control character in a string is read as its escape",
            Self::HalfCharacter => "half of a character is read as U+FFFD",
            Self::TrailingComma => "a comma before a closing bracket is left out",
            Self::TextAfter => "commas or control characters after the JSON are left out",
        })
    }
}

/// A value, and what was repaired to read it.
#[derive(Clone, Debug, PartialEq)]
pub struct MendedJson {
    /// The value.
    pub value: Value,
    /// The repairs, each once; empty for JSON as it should be.
    pub repairs: Vec<JsonRepair>,
}

/// Reads JSON that may have flaws whose meaning is plain.
///
/// # Errors
/// [`Error::NotJson`] if there is no whole value at the beginning.
///
/// ```
/// use adage_transcript::{JsonRepair, read_json};
/// let mended = read_json(b"\xEF\xBB\xBF{\"prompt\": \"half: \\ud83d\"}")?;
/// assert_eq!(mended.value["prompt"], "half: \u{fffd}");
/// assert_eq!(mended.repairs, [JsonRepair::ByteOrderMark, JsonRepair::HalfCharacter]);
/// assert!(read_json(b"{\"prompt\": ").is_err());
/// # Ok::<(), adage_transcript::Error>(())
/// ```
pub fn read_json(bytes: &[u8]) -> Result<MendedJson, Error> {
    let (text, mut repairs) = decoded(bytes);
    let value = match serde_json::from_str(&text) {
        Ok(value) => value,
        Err(_) => first_value(&mended(&text, &mut repairs), &mut repairs)?,
    };
    Ok(MendedJson { value, repairs: repairs.into_iter().collect() })
}

fn first_value(text: &str, repairs: &mut BTreeSet<JsonRepair>) -> Result<Value, Error> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter();
    let value = match values.next() {
        Some(Ok(value)) => value,
        Some(Err(error)) => return Err(Error::NotJson { reason: adage_redact::json_error(&error) }),
        None => return Err(Error::NotJson { reason: "it is empty".to_owned() }),
    };
    let after = text.get(values.byte_offset()..).unwrap_or_default().trim();
    if after.contains(|c: char| !c.is_control() && !c.is_whitespace() && c != MARK && c != ',') {
        return Err(Error::NotJson { reason: "there is other text after the JSON".to_owned() });
    }
    if !after.is_empty() {
        repairs.insert(JsonRepair::TextAfter);
    }
    Ok(value)
}

/// The text of bytes, without byte order marks, and what was repaired: UTF-16 is read if it has a mark.
#[must_use]
pub fn decoded(bytes: &[u8]) -> (String, BTreeSet<JsonRepair>) {
    let mut repairs = BTreeSet::new();
    let text = utf16(bytes, &mut repairs).unwrap_or_else(|| {
        if std::str::from_utf8(bytes).is_err() {
            repairs.insert(JsonRepair::InvalidByte);
        }
        String::from_utf8_lossy(bytes).into_owned()
    });
    let bare = text.trim_start_matches(|c: char| c == MARK || c.is_whitespace());
    let before = text.get(..text.len() - bare.len()).unwrap_or_default();
    if !before.contains(MARK) {
        return (text, repairs);
    }
    repairs.insert(JsonRepair::ByteOrderMark);
    (bare.to_owned(), repairs)
}

const MARK: char = '\u{feff}';

/// The text of UTF-16 behind its byte order mark.
fn utf16(bytes: &[u8], repairs: &mut BTreeSet<JsonRepair>) -> Option<String> {
    let (is_little, units) = match bytes {
        [0xFF, 0xFE, units @ ..] => (true, units),
        [0xFE, 0xFF, units @ ..] => (false, units),
        _ => return None,
    };
    let unit = |pair: &[u8]| {
        let pair = <[u8; 2]>::try_from(pair).ok()?;
        Some(if is_little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) })
    };
    let text: Vec<Option<char>> = char::decode_utf16(units.chunks_exact(2).filter_map(unit)).map(Result::ok).collect();
    repairs.insert(JsonRepair::Utf16);
    if text.contains(&None) || units.len() % 2 == 1 {
        repairs.insert(JsonRepair::InvalidByte);
    }
    Some(text.into_iter().map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// The text with raw control characters and halves of characters in strings replaced, and without commas before closing brackets.
pub(crate) fn mended(text: &str, repairs: &mut BTreeSet<JsonRepair>) -> String {
    let mut mended = String::with_capacity(text.len());
    let (mut rest, mut is_in_string) = (text, false);
    while let Some(c) = rest.chars().next() {
        let n_taken = match c {
            '\\' if is_in_string => escape(rest, &mut mended, repairs),
            '"' => {
                is_in_string = !is_in_string;
                keep(rest, 1, &mut mended)
            }
            ..'\u{20}' if is_in_string => {
                repairs.insert(JsonRepair::ControlCharacter);
                // Writing into a text cannot fail.
                let _ = write!(mended, "\\u{:04x}", u32::from(c));
                1
            }
            ',' if !is_in_string && closes(rest) => {
                repairs.insert(JsonRepair::TrailingComma);
                1
            }
            _ => keep(rest, c.len_utf8(), &mut mended),
        };
        rest = rest.get(n_taken..).unwrap_or_default();
    }
    mended
}

fn closes(rest: &str) -> bool {
    rest.trim_start_matches(|c: char| c == ',' || c.is_whitespace()).starts_with(['}', ']'])
}

fn keep(rest: &str, n_bytes: usize, mended: &mut String) -> usize {
    mended.push_str(rest.get(..n_bytes).unwrap_or(rest));
    n_bytes
}

/// Copies an escape of a string. JavaScript writes half of a pair when it cuts a string within it.
fn escape(rest: &str, mended: &mut String, repairs: &mut BTreeSet<JsonRepair>) -> usize {
    match (unit(rest, 0), unit(rest, 6)) {
        (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => keep(rest, 12, mended),
        (Some(0xd800..=0xdfff), _) => {
            repairs.insert(JsonRepair::HalfCharacter);
            mended.push_str("\\ufffd");
            6
        }
        (Some(_), _) => keep(rest, 6, mended),
        (None, _) => {
            let n_after = rest.get(1..).and_then(|after| after.chars().next()).map_or(0, char::len_utf8);
            keep(rest, 1 + n_after, mended)
        }
    }
}

/// The code unit of an escape `\uXXXX` at a position.
fn unit(text: &str, at: usize) -> Option<u16> {
    u16::from_str_radix(text.get(at..)?.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: &str, repairs: &[JsonRepair]) {
        let found = read_json(bytes).unwrap();
        assert_eq!((found.value["a"].as_str().unwrap(), found.repairs.as_slice()), (expected, repairs), "{bytes:?}");
    }

    #[test]
    fn what_is_plain_is_read_and_the_repair_is_named() {
        let utf16 = |text: &str, to: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(to).collect::<Vec<u8>>();
        check(br#"{"a": "x"}"#, "x", &[]);
        check("\u{feff}\u{feff}{\"a\": \"x\"}".as_bytes(), "x", &[JsonRepair::ByteOrderMark]);
        check(&utf16("\u{feff}{\"a\": \"é\"}", u16::to_le_bytes), "é", &[JsonRepair::Utf16]);
        check(&utf16("\u{feff}{\"a\": \"é\"}", u16::to_be_bytes), "é", &[JsonRepair::Utf16]);
        check(b"{\"a\": \"x\xFFy\"}", "x\u{fffd}y", &[JsonRepair::InvalidByte]);
        check(b"{\"a\": \"x\ny\tz\x1b\"}", "x\ny\tz\u{1b}", &[JsonRepair::ControlCharacter]);
        check(
            r#"{"a": "x\ud83d\"\ude00é\\ud83d"}"#.as_bytes(),
            "x\u{fffd}\"\u{fffd}é\\ud83d",
            &[JsonRepair::HalfCharacter],
        );
        check(br#"{"a": "\ud83d\ude00 ,}",}"#, "😀 ,}", &[JsonRepair::TrailingComma]);
        check(b"{\"a\": \"x\"},\n\0", "x", &[JsonRepair::TextAfter]);
    }

    #[test]
    fn what_is_not_plain_is_an_error() {
        for text in [
            "",
            "  ",
            "\u{feff}",
            "{\"a\": \"x",
            "{\"a\": ",
            "nope",
            "{a: 1}",
            "{} more",
            "{}\n{}",
            &"[".repeat(10_000),
        ] {
            assert!(matches!(read_json(text.as_bytes()), Err(Error::NotJson { .. })), "{text:.20}");
        }
    }
}
