//! Settings of mining: rules, sessions, language models and agents.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::range::{at_least_one, at_least_two, check, within};
use super::seconds;
use crate::error::config::Error;

/// Which of the candidates found in a transcript are suggested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// The best candidate of each rule: the longest, the most repeated, the clearest; the earliest of equal ones.
    #[default]
    Best,
    /// Every candidate.
    All,
}

/// Settings of the rules that mine transcripts (docs/spec/capture.md, 2).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CaptureConfig {
    /// Minimum number of consecutive successful terminal calls in a procedure. 4, at least 2; the earlier system's.
    pub min_run: usize,
    /// Number of terminal calls after a failure that are searched for its recovery; three times as many for a repair that the agent
    /// explains. 5, at least 1; the earlier system's, which counted calls of every tool.
    pub recovery_window: usize,
    /// Minimum number of terminal calls of a session for repetitions to count. 6; the earlier system's, which counted calls of
    /// every tool.
    pub min_calls: usize,
    /// Minimum number of successes of a repeated command. 2, at least 2; the earlier system's.
    pub min_repeats: usize,
    /// Maximum number of suggestions per transcript, excluding what a person said and decides about. 5; the earlier system's.
    pub max_candidates: usize,
    /// Which candidates are suggested. `max_candidates` applies to [`Selection::Best`] only.
    pub selection: Selection,
    /// Parts, in lower case, of the names of tools that read untrusted content. Tools of other servers, `server__tool`, always
    /// count.
    pub untrusted_tools: Vec<String>,
    /// Programs that read untrusted content.
    pub untrusted_programs: Vec<String>,
    /// How long a skipped suggestion is not made again. 30 days; in the earlier system it was unlimited.
    #[serde(with = "seconds")]
    pub skip_for: Duration,
    /// How often a suggestion must be skipped for that. 1, at least 1; chosen.
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

impl CaptureConfig {
    pub(super) fn validate(&self) -> Result<(), Error> {
        let Self {
            min_run,
            recovery_window,
            min_calls: _,
            min_repeats,
            max_candidates: _,
            selection: _,
            untrusted_tools: _,
            untrusted_programs: _,
            skip_for: _,
            skip_threshold,
        } = self;
        // One command is not a run, and one success is not a repetition.
        at_least_two("capture.min_run", *min_run)?;
        at_least_one("capture.recovery_window", *recovery_window)?;
        at_least_two("capture.min_repeats", *min_repeats)?;
        at_least_one("capture.skip_threshold", *skip_threshold)
    }
}

/// Which sessions are read, and how often (docs/spec/capture.md, 4).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionsConfig {
    /// A session written more recently may still be active and is not read. 3 hours; specified.
    #[serde(with = "seconds")]
    pub min_idle: Duration,
    /// Minimum number of user turns of a session worth reading; a session with a failed tool call is always worth reading. 10;
    /// specified.
    pub min_user_turns: usize,
    /// Alternatively, the minimum number of tool calls: autonomous agents have few user turns. 10; chosen.
    pub min_tool_calls: usize,
    /// Minimum time between the starts of two runs. 30 minutes; specified.
    #[serde(with = "seconds")]
    pub min_gap: Duration,
    /// Maximum number of sessions per run. 10, at least 1; specified.
    pub max_per_run: usize,
    /// Maximum number of lines of an index. 50, at least 1; specified.
    pub max_lines: usize,
    /// Number of attempts to read a version of a session before it is abandoned. 3, at least 1; chosen.
    pub max_attempts: u32,
    /// Maximum number of recorded runs; the oldest are dropped. 50, at least 1; chosen.
    pub max_runs: usize,
    /// Maximum depth of folders below the named one. 8; chosen.
    pub max_depth: usize,
    /// Maximum size of a session file; a larger one is reported as left out. 256 MiB, in bytes; chosen.
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

impl SessionsConfig {
    pub(super) fn validate(&self) -> Result<(), Error> {
        let Self {
            min_idle: _,
            min_user_turns: _,
            min_tool_calls: _,
            min_gap: _,
            max_per_run,
            max_lines,
            max_attempts,
            max_runs,
            max_depth: _,
            max_file_bytes: _,
        } = self;
        at_least_one("sessions.max_per_run", *max_per_run)?;
        at_least_one("sessions.max_lines", *max_lines)?;
        at_least_one("sessions.max_attempts", *max_attempts)?;
        at_least_one("sessions.max_runs", *max_runs)
    }
}

