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
    /// Everything that adage writes, however it calls its program. Nothing else counts as an entry of adage.
    written: Vec<Value>,
}

/// How many seconds an agent waits for a hook: a prompt may load a model.
const SECONDS: u64 = 10;

impl Entries {
    /// The hooks of an agent that run the first of these programs; those that run another one were written by adage too.
    pub(super) fn hooks(agent: Agent, programs: &[String]) -> Self {
        let version = (agent == Agent::Cursor).then_some(1);
        let mut all = programs.iter().map(|program| hooks_of(agent, program));
        let hooks = all.next().unwrap_or_default();
        let written = hooks.iter().cloned().chain(all.flatten()).map(|(_, hook)| hook).collect();
        Self { version, hooks, server: None, written }
    }

    /// The same entries with the MCP server.
    pub(super) fn with_server(mut self, programs: &[String]) -> Self {
        let servers: Vec<Value> =
            programs.iter().map(|program| json!({ "command": program, "args": SERVER_ARGUMENTS })).collect();
        self.server = servers.first().cloned();
        self.written.extend(servers);
        self
    }

    /// True for an entry as adage writes it.
    pub(super) fn wrote(&self, entry: &Value) -> bool {
        self.written.contains(entry)
    }

    /// True for a hook that adage did not write, and that somebody may take for one of adage.
    pub(super) fn is_foreign(&self, hook: &Value) -> bool {
        hook.to_string().contains("adage") && !self.wrote(hook)
    }
}

/// The arguments of the MCP server.
pub(super) const SERVER_ARGUMENTS: [&str; 1] = ["mcp"];

/// One entry per event, with the agent's event names.
fn hooks_of(agent: Agent, program: &str) -> Vec<(&'static str, Value)> {
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
    }
}
