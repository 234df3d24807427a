//! Windsurf's Cascade, after [its hooks](https://docs.windsurf.com/windsurf/cascade/hooks): one envelope with `agent_action_name`, and
//! `tool_info` of the action. No hook says how a command ended, and none takes a text.

use adage::transcript::answer::status_in;
use adage::transcript::{Status, ToolCall};
use serde_json::{Value, json};

use crate::hook::fields::Fields;
use crate::hook::input::{Event, HookInput};

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

pub(super) fn read(fields: &Fields) -> HookInput {
    let info = fields.inner("tool_info");
    let conventional = HookInput::conventional(fields);
    let folders = [info.text(&["cwd"]), fields.text(&["cwd"])].map(std::path::PathBuf::from);
    HookInput {
        session: fields.text(&["trajectory_id"]).to_owned(),
        folders: folders.into_iter().chain(conventional.folders.clone()).filter(|path| path.is_absolute()).collect(),
        message: info.text(&["user_prompt"]).to_owned(),
        call: call(fields.event(), &info),
        ..conventional
    }
}

fn call(event: &str, info: &Fields) -> Option<ToolCall> {
    let file = || json!({ "file_path": info.text(&["file_path"]) });
    let (tool, input, status) = match event {
        "pre_run_command" | "post_run_command" => {
            ("run_command", json!({ "command": info.text(&["command_line"]) }), exit_status(info))
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

fn exit_status(info: &Fields) -> Status {
    let answer = json!({ "exit_code": info.value(&["exit_code", "exitCode"]) });
    status_in(&answer, &Value::Null).unwrap_or(Status::Unknown)
}
