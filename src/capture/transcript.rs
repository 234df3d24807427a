//! The shape that every agent's session is read into (capture 1.1).

use chrono::{DateTime, FixedOffset};
use serde_json::Value;

/// One session, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// The agent's name of it; empty when the source has none.
    pub session: String,
    /// The project it was about: the working folder where the source tells it, else empty.
    pub project: String,
    /// When its first turn was, where the source tells it.
    pub started: Option<DateTime<FixedOffset>>,
    /// What was said and done.
    pub turns: Vec<Turn>,
}

/// What was said or done at one point of a session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
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

/// A call of a tool, with its result where the source has one.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The tool, as the agent names it.
    pub tool: String,
    /// What it was called with.
    pub input: Value,
    /// What came back, cut to its head and tail; none when the source has no result.
    pub result: Option<String>,
    /// How it ended.
    pub status: Status,
}

/// How a call ended (capture 1.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It did what it was asked to.
    Succeeded,
    /// The source says that it failed, or its output does.
    Failed,
    /// There is no result to tell it by.
    Unknown,
}
