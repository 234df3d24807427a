//! Reads a playbook file that is not valid JSON: common results of editors and merges are repaired, and of other files every
//! complete row is read.

use std::borrow::Cow;

use serde_json::{Deserializer, Map, Value};

use crate::store::checksum::{self, Seal};
use crate::store::marks;
use crate::store::playbook_file::{LISTS, MAX_NUMBER};

/// Decodes a file that was saved as UTF-16 or with a byte order mark. Invalid bytes become U+FFFD.
pub(in crate::store) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    let utf_16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.as_chunks().0.iter().map(|pair| unit(*pair)).collect();
        Cow::Owned(String::from_utf16_lossy(&units))
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => utf_16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf_16(rest, u16::from_be_bytes),
        [b'{' | b'[', 0, rest @ ..] if !rest.is_empty() => utf_16(bytes, u16::from_le_bytes),
        [0, b'{' | b'[', ..] => utf_16(bytes, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest),
        _ => String::from_utf8_lossy(bytes),
    }
}

/// Turns almost valid JSON into JSON: it removes trailing commas, comments on lines of their own and the marks of a conflict
/// (both sides stay, but not their common ancestor), and replaces numbers that JSON does not have.
pub(in crate::store) fn mend(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    for line in marks::cut(text).all.lines().filter(|line| !line.trim_start().starts_with("//")) {
        mended.push_str(line);
        mended.push('\n');
    }
    outside_strings(&mended)
}

/// Removes trailing commas, inserts missing ones between two rows, and replaces invalid numbers with null.
fn outside_strings(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(['"', ',', '}', 'N', 'I', '-']) {
        let (before, from) = rest.split_at(start);
        mended.push_str(before);
        let (taken, length) = match from.chars().next() {
            Some('"') => (string(from).to_owned(), string(from).len()),
            Some(',') if from[1..].trim_start().starts_with(['}', ']']) => (String::new(), 1),
            Some('}') if from[1..].trim_start().starts_with('{') => ("},".to_owned(), 1),
            _ => match ["NaN", "-Infinity", "Infinity"].into_iter().find(|word| from.starts_with(word)) {
                Some(word) => ("null".to_owned(), word.len()),
                None => (from.chars().take(1).collect(), from.chars().next().map_or(0, char::len_utf8)),
            },
        };
        mended.push_str(&taken);
        rest = &from[length..];
    }
    mended.push_str(rest);
    mended
}

/// The string at the start of a text, with its quotes; up to the end of the text if it is not closed.
fn string(text: &str) -> &str {
    let mut is_escaped = false;
    for (place, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return &text[..=place],
            _ => {}
        }
    }
    text
}

/// The complete rows in a text that is not valid JSON, as the keys of a playbook file. A row goes to the list that its checksum
/// identifies; rows without a valid checksum go to `lessons`. The generation is included.
pub(in crate::store) fn rows(text: &str) -> Map<String, Value> {
    let mut lists: [Vec<Value>; 3] = Default::default();
    let mut at = 0;
    while let Some(start) = text[at..].find('{').map(|start| at + start) {
        let mut stream = Deserializer::from_str(&text[start..]).into_iter::<Map<String, Value>>();
        match stream.next() {
            Some(Ok(row)) if is_row(&row) => {
                at = start + stream.byte_offset();
                let row = Value::Object(row);
                let is_of = |list: &&str| checksum::take(list, &mut row.clone()) == Seal::Whole;
                let list = LISTS.iter().position(is_of).unwrap_or_else(|| by_shape(&row));
                if let Some(list) = lists.get_mut(list) {
                    list.push(row);
                }
            }
            _ => at = start + 1,
        }
    }
    let mut keys: Map<String, Value> =
        LISTS.into_iter().zip(lists).map(|(list, rows)| (list.to_owned(), Value::Array(rows))).collect();
    keys.extend(number(text, "generation").map(|generation| ("generation".to_owned(), generation.into())));
    keys
}

