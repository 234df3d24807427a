//! The agents: how each sends its payloads, what they become in the form of [`HookInput`], and how the answer is written. What an
//! agent documents is in its module alone; docs/agents.md has an example of each payload.

mod claude_code;
mod codex;
mod copilot_cli;
mod cursor;
mod gemini_cli;
mod opencode;
mod windsurf;

use adage::transcript::without_harness_tags;
use serde_json::{Map, Value, json};

use super::fields::PayloadFields;
use super::input::{Event, HookInput};

/// The names of the events, and what reads a payload.
type AgentFormat = (&'static [(&'static str, Event)], fn(&PayloadFields) -> HookInput);

/// An agent with a known format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Agent {
    #[default]
    ClaudeCode,
    Codex,
    GeminiCli,
    Cursor,
    CopilotCli,
    Opencode,
    Windsurf,
}

impl Agent {
    pub(crate) const ALL: [(&str, Self); 7] = [
        ("claude-code", Self::ClaudeCode),
        ("codex", Self::Codex),
        ("gemini-cli", Self::GeminiCli),
        ("cursor", Self::Cursor),
        ("copilot-cli", Self::CopilotCli),
        ("opencode", Self::Opencode),
        ("windsurf", Self::Windsurf),
    ];

    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, agent)| *agent)
    }

    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, agent)| *agent == self).map_or("", |(name, _)| name)
    }

    /// The agent whose format a payload has.
    pub(super) fn of(fields: &PayloadFields) -> Self {
        match fields.event() {
            "BeforeTool" | "AfterTool" | "BeforeAgent" | "AfterAgent" => Self::GeminiCli,
            _ if fields.has("agent_action_name") => Self::Windsurf,
            _ if fields.has("conversation_id") => Self::Cursor,
            _ if fields.has("toolName") || fields.has("toolArgs") || fields.has("sessionId") => Self::CopilotCli,
            _ if fields.has("sessionID") || fields.has("callID") => Self::Opencode,
            _ if fields.has("timestamp") => Self::GeminiCli,
            _ if fields.has("turn_id") => Self::Codex,
            _ => Self::ClaudeCode,
        }
    }

    /// What a payload says.
    pub(super) fn read(self, fields: &PayloadFields) -> HookInput {
        HookInput { agent: self, ..(self.format().1)(fields) }
    }

    /// The agent's names of events, with the event that each is.
    fn events(self) -> &'static [(&'static str, Event)] {
        self.format().0
    }

    fn format(self) -> AgentFormat {
        match self {
            Self::ClaudeCode => (&claude_code::EVENTS, claude_code::read),
            Self::Codex => (&claude_code::EVENTS, codex::read),
            Self::GeminiCli => (&gemini_cli::EVENTS, gemini_cli::read),
            Self::Cursor => (&cursor::EVENTS, cursor::read),
            Self::CopilotCli => (&copilot_cli::EVENTS, copilot_cli::read),
            Self::Opencode => (&opencode::EVENTS, opencode::read),
            Self::Windsurf => (&windsurf::EVENTS, windsurf::read),
        }
    }

    /// Whether the agent takes a text before a tool runs. The others take one with the tool's result.
    pub(super) fn takes_text_before_tools(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Codex)
    }

    /// The answer in the agent's format; an empty object if there is none.
    pub(super) fn form(self, event: Event, context: &str, message: &str) -> Value {
        // The harness encloses it in a tag of its own, which no text of ours must close.
        let context = without_harness_tags(context);
        let mut answer = Map::new();
        match self {
            Self::ClaudeCode | Self::Codex | Self::GeminiCli => {
                let name = if context.is_empty() { None } else { self.named_in_answer(event) };
                if let Some(name) = name {
                    let specific = json!({ "hookEventName": name, "additionalContext": context });
                    answer.insert("hookSpecificOutput".to_owned(), specific);
                }
                if !message.is_empty() {
                    answer.insert("systemMessage".to_owned(), json!(message));
                }
            }
            Self::Cursor | Self::CopilotCli | Self::Opencode => {
                let key = if self == Self::Cursor { "additional_context" } else { "additionalContext" };
                let is_taken = matches!(event, Event::SessionStart | Event::AfterTool);
                if !context.is_empty() && (is_taken || self == Self::Opencode) {
                    answer.insert(key.to_owned(), json!(context));
                }
            }
            Self::Windsurf => {}
        }
        Value::Object(answer)
    }

    /// The agent's name of an event in the answer, if it takes a text at that event.
    fn named_in_answer(self, event: Event) -> Option<&'static str> {
        let is_late = !self.takes_text_before_tools();
        let is_taken = match event {
            Event::SessionEnd => false,
            Event::SubagentStart | Event::BeforeTool => !is_late,
            Event::SessionStart | Event::Prompt | Event::AfterTool => true,
        };
        self.events().iter().find(|(_, known)| is_taken && *known == event).map(|(name, _)| *name)
    }
}

impl Event {
    /// adage's own names of the events.
    pub(super) const NAMES: [(&str, Self); 6] = [
        ("session-start", Self::SessionStart),
        ("subagent-start", Self::SubagentStart),
        ("prompt", Self::Prompt),
        ("before-tool", Self::BeforeTool),
        ("after-tool", Self::AfterTool),
        ("session-end", Self::SessionEnd),
    ];

    /// Parses adage's or an agent's name of an event.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let plain =
            |name: &str| name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        let name = plain(name);
        let of_agents = Agent::ALL.iter().flat_map(|(_, agent)| agent.events());
        Self::NAMES.iter().chain(of_agents).find(|(known, _)| plain(known) == name).map(|(_, event)| *event)
    }
}
