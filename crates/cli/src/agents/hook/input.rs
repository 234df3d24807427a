//! What every agent's payload is read into: the one form that the rest of the program knows.

use std::path::{Path, PathBuf};

use adage::TextHash;
use adage::transcript::{Status, ToolCall};
use serde_json::Value;

use super::agents::Agent;
use super::fields::PayloadFields;

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

/// A payload in the form of no particular agent; what it does not say is empty.
#[derive(Debug, Default)]
pub(super) struct HookInput {
    pub(super) agent: Agent,
    pub(super) session: String,
    pub(super) sub_agent: String,
    /// The agent's working folder, then the roots of its workspace.
    pub(super) folders: Vec<PathBuf>,
    /// Whether the agent's context is emptied within its session.
    pub(super) forgets: bool,
    /// What was submitted, with what the agent added to it.
    pub(super) message: String,
    /// The file that the agent records the session in.
    pub(super) transcript: Option<PathBuf>,
    /// The tool call, with its status as far as the payload says.
    pub(super) call: Option<ToolCall>,
}

/// Words in the names of tools that only look at files.
const READING: [&str; 9] = ["view", "grep", "glob", "ls", "list", "search", "find", "notebookread", "fetch"];
/// The keys by which tools of no known name give a command line.
const COMMANDS: [&str; 2] = ["command", "cmd"];
/// The keys of texts that say what a call is about.
const DESCRIPTIONS: [&str; 5] = ["description", "content", "new_string", "query", "pattern"];
/// The maximum characters of a text that are compared with lessons.
const MAX_WORDS: usize = 600;

impl HookInput {
    /// The fields that most agents name as Claude Code does.
    pub(super) fn conventional(fields: &PayloadFields) -> Self {
        let folders = ["cwd", "directory", "worktree"].map(|key| fields.text(&[key]));
        let folders = folders.into_iter().chain(fields.texts("workspace_roots"));
        let sessions = [&["session_id", "sessionId", "sessionID"][..], &["conversation_id", "trajectory_id"]];
        Self {
            session: sessions.map(|keys| fields.text(keys)).concat(),
            sub_agent: fields.text(&["agent_id"]).to_owned(),
            folders: folders.map(PathBuf::from).filter(|path| path.is_absolute()).collect(),
            forgets: matches!(fields.text(&["source"]), "compact" | "clear" | "startup" | "new"),
            message: fields.text(&["prompt", "user_prompt", "message", "text"]).to_owned(),
            transcript: Some(PathBuf::from(fields.text(&["transcript_path"]))).filter(|path| path.is_absolute()),
            ..Self::default()
        }
    }

    /// The folder whose memory is asked: of several roots the one that has the files of the call, otherwise the first one for which
    /// `has_memory` holds, otherwise the first.
    pub(super) fn folder(&self, has_memory: impl Fn(&Path) -> bool) -> Option<PathBuf> {
        let folders: Vec<&PathBuf> = self.folders.iter().filter(|folder| folder.is_dir()).collect();
        let paths = self.paths();
        let holds = |folder: &&&PathBuf| paths.iter().any(|path| Path::new(path).starts_with(folder));
        let found = folders.iter().find(holds).or_else(|| folders.iter().find(|folder| has_memory(folder)));
        found.or(folders.first()).map(|folder| (*folder).clone())
    }

    /// The key of the session; a sub-agent has one of its own.
    pub(super) fn session_key(&self) -> TextHash {
        TextHash::of(&["session", &self.session, &self.sub_agent])
    }

    /// The command lines that the call runs.
    pub(super) fn commands(&self) -> Vec<String> {
        let Some(call) = &self.call else { return Vec::new() };
        let commands = call.commands();
        let is_tool_of_files = call.changes_files() || only_reads(&call.tool) || !call.paths().is_empty();
        if !commands.is_empty() || is_tool_of_files {
            return commands;
        }
        // The tool of another program may run a command under any name, but a patch is none.
        let as_terminal = ToolCall { tool: "shell".to_owned(), ..call.clone() };
        let has_command = COMMANDS.iter().any(|key| call.input.get(*key).is_some());
        if has_command { as_terminal.commands() } else { Vec::new() }
    }

    /// The files that the call names.
    pub(super) fn paths(&self) -> Vec<String> {
        self.call.as_ref().map(ToolCall::paths).unwrap_or_default()
    }

    /// The files that the call may change.
    pub(super) fn changed(&self) -> Vec<String> {
        let reads = self.call.as_ref().is_some_and(|call| only_reads(&call.tool));
        if reads { Vec::new() } else { self.paths() }
    }

    pub(super) fn status(&self) -> Status {
        self.call.as_ref().map_or(Status::Unknown, |call| call.status)
    }

    /// The identity of the call: a hash of its tool and its input.
    pub(super) fn call_key(&self) -> TextHash {
        match &self.call {
            Some(call) => TextHash::of(&[&call.tool, &call.input.to_string()]),
            None => TextHash::of(&["no call"]),
        }
    }

    /// The text of the call that is compared with lessons.
    pub(super) fn words(&self) -> String {
        let input = self.call.as_ref().map(|call| &call.input);
        let described =
            DESCRIPTIONS.iter().filter_map(|key| input?.get(*key).and_then(Value::as_str)).map(str::to_owned);
        let texts: Vec<String> = self.commands().into_iter().chain(self.paths()).chain(described).collect();
        texts.join(" ").chars().take(MAX_WORDS).collect()
    }
}

/// True for the name of a tool that reads, lists or searches files: `Read`, `read_file`, `Grep`.
fn only_reads(tool: &str) -> bool {
    let words = tool.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.into_iter().any(|word| READING.contains(&word.as_str()) || word.starts_with("read"))
}
