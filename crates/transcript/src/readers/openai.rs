//! `OpenAI` chat messages, as
//! [the chat completions API](https://platform.openai.com/docs/api-reference/chat/create) takes and returns them: roles
//! `system`, `developer`, `user`, `assistant` (with `tool_calls`, arguments as JSON in a string; or the older
//! `function_call`), `tool` (and `function`). A list, `{"messages": […]}`, or one message per line. There is no status: the output
//! decides.

use serde_json::Value;

use super::recorder::{Recorder, arguments, str_of, text_of};

pub(super) fn read(message: &Value, recorder: &mut Recorder) {
    let content = message.get("content").unwrap_or(&Value::Null);
    match str_of(message, "role") {
        "user" => recorder.user(content, &["text", "input_text"]),
        "assistant" => {
            recorder.say(content, Recorder::assistant);
            for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
                function(str_of(call, "id"), call.get("function").or(call.get("custom")), recorder);
            }
            if let Some(call) = message.get("function_call") {
                // There are no ids: one call is open at a time, and its result has its name.
                let id = str_of(call, "name");
                recorder.forget(id);
                function(id, Some(call), recorder);
            }
        }
        role @ ("tool" | "function") => {
            let text = text_of(content, recorder);
            let id = if role == "tool" { "tool_call_id" } else { "name" };
            recorder.result(str_of(message, id), &text, None);
        }
        "system" | "developer" => recorder.say(content, Recorder::system),
        "" => recorder.skip("no role"),
        other => recorder.skip(other),
    }
}

fn function(id: &str, function: Option<&Value>, recorder: &mut Recorder) {
    let function = function.unwrap_or(&Value::Null);
    let input = function.get("arguments").or(function.get("input"));
    recorder.call(id, str_of(function, "name"), arguments(input));
}
