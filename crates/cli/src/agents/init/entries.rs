//! The entries for each agent's settings, as documented by the agents (docs/agents.md).

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::agents::hook::Agent;

/// The entries of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    /// The version of the file's format, if it has one.
    pub(super) version: Option<u64>,
    /// One entry per event, with the agent's event names.
    pub(super) hooks: Vec<(&'static str, Value)>,
    /// The MCP server, and the key of the servers.
    pub(super) server: Option<(&'static str, Value)>,
    /// Everything that adage writes. Nothing else counts as an entry of adage, whatever path the program has.
    written: Vec<Value>,
}

/// How many seconds an agent waits for a hook: a prompt may load a model.
const SECONDS: u64 = 10;

impl Entries {
    /// The hooks of an agent that run this program.
    pub(super) fn hooks(agent: Agent, program: &str) -> Self {
        let version = matches!(agent, Agent::Cursor | Agent::CopilotCli).then_some(1);
        let hooks = hooks_of(agent, program);
        let written = hooks.iter().map(|(_, hook)| by_name(hook)).collect();
        Self { version, hooks, server: None, written }
    }

    /// The same entries with the MCP server.
    pub(super) fn with_server(self, program: &str) -> Self {
        self.with_server_in("mcpServers", json!({ "command": unquoted(program), "args": SERVER_ARGUMENTS }))
    }

    /// The same entries with the MCP server in an agent's own form.
    pub(super) fn with_server_in(mut self, key: &'static str, server: Value) -> Self {
        self.written.push(by_name(&server));
        self.server = Some((key, server));
        self
    }

    /// True for an entry as adage writes it, from whatever place its program ran. It is replaced, not kept: the program of another place may
    /// be gone, or somebody else's.
    pub(super) fn wrote(&self, entry: &Value) -> bool {
        self.written.contains(&by_name(entry))
    }

    /// True for a hook that adage did not write, and that somebody may take for one of adage.
    pub(super) fn is_foreign(&self, hook: &Value) -> bool {
        hook.to_string().contains("adage") && !self.wrote(hook)
    }
}

/// An entry with its program called by its name, without keys that say no more than their absence.
fn by_name(entry: &Value) -> Value {
    match entry {
        Value::Object(fields) => Value::Object(fields.iter().filter_map(field_by_name).collect::<Map<_, _>>()),
        Value::Array(values) => values.iter().map(by_name).collect(),
        other => other.clone(),
    }
}

fn field_by_name((key, value): (&String, &Value)) -> Option<(String, Value)> {
    let is_said_anyway = (key == "type" && value == "stdio") || (key == "env" && *value == json!({}));
    let value = match value {
        Value::String(command) if matches!(key.as_str(), "command" | "bash") => Value::String(command_by_name(command)),
        // Some agents take the program and its arguments as one list.
        Value::Array(words) if key == "command" => {
            let word = |word: &Value| word.as_str().map_or_else(|| word.clone(), |word| command_by_name(word).into());
            words.iter().map(word).collect()
        }
        other => by_name(other),
    };
    (!is_said_anyway).then(|| (key.clone(), value))
}

fn command_by_name(command: &str) -> String {
    match command.split_once(" hook ") {
        Some((program, arguments)) if word(program).is_some_and(|word| is_adage(&word)) => {
            format!("adage hook {arguments}")
        }
        None if is_server(command) => "adage".to_owned(),
        _ => command.to_owned(),
    }
}

fn is_adage(path: &str) -> bool {
    Path::new(path).file_stem().is_some_and(|name| name == "adage")
}

/// True for the program of adage's server, which agents start without a shell. Earlier versions wrote it as for a shell.
pub(super) fn is_server(command: &str) -> bool {
    is_adage(command) || word(command).is_some_and(|word| is_adage(&word))
}

/// The single word of a command line.
fn word(line: &str) -> Option<String> {
    let [word] = <[String; 1]>::try_from(shlex::split(line)?).ok()?;
    Some(word)
}

/// A program as it is called without a shell.
pub(super) fn unquoted(program: &str) -> String {
    word(program).unwrap_or_else(|| program.to_owned())
}

/// The arguments of the MCP server.
pub(super) const SERVER_ARGUMENTS: [&str; 1] = ["mcp"];

/// One entry per event, with the agent's event names.
fn hooks_of(agent: Agent, program: &str) -> Vec<(&'static str, Value)> {
    let name = agent.name();
    let command = |event: &str| format!("{program} hook {event} --agent {name}");
    let grouped = |event: &str, matcher: Option<&str>| {
        let timeout = if agent == Agent::GeminiCli { SECONDS * 1_000 } else { SECONDS };
        let hook = json!({ "type": "command", "command": command(event), "timeout": timeout });
        match matcher {
            Some(matcher) => json!({ "matcher": matcher, "hooks": [hook] }),
            None => json!({ "hooks": [hook] }),
        }
    };
    let plain = |event: &str| json!({ "command": command(event), "timeout": SECONDS });
    let shell = |event: &str| json!({ "type": "command", "bash": command(event), "timeoutSec": SECONDS });
    match agent {
        Agent::ClaudeCode | Agent::Codex => {
            let mut hooks = vec![
                ("SessionStart", grouped("session-start", None)),
                ("SubagentStart", grouped("subagent-start", None)),
                ("UserPromptSubmit", grouped("prompt", None)),
                ("PreToolUse", grouped("before-tool", Some("*"))),
                ("PostToolUse", grouped("after-tool", Some("*"))),
                ("SessionEnd", grouped("session-end", None)),
            ];
            if agent == Agent::ClaudeCode {
                hooks.insert(5, ("PostToolUseFailure", grouped("after-tool", Some("*"))));
            }
            hooks
        }
        Agent::GeminiCli => vec![
            ("SessionStart", grouped("session-start", None)),
            ("BeforeAgent", grouped("prompt", None)),
            ("AfterTool", grouped("after-tool", Some("*"))),
            ("SessionEnd", grouped("session-end", None)),
        ],
        Agent::Cursor => vec![
            ("sessionStart", plain("session-start")),
            ("postToolUse", plain("after-tool")),
            ("postToolUseFailure", plain("after-tool")),
            ("sessionEnd", plain("session-end")),
        ],
        Agent::CopilotCli => vec![
            ("sessionStart", shell("session-start")),
            ("postToolUse", shell("after-tool")),
            ("postToolUseFailure", shell("postToolUseFailure")),
            ("sessionEnd", shell("session-end")),
        ],
        // The one has plugins in place of hooks, and the hooks of the other take no text.
        Agent::Opencode | Agent::Windsurf => Vec::new(),
    }
}
