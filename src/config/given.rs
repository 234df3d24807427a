//! Reads given settings. A value of the wrong type is reported with its key and what it may be.

use serde_json::{Value, json};

use super::{Config, Error, USER_ONLY};

/// Reads settings, of which a user gave these.
pub(super) fn read(settings: Value, given: &Value) -> Result<Config, Error> {
    serde_json::from_value(settings).map_err(|error| wrong_value(given).unwrap_or_else(|| error.into()))
}

/// The first given setting that cannot be read. Each is read alone.
fn wrong_value(given: &Value) -> Option<Error> {
    let defaults = serde_json::to_value(Config::default()).ok()?;
    let mut found = None;
    let mut keys = Vec::new();
    walk(given, &defaults, &mut keys, &mut |keys, value, default| {
        let is_wrong = read_alone(keys, value).is_err();
        if is_wrong && found.is_none() {
            let expected = expected(keys, default);
            found = Some(Error::WrongType { key: keys.join("."), value: value.to_string(), expected });
        }
    });
    found
}

/// Visits each given setting with its keys and its default.
fn walk<'a>(
    given: &'a Value,
    default: &Value,
    keys: &mut Vec<&'a str>,
    visit: &mut impl FnMut(&[&str], &Value, &Value),
) {
    let is_section = default.is_object() && keys.join(".") != USER_ONLY;
    let Some(fields) = given.as_object().filter(|_| is_section) else { return visit(keys, given, default) };
    for (key, value) in fields {
        keys.push(key);
        walk(value, default.get(key).unwrap_or(&Value::Null), keys, visit);
        keys.pop();
    }
}

/// Reads a setting with all others at their defaults.
fn read_alone(keys: &[&str], value: &Value) -> serde_json::Result<Config> {
    let alone = keys.iter().rev().fold(value.clone(), |value, key| json!({ *key: value }));
    serde_json::from_value(alone)
}

/// What a setting may be.
fn expected(keys: &[&str], default: &Value) -> String {
    // What the parser says about a value that no setting has.
    let refusal = read_alone(keys, &json!("\0")).err().map(|error| error.to_string()).unwrap_or_default();
    let words =
        || refusal.split_once("expected ").map(|(_, words)| words.split('`').skip(1).step_by(2).collect::<Vec<_>>());
    let is_whole = refusal.contains("usize") || refusal.contains("u64") || refusal.contains("u32");
    match default {
        _ if refusal.contains("a number of seconds") => "a number of seconds, 0 or more".to_owned(),
        _ if is_whole => "a whole number, 0 or more".to_owned(),
        Value::Bool(_) => "true or false".to_owned(),
        Value::String(_) => format!("one of {}", words().unwrap_or_default().join(", ")),
        Value::Object(_) => "a section with settings".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Number(_) | Value::Null => "a number".to_owned(),
    }
}
