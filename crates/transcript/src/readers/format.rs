//! The supported formats.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::error::Error;

/// The format of a session file.
///
/// ```
/// use adage_transcript::Format;
/// assert_eq!("claude-code".parse::<Format>()?, Format::ClaudeCode);
/// assert_eq!(Format::OpenAi.to_string(), "openai");
/// # Ok::<(), adage_transcript::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Format {
    /// Detected from the first records.
    #[default]
    Auto,
    /// Claude Code's session files.
    ClaudeCode,
    /// Codex's rollout files.
    Codex,
    /// gemini-cli's chat recordings, JSON or JSON lines.
    Gemini,
    /// Sessions of the pi coding agent.
    Pi,
    /// Chat messages in `OpenAI`'s format.
    OpenAi,
    /// Anthropic messages.
    Anthropic,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 7] =
        [Self::Auto, Self::ClaudeCode, Self::Codex, Self::Gemini, Self::Pi, Self::OpenAi, Self::Anthropic];

    /// The name, as parsed by [`FromStr`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Pi => "pi",
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| Error::NoSuchFormat { name: name.to_owned() })
    }
}
