//! Checksums of JSON content, independent of its layout: a row that an editor only indents again keeps its checksum.

use serde_json::{Map, Value};

/// The key of a row's checksum.
pub(crate) const KEY: &str = "crc";

/// The result of checking a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seal {
    /// The checksum is right: this program wrote the row.
    Whole,
    /// The checksum is wrong.
    Broken,
    /// There is no checksum: another program or an older version wrote the row.
    Missing,
}

/// The checksum of a row. The name of its list is included, so that a row moved to another list does not match.
pub(crate) fn of_row(list: &str, row: &Map<String, Value>) -> String {
    of_row_with(list, row, |number| number)
}

fn of_row_with(list: &str, row: &Map<String, Value>, read: Read) -> String {
    let mut bytes = list.as_bytes().to_vec();
    object(row, &mut bytes, read);
    crc_of(&bytes)
}

/// How a number in the file is interpreted.
type Read = fn(f64) -> f64;

/// Removes the checksum from a row and checks it.
pub(crate) fn take(list: &str, row: &mut Value) -> Seal {
    let Value::Object(row) = row else { return Seal::Missing };
    match row.remove(KEY) {
        None => Seal::Missing,
        Some(Value::String(crc)) if crc == of_row(list, row) || crc == of_row_with(list, row, read_in_halves) => {
            Seal::Whole
        }
        Some(_) => Seal::Broken,
    }
}

/// A number as earlier versions parsed it: digits and exponent separately, so that the last bit may differ. Their checksums are
/// of that number.
fn read_in_halves(number: f64) -> f64 {
    let written = Value::from(number).to_string();
    let (digits, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let halves = (format!("{whole}{part}").parse::<i64>(), exponent.parse::<i64>());
    let (Ok(digits), Ok(exponent)) = halves else { return number };
    let exponent = exponent - i64::try_from(part.len()).unwrap_or_default();
    let Ok(power) = format!("1e{}", exponent.unsigned_abs()).parse::<f64>() else { return number };
    #[expect(clippy::cast_precision_loss, reason = "the loss of earlier versions is reproduced")]
    let digits = digits as f64;
    if exponent < 0 { digits / power } else { digits * power }
}

/// The checksum of several parts in this order.
pub(crate) fn of_values<'a>(values: impl IntoIterator<Item = (&'a str, &'a Value)>) -> String {
    let mut bytes = Vec::new();
    for (name, value) in values {
        bytes.extend_from_slice(name.as_bytes());
        add(value, &mut bytes, |number| number);
    }
    crc_of(&bytes)
}

fn crc_of(bytes: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(bytes))
}

/// Adds the bytes that the checksum of a value is made of.
fn add(value: &Value, bytes: &mut Vec<u8>, read: Read) {
    match value {
        Value::Null => bytes.push(b'0'),
        Value::Bool(is) => bytes.push(if *is { b't' } else { b'f' }),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => {
                bytes.push(b'd');
                bytes.extend_from_slice(&read(float).to_bits().to_le_bytes());
            }
            None => sized(b'n', number.to_string().as_bytes(), bytes),
        },
        Value::String(string) => sized(b's', string.as_bytes(), bytes),
        Value::Array(list) => {
            bytes.push(b'[');
            for value in list {
                add(value, bytes, read);
            }
            bytes.push(b']');
        }
        Value::Object(map) => object(map, bytes, read),
    }
}

fn object(map: &Map<String, Value>, bytes: &mut Vec<u8>, read: Read) {
    let mut keys: Vec<_> = map.iter().collect();
    keys.sort_unstable_by_key(|(key, _)| *key);
    bytes.push(b'{');
    for (key, value) in keys {
        sized(b'k', key.as_bytes(), bytes);
        add(value, bytes, read);
    }
    bytes.push(b'}');
}

fn sized(kind: u8, text: &[u8], bytes: &mut Vec<u8>) {
    bytes.push(kind);
    bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
    bytes.extend_from_slice(text);
}

