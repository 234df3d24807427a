//! The entries for each agent's settings, as documented by the agents (docs/agents.md).

use serde_json::{Value, json};

use crate::hook::Agent;

/// The entries of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    /// The version of the file's format, if it has one.
    pub(super) version: Option<u64>,
    /// One entry per event, with the agent's event names.
    pub(super) hooks: Vec<(&'static str, Value)>,
    /// The MCP server, under the key `mcpServers`.
    pub(super) server: Option<Value>,
}

/// How many seconds an agent waits for a hook: a prompt may load a model.
const SECONDS: u64 = 10;

impl Entries {
    /// The hooks of an agent that run this program.
    pub(super) fn hooks(agent: Agent, program: &str) -> Self {
        let name = Agent::ALL.iter().find(|(_, known)| *known == agent).map_or("", |(name, _)| name);
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
        let hooks = match agent {
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
        };
        Self { version: (agent == Agent::Cursor).then_some(1), hooks, server: None }
    }

    /// The same entries with the MCP server.
    pub(super) fn with_server(self, program: &str) -> Self {
        Self { server: Some(json!({ "command": program, "args": ["mcp"] })), ..self }
    }
}

/// True for an entry that runs one of adage's hooks.
pub(super) fn is_ours(entry: &Value) -> bool {
    let is_command = |command: &Value| {
        let words = command.as_str().and_then(shlex::split).unwrap_or_default();
        let [program, hook, ..] = words.as_slice() else { return false };
        let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
        matches!(name, "adage" | "adage.exe") && hook == "hook"
    };
    let grouped = entry.get("hooks").and_then(Value::as_array).into_iter().flatten();
    entry.get("command").into_iter().chain(grouped.filter_map(|hook| hook.get("command"))).any(is_command)
}
