//! The agents that `init --for` sets up: which files each reads, and what is left to the person.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::entries::{Entries, SERVER_ARGUMENTS, unquoted};
use super::{Edit, Settings};
use crate::agents::hook::Agent;
use crate::location::env_path;

/// An agent that can be set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InitAgent {
    /// One whose hooks adage answers.
    Hooked(Agent),
    Zed,
    Goose,
    Pi,
}

impl InitAgent {
    pub(super) const ALL: [(&str, Self); 10] = [
        ("claude-code", Self::Hooked(Agent::ClaudeCode)),
        ("codex", Self::Hooked(Agent::Codex)),
        ("gemini-cli", Self::Hooked(Agent::GeminiCli)),
        ("cursor", Self::Hooked(Agent::Cursor)),
        ("copilot-cli", Self::Hooked(Agent::CopilotCli)),
        ("opencode", Self::Hooked(Agent::Opencode)),
        ("windsurf", Self::Hooked(Agent::Windsurf)),
        ("zed", Self::Zed),
        ("goose", Self::Goose),
        ("pi", Self::Pi),
    ];

    /// What a person does for an agent whose settings adage does not write.
    pub(super) fn by_hand(self, program: &str) -> Option<String> {
        match self {
            Self::Goose => Some(format!(
                "goose: run `goose configure`, choose \"Add Extension\", \"Command-line Extension\", and enter `{program} mcp`"
            )),
            Self::Pi => Some(format!(
                "pi: it has no hooks of other programs and no MCP; add to AGENTS.md: \"Before a task, run `{program} context TASK`.\""
            )),
            Self::Hooked(_) | Self::Zed => None,
        }
    }
}

/// The settings files of an agent, with what adage writes into them.
pub(super) fn files(target: InitAgent, root: &Path, program: &str) -> Result<Vec<Settings>, String> {
    let server = Entries::default().with_server(program);
    let command = unquoted(program);
    let in_project = |name: &str, entries: Entries| Settings {
        path: root.join(name),
        within: root.to_owned(),
        edit: Edit::Json(entries),
    };
    let agent = match target {
        InitAgent::Hooked(agent) => agent,
        InitAgent::Zed => {
            let server = json!({ "command": command, "args": SERVER_ARGUMENTS });
            return Ok(vec![in_project(
                ".zed/settings.json",
                Entries::default().with_server_in("context_servers", server),
            )]);
        }
        InitAgent::Goose | InitAgent::Pi => return Ok(Vec::new()),
    };
    let hooks = Entries::hooks(agent, program);
    Ok(match agent {
        Agent::ClaudeCode => vec![in_project(".claude/settings.json", hooks), in_project(".mcp.json", server)],
        Agent::GeminiCli => vec![in_project(".gemini/settings.json", hooks.with_server(program))],
        Agent::Cursor => vec![in_project(".cursor/hooks.json", hooks), in_project(".cursor/mcp.json", server)],
        Agent::Codex => {
            let folder = user_folder("CODEX_HOME", ".codex")?;
            let toml = Edit::Toml(program.to_owned());
            vec![in_folder(&folder, "hooks.json", Edit::Json(hooks)), in_folder(&folder, "config.toml", toml)]
        }
        Agent::CopilotCli => {
            let folder = user_folder("COPILOT_HOME", ".copilot")?;
            let server = json!({ "type": "local", "command": command, "args": SERVER_ARGUMENTS, "tools": ["*"] });
            let server = Entries::default().with_server_in("mcpServers", server);
            vec![
                in_project(".github/hooks/adage.json", hooks),
                in_folder(&folder, "mcp-config.json", Edit::Json(server)),
            ]
        }
        Agent::Opencode => {
            let words: Vec<&str> = [command.as_str()].into_iter().chain(SERVER_ARGUMENTS).collect();
            let server = json!({ "type": "local", "command": words });
            vec![in_project("opencode.json", Entries::default().with_server_in("mcp", server))]
        }
        Agent::Windsurf => {
            let folder = user_folder("", ".codeium")?.join("windsurf");
            vec![in_folder(&folder, "mcp_config.json", Edit::Json(server))]
        }
    })
}

/// An agent's folder of the user: the one that a variable names, otherwise one in the home folder.
fn user_folder(variable: &str, name: &str) -> Result<PathBuf, String> {
    let named = Some(variable).filter(|variable| !variable.is_empty()).and_then(env_path);
    let in_home = || std::env::home_dir().map(|home| home.join(name));
    named.or_else(in_home).ok_or_else(|| "the environment names no home folder".to_owned())
}

fn in_folder(folder: &Path, name: &str, edit: Edit) -> Settings {
    Settings { path: folder.join(name), within: folder.to_owned(), edit }
}
