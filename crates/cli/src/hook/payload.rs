//! The payloads that agents send at an event, and the format of the answer. Every text of a payload is data.

use std::path::{Path, PathBuf};

use adage::TextHash;
use adage::transcript::without_harness_tags;
use serde_json::{Map, Value, json};

use super::hash_of;

/// An agent with a known format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    ClaudeCode,
    Codex,
    GeminiCli,
    Cursor,
}

/// An event of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    SessionStart,
    SubagentStart,
    Prompt,
    BeforeTool,
    AfterTool,
    SessionEnd,
}

/// The tool call, as far as lessons are matched with it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Call {
    paths: Vec<String>,
    pub(super) commands: Vec<String>,
    /// Whether the tool only looks at files.
    only_reads: bool,
    /// The agent's description of the call.
    description: String,
    hash: Option<TextHash>,
}

/// What became of a call, as far as its payload says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallResult {
    Passed,
    Failed,
    /// It was interrupted, goes on running, or has no field or line that this program knows.
    Unknown,
}

/// A payload; fields that are missing or of another type are empty.
#[derive(Debug, Default)]
pub(super) struct Payload(Map<String, Value>);

/// The keys by which tools name files and command lines.
const PATHS: [&str; 6] = ["file_path", "path", "notebook_path", "absolute_path", "filePath", "target_file"];
const COMMANDS: [&str; 2] = ["command", "cmd"];
/// Words in the names of tools that only look at files.
const READING: [&str; 8] = ["view", "grep", "glob", "ls", "list", "search", "find", "notebookread"];
/// The keys by which tools give the exit status.
const EXIT_CODES: [&str; 3] = ["exit_code", "exitCode", "returncode"];
/// The keys by which tools give what a command printed.
const PRINTED: [&str; 5] = ["output", "stdout", "content", "llmContent", "text"];
/// How agents begin the line of a tool's answer that has the exit status.
const EXIT_LINES: [&str; 4] = ["exit code", "process exited with code", "exited with code", "command exited with code"];
/// In so many lines at the beginning and at the end of an answer.
const MAX_EXIT_LINES: usize = 5;
/// How a tool says that a command goes on running.
const RUNNING: [&str; 4] =
    ["running in background", "running in the background", "backgrounded", "process running with session"];
/// The maximum characters of a text that are compared with lessons.
const MAX_WORDS: usize = 600;

impl Agent {
    pub(crate) const ALL: [(&str, Self); 4] = [
        ("claude-code", Self::ClaudeCode),
        ("codex", Self::Codex),
        ("gemini-cli", Self::GeminiCli),
        ("cursor", Self::Cursor),
    ];

    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, agent)| *agent)
    }

    /// Whether the agent takes a text before a tool runs. The others take one with the tool's result.
    pub(super) fn hears_before_tools(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Codex)
    }

    /// The answer in the agent's format; an empty object if there is none.
    pub(super) fn form(self, event: Event, context: &str, message: &str) -> Value {
        // The harness encloses it in a tag of its own, which no text of ours must close.
        let context = without_harness_tags(context);
        let mut answer = Map::new();
        if self == Self::Cursor {
            if !context.is_empty() && matches!(event, Event::SessionStart | Event::AfterTool) {
                answer.insert("additional_context".to_owned(), json!(context));
            }
            return Value::Object(answer);
        }
        if !context.is_empty()
            && let Some(name) = self.name_of(event)
        {
            let specific = json!({ "hookEventName": name, "additionalContext": context });
            answer.insert("hookSpecificOutput".to_owned(), specific);
        }
        if !message.is_empty() {
            answer.insert("systemMessage".to_owned(), json!(message));
        }
        Value::Object(answer)
    }

    /// The agent's name of an event, if it takes a text at that event.
    fn name_of(self, event: Event) -> Option<&'static str> {
        Some(match (self, event) {
            (_, Event::SessionStart) => "SessionStart",
            (Self::ClaudeCode | Self::Codex, Event::SubagentStart) => "SubagentStart",
            (Self::ClaudeCode | Self::Codex, Event::Prompt) => "UserPromptSubmit",
            (Self::ClaudeCode | Self::Codex, Event::BeforeTool) => "PreToolUse",
            (Self::ClaudeCode | Self::Codex, Event::AfterTool) => "PostToolUse",
            (Self::GeminiCli, Event::Prompt) => "BeforeAgent",
            (Self::GeminiCli, Event::AfterTool) => "AfterTool",
            _ => return None,
        })
    }
}