/// The number at the first key of this name, unless it is larger than any generation.
pub(in crate::store) fn number(text: &str, key: &str) -> Option<u64> {
    digits(text, key).filter(|number| *number < MAX_NUMBER)
}

/// The time at which a file states that it was written, in nanoseconds since 1970.
pub(in crate::store) fn written(text: &str) -> Option<u64> {
    digits(text, "written")
}

fn digits(text: &str, key: &str) -> Option<u64> {
    let (_, rest) = text.split_once(&format!("\"{key}\":"))?;
    rest.trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn is_row(row: &Map<String, Value>) -> bool {
    let is_text = |key: &&str| row.get(*key).is_some_and(Value::is_string);
    let has = |keys: &[&str]| keys.iter().any(is_text);
    let is_waiting = row.get("lesson").is_some_and(Value::is_object) && has(&["reason"]);
    let is_lesson = has(&["trigger", "task"]) && has(&["solution", "correct_pattern"]);
    is_waiting || is_lesson || has(&["text_hash"])
}

/// The index of the row's list in [`LISTS`], by its shape.
fn by_shape(row: &Value) -> usize {
    match row {
        Value::Object(row) if row.contains_key("text_hash") => 2,
        Value::Object(row) if row.contains_key("reason") => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "{\n  \"generation\": 7,\n  \"lessons\": [\n    {\"trigger\": \"a, \\\"b\\\"}\", \"solution\": \"NaN\"},\n    {\"trigger\": \"c\", \"solution\": \"d\"}\n  ]\n}\n";

    fn check(text: &str) {
        let read: Value = serde_json::from_str(&mend(text)).unwrap_or_else(|error| panic!("{error}: {}", mend(text)));
        assert_eq!(read["lessons"], serde_json::from_str::<Value>(FILE).unwrap()["lessons"], "{text}");
    }

    #[test]
    fn results_of_editors_and_merges_are_read() {
        check(FILE);
        check(&FILE.replace("\"d\"}", "\"d\"},"));
        check(&FILE.replace("7,", "NaN,"));
        check(&FILE.replace("7,", "-Infinity,"));
        check(&FILE.replace("  \"lessons\"", "  // mine\n  \"lessons\""));
        check(&FILE.replace("  ]\n", "  ],\n"));
        let (ours, theirs) = (
            "    {\"trigger\": \"a, \\\"b\\\"}\", \"solution\": \"NaN\"}\n",
            "    {\"trigger\": \"c\", \"solution\": \"d\"}\n",
        );
        check(&format!("{{\"lessons\": [\n<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> other\n]}}"));
    }

    #[test]
    fn every_encoding_of_an_editor_is_read() {
        let units: Vec<u16> = FILE.encode_utf16().collect();
        let of = |unit: fn(u16) -> [u8; 2]| units.iter().flat_map(|code| unit(*code)).collect::<Vec<u8>>();
        let (little, big) = (of(u16::to_le_bytes), of(u16::to_be_bytes));
        for bytes in [
            [b"\xff\xfe", little.as_slice()].concat(),
            [b"\xfe\xff", big.as_slice()].concat(),
            little,
            big,
            [b"\xef\xbb\xbf", FILE.as_bytes()].concat(),
            FILE.into(),
        ] {
            assert_eq!(decode(&bytes), FILE);
        }
    }

    #[test]
    fn every_whole_row_of_a_cut_file_is_found() {
        for end in 0..FILE.len() {
            let n_rows = rows(&FILE[..end])["lessons"].as_array().unwrap().len();
            let n_whole = FILE[..end].matches("\"NaN\"}").count() + FILE[..end].matches("\"d\"}").count();
            assert_eq!(n_rows, n_whole, "{}", &FILE[..end]);
        }
        assert_eq!(rows(FILE)["generation"], 7);
        let written = "{\"generation\": 7, \"written\": 1795706974604257676}";
        assert_eq!((self::written(written), number(written, "generation")), (Some(1_795_706_974_604_257_676), Some(7)));
    }
}
