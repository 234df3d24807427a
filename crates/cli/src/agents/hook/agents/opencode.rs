//! opencode, after [its plugins](https://opencode.ai/docs/plugins): a plugin passes on the two arguments of `tool.execute.before` and
//! `tool.execute.after`, as `input` and `output` or together. The exit code of a command is in `metadata.exit`.

use adage::transcript::answer::{is_stopped, status_in, texts_in};
use adage::transcript::{Status, ToolCall};
use serde_json::Value;

use crate::agents::hook::fields::PayloadFields;
use crate::agents::hook::input::{Event, HookInput};

pub(super) const EVENTS: [(&str, Event); 5] = [
    ("session.created", Event::SessionStart),
    ("chat.message", Event::Prompt),
    ("tool.execute.before", Event::BeforeTool),
    ("tool.execute.after", Event::AfterTool),
    ("session.deleted", Event::SessionEnd),
];

pub(super) fn read(fields: &PayloadFields) -> HookInput {
    let (input, output) = (fields.inner("input"), fields.inner("output"));
    let conventional = HookInput::conventional(fields);
    let session = [conventional.session.as_str(), input.text(&["sessionID"])].concat();
    HookInput { session, call: call(fields, &input, &output), ..conventional }
}

fn call(fields: &PayloadFields, input: &PayloadFields, output: &PayloadFields) -> Option<ToolCall> {
    let places = [fields, input, output];
    let given = places.iter().find_map(|place| place.value(&["args", "tool_input"]))?;
    let tool =
        places.iter().map(|place| place.text(&["tool", "tool_name"])).find(|tool| !tool.is_empty()).unwrap_or_default();
    let call = ToolCall { tool: tool.to_owned(), input: given, result: None, status: Status::Unknown };
    let answer = match output.value(&["metadata"]) {
        Some(_) => fields.value(&["output"]),
        None => fields.value(&["metadata", "tool_response"]),
    };
    let status = answer.as_ref().map_or(Status::Unknown, |answer| status(answer, &call));
    Some(ToolCall { status, ..call })
}

fn status(answer: &Value, call: &ToolCall) -> Status {
    if texts_in(answer).into_iter().any(is_stopped) {
        return Status::Unknown;
    }
    let is_shell = !call.commands().is_empty();
    status_in(answer, &call.input).unwrap_or(if is_shell { Status::Unknown } else { Status::Succeeded })
}
