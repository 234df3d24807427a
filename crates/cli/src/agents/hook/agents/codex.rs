//! Codex, after [its hooks](https://developers.openai.com/codex/hooks), whose events are named as Claude Code's. One event comes after every call, and its answer is plain text:
//! an exit code is in the head that Codex writes above the output of a command, a patch and a program of code mode have sentences of
//! their own. Without one of these, nothing says how the call ended.

use adage::transcript::answer::status_in;
use adage::transcript::{Status, ToolCall};

use crate::agents::hook::fields::PayloadFields;
use crate::agents::hook::input::HookInput;

/// Beginnings of the answers of a patch, of code mode and of a command that could not be started.
const SENTENCES: [(&str, Status); 6] = [
    ("Success. Updated the following files:", Status::Succeeded),
    ("apply_patch verification failed", Status::Failed),
    ("Script completed", Status::Succeeded),
    ("Script failed", Status::Failed),
    ("Script error", Status::Failed),
    ("exec_command failed", Status::Failed),
];

pub(super) fn read(fields: &PayloadFields) -> HookInput {
    HookInput { call: call(fields), ..HookInput::conventional(fields) }
}

fn call(fields: &PayloadFields) -> Option<ToolCall> {
    let input = fields.value(&["tool_input"])?;
    let answer = fields.value(&["tool_response", "tool_output"]).unwrap_or_default();
    let sentence = || SENTENCES.iter().find(|(start, _)| answer.as_str().is_some_and(|text| text.starts_with(start)));
    let status = status_in(&answer, &input).or_else(|| sentence().map(|(_, status)| *status));
    let status = status.unwrap_or(Status::Unknown);
    Some(ToolCall { tool: fields.text(&["tool_name"]).to_owned(), input, result: None, status })
}
