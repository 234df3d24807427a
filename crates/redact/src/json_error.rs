//! Errors of the JSON parser in words for people.

use serde_json::Error;
use serde_json::error::Category;

/// The parser's words for types, and words for people. Longer ones come first.
const TYPES: [(&str, &str); 13] = [
    ("expected usize", "expected a whole number, 0 or more"),
    ("expected u64", "expected a whole number, 0 or more"),
    ("expected u32", "expected a whole number, 0 or more"),
    ("expected i64", "expected a whole number"),
    ("expected f32", "expected a number"),
    ("expected f64", "expected a number"),
    ("expected a map", "expected an object"),
    ("expected a sequence", "expected a list"),
    ("expected a boolean", "expected true or false"),
    ("invalid type: map", "invalid type: object"),
    ("invalid type: sequence", "invalid type: list"),
    ("floating point `", "number `"),
    ("integer `", "number `"),
];

/// What is wrong with a JSON text, and where, as a clause: no word of it is the name of a Rust type or of a rule of the parser.
///
/// ```
/// use adage_redact::json_error;
///
/// let error = serde_json::from_str::<Vec<usize>>("[1, nope]").unwrap_err();
/// assert_eq!(json_error(&error), "it is not JSON from column 6 on");
/// let error = serde_json::from_str::<Vec<usize>>("[1, \"two\"]").unwrap_err();
/// assert_eq!(json_error(&error), "invalid type: string \"two\", expected a whole number, 0 or more, at column 9");
/// ```
#[must_use]
pub fn json_error(error: &Error) -> String {
    let place = match (error.line(), error.column()) {
        (0, _) => None,
        (1, column) => Some(format!("column {column}")),
        (line, column) => Some(format!("line {line}, column {column}")),
    };
    match (error.classify(), &place) {
        (Category::Syntax, Some(place)) => format!("it is not JSON from {place} on"),
        (Category::Syntax, None) => "it is not JSON".to_owned(),
        (Category::Eof, Some(place)) => format!("the JSON ends too early, at {place}"),
        (Category::Eof, None) => "the JSON ends too early".to_owned(),
        (Category::Io, _) => error.to_string(),
        (Category::Data, _) => {
            let text = error.to_string();
            let end = format!(" at line {} column {}", error.line(), error.column());
            let plain = in_plain_words(text.strip_suffix(&end).unwrap_or(&text));
            place.map_or_else(|| plain.clone(), |place| format!("{plain}, at {place}"))
        }
    }
}

/// The message with the first of these words replaced. Values that the message quotes are before the expected type, and are kept.
fn in_plain_words(message: &str) -> String {
    let (quoted, expected) = message.rfind(", expected ").map_or((message, ""), |at| message.split_at(at));
    let replaced = |text: &str| TYPES.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    let is_text = quoted.starts_with("invalid type: string") || quoted.starts_with("unknown");
    format!("{}{}", if is_text { quoted.to_owned() } else { replaced(quoted) }, replaced(expected))
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, from_str};

    use super::*;

    fn check<T: std::fmt::Debug>(read: serde_json::Result<T>, expected: &str) {
        assert_eq!(json_error(&read.unwrap_err()), expected);
    }

    #[test]
    fn errors_name_no_types_of_the_parser() {
        check(from_str::<Value>("nope"), "it is not JSON from column 2 on");
        check(from_str::<Value>("{\n  \"a\": 1,\n}"), "it is not JSON from line 3, column 1 on");
        check(from_str::<Value>("{\"a\": "), "the JSON ends too early, at column 6");
        check(from_str::<usize>("-3"), "invalid value: number `-3`, expected a whole number, 0 or more, at column 2");
        check(from_str::<usize>("1.5"), "invalid type: number `1.5`, expected a whole number, 0 or more, at column 3");
        check(from_str::<f32>("true"), "invalid type: boolean `true`, expected a number, at column 4");
        check(from_str::<Vec<u32>>("{}"), "invalid type: object, expected a list, at column 0");
        check(from_str::<Map<String, Value>>("[1]"), "invalid type: list, expected an object, at column 0");
        check(
            from_str::<bool>("\"expected usize\""),
            "invalid type: string \"expected usize\", expected true or false, at column 16",
        );
    }
}
