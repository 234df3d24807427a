//! A tool call: whether it runs a command, and which files it changes.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::code_mode::{self, ScriptCalls};
use crate::command::name_words;
use crate::patch;
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

/// The input fields that may contain a path.
const PATH_FIELDS: [&str; 8] =
    ["file_path", "path", "filePath", "filename", "target_file", "TargetFile", "notebook_path", "absolute_path"];
/// The input fields that may contain paths.
const LIST_FIELDS: [&str; 4] = ["paths", "files", "file_paths", "filePaths"];
/// The input fields that may contain a patch.
const PATCH_FIELDS: [&str; 6] = ["input", "patch", "patchText", "command", "cmd", "patch_text"];
/// The tool of Codex' code mode.
const CODE_MODE: &str = "exec";

impl ToolCall {
    /// The command that a call ran at a terminal; none for any other tool, and for an empty command. Several of them, as a program
    /// of Codex' code mode may run, are lines.
    #[must_use]
    pub fn command(&self) -> Option<String> {
        Some(self.commands().join("\n")).filter(|text| !text.is_empty())
    }

    /// The command lines that a call ran at a terminal; none for any other tool. A patch that a command line applies is none.
    ///
    /// ```
    /// use adage_transcript::{Status, ToolCall};
    /// let code = "await tools.exec_command({cmd: 'make'}); await tools.exec_command({cmd: 'make test'})";
    /// let call = ToolCall { tool: "exec".to_owned(), input: code.into(), result: None, status: Status::Unknown };
    /// assert_eq!(call.commands(), ["make", "make test"]);
    /// ```
    #[must_use]
    pub fn commands(&self) -> Vec<String> {
        let lines = match (self.is_terminal(), self.script()) {
            (true, Some(script)) => script.commands.iter().filter_map(|words| command_of(words)).collect(),
            (true, None) => command_in(&self.input).into_iter().collect(),
            (false, _) => Vec::new(),
        };
        let without_patches = |line: String| {
            if patch::is_patch(&line) {
                String::new()
            } else {
                patch::applied_by(&line).map_or(line, |applied| applied.rest)
            }
        };
        lines.into_iter().map(without_patches).filter(|line| !line.trim().is_empty()).collect()
    }

