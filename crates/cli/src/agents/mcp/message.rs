//! Checks a line before the SDK reads it, so that each fault gets its own error code of JSON-RPC 2.0.

use adage::redact::{json_error, mask};
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, ErrorCode, InitializeRequestParams, PaginatedRequestParams, ProtocolVersion};
use rmcp::service::RxJsonRpcMessage;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::json_kind::kind;

/// A message of the client.
pub(super) type Message = RxJsonRpcMessage<RoleServer>;

/// What a line contains.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one at a time exists, and is taken apart at once")]
pub(super) enum InputLine {
    /// One message; `None` if it is a notification that the server ignores.
    One(Result<Option<Message>, Value>),
    /// The messages of a batch, which are not checked yet.
    Batch(Vec<Value>),
}

/// Reads a line.
pub(super) fn read(line: &[u8]) -> InputLine {
    match serde_json::from_slice(line) {
        Ok(Value::Array(batch)) => InputLine::Batch(batch),
        Ok(value) => InputLine::One(message(value)),
        Err(error) => InputLine::One(Err(refusal(&Value::Null, ErrorCode::PARSE_ERROR, &json_error(&error)))),
    }
}

/// Fills in what clients leave out although its meaning is plain: null for no params, a client without a name or capabilities, a
/// version that is missing, arguments as a text of JSON.
fn filled(mut value: Value) -> Value {
    let Some(fields) = value.as_object_mut() else { return value };
    if fields.get("params") == Some(&Value::Null) {
        fields.remove("params");
    }
    let method = fields.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
    match method.as_str() {
        "initialize" => {
            if let Value::Object(params) = fields.entry("params").or_insert_with(|| json!({})) {
                params.retain(|_, value| !value.is_null());
                params.entry("protocolVersion").or_insert_with(|| json!(ProtocolVersion::LATEST.as_str()));
                params.entry("capabilities").or_insert_with(|| json!({}));
                if let Value::Object(client) = params.entry("clientInfo").or_insert_with(|| json!({})) {
                    for key in ["name", "version"] {
                        client.entry(key).or_insert_with(|| json!(""));
                    }
                }
            }
        }
        "tools/call" => {
            if let Some(Value::Object(params)) = fields.get_mut("params") {
                fill_arguments(params);
            }
        }
        _ => {}
    }
    value
}

fn fill_arguments(params: &mut Map<String, Value>) {
    let object =
        params.get("arguments").and_then(Value::as_str).and_then(|text| serde_json::from_str::<Value>(text).ok());
    if let Some(object) = object.filter(Value::is_object) {
        params.insert("arguments".to_owned(), object);
    }
    if params
        .get("arguments")
        .is_some_and(|arguments| arguments.is_null() || *arguments == "" || *arguments == json!([]))
    {
        params.remove("arguments");
    }
}

/// Checks a message. The error is the response to it.
pub(super) fn message(value: Value) -> Result<Option<Message>, Value> {
    let value = filled(value);
    let invalid = |id: &Value, text: &str| refusal(id, ErrorCode::INVALID_REQUEST, text);
    let Value::Object(fields) = &value else {
        return Err(invalid(&Value::Null, &format!("a message is an object, not {}", kind(&value))));
    };
    let id = fields.get("id");
    let known = id.filter(|id| id.is_string() || id.is_i64() || id.is_u64()).cloned().unwrap_or_default();
    if fields.get("jsonrpc") != Some(&json!("2.0")) {
        let found = fields.get("jsonrpc").map_or("missing".to_owned(), ToString::to_string);
        return Err(invalid(&known, &format!("\"jsonrpc\" is {found}, it must be \"2.0\"")));
    }
    if let Some(id) = id.filter(|_| known.is_null()) {
        return Err(invalid(&known, &format!("the id is {id}, it must be a string or a whole number")));
    }
    match fields.get("method") {
        Some(Value::String(method)) => {
            params(method, fields).map_err(|text| refusal(&known, ErrorCode::INVALID_PARAMS, &text))?;
        }
        Some(method) => return Err(invalid(&known, &format!("the method is {method}, it must be a string"))),
        None if ["result", "error"].iter().any(|key| fields.contains_key(*key)) => {}
        None => return Err(invalid(&known, "a message has a method, a result or an error; it has none")),
    }
    let is_notification = id.is_none();
    match serde_json::from_value(value) {
        Ok(message) => Ok(Some(message)),
        // A notification has no response, and one that the server does not know has no effect.
        Err(_) if is_notification => Ok(None),
        Err(error) => Err(invalid(&known, &json_error(&error))),
    }
}

