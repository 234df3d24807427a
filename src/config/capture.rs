//! Sessions: what is found in them, which are read, and what models and agents are asked.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::seconds;

/// Which of the candidates found in a transcript are suggested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// The best of each rule: the longest, the most repeated, the clearest; the earliest of equals.
    #[default]
    Best,
    /// Every one.
    All,
}

/// What is found in transcripts (docs/spec/capture.md, 2).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CaptureConfig {
    /// Terminal calls that succeed in a row before they are a procedure. 4, at least 2; the earlier system's.
    pub min_run: usize,
    /// Terminal calls after a failure among which its recovery is looked for. 5, at least 1; the earlier system's, which
    /// counted calls of every tool.
    pub recovery_window: usize,
    /// Terminal calls of a session before repetitions in it count. 6; the earlier system's, which counted calls of every tool.
    pub min_calls: usize,
    /// Successes of one command before it is repeated. 2, at least 2; the earlier system's.
    pub min_repeats: usize,
    /// Suggestions of one transcript. 5; the earlier system's.
    pub max_candidates: usize,
    /// Which candidates are suggested. The limit above holds for the best only.
    pub selection: Selection,
    /// Parts of the names of tools that read what nobody vouches for, in lower case. Tools of other servers, `server__tool`,
    /// always do.
    pub untrusted_tools: Vec<String>,
    /// Programs that do.
    pub untrusted_programs: Vec<String>,
    /// For how long a suggestion that was skipped is not made again. 30 days; the earlier system's, which never forgot.
    #[serde(with = "seconds")]
    pub skip_for: Duration,
    /// How often a suggestion has to be skipped for that. 1, at least 1; chosen.
    pub skip_threshold: u64,
}

impl Default for CaptureConfig {
    fn default() -> Self {
        Self {
            min_run: 4,
            recovery_window: 5,
            min_calls: 6,
            min_repeats: 2,
            max_candidates: 5,
            selection: Selection::Best,
            untrusted_tools: ["web", "fetch", "browser", "search_engine", "http"].map(str::to_owned).to_vec(),
            untrusted_programs: ["curl", "wget", "lynx", "w3m", "http", "https", "aria2c"].map(str::to_owned).to_vec(),
            skip_for: Duration::from_hours(30 * 24),
            skip_threshold: 1,
        }
    }
}

/// Which sessions are read, and how often (docs/spec/capture.md, 4).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionsConfig {
    /// A session written to more recently may go on. 3 hours; specified.
    #[serde(with = "seconds")]
    pub min_idle: Duration,
    /// User turns of a session worth reading; one in which a tool call failed is worth it in any case. 10; specified.
    pub min_user_turns: usize,
    /// Or so many tool calls: an agent that works by itself is told little. 10; chosen.
    pub min_tool_calls: usize,
    /// Between the starts of two runs. 30 minutes; specified.
    #[serde(with = "seconds")]
    pub min_gap: Duration,
    /// Sessions read in one run. 10, at least 1; specified.
    pub max_per_run: usize,
    /// Lines of an index. 50, at least 1; specified.
    pub max_lines: usize,
    /// Attempts to read one version of a session before it is given up. 3, at least 1; chosen.
    pub max_attempts: u32,
    /// Runs on record; of more, the oldest are forgotten. 50, at least 1; chosen.
    pub max_runs: usize,
    /// Folders below the named one that are looked into. 8; chosen.
    pub max_depth: usize,
    /// A larger file is left out, and said so. 256 MiB, in bytes; chosen.
    pub max_file_bytes: u64,
}

impl Default for SessionsConfig {
    fn default() -> Self {
        Self {
            min_idle: Duration::from_hours(3),
            min_user_turns: 10,
            min_tool_calls: 10,
            min_gap: Duration::from_mins(30),
            max_per_run: 10,
            max_lines: 50,
            max_attempts: 3,
            max_runs: 50,
            max_depth: 8,
            max_file_bytes: 256 << 20,
        }
    }
}

/// What a language model is asked about a session (docs/spec/capture.md, 3).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExtractConfig {
    /// Proposals of one answer that are looked at. 3, at least 1; specified.
    pub max_lessons: usize,
    /// Known lessons that the model is shown. 20; specified.
    pub max_existing: usize,
    /// A longer user turn keeps its head, its tail and what corrects. 2,000, in characters; chosen.
    pub max_user_turn_chars: usize,
    /// Any other longer text (the assistant's, a call's input or result) keeps its head and its tail. 500, in characters; chosen.
    pub max_other_turn_chars: usize,
    /// Of a longer session, what the user said last and what stands beside it goes first. 48,000, in characters (about
    /// 12,000 tokens), at least four times a user turn's; chosen. Corrections within one turn take up to a quarter of it.
    pub max_session_chars: usize,
    /// The longest answer. 4,096, in the model's tokens; specified.
    pub max_tokens: u32,
    /// The longest answer that is read. 256 KiB, in bytes; chosen.
    pub max_reply_bytes: usize,
    /// The model's sampling temperature. 0.3, in [0, 2]; specified.
    pub temperature: f64,
    /// How long one call may take. 2 min; chosen.
    #[serde(with = "seconds")]
    pub time_limit: Duration,
    /// How long to wait before the second attempt, unless the server says. 2 s; chosen.
    #[serde(with = "seconds")]
    pub retry_delay: Duration,
    /// A server that asks for more time than this is not asked again. 30 s; chosen.
    #[serde(with = "seconds")]
    pub max_retry_delay: Duration,
}

impl Default for ExtractConfig {
    fn default() -> Self {
        Self {
            max_lessons: 3,
            max_existing: 20,
            max_user_turn_chars: 2_000,
            max_other_turn_chars: 500,
            max_session_chars: 48_000,
            max_tokens: 4_096,
            max_reply_bytes: 256 * 1024,
            temperature: 0.3,
            time_limit: Duration::from_mins(2),
            retry_delay: Duration::from_secs(2),
            max_retry_delay: Duration::from_secs(30),
        }
    }
}

/// What an agent that the host runs over past sessions may do (docs/spec/skills.md, 5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentConfig {
    /// Its turns. 30, at least 1; specified.
    pub max_turns: usize,
    /// How long it may take. 30 min; specified.
    #[serde(with = "seconds")]
    pub time_limit: Duration,
    /// Skills that it may propose. 2; specified.
    pub max_skills: usize,
    /// Changes to notes that it may propose. 5; specified.
    pub max_patches: usize,
    /// Sessions that a new skill has to be seen in. 2, at least 1; specified.
    pub min_sessions: usize,
}

impl Default for AgentConfig {
    fn default() -> Self {
        Self { max_turns: 30, time_limit: Duration::from_mins(30), max_skills: 2, max_patches: 5, min_sessions: 2 }
    }
}