/// A line of JSON with the checksum of everything before it: `{…,"crc":"xxxxxxxx"}`.
pub(crate) fn seal_line(line: &str) -> String {
    match line.strip_suffix('}') {
        Some(open) => format!(r#"{open},"{KEY}":"{:08x}"}}"#, crc32fast::hash(open.as_bytes())),
        None => line.to_owned(),
    }
}

/// Checks a line. A line without a checksum was written by an older version.
pub(crate) fn check_line(line: &[u8]) -> Seal {
    // `,"crc":"xxxxxxxx"}`
    const TAIL: usize = 18;
    let Some((open, tail)) = line.len().checked_sub(TAIL).map(|at| line.split_at(at)) else { return Seal::Missing };
    match tail.strip_prefix(br#","crc":""#).and_then(|tail| tail.strip_suffix(br#""}"#)) {
        None => Seal::Missing,
        Some(crc) if crc == format!("{:08x}", crc32fast::hash(open)).as_bytes() => Seal::Whole,
        Some(_) => Seal::Broken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn layout_and_order_do_not_matter_everything_else_does() {
        let row = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap();
        let crc = of_row("lessons", &row(r#"{"a": [1, 0.5], "b": "x"}"#));
        assert_eq!(of_row("lessons", &row("{\"b\":\"x\",\n\"a\":[1,5e-1]}")), crc);
        let others = [r#"{"a": [1, 0.5], "b": "y"}"#, r#"{"a": [10.5], "b": "x"}"#, r#"{"a": [1, 0.5, "b"]}"#];
        for other in others {
            assert_ne!(of_row("lessons", &row(other)), crc, "{other}");
        }
        assert_ne!(of_row("removed", &row(r#"{"a": [1, 0.5], "b": "x"}"#)), crc);
        let mut sealed = json!({"a": [1, 0.5], "b": "x", "crc": crc});
        assert_eq!(take("lessons", &mut sealed), Seal::Whole);
        assert_eq!(take("lessons", &mut sealed), Seal::Missing);
    }

    proptest! {
        #[test]
        fn any_number_is_read_back_unchanged(number in any::<f64>().prop_filter("finite", |number| number.is_finite())) {
            let Value::Object(mut row) = json!({"n": number}) else { unreachable!() };
            row.insert(KEY.to_owned(), of_row("lessons", &row).into());
            let mut read: Value = serde_json::from_str(&Value::Object(row).to_string()).unwrap();
            prop_assert_eq!(take("lessons", &mut read), Seal::Whole);
            prop_assert_eq!(read["n"].as_f64().unwrap().to_bits(), number.to_bits());
        }
    }

    #[test]
    fn rows_of_earlier_versions_have_valid_checksums() {
        // Confidences as earlier versions wrote them, with their checksums.
        let rows = [("0.95", "9fd36133"), ("0.9500000000000001", "9fd36133"), ("0.39999999999999997", "8aed84cf")];
        for (confidence, crc) in rows {
            let mut row: Value =
                serde_json::from_str(&format!(r#"{{"confidence":{confidence},"crc":"{crc}"}}"#)).unwrap();
            assert_eq!(take("lessons", &mut row), Seal::Whole, "{confidence}");
        }
    }

    #[test]
    fn every_flipped_bit_of_a_line_is_detected_or_leaves_its_content() {
        let line = seal_line(r#"{"receipt":"r","shown":[["a","b"]]}"#);
        assert_eq!(check_line(line.as_bytes()), Seal::Whole);
        let said: Value = serde_json::from_str(&line).unwrap();
        for bit in 0..line.len() * 8 {
            let mut flipped = line.clone().into_bytes();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let is_silent = check_line(&flipped) != Seal::Broken
                && serde_json::from_slice::<Value>(&flipped)
                    .is_ok_and(|read| read["receipt"] != said["receipt"] || read["shown"] != said["shown"]);
            assert!(!is_silent, "{}", String::from_utf8_lossy(&flipped));
        }
    }
}
