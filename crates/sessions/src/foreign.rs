//! Whether a session read what others wrote (docs/spec/capture.md, 5.2): a label for the person who reviews what it taught.
//!
//! The label is coarse on purpose. It decides nothing: what is found in a session waits for a person anyway.

use std::path::{Component, Path};

use adage_transcript::{CommandLine, Source, ToolCall, Transcript};
use serde_json::Value;

/// Parts of the names of tools that read the web.
const WEB_TOOLS: [&str; 5] = ["web", "fetch", "browser", "search_engine", "http"];

/// Programs that read the web.
const WEB_PROGRAMS: [&str; 7] = ["curl", "wget", "lynx", "w3m", "http", "https", "aria2c"];

/// Fields of a call's input with the path of a file or folder that is read.
const PATH_FIELDS: [&str; 6] = ["file_path", "path", "filePath", "filename", "target_file", "notebook_path"];

/// True if a call of the session read the web, a tool of another server or a file outside the project, or if others can have
/// written the whole session.
pub(crate) fn reads_foreign(transcript: &Transcript) -> bool {
    let mut calls = transcript.turns.iter().filter_map(|turn| turn.as_call());
    transcript.source != Source::Agent || calls.any(|call| is_foreign(call, &transcript.project))
}

fn is_foreign(call: &ToolCall, project: &str) -> bool {
    let tool = call.tool.to_lowercase();
    let is_named = |program: &str| WEB_PROGRAMS.contains(&program);
    tool.contains("__")
        || WEB_TOOLS.iter().any(|part| tool.contains(part))
        || call.command().is_some_and(|command| CommandLine::parse(&command).programs().any(is_named))
        || PATH_FIELDS
            .iter()
            .any(|field| call.input.get(field).and_then(Value::as_str).is_some_and(|path| is_outside(path, project)))
}

/// True for an absolute path that is not below the project, and for one that climbs.
fn is_outside(path: &str, project: &str) -> bool {
    let path = Path::new(path);
    let climbs = path.components().any(|part| part == Component::ParentDir);
    climbs || (path.is_absolute() && !project.is_empty() && !path.starts_with(project))
}

#[cfg(test)]
mod tests {
    use adage_transcript::{Status, Turn};
    use serde_json::json;

    use super::*;

    fn session(tool: &str, input: Value) -> Transcript {
        let call = ToolCall { tool: tool.into(), input, result: None, status: Status::Succeeded };
        Transcript { project: "/srv/shop".into(), turns: vec![Turn::ToolCall(call)], ..Transcript::default() }
    }

    #[test]
    fn the_web_other_servers_and_files_outside_the_project_are_of_others() {
        for (tool, input, expected) in [
            ("WebFetch", json!({"url": "https://example.org"}), true),
            ("mcp__tracker__issue", json!({}), true),
            ("Bash", json!({"command": "cd docs && curl -s https://example.org | head"}), true),
            ("Read", json!({"file_path": "/etc/hosts"}), true),
            ("Read", json!({"file_path": "../bank/a.rs"}), true),
            ("Read", json!({"file_path": "/srv/shop/src/a.rs"}), false),
            ("Read", json!({"file_path": "src/a.rs"}), false),
            ("Bash", json!({"command": "cargo test"}), false),
            ("Grep", json!({"pattern": "curl"}), false),
        ] {
            assert_eq!(reads_foreign(&session(tool, input.clone())), expected, "{tool} {input}");
        }
        let of_others = Transcript { source: Source::Others, ..Transcript::default() };
        assert!(reads_foreign(&of_others));
    }
}
