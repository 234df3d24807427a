//! Settings of mining: rules, sessions and language models.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::range::{at_least_one, check, within};
use super::seconds;
use crate::error::config::Error;

/// Whether what is found in a session waits for a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Admission {
    /// Everything waits for review.
    #[default]
    Review,
    /// What a model proposes with a confidence of at least 0.5, and what the user asked to remember, is learned at once if it quotes at
    /// least three words of a user's turn, unless an earlier tool result or assistant turn has the quote too.
    Quoted,
}

/// Settings of the rules that mine transcripts (docs/spec/capture.md, 2).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CaptureConfig {
    /// What is learned without review.
    pub admit: Admission,
    /// Maximum number of candidates per session. 10, at least 1; specified.
    pub max_candidates: usize,
    /// How long a skipped suggestion is not made again. 30 days; in the earlier system it was unlimited.
    #[serde(with = "seconds")]
    pub skip_for: Duration,
}

impl Default for CaptureConfig {
    fn default() -> Self {
        Self { admit: Admission::Review, max_candidates: 10, skip_for: Duration::from_hours(30 * 24) }
    }
}

impl CaptureConfig {
    pub(super) fn validate(&self) -> Result<(), Error> {
        let Self { admit: _, max_candidates, skip_for: _ } = self;
        at_least_one("capture.max_candidates", *max_candidates)
    }
}

/// Which sessions are read, and how often (docs/spec/capture.md, 4).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionsConfig {
    /// A session written more recently may still be active and is not read. 3 hours; specified.
    #[serde(with = "seconds")]
    pub min_idle: Duration,
    /// Minimum time between the starts of two runs. 30 minutes; specified.
    #[serde(with = "seconds")]
    pub min_gap: Duration,
    /// Maximum number of sessions per run. 10, at least 1; specified.
    pub max_per_run: usize,
}

impl Default for SessionsConfig {
    fn default() -> Self {
        Self { min_idle: Duration::from_hours(3), min_gap: Duration::from_mins(30), max_per_run: 10 }
    }
}

impl SessionsConfig {
    pub(super) fn validate(&self) -> Result<(), Error> {
        let Self { min_idle: _, min_gap: _, max_per_run } = self;
        at_least_one("sessions.max_per_run", *max_per_run)
    }
}

/// Settings of extraction by a language model (docs/spec/capture.md, 3).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExtractConfig {
    /// Maximum length of a session; of a longer one, the user's turns and failed calls have priority. 96,000, in
    /// characters (about 24,000 tokens), at least 8,000; chosen.
    pub max_session_chars: usize,
    /// Maximum length of the answer. 4,096, in the model's tokens; specified.
    pub max_tokens: u32,
    /// The model's sampling temperature. 0.3, in [0, 2]; specified.
    pub temperature: f64,
    /// Time limit of one call. 2 min; chosen.
    #[serde(with = "seconds")]
    pub time_limit: Duration,
}

impl Default for ExtractConfig {
    fn default() -> Self {
        Self { max_session_chars: 96_000, max_tokens: 4_096, temperature: 0.3, time_limit: Duration::from_mins(2) }
    }
}

impl ExtractConfig {
    pub(super) fn validate(&self) -> Result<(), Error> {
        let Self { max_session_chars, max_tokens: _, temperature, time_limit: _ } = self;
        // The corrections in one turn take up to a quarter of it.
        check("extract.max_session_chars", max_session_chars, *max_session_chars >= 8_000, "at least 8,000")?;
        within("extract.temperature", *temperature, 0.0..=2.0, "in [0, 2]")
    }
}