impl Event {
    /// Parses adage's or an agent's name of an event.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        Some(match plain.as_str() {
            "sessionstart" => Self::SessionStart,
            "subagentstart" => Self::SubagentStart,
            "prompt" | "userpromptsubmit" | "beforeagent" | "beforesubmitprompt" => Self::Prompt,
            "beforetool" | "pretooluse" => Self::BeforeTool,
            "aftertool" | "posttooluse" | "posttoolusefailure" => Self::AfterTool,
            "sessionend" => Self::SessionEnd,
            _ => return None,
        })
    }
}

impl Payload {
    pub(super) fn parse(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap_or_default())
    }

    fn text(&self, key: &str) -> &str {
        self.0.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// The value of a field. Some agents give an object as a text of JSON.
    fn value(&self, key: &str) -> Option<Value> {
        let value = self.0.get(key)?;
        let inner = value.as_str().and_then(|text| serde_json::from_str(text).ok());
        Some(inner.unwrap_or_else(|| value.clone()))
    }

    /// The agent whose format the payload has.
    pub(super) fn agent(&self) -> Agent {
        match self.text("hook_event_name") {
            "BeforeTool" | "AfterTool" | "BeforeAgent" | "AfterAgent" => Agent::GeminiCli,
            _ if self.0.contains_key("conversation_id") => Agent::Cursor,
            _ if self.0.contains_key("timestamp") => Agent::GeminiCli,
            _ if self.0.contains_key("turn_id") => Agent::Codex,
            _ => Agent::ClaudeCode,
        }
    }

    /// The agent's working folder, if it is an absolute path and exists.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        let roots = self.0.get("workspace_roots").and_then(Value::as_array);
        let first = roots.and_then(|roots| roots.first()?.as_str());
        [Some(self.text("cwd")), first]
            .into_iter()
            .flatten()
            .map(PathBuf::from)
            .find(|path| path.is_absolute() && path.is_dir())
    }

    /// The key of the session; a sub-agent has one of its own.
    pub(super) fn session_key(&self) -> TextHash {
        let session = [self.text("session_id"), self.text("conversation_id")].concat();
        TextHash::of(&["session", &session, self.text("agent_id")])
    }

    /// True when the agent's context is emptied within its session.
    pub(super) fn forgets(&self) -> bool {
        matches!(self.text("source"), "compact" | "clear" | "startup")
    }

    pub(super) fn prompt(&self) -> &str {
        self.text("prompt")
    }

    /// The session's transcript file, if it exists.
    pub(super) fn transcript(&self) -> Option<PathBuf> {
        let path = Path::new(self.text("transcript_path"));
        (path.is_absolute() && path.is_file()).then(|| path.to_owned())
    }

    pub(super) fn call(&self) -> Call {
        let Some(input) = self.value("tool_input") else { return Call::default() };
        let texts = |keys: &[&str]| -> Vec<String> {
            keys.iter().filter_map(|key| input.get(*key)).filter_map(texts_of).collect()
        };
        let description = texts(&["description", "content", "new_string", "query", "pattern"]).join(" ");
        Call {
            paths: texts(&PATHS),
            commands: texts(&COMMANDS),
            only_reads: only_reads(self.text("tool_name")),
            description,
            hash: Some(hash_of(self.text("tool_name"), &input)),
        }
    }

    /// True if the command was still running when the tool returned, so that its status is not known: the agent's call or the tool's answer
    /// says that it is in the background.
    pub(super) fn is_unfinished(&self) -> bool {
        let values: Vec<Value> =
            ["tool_response", "tool_output", "tool_input"].iter().filter_map(|key| self.value(key)).collect();
        let has_code =
            values.iter().any(|value| EXIT_CODES.iter().any(|key| value.get(*key).is_some_and(Value::is_i64)));
        values.iter().any(says_background) || (!has_code && values.iter().any(names_running))
    }

    /// What became of the call, by the fields and the lines that agents document (docs/agents.md).
    pub(super) fn result(&self) -> CallResult {
        let answer = ["tool_response", "tool_output"].iter().find_map(|key| self.value(key)).unwrap_or_default();
        let is = |key: &str, value: bool| answer.get(key).and_then(Value::as_bool) == Some(value);
        let was_stopped = ["interrupted", "cancelled", "canceled", "aborted"].iter().any(|key| is(key, true));
        if was_stopped || self.0.get("is_interrupt") == Some(&Value::Bool(true)) {
            return CallResult::Unknown;
        }
        let code = EXIT_CODES.iter().find_map(|key| answer.get(*key)?.as_i64());
        let has_error = answer.get("error").is_some_and(|error| !error.is_null() && error.as_str() != Some(""));
        let has_failed = is("is_error", true) || is("isError", true) || is("success", false) || has_error;
        let event = self.text("hook_event_name");
        if has_failed || event.eq_ignore_ascii_case("PostToolUseFailure") {
            return CallResult::Failed;
        }
        let is_passed = is("is_error", false) || is("isError", false) || is("success", true);
        // Claude Code calls this event after a success alone; of a shell, the answer has what it printed and no status.
        let is_of_success = event == "PostToolUse" && self.agent() == Agent::ClaudeCode && answer.is_object();
        match code.or_else(|| texts_in(&answer).into_iter().find_map(exit_code_in)) {
            Some(0) => CallResult::Passed,
            Some(_) => CallResult::Failed,
            None if is_passed || is_of_success => CallResult::Passed,
            None => CallResult::Unknown,
        }
    }
}

