//! The common representation of sessions of all agents.

use chrono::{DateTime, FixedOffset};
use serde::Serialize;

use crate::tool_call::ToolCall;

/// A session.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Transcript {
    /// The agent's id of the session; empty if the source has none.
    pub session: String,
    /// The project: the working folder if the source names it, otherwise empty.
    pub project: String,
    /// The time of its first turn, if the source has it.
    pub started: Option<DateTime<FixedOffset>>,
    /// The turns in order.
    pub turns: Vec<Turn>,
    /// Who can have written it. Readers of a source do not know: it is [`Source::Agent`] until somebody says otherwise.
    pub source: Source,
}

/// Who can have written a session's file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// The agent's program, for the person who uses it. The text of a [`Turn::User`] is that person's.
    #[default]
    Agent,
    /// Others as well: a tool's result that was saved, a file of a repository, a file that another user can write to. Nothing in it
    /// is evidence of what a person said.
    Others,
}

impl Transcript {
    /// The texts that a person typed, each with the index of its turn, counted from 0.
    #[must_use]
    pub fn user_turns(&self) -> impl DoubleEndedIterator<Item = (usize, &str)> + Clone {
        self.turns.iter().enumerate().filter_map(|(turn, said)| Some((turn, said.as_user()?)))
    }
}

/// A turn of a session.
///
/// The list of kinds is closed: code that redacts or judges a session must handle each.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    /// The complete text that a person typed. Text that a harness injects with the role user is a [`Turn::System`].
    User(String),
    /// A text of the assistant.
    Assistant(String),
    /// A tool call of the assistant.
    ToolCall(ToolCall),
    /// A text of the harness: reminders, hooks, recalled lessons, summaries.
    System(String),
}

impl Turn {
    /// The text, if this is a user turn.
    #[must_use]
    pub fn as_user(&self) -> Option<&str> {
        if let Self::User(text) = self { Some(text) } else { None }
    }

    /// The call, if this is a tool call.
    #[must_use]
    pub fn as_call(&self) -> Option<&ToolCall> {
        if let Self::ToolCall(call) = self { Some(call) } else { None }
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It succeeded.
    Succeeded,
    /// It failed, according to the source or its output.
    Failed,
    /// There is no result that shows the status.
    Unknown,
}