/// Settings of extraction by a language model (docs/spec/capture.md, 3).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExtractConfig {
    /// Maximum number of proposals per answer that are examined. 3, at least 1; specified.
    pub max_lessons: usize,
    /// Maximum number of recoveries per answer that are examined; a session proposes at most `learn.max_of_session` of them. 5, at
    /// least 1; chosen.
    pub max_recoveries: usize,
    /// Maximum number of known lessons in the prompt. 20; specified.
    pub max_existing: usize,
    /// Maximum length of a user turn; a longer one is cut to its head, its tail and its corrections. 2,000, in characters;
    /// chosen.
    pub max_user_turn_chars: usize,
    /// Maximum length of any other text (of the assistant, a call's input or result); a longer one is cut to its head and tail.
    /// 500, in characters; chosen.
    pub max_other_turn_chars: usize,
    /// Maximum length of the result of a call that failed, with the lines between head and tail that tell of an error. 1,500, in
    /// characters; chosen.
    pub max_failure_chars: usize,
    /// Maximum length of a session; of a longer one, the last user turns and their neighbours have priority. 96,000, in
    /// characters (about 24,000 tokens), at least four times `max_user_turn_chars`; chosen. The corrections in one turn take up
    /// to a quarter of it.
    pub max_session_chars: usize,
    /// Maximum length of the answer. 4,096, in the model's tokens; specified.
    pub max_tokens: u32,
    /// Maximum size of the answer that is parsed. 256 KiB, in bytes; chosen.
    pub max_reply_bytes: usize,
    /// The model's sampling temperature. 0.3, in [0, 2]; specified.
    pub temperature: f64,
    /// Time limit of one call. 2 min; chosen.
    #[serde(with = "seconds")]
    pub time_limit: Duration,
    /// Delay before the second attempt, unless the server gives one. 2 s; chosen.
    #[serde(with = "seconds")]
    pub retry_delay: Duration,
    /// Maximum delay: if the server asks for more, there is no second attempt. 30 s; chosen.
    #[serde(with = "seconds")]
    pub max_retry_delay: Duration,
}

impl Default for ExtractConfig {
    fn default() -> Self {
        Self {
            max_lessons: 3,
            max_recoveries: 5,
            max_existing: 20,
            max_user_turn_chars: 2_000,
            max_other_turn_chars: 500,
            max_failure_chars: 1_500,
            max_session_chars: 96_000,
            max_tokens: 4_096,
            max_reply_bytes: 256 * 1024,
            temperature: 0.3,
            time_limit: Duration::from_mins(2),
            retry_delay: Duration::from_secs(2),
            max_retry_delay: Duration::from_secs(30),
        }
    }
}

impl ExtractConfig {
    pub(super) fn validate(&self) -> Result<(), Error> {
        let Self {
            max_lessons,
            max_recoveries,
            max_existing: _,
            max_user_turn_chars,
            max_other_turn_chars: _,
            max_failure_chars: _,
            max_session_chars,
            max_tokens: _,
            max_reply_bytes: _,
            temperature,
            time_limit: _,
            retry_delay: _,
            max_retry_delay: _,
        } = self;
        at_least_one("extract.max_lessons", *max_lessons)?;
        at_least_one("extract.max_recoveries", *max_recoveries)?;
        // A turn escaped in JSON at most doubles in length, so the last correction always fits.
        let least = 1_000.max(max_user_turn_chars.saturating_mul(4));
        let expected = "at least 1,000 and four times extract.max_user_turn_chars";
        check("extract.max_session_chars", max_session_chars, *max_session_chars >= least, expected)?;
        within("extract.temperature", *temperature, 0.0..=2.0, "in [0, 2]")
    }
}

/// Limits of an agent that the host runs over past sessions (docs/spec/skills.md, 5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentConfig {
    /// Maximum number of turns. 30, at least 1; specified.
    pub max_turns: usize,
    /// Time limit. 30 min; specified.
    #[serde(with = "seconds")]
    pub time_limit: Duration,
    /// Maximum number of proposed skills. 2; specified.
    pub max_skills: usize,
    /// Maximum number of proposed changes to notes. 5; specified.
    pub max_patches: usize,
    /// Minimum number of sessions as evidence for a new skill. 2, at least 1; specified.
    pub min_sessions: usize,
}

impl Default for AgentConfig {
    fn default() -> Self {
        Self { max_turns: 30, time_limit: Duration::from_mins(30), max_skills: 2, max_patches: 5, min_sessions: 2 }
    }
}

impl AgentConfig {
    pub(super) fn validate(&self) -> Result<(), Error> {
        let Self { max_turns, time_limit: _, max_skills: _, max_patches: _, min_sessions } = self;
        at_least_one("agent.max_turns", *max_turns)?;
        at_least_one("agent.min_sessions", *min_sessions)
    }
}
