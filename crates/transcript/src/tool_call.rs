//! A tool call: whether it runs a command, and which files it changes.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::command::name_words;
use crate::transcript::Status;

/// A tool call, with its result if the source has one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolCall {
    /// The tool's name as used by the agent.
    pub tool: String,
    /// Its input.
    pub input: Value,
    /// Its output, cut to head and tail; none if the source has no result.
    pub result: Option<String>,
    /// How it ended.
    pub status: Status,
}

/// The names of tools that run a command; compared without case.
const TERMINALS: [&str; 20] = [
    "bash",
    "bashtool",
    "exec",
    "exec_command",
    "execute_bash",
    "execute_command",
    "execute_shell_command",
    "local_shell",
    "local_shell_call",
    "powershell",
    "run_command",
    "run_in_terminal",
    "run_shell_command",
    "run_terminal_cmd",
    "run_terminal_command",
    "run_terminal_command_v2",
    "shell",
    "shell_command",
    "terminal",
    "unified_exec",
];

/// The input fields that may contain the command.
const COMMAND_FIELDS: [&str; 7] = ["command", "cmd", "script", "commandLine", "CommandLine", "input", "code"];

/// Words in the names of tools that change files.
const CHANGING: [&str; 9] = ["edit", "multiedit", "write", "patch", "replace", "insert", "delete", "rename", "move"];
/// Words in the names of tools that change no files, even with one of the other words.
const KEEPING: [&str; 5] = ["todo", "todos", "task", "plan", "memory"];

/// The input fields that may contain the path of the changed file.
const PATH_FIELDS: [&str; 7] =
    ["file_path", "path", "filePath", "filename", "target_file", "TargetFile", "notebook_path"];

impl ToolCall {
    /// The command that a call ran at a terminal; none for any other tool, and for an empty command.
    #[must_use]
    pub fn command(&self) -> Option<String> {
        let is_terminal = TERMINALS.iter().any(|name| self.tool.eq_ignore_ascii_case(name));
        let text = if is_terminal { command_in(&self.input)? } else { return None };
        Some(text).filter(|text| !text.trim().is_empty())
    }

    /// Every text in its input, in order, at any depth; names of fields are left out.
    #[must_use]
    pub fn input_texts(&self) -> Vec<&str> {
        texts_in(&self.input)
    }

    /// True for a tool that changes files.
    #[must_use]
    pub fn changes_files(&self) -> bool {
        let words = name_words(&self.tool);
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        has(&CHANGING) && !has(&KEEPING)
    }

    /// The path of the file that a call changed, from its input, otherwise from its result.
    #[must_use]
    pub fn changed_path(&self) -> Option<&str> {
        let named = self.input.as_object().and_then(|row| first(row, &PATH_FIELDS)).and_then(Value::as_str);
        named.or_else(|| file_in_result(self.result.as_deref()?)).map(str::trim)
    }

    /// The file that a call changed, with its parent folder: `auth/provider.go`.
    #[must_use]
    pub fn changed_place(&self) -> Option<String> {
        let path = self.changed_path()?;
        let mut parts = path.rsplit(['/', '\\']).filter(|part| !part.is_empty());
        let file = parts.next()?;
        Some(parts.next().map_or_else(|| file.to_owned(), |folder| format!("{folder}/{file}")))
    }

    /// The base name of the file that a call changed.
    #[must_use]
    pub fn changed_file(&self) -> Option<String> {
        self.changed_path()?.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).map(str::to_owned)
    }

    /// The text that an edit replaced, and the new text; none if the call does not contain them.
    #[must_use]
    pub fn replaced(&self) -> Option<(&str, &str)> {
        let row = self.input.as_object()?;
        let text = |fields: &[&str]| first(row, fields).and_then(Value::as_str);
        Some((text(&["old_string", "old_str", "oldText"])?, text(&["new_string", "new_str", "newText"])?))
    }
}

/// Every text in a call's input, in order.
pub(crate) fn texts_in(input: &Value) -> Vec<&str> {
    match input {
        Value::String(text) => vec![text],
        Value::Array(list) => list.iter().flat_map(texts_in).collect(),
        Value::Object(row) => row.values().flat_map(texts_in).collect(),
        _ => Vec::new(),
    }
}

