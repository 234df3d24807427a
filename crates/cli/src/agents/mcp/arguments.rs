//! Fits the arguments of a call to the tool's schema. Clients send lists and numbers as texts of JSON, `2.0` for a whole number, null for
//! what they leave out, and fields of their own; where the meaning is plain, it is accepted.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::json_kind::kind;

/// What an argument has to be.
#[derive(Clone, Debug, PartialEq)]
enum ArgumentKind {
    Text,
    Whole,
    List,
    OneOf(Vec<String>),
}

/// The arguments as the tool reads them. The error names the argument, what was found and what is expected.
pub(super) fn fitted(schema: &JsonObject, arguments: JsonObject) -> Result<JsonObject, String> {
    let none = JsonObject::new();
    let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let mut fitted = JsonObject::new();
    for (name, value) in arguments {
        match known.get(&name) {
            Some(_) if value.is_null() => {}
            Some(about) => {
                let kind = kind_of(schema, about);
                let fault = |found| format!("`{name}` is {found}, it must be {}", kind.described());
                let value = fit(&kind, value).map_err(fault)?;
                fitted.insert(name, value);
            }
            None => refuse_misspelt(&name, known)?,
        }
    }
    let mut required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let Some(name) = required.find(|name| !fitted.contains_key(*name)) else { return Ok(fitted) };
    let kind = known.get(name).map_or(ArgumentKind::Text, |about| kind_of(schema, about));
    Err(format!("missing field `{name}`, it must be {}", kind.described()))
}

/// An argument that the tool does not have is the client's own, unless it is nearly one that the tool has.
fn refuse_misspelt(name: &str, known: &JsonObject) -> Result<(), String> {
    match known.keys().find(|known| is_near(name, known)) {
        Some(meant) => Err(format!("unknown field `{name}`; is it `{meant}`?")),
        None => Ok(()),
    }
}

fn kind_of(schema: &JsonObject, about: &Value) -> ArgumentKind {
    let definition = about.pointer("/anyOf/0/$ref").or(about.get("$ref")).and_then(Value::as_str);
    let definition = definition.and_then(|path| schema.get("$defs")?.get(path.rsplit('/').next()?));
    let about = definition.unwrap_or(about);
    let words = about.get("enum").and_then(Value::as_array);
    if let Some(words) = words {
        return ArgumentKind::OneOf(words.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    }
    let types = about.get("type").unwrap_or(&Value::Null);
    let is = |name: &str| *types == json!(name) || types.as_array().is_some_and(|types| types.contains(&json!(name)));
    match (is("integer"), is("array")) {
        (true, _) => ArgumentKind::Whole,
        (_, true) => ArgumentKind::List,
        _ => ArgumentKind::Text,
    }
}

/// The value as this kind; otherwise what was found instead.
fn fit(kind: &ArgumentKind, value: Value) -> Result<Value, String> {
    let found = described(&value);
    let fitted = match kind {
        ArgumentKind::Text => value.as_str().map(|_| value.clone()),
        ArgumentKind::Whole => whole(&value).map(Value::from),
        ArgumentKind::List => list(value),
        ArgumentKind::OneOf(words) => {
            value.as_str().map(|word| word.trim().to_lowercase()).filter(|word| words.contains(word)).map(Value::from)
        }
    };
    fitted.ok_or(found)
}

fn whole(value: &Value) -> Option<u64> {
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    let number = match value {
        Value::String(text) => serde_json::from_str(text.trim()).ok()?,
        other => other.clone(),
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number in the range")]
    let from_float =
        |number: f64| (number.fract() == 0.0 && (0.0..MAX_EXACT).contains(&number)).then_some(number as u64);
    number.as_u64().or_else(|| from_float(number.as_f64()?))
}

/// A list of texts; also one as a text of JSON, and a single text.
fn list(value: Value) -> Option<Value> {
    let list = match value {
        Value::Array(list) => list,
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Array(list)) => list,
            Ok(Value::Object(_)) => return None,
            // The beginning of a list that is not whole.
            Err(_) if ["[\"", "{\"", "['"].iter().any(|start| text.trim_start().starts_with(start)) => return None,
            _ if text.trim().is_empty() => Vec::new(),
            _ => vec![Value::String(text)],
        },
        _ => return None,
    };
    list.iter().all(Value::is_string).then_some(Value::Array(list))
}

