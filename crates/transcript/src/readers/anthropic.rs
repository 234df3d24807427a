//! Anthropic messages: `{"role", "content"}` with content blocks `text`, `tool_use`, `tool_result`, `thinking`, as
//! [the Messages API](https://docs.anthropic.com/en/api/messages) takes and returns them; a list, `{"messages": […]}` or
//! a line each. `is_error` of a tool result is optional there and many agents never set it, so where it is missing the
//! output decides.

use serde_json::Value;

use super::recorder::{Recorder, str_of, text_of};
use crate::Status;

pub(super) fn read(message: &Value, recorder: &mut Recorder) {
    let missing = Value::Null;
    let content = message.get("content").unwrap_or(&missing);
    let role = str_of(message, "role");
    match role {
        "user" | "assistant" => {
            blocks(role, content, recorder, |block| block.get("is_error").and_then(Value::as_bool).map(ended));
        }
        "system" | "developer" => recorder.say(content, Recorder::system),
        // The head of a document: `system` next to `messages`.
        "" if message.get("system").is_some() => {
            recorder.say(message.get("system").unwrap_or(&missing), Recorder::system);
        }
        "" => recorder.skip("no role"),
        other => recorder.skip(other),
    }
}

/// The status for an error flag.
pub(super) fn ended(is_error: bool) -> Status {
    if is_error { Status::Failed } else { Status::Succeeded }
}

/// The blocks of one message, in order; `told` reads the status from a tool result's record. What a program wrote in the user's
/// role has the role `system`.
pub(super) fn blocks(role: &str, content: &Value, recorder: &mut Recorder, told: impl Fn(&Value) -> Option<Status>) {
    let is_user = role == "user";
    let say = if role == "assistant" { Recorder::assistant } else { Recorder::system };
    let Value::Array(list) = content else {
        return if is_user { recorder.user(content, &["text"]) } else { recorder.say(content, say) };
    };
    if is_user {
        recorder.user(content, &["text"]);
    }
    for block in list {
        match str_of(block, "type") {
            kind if is_user && !kind.ends_with("tool_result") => {}
            "text" => say(recorder, str_of(block, "text")),
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                let input = block.get("input").cloned().unwrap_or_default();
                recorder.call(str_of(block, "id"), str_of(block, "name"), input);
            }
            kind if kind.ends_with("tool_result") => {
                let text = block.get("content").map_or_else(String::new, |content| text_of(content, recorder));
                recorder.result(str_of(block, "tool_use_id"), &text, told(block));
            }
            "thinking" | "redacted_thinking" => recorder.skip("thinking"),
            "" if block.is_string() => say(recorder, block.as_str().unwrap_or_default()),
            kind => recorder.skip(&format!("block {kind}")),
        }
    }
}