fn command_in(input: &Value) -> Option<String> {
    match input {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner @ (Value::Object(_) | Value::Array(_))) => command_in(&inner),
            _ => Some(text.clone()),
        },
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            join(&words?)
        }
        Value::Object(row) => {
            let value = first(row, &COMMAND_FIELDS)?;
            // Some agents nest the input: {"input": {"command": …}}.
            if value.is_object() {
                first(value.as_object()?, &COMMAND_FIELDS).and_then(command_in)
            } else {
                command_in(value)
            }
        }
        _ => None,
    }
}

/// The command of `["bash", "-lc", "go test"]` is `go test`; any other list is quoted and joined.
fn join(words: &[&str]) -> Option<String> {
    match words {
        [shell, flags, script] if shell.ends_with("sh") && flags.starts_with('-') && flags.ends_with('c') => {
            Some((*script).to_owned())
        }
        _ => shlex::try_join(words.iter().copied()).ok(),
    }
}

/// `The file /a/b.rs has been updated`, `File created successfully at: /a/b.rs`.
fn file_in_result(result: &str) -> Option<&str> {
    result.lines().take(5).find_map(|line| {
        let after =
            line.split_once("The file ").and_then(|(_, rest)| rest.split_once(" has been ")).map(|(path, _)| path);
        after.or_else(|| line.split_once("File created successfully at: ").map(|(_, path)| path))
    })
}

fn first<'a>(row: &'a Map<String, Value>, fields: &[&str]) -> Option<&'a Value> {
    fields.iter().find_map(|field| row.get(*field)).filter(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(tool: &str, input: Value) -> ToolCall {
        ToolCall { tool: tool.to_owned(), input, result: None, status: Status::Unknown }
    }

    #[test]
    fn commands_are_found_in_every_input_format() {
        for (tool, input, expected) in [
            ("Bash", json!({"command": "ls", "description": "lists"}), Some("ls")),
            ("shell", json!({"command": ["bash", "-lc", "go test && ls"]}), Some("go test && ls")),
            ("shell", json!({"command": ["git", "commit", "-m", "a b"]}), Some("git commit -m 'a b'")),
            ("exec_command", json!({"cmd": "ls"}), Some("ls")),
            ("local_shell", json!({"script": "ls"}), Some("ls")),
            ("terminal", json!("{\"command\": \"ls\"}"), Some("ls")),
            ("execute_command", json!({"input": {"command": "ls"}}), Some("ls")),
            ("run_shell_command", json!("ls -l"), Some("ls -l")),
            ("BASH", json!({"command": "  "}), None),
            ("Bash", json!({"description": "x"}), None),
            ("Bash", json!({"command": [1]}), None),
            ("Read", json!({"command": "ls"}), None),
            ("BashOutput", json!({"command": "ls"}), None),
        ] {
            assert_eq!(call(tool, input.clone()).command().as_deref(), expected, "{tool} {input}");
        }
    }

    #[test]
    fn tools_that_change_files() {
        for (tool, expected) in [
            ("Edit", true),
            ("MultiEdit", true),
            ("apply_patch", true),
            ("write_to_file", true),
            ("replace", true),
            ("Read", false),
            ("TodoWrite", false),
            ("write_todos", false),
            ("ExitPlanMode", false),
            ("Credit", false),
        ] {
            assert_eq!(call(tool, json!({})).changes_files(), expected, "{tool}");
        }
        assert_eq!(call("Edit", json!({"file_path": "/a/b.rs"})).changed_file().as_deref(), Some("b.rs"));
        assert_eq!(call("Edit", json!({"path": "/"})).changed_file(), None);
        let told = |result: &str| {
            let edit = ToolCall { result: Some(result.to_owned()), ..call("Edit", json!({})) };
            edit.changed_file()
        };
        assert_eq!(told("```\nThe file /a/b.rs has been updated successfully.\n```").as_deref(), Some("b.rs"));
        assert_eq!(told("File created successfully at: /a/c.rs").as_deref(), Some("c.rs"));
        assert_eq!(told("no such text"), None);
        let edit = call("Edit", json!({"old_string": "x", "new_string": ""}));
        assert_eq!(edit.replaced(), Some(("x", "")));
        assert_eq!(call("Edit", json!({"old_string": "x"})).replaced(), None);
    }
}