/// What a value is, with the value if it is short.
fn described(value: &Value) -> String {
    const MAX_SHOWN: usize = 60;
    let kind = kind(value);
    let text = value.to_string();
    if text.chars().count() <= MAX_SHOWN { format!("{kind} ({text})") } else { kind.to_owned() }
}

impl ArgumentKind {
    fn described(&self) -> String {
        match self {
            Self::Text => "a text".to_owned(),
            Self::Whole => "a whole number of 0 or more".to_owned(),
            Self::List => "a list of texts".to_owned(),
            Self::OneOf(words) => format!("one of {}", words.join(", ")),
        }
    }
}

/// True for names that differ by case, separators, or at most one letter that is missing, added or another.
fn is_near(given: &str, known: &str) -> bool {
    let plain = |name: &str| {
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect::<Vec<_>>()
    };
    let (given, known) = (plain(given), plain(known));
    let n_same = given.iter().zip(&known).take_while(|(one, other)| one == other).count();
    let rest = |name: &[char], n: usize| name.get(n_same + n..).unwrap_or_default().to_vec();
    let is_same = |n_given, n_known| rest(&given, n_given) == rest(&known, n_known);
    given == known || is_same(1, 1) || is_same(0, 1) && n_same < known.len() || is_same(1, 0) && n_same < given.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> JsonObject {
        let schema = json!({
            "$defs": {"Verdict": {"enum": ["helpful", "harmful"], "type": "string"}},
            "properties": {
                "query": {"type": "string"}, "limit": {"type": ["integer", "null"]}, "paths": {"type": "array"},
                "result": {"anyOf": [{"$ref": "#/$defs/Verdict"}, {"type": "null"}]},
            },
            "required": ["query"],
        });
        schema.as_object().unwrap().clone()
    }

    #[track_caller]
    fn check(given: &Value, expected: Result<Value, &str>) {
        let found = fitted(&schema(), given.as_object().unwrap().clone());
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(Value::Object(found), expected),
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
            (found, expected) => panic!("{found:?} is not {expected:?}"),
        }
    }

    #[test]
    fn what_is_plain_is_accepted() {
        check(&json!({"query": "x", "limit": null, "_meta": {}, "reasoning": "y"}), Ok(json!({"query": "x"})));
        for limit in [json!(2), json!(2.0), json!("2"), json!(" 2.0 ")] {
            check(&json!({"query": "x", "limit": limit}), Ok(json!({"query": "x", "limit": 2})));
        }
        for paths in [json!(["a"]), json!("[\"a\"]"), json!("a")] {
            check(&json!({"query": "x", "paths": paths}), Ok(json!({"query": "x", "paths": ["a"]})));
        }
        check(&json!({"query": "x", "result": " Helpful"}), Ok(json!({"query": "x", "result": "helpful"})));
    }

    #[test]
    fn anything_else_is_named_with_what_was_found_and_what_is_expected() {
        check(&json!({}), Err("missing field `query`, it must be a text"));
        check(&json!({"query": ["x"]}), Err("`query` is a list ([\"x\"]), it must be a text"));
        for (limit, found) in
            [(json!(-1), "a number (-1)"), (json!(2.5), "a number (2.5)"), (json!("two"), "a string (\"two\")")]
        {
            check(
                &json!({"query": "x", "limit": limit}),
                Err(&format!("`limit` is {found}, it must be a whole number")),
            );
        }
        check(&json!({"query": "x", "paths": "[\"a\", \"b"}), Err("`paths` is a string"));
        check(&json!({"query": "x", "paths": [1]}), Err("`paths` is a list ([1]), it must be a list of texts"));
        check(&json!({"query": "x", "result": "good"}), Err("it must be one of helpful, harmful"));
        for name in ["limt", "limits", "Limit", "lomit", "path"] {
            check(&json!({"query": "x", name: 1}), Err(&format!("unknown field `{name}`")));
        }
    }
}
