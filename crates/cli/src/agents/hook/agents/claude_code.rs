//! Claude Code, after [its hooks](https://code.claude.com/docs/en/hooks). `PostToolUse` comes after a success alone,
//! `PostToolUseFailure` after a failure or an interrupt, which `is_interrupt` tells apart.

use adage::transcript::answer::{is_error, is_stopped, status_in, texts_in};
use adage::transcript::{Status, ToolCall};
use serde_json::Value;

use crate::agents::hook::fields::PayloadFields;
use crate::agents::hook::input::{Event, HookInput};

pub(super) const EVENTS: [(&str, Event); 7] = [
    ("SessionStart", Event::SessionStart),
    ("SubagentStart", Event::SubagentStart),
    ("UserPromptSubmit", Event::Prompt),
    ("PreToolUse", Event::BeforeTool),
    ("PostToolUse", Event::AfterTool),
    ("PostToolUseFailure", Event::AfterTool),
    ("SessionEnd", Event::SessionEnd),
];

pub(super) fn read(fields: &PayloadFields) -> HookInput {
    HookInput { call: call(fields), ..HookInput::conventional(fields) }
}

fn call(fields: &PayloadFields) -> Option<ToolCall> {
    let input = fields.value(&["tool_input"])?;
    let answer = fields.value(&["tool_response", "tool_output"]);
    let status = match fields.event() {
        "PostToolUseFailure" => failure(fields, answer.as_ref(), &input),
        _ => answer.as_ref().map_or(Status::Unknown, |answer| result(fields, answer, &input)),
    };
    Some(ToolCall { tool: fields.text(&["tool_name"]).to_owned(), input, result: None, status })
}

fn failure(fields: &PayloadFields, answer: Option<&Value>, input: &Value) -> Status {
    let is_open = answer.is_some_and(|answer| status_in(answer, input) == Some(Status::Unknown));
    let is_stopped = fields.is_true("is_interrupt") || is_stopped(fields.text(&["error"]));
    if is_open || is_stopped { Status::Unknown } else { Status::Failed }
}

/// The status after a success, of which the answer of a shell has what it printed and no exit code.
fn result(fields: &PayloadFields, answer: &Value, input: &Value) -> Status {
    if fields.is_true("is_interrupt") {
        return Status::Unknown;
    }
    let is_of_success = fields.event() == "PostToolUse";
    let has_failed = answer.as_str().is_some() && texts_in(answer).into_iter().any(is_error);
    let unsaid = match (has_failed, is_of_success) {
        (true, _) => Status::Failed,
        (false, true) => Status::Succeeded,
        (false, false) => Status::Unknown,
    };
    status_in(answer, input).unwrap_or(unsaid)
}
