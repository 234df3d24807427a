//! gemini-cli, after [its hooks](https://geminicli.com/docs/hooks/reference). A call has ended well if its answer has no `error`; but a
//! shell's call ends well whatever its program did, and the exit code is one of the lines that close its `llmContent`.

use adage::transcript::answer::{is_error, is_stopped, status_in, texts_in};
use adage::transcript::{Status, ToolCall};
use serde_json::Value;

use crate::agents::hook::fields::PayloadFields;
use crate::agents::hook::input::{Event, HookInput};

pub(super) const EVENTS: [(&str, Event); 5] = [
    ("SessionStart", Event::SessionStart),
    ("BeforeAgent", Event::Prompt),
    ("BeforeTool", Event::BeforeTool),
    ("AfterTool", Event::AfterTool),
    ("SessionEnd", Event::SessionEnd),
];

/// The names of the lines that close the answer of a shell, as
/// [the tool](https://github.com/google-gemini/gemini-cli/blob/main/packages/core/src/tools/shell.ts) writes them.
const CLOSING: [&str; 5] = ["Error: ", "Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: "];

pub(super) fn read(fields: &PayloadFields) -> HookInput {
    HookInput { call: call(fields), ..HookInput::conventional(fields) }
}

fn call(fields: &PayloadFields) -> Option<ToolCall> {
    let input = fields.value(&["tool_input"])?;
    let answer = fields.value(&["tool_response"]).unwrap_or_default();
    let call = ToolCall { tool: fields.text(&["tool_name"]).to_owned(), input, result: None, status: Status::Unknown };
    let status = status(&answer, &call);
    Some(ToolCall { status, ..call })
}

fn status(answer: &Value, call: &ToolCall) -> Status {
    let texts = texts_in(answer);
    if texts.iter().any(|text| is_stopped(text)) {
        return Status::Unknown;
    }
    let closing = texts.iter().find_map(|text| closing_status(text));
    if let Some(status) = closing.or_else(|| status_in(answer, &call.input)) {
        return status;
    }
    let has_answer = answer.get("llmContent").is_some();
    match (call.commands().is_empty(), has_answer) {
        (true, true) if texts.iter().any(|text| is_error(text)) => Status::Failed,
        (true, true) => Status::Succeeded,
        _ => Status::Unknown,
    }
}

/// The status by the lines that close a shell's answer, read from the last one upwards. Newer versions leave out what is `(none)` and an
/// exit code of 0.
fn closing_status(text: &str) -> Option<Status> {
    let lines = text.lines().rev().skip_while(|line| line.trim().is_empty());
    let closing = lines.map_while(|line| {
        let name = CLOSING.iter().find(|name| line.starts_with(**name))?;
        Some((*name, line.get(name.len()..).unwrap_or_default().trim()))
    });
    let closing: Vec<(&str, &str)> = closing.collect();
    let value = |name: &str| closing.iter().find(|(known, _)| known.trim_end() == name).map(|(_, value)| *value);
    let is_said = |value: &&str| *value != "(none)";
    let code = value("Exit Code:").filter(is_said).and_then(|code| code.parse::<i64>().ok());
    let (signal, error) = (value("Signal:").filter(is_said), value("Error:").filter(is_said));
    match (code, signal.or(error)) {
        (Some(0), _) => Some(Status::Succeeded),
        (None, Some("SIGINT" | "2")) => Some(Status::Unknown),
        (Some(_), _) | (None, Some(_)) => Some(Status::Failed),
        (None, None) if value("Exit Code:").is_none() && value("Process Group PGID:").is_some() => {
            Some(Status::Succeeded)
        }
        (None, None) => None,
    }
}
