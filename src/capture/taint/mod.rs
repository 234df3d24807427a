//! Detects where a session began to read untrusted content (docs/spec/capture.md, 5.2).
//!
//! Text that an agent writes afterwards may come from that content. A call is trusted only if it is known to read files that
//! the project tracks, or to print no foreign content: tools and programs are on allow lists, all others are untrusted.

mod git;
mod local;
mod paths;
mod reading;

use adage_transcript::{CommandLine, Source, ToolCall, Transcript, Turn};
use serde_json::Value;

use crate::config::CaptureConfig;
use git::Branches;

/// Tools, in lower case without separators, that read and write files of the project, plan, or ask the person.
const KNOWN_TOOLS: [&str; 50] = [
    "read",
    "readfile",
    "readmanyfiles",
    "view",
    "viewfile",
    "viewimage",
    "cat",
    "open",
    "openfile",
    "ls",
    "listdir",
    "listdirectory",
    "listfiles",
    "glob",
    "globfilesearch",
    "grep",
    "grepsearch",
    "codebasesearch",
    "filesearch",
    "searchfiles",
    "searchfilecontent",
    "ripgrep",
    "find",
    "edit",
    "editfile",
    "multiedit",
    "notebookedit",
    "notebookread",
    "write",
    "writefile",
    "writetofile",
    "createfile",
    "applypatch",
    "strreplace",
    "strreplaceeditor",
    "strreplacebasededittool",
    "replace",
    "searchreplace",
    "insert",
    "deletefile",
    "todowrite",
    "todoread",
    "writetodos",
    "updateplan",
    "exitplanmode",
    "enterplanmode",
    "askuserquestion",
    "killshell",
    "think",
    "readlints",
];

/// Tags in which a harness puts what other people, agents and servers say.
const OTHERS: [&str; 10] = [
    "channel",
    "teammate-message",
    "cross-session-message",
    "agent-notification",
    "subagent_notification",
    "mcp-resource",
    "web_page",
    "fetched",
    "document",
    "documents",
];

/// Where an input keeps text that is written or searched for, not a path.
const TEXTS: [&str; 16] = [
    "content",
    "contents",
    "old_string",
    "new_string",
    "old_str",
    "new_str",
    "oldText",
    "newText",
    "file_text",
    "text",
    "pattern",
    "query",
    "todos",
    "plan",
    "prompt",
    "edits",
];

/// Where the input of a terminal's tool keeps the folder in which the command runs.
const FOLDERS: [&str; 6] = ["cwd", "workdir", "working_directory", "workingDirectory", "directory", "dir_path"];

/// The first turn with untrusted content; text that an agent writes in later turns is tainted. The first of all, if others can
/// have written the session.
pub(crate) fn first_untrusted(transcript: &Transcript, config: &CaptureConfig) -> Option<usize> {
    if transcript.source != Source::Agent {
        return Some(0);
    }
    let mut branches = Branches::default();
    transcript.turns.iter().position(|turn| {
        let call = match turn {
            Turn::ToolCall(call) => call,
            Turn::System(text) => return is_of_others(text),
            _ => return false,
        };
        let is_untrusted = is_untrusted(call, &transcript.project, &branches, config);
        branches.extend_by(call);
        is_untrusted
    })
}

/// True for text of others that a harness brings into the session without a call.
fn is_of_others(text: &str) -> bool {
    let inner = text.trim_start().strip_prefix('<').unwrap_or_default();
    OTHERS.iter().any(|tag| inner.strip_prefix(tag).is_some_and(|rest| rest.starts_with(['>', ' ', '\n'])))
}

fn is_untrusted(call: &ToolCall, project: &str, branches: &Branches, config: &CaptureConfig) -> bool {
    let tool = call.tool.to_lowercase();
    if tool.contains("__") || config.untrusted_tools.iter().any(|name| tool.contains(name.as_str())) {
        return true;
    }
    let Some(command) = call.command() else {
        let name: String = tool.chars().filter(char::is_ascii_alphanumeric).collect();
        let names_files = name.contains("glob") || name.contains("list") || matches!(name.as_str(), "ls" | "find");
        let pattern = call.input.get("pattern").filter(|_| names_files);
        let is_plain = tool.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:".contains(c));
        return !is_plain
            || !KNOWN_TOOLS.contains(&name.as_str())
            || reads_outside(&call.input, project)
            || pattern.is_some_and(|pattern| reads_outside(pattern, project));
    };
    if FOLDERS.iter().any(|key| call.input.get(key).is_some_and(|folder| reads_outside(folder, project))) {
        return true;
    }
    let is_named = |program: &str| config.untrusted_programs.iter().any(|name| program.eq_ignore_ascii_case(name));
    CommandLine::parse(&command).programs().any(is_named) || !local::is_local(&command, project, branches)
}

/// True when any path in an input, also in a list, is not one of the project's.
fn reads_outside(input: &Value, project: &str) -> bool {
    match input {
        Value::String(text) => {
            text.contains("://")
                || paths::is_outside(text.trim(), project)
                || is_in_foreign_folder(text.trim(), project)
        }
        Value::Array(list) => list.iter().any(|value| reads_outside(value, project)),
        Value::Object(row) => {
            row.iter().any(|(key, value)| !TEXTS.contains(&key.as_str()) && reads_outside(value, project))
        }
        _ => false,
    }
}

/// True for a path of the project in a folder of others or of what was made.
fn is_in_foreign_folder(path: &str, project: &str) -> bool {
    let below = path.strip_prefix(project).unwrap_or(path);
    below.contains('/') && paths::is_of_others(below.trim_start_matches('/'))
}

#[cfg(test)]
mod tests;
