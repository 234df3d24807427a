//! Cursor, after [its hooks](https://cursor.com/docs/hooks). `postToolUse` comes after a success and `postToolUseFailure` after a
//! failure, a timeout, a refusal or an interrupt. The hooks of one kind of call, such as `afterShellExecution`, give what it printed and
//! not how it ended.

use adage::transcript::answer::status_in;
use adage::transcript::{Status, ToolCall};
use serde_json::{Value, json};

use crate::agents::hook::fields::PayloadFields;
use crate::agents::hook::input::{Event, HookInput};

pub(super) const EVENTS: [(&str, Event); 12] = [
    ("sessionStart", Event::SessionStart),
    ("beforeSubmitPrompt", Event::Prompt),
    ("preToolUse", Event::BeforeTool),
    ("beforeShellExecution", Event::BeforeTool),
    ("beforeMCPExecution", Event::BeforeTool),
    ("beforeReadFile", Event::BeforeTool),
    ("postToolUse", Event::AfterTool),
    ("postToolUseFailure", Event::AfterTool),
    ("afterShellExecution", Event::AfterTool),
    ("afterMCPExecution", Event::AfterTool),
    ("afterFileEdit", Event::AfterTool),
    ("sessionEnd", Event::SessionEnd),
];

pub(super) fn read(fields: &PayloadFields) -> HookInput {
    HookInput { call: call(fields), ..HookInput::conventional(fields) }
}

fn call(fields: &PayloadFields) -> Option<ToolCall> {
    let call = |tool: &str, input: Value, status| ToolCall { tool: tool.to_owned(), input, result: None, status };
    let file = || json!({ "file_path": fields.text(&["file_path"]) });
    match fields.event() {
        "beforeShellExecution" | "afterShellExecution" => {
            let input = json!({ "command": fields.text(&["command"]) });
            let status = status_in(&json!({ "exit_code": fields.value(&["exit_code", "exitCode"]) }), &input);
            Some(call("Shell", input, status.unwrap_or(Status::Unknown)))
        }
        "afterFileEdit" | "afterTabFileEdit" => Some(call("Edit", file(), Status::Succeeded)),
        "beforeReadFile" | "beforeTabFileRead" => Some(call("Read", file(), Status::Unknown)),
        event => {
            let input = fields.value(&["tool_input"])?;
            let status = status(fields, event, &input);
            Some(call(fields.text(&["tool_name"]), input, status))
        }
    }
}

fn status(fields: &PayloadFields, event: &str, input: &Value) -> Status {
    if event == "postToolUseFailure" {
        let is_made = fields.text(&["failure_type"]) != "permission_denied" && !fields.is_true("is_interrupt");
        return if is_made { Status::Failed } else { Status::Unknown };
    }
    let answer = fields.value(&["tool_output", "result_json", "tool_response"]);
    let said = answer.as_ref().and_then(|answer| status_in(answer, input));
    let is_of_success = matches!(event, "postToolUse" | "afterMCPExecution") && answer.is_some();
    said.unwrap_or(if is_of_success { Status::Succeeded } else { Status::Unknown })
}
