//! The shape that every agent's session is read into.

use chrono::{DateTime, FixedOffset};
use serde::Serialize;

use crate::tool_call::ToolCall;

/// One session, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Transcript {
    /// The agent's name of it; empty when the source has none.
    pub session: String,
    /// The project it was about: the working folder where the source names it, else empty.
    pub project: String,
    /// When its first turn was, where the source says so.
    pub started: Option<DateTime<FixedOffset>>,
    /// What was said and done.
    pub turns: Vec<Turn>,
}

impl Transcript {
    /// What a person typed, each with the number of its turn, from 0.
    #[must_use]
    pub fn user_turns(&self) -> impl DoubleEndedIterator<Item = (usize, &str)> + Clone {
        self.turns.iter().enumerate().filter_map(|(turn, said)| Some((turn, said.as_user()?)))
    }
}

/// What was said or done at one point of a session.
///
/// There are these four kinds and no others: whoever redacts or judges a session must decide on each.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    /// What a person typed, whole. What a harness injects in a user's role is a [`Turn::System`].
    User(String),
    /// What the assistant said.
    Assistant(String),
    /// What the assistant did.
    ToolCall(ToolCall),
    /// What the harness said: reminders, hooks, recalled lessons, summaries.
    System(String),
}

impl Turn {
    /// What a person typed, if this is it.
    #[must_use]
    pub fn as_user(&self) -> Option<&str> {
        if let Self::User(text) = self { Some(text) } else { None }
    }

    /// The call, if this is one.
    #[must_use]
    pub fn as_call(&self) -> Option<&ToolCall> {
        if let Self::ToolCall(call) = self { Some(call) } else { None }
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It did what it was asked to.
    Succeeded,
    /// The source says that it failed, or its output does.
    Failed,
    /// There is no result to judge it by.
    Unknown,
}
