//! GitHub Copilot CLI, after [its hooks](https://docs.github.com/en/copilot/reference/copilot-cli-reference/cli-hooks-reference): fields in
//! camel case without the event's name, or in snake case with it, depending on how the hook is configured. A shell's result is a
//! success whatever its program did, and ends with the exit code.

use adage::transcript::answer::{status_in, texts_in};
use adage::transcript::{Status, ToolCall};
use serde_json::Value;

use crate::agents::hook::fields::PayloadFields;
use crate::agents::hook::input::{Event, HookInput};

pub(super) const EVENTS: [(&str, Event); 6] = [
    ("sessionStart", Event::SessionStart),
    ("userPromptSubmitted", Event::Prompt),
    ("preToolUse", Event::BeforeTool),
    ("postToolUse", Event::AfterTool),
    ("postToolUseFailure", Event::AfterTool),
    ("sessionEnd", Event::SessionEnd),
];

pub(super) fn read(fields: &PayloadFields) -> HookInput {
    HookInput { call: call(fields), ..HookInput::conventional(fields) }
}

fn call(fields: &PayloadFields) -> Option<ToolCall> {
    let input = fields.value(&["toolArgs", "tool_input", "tool_args"])?;
    let answer = fields.value(&["toolResult", "tool_result", "tool_response"]);
    let has_failed = fields.event().eq_ignore_ascii_case("postToolUseFailure") || fields.has("error");
    let status = match &answer {
        Some(answer) => closing_status(answer).or_else(|| status_in(answer, &input)),
        None => has_failed.then_some(Status::Failed),
    };
    let (tool, status) = (fields.text(&["toolName", "tool_name"]).to_owned(), status.unwrap_or(Status::Unknown));
    Some(ToolCall { tool, input, result: None, status })
}

/// The status by the line that closes a shell's result: `<exited with exit code 1>`.
fn closing_status(answer: &Value) -> Option<Status> {
    texts_in(answer).into_iter().find_map(|text| {
        let last = text.trim_end().lines().next_back()?;
        let code = last.trim().strip_prefix("<exited with exit code ")?.strip_suffix('>')?;
        Some(if code == "0" { Status::Succeeded } else { Status::Failed })
    })
}