impl Call {
    pub(super) fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.commands.is_empty()
    }

    /// The files that the call may change.
    pub(super) fn changed(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().filter(|_| !self.only_reads).map(String::as_str)
    }

    pub(super) fn hash(&self) -> TextHash {
        self.hash.unwrap_or_else(|| TextHash::of(&["no call"]))
    }

    /// The text that is compared with lessons.
    pub(super) fn words(&self) -> String {
        let texts = self.commands.iter().chain(&self.paths).map(String::as_str).chain([self.description.as_str()]);
        texts.collect::<Vec<_>>().join(" ").chars().take(MAX_WORDS).collect()
    }
}

/// True if a field says that a command is in the background: `run_in_background`, `is_background`, `backgroundTaskId`.
fn says_background(value: &Value) -> bool {
    let Value::Object(fields) = value else { return false };
    let is_said = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty() && !text.eq_ignore_ascii_case("false"),
        Value::Array(list) => !list.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::Object(_) => true,
    };
    fields.iter().any(|(key, value)| key.to_ascii_lowercase().contains("background") && is_said(value))
}

/// True if a tool's answer begins with a sentence that says that the command goes on running.
fn names_running(value: &Value) -> bool {
    const MAX_SAID: usize = 200;
    texts_in(value).into_iter().any(|text| {
        let start: String = text.chars().take(MAX_SAID).collect::<String>().to_ascii_lowercase();
        RUNNING.iter().any(|said| start.contains(said))
    })
}

/// What a tool's answer says in words.
fn texts_in(answer: &Value) -> Vec<&str> {
    match answer {
        Value::String(text) => vec![text.as_str()],
        Value::Object(fields) => PRINTED.iter().filter_map(|key| fields.get(*key)?.as_str()).collect(),
        _ => Vec::new(),
    }
}

/// The exit status that a line at the beginning or the end of an answer gives: `Exit Code: 1`.
fn exit_code_in(text: &str) -> Option<i64> {
    let (first, last) = (text.lines().take(MAX_EXIT_LINES), text.lines().rev().take(MAX_EXIT_LINES));
    first.chain(last).find_map(|line| {
        let line = line.trim().to_ascii_lowercase();
        let rest = EXIT_LINES.iter().find_map(|start| line.strip_prefix(start))?;
        rest.trim_start_matches([':', ' ']).trim_end_matches('.').parse().ok()
    })
}

/// True for the name of a tool that reads, lists or searches files: `Read`, `read_file`, `Grep`.
fn only_reads(tool: &str) -> bool {
    let words = tool.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.into_iter().any(|word| READING.contains(&word.as_str()) || word.starts_with("read"))
}

/// A text, or a list of words as a command line.
fn texts_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            // `bash -lc COMMAND` stands for COMMAND.
            match words.as_slice() {
                [shell, flag, command] if shell.ends_with("sh") && flag.starts_with('-') => Some((*command).to_owned()),
                [] => None,
                words => Some(words.join(" ")),
            }
        }
        _ => None,
    }
    .filter(|text| !text.trim().is_empty())
}
