//! Windsurf's Cascade, after [its hooks](https://docs.windsurf.com/windsurf/cascade/hooks): one envelope with `agent_action_name`, and
//! `tool_info` of the action. No hook says how a command ended, and none takes a text.

use adage::transcript::answer::status_in;
use adage::transcript::{Status, ToolCall};
use serde_json::{Value, json};

use crate::agents::hook::fields::PayloadFields;
use crate::agents::hook::input::{Event, HookInput};

pub(super) const EVENTS: [(&str, Event); 9] = [
    ("pre_user_prompt", Event::Prompt),
    ("pre_read_code", Event::BeforeTool),
    ("pre_write_code", Event::BeforeTool),
    ("pre_run_command", Event::BeforeTool),
    ("pre_mcp_tool_use", Event::BeforeTool),
    ("post_read_code", Event::AfterTool),
    ("post_write_code", Event::AfterTool),
    ("post_run_command", Event::AfterTool),
    ("post_mcp_tool_use", Event::AfterTool),
];

pub(super) fn read(fields: &PayloadFields) -> HookInput {
    let info = fields.inner("tool_info");
    let of_action = HookInput::conventional(&info);
    let conventional = HookInput::conventional(fields);
    let folders = of_action.folders.into_iter().chain(conventional.folders).collect();
    HookInput { folders, message: of_action.message, call: call(fields.event(), &info), ..conventional }
}

fn call(event: &str, info: &PayloadFields) -> Option<ToolCall> {
    let file = || json!({ "file_path": info.text(&["file_path"]) });
    let (tool, input, status) = match event {
        "pre_run_command" | "post_run_command" => {
            ("run_command", json!({ "command": info.text(&["command_line"]) }), Status::Unknown)
        }
        "pre_write_code" => ("write", file(), Status::Unknown),
        // It comes after the file was written.
        "post_write_code" => ("write", file(), Status::Succeeded),
        "pre_read_code" | "post_read_code" => ("read", file(), Status::Unknown),
        "pre_mcp_tool_use" | "post_mcp_tool_use" => {
            let input = info.value(&["mcp_tool_arguments"]).unwrap_or_default();
            let answer = info.value(&["mcp_result"]).unwrap_or_default();
            let status = status_in(&answer, &Value::Null).unwrap_or(Status::Unknown);
            (info.text(&["mcp_tool_name"]), input, status)
        }
        _ => return None,
    };
    Some(ToolCall { tool: tool.to_owned(), input, result: None, status })
}