/// Checks the parameters of the methods that the server has.
fn params(method: &str, fields: &Map<String, Value>) -> Result<(), String> {
    let empty = json!({});
    let params = fields.get("params").unwrap_or(&empty);
    if !params.is_object() {
        return Err(format!("the params of {method} are {}, they must be an object", kind(params)));
    }
    match method {
        "initialize" => check::<InitializeRequestParams>(method, params),
        "tools/list" => check::<PaginatedRequestParams>(method, params),
        "tools/call" => match params.get("arguments").filter(|arguments| !arguments.is_object()) {
            Some(found) => Err(format!("the arguments of tools/call: expected an object, found {}", kind(found))),
            None => check::<CallToolRequestParams>(method, params),
        },
        _ => Ok(()),
    }
}

fn check<T: DeserializeOwned>(method: &str, params: &Value) -> Result<(), String> {
    let read = serde_json::from_value::<T>(params.clone());
    read.map(|_| ()).map_err(|error| format!("the params of {method}: {}", json_error(&error)))
}

/// The response to a request that is refused. What it quotes of the request has no secret.
pub(super) fn refusal(id: &Value, code: ErrorCode, message: &str) -> Value {
    let message = mask(message).text;
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code.0, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, id: &Value, code: i32, message: &str) {
        let InputLine::One(Err(response)) = read(line.as_bytes()) else { panic!("{line} is accepted") };
        assert_eq!(response, refusal(id, ErrorCode(code), message), "{line}");
    }

    #[test]
    fn each_fault_has_its_code_and_shows_both_sides() {
        let none = &Value::Null;
        check("nope", none, -32_700, "it is not JSON from column 2 on");
        check("{\"jsonrpc\": \"2.0\"", none, -32_700, "the JSON ends too early, at column 17");
        check("7", none, -32_600, "a message is an object, not a number");
        check(r#"{"id": 7, "method": "ping"}"#, &json!(7), -32_600, "\"jsonrpc\" is missing, it must be \"2.0\"");
        check(
            r#"{"jsonrpc": "1.0", "id": "a", "method": "x"}"#,
            &json!("a"),
            -32_600,
            "\"jsonrpc\" is \"1.0\", it must be \"2.0\"",
        );
        check(
            r#"{"jsonrpc": "2.0", "id": null, "method": "x"}"#,
            none,
            -32_600,
            "the id is null, it must be a string or a whole number",
        );
        check(
            r#"{"jsonrpc": "2.0", "id": 1.5, "method": "x"}"#,
            none,
            -32_600,
            "the id is 1.5, it must be a string or a whole number",
        );
        check(
            r#"{"jsonrpc": "2.0", "id": 1, "method": 7}"#,
            &json!(1),
            -32_600,
            "the method is 7, it must be a string",
        );
        check(
            r#"{"jsonrpc": "2.0", "id": 1}"#,
            &json!(1),
            -32_600,
            "a message has a method, a result or an error; it has none",
        );
        let call =
            |params: &str| format!(r#"{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}"#);
        check(&call("[1]"), &json!(1), -32_602, "the params of tools/call are a list, they must be an object");
        check(&call("{}"), &json!(1), -32_602, "the params of tools/call: missing field `name`");
        check(
            &call(r#"{"name": 7}"#),
            &json!(1),
            -32_602,
            "the params of tools/call: invalid type: number `7`, expected a string",
        );
    }

    #[test]
    fn valid_messages_are_passed_on() {
        for line in [
            r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "recall", "arguments": {"query": "x"}}}"#,
            r#"{"jsonrpc": "2.0", "id": "a", "method": "ping"}"#,
            r#"{"jsonrpc": "2.0", "id": 2, "method": "no/such/method", "params": {}}"#,
            r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#,
        ] {
            assert!(matches!(read(line.as_bytes()), InputLine::One(Ok(Some(_)))), "{line}");
        }
    }
}