    /// The paths of all files that a call names, in a field, in the headers of a patch or in its result; a tool that only reads names
    /// some too.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        let named = self.named_path().map(str::to_owned).into_iter().chain(self.listed_paths());
        let mut paths: Vec<String> = named.chain(self.patched()).collect();
        let mut met = BTreeSet::new();
        paths.retain(|path| met.insert(path.clone()));
        if paths.is_empty() {
            paths.extend(self.result.as_deref().and_then(file_in_result).map(str::to_owned));
        }
        paths
    }

    fn is_terminal(&self) -> bool {
        TERMINALS.iter().any(|name| self.tool.eq_ignore_ascii_case(name))
    }

    /// The calls of a program of code mode; none for any other tool.
    fn script(&self) -> Option<ScriptCalls> {
        let code = match &self.input {
            Value::String(text) => text.as_str(),
            input => first(input.as_object()?, &["input", "code", "script", "source"])?.as_str()?,
        };
        let is_script = self.tool.eq_ignore_ascii_case(CODE_MODE) && code_mode::is_script(code);
        is_script.then(|| code_mode::calls_in(code))
    }

    /// The files of the patches that a call applies: as a tool, at a terminal, or in a program of code mode.
    fn patched(&self) -> Vec<String> {
        if let Some(script) = self.script() {
            let texts = script.patches.iter().flat_map(|patch| patch::paths_in(patch)).map(str::to_owned);
            let lines = script.commands.iter().filter_map(|words| patch::applied_by(&command_of(words)?));
            return texts.chain(lines.flat_map(|applied| applied.paths)).collect();
        } else if let Some(patch) = self.patch() {
            return patch::paths_in(patch).map(str::to_owned).collect();
        }
        let line = self.is_terminal().then(|| command_in(&self.input)).flatten();
        line.and_then(|line| patch::applied_by(&line)).map_or(Vec::new(), |applied| applied.paths)
    }

    /// The patch that is the whole input of a tool that patches, or the last word of a command.
    fn patch(&self) -> Option<&str> {
        let is_patcher = name_words(&self.tool).iter().any(|word| word == "patch") || self.is_terminal();
        let text = match &self.input {
            Value::Object(row) => first(row, &PATCH_FIELDS)?,
            other => other,
        };
        let text = text.as_array().map_or(Some(text), |words| words.last())?.as_str()?;
        (is_patcher && patch::is_patch(text)).then_some(text)
    }

    /// The paths of several edits in one call: of `edits` or `replacements` that each name a file, or of a list of files.
    fn listed_paths(&self) -> Vec<String> {
        let lists =
            self.input.as_object().into_iter().flatten().filter_map(|(key, value)| Some((key, value.as_array()?)));
        let path_of = |key: &str, item: &Value| match item {
            Value::Object(row) => first(row, &PATH_FIELDS).and_then(Value::as_str).map(str::to_owned),
            Value::String(path) => LIST_FIELDS.contains(&key).then(|| path.clone()),
            _ => None,
        };
        lists.flat_map(|(key, items)| items.iter().filter_map(move |item| path_of(key, item))).collect()
    }

    fn named_path(&self) -> Option<&str> {
        self.input.as_object().and_then(|row| first(row, &PATH_FIELDS)).and_then(Value::as_str).map(str::trim)
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
        (has(&CHANGING) && !has(&KEEPING)) || (self.is_terminal() && !self.patched().is_empty())
    }

    /// The path of the file that a call changed, from its input, otherwise from its result.
    #[must_use]
    pub fn changed_path(&self) -> Option<&str> {
        let patched = || patch::paths_in(self.patch()?).next();
        self.named_path().or_else(patched).or_else(|| file_in_result(self.result.as_deref()?)).map(str::trim)
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

/// The command line of one text, or of words.
fn command_of(words: &[String]) -> Option<String> {
    match words {
        [line] => Some(line.clone()),
        words => join(&words.iter().map(String::as_str).collect::<Vec<_>>()),
    }
}

/// The command of `["bash", "-lc", "go test"]` is `go test`; any other list is quoted and joined.
fn join(words: &[&str]) -> Option<String> {
    let (shell, flags) = words.split_first()?;
    let (script, flags) = flags.split_last().unwrap_or((&"", &[]));
    let is_shell = name_of(shell).ends_with("sh") || matches!(name_of(shell), "powershell" | "cmd");
    let takes_script = |flag: &&str| {
        let flag = flag.to_ascii_lowercase();
        flag == "/c" || flag == "-command" || (flag.starts_with('-') && !flag.starts_with("--") && flag.ends_with('c'))
    };
    if is_shell && flags.last().is_some_and(takes_script) {
        return Some((*script).to_owned());
    }
    if patch::is_patch(script) {
        return Some((*script).to_owned());
    }
    shlex::try_join(words.iter().copied()).ok()
}

/// The name of a program without its folder and `.exe`.
fn name_of(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.strip_suffix(".exe").unwrap_or(name)
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
            ("shell", json!({"command": ["/bin/zsh", "-l", "-c", "make"]}), Some("make")),
            ("shell", json!({"command": ["powershell.exe", "-NoProfile", "-Command", "dir"]}), Some("dir")),
            ("exec", json!({"input": "tools.exec_command({cmd: 'a'})\ntools.exec_command({cmd: 'b'})"}), Some("a\nb")),
            ("exec", json!("text(await tools.read(x))"), None),
            (
                "shell",
                json!({"command": ["apply_patch", "*** Begin Patch\n*** Add File: a\n+ls\n*** End Patch"]}),
                None,
            ),
            ("Bash", json!({"command": [1]}), None),
            ("Read", json!({"command": "ls"}), None),
            ("BashOutput", json!({"command": "ls"}), None),
        ] {
            assert_eq!(call(tool, input.clone()).command().as_deref(), expected, "{tool} {input}");
        }
    }

    #[test]
    fn a_patch_names_the_files_that_it_changes() {
        let patch = "*** Begin Patch\n*** Update File: a/b.rs\n@@\n-x\n+y\n*** Add File: c.rs\n+z\n*** End Patch";
        for (tool, input) in [
            ("apply_patch", json!({"input": patch})),
            ("apply_patch", json!({"command": patch})),
            ("apply_patch", json!(patch)),
            ("shell", json!({"command": ["apply_patch", patch]})),
            ("Bash", json!({"command": format!("apply_patch <<'EOF'\n{patch}\nEOF")})),
            ("exec", json!(format!("await tools.apply_patch(`{patch}`)"))),
        ] {
            let call = call(tool, input.clone());
            assert!(call.changes_files(), "{tool} {input}");
            assert_eq!(
                (call.paths(), call.commands()),
                (vec!["a/b.rs".to_owned(), "c.rs".to_owned()], vec![]),
                "{tool} {input}"
            );
        }
        assert_eq!(call("Write", json!({"file_path": "notes.md", "content": patch})).paths(), ["notes.md"]);
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
