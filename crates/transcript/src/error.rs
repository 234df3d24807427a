//! What can go wrong when a session is read.

/// Why a session could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The format could not be detected from the beginning of the source; name it.
    #[error(
        "no known transcript format in the first {n_bytes} bytes; name one: claude-code, codex, gemini, pi, openai, anthropic"
    )]
    UnknownFormat {
        /// How many bytes were looked at.
        n_bytes: usize,
    },
    /// No format has this name.
    #[error("no transcript format {name:?}; there are auto, claude-code, codex, gemini, pi, openai, anthropic")]
    NoSuchFormat {
        /// What was asked for.
        name: String,
    },
    /// The source failed while it was read.
    #[error("the transcript could not be read past byte {n_bytes}")]
    Source {
        /// How far it was read.
        n_bytes: u64,
        /// What the source said.
        source: std::io::Error,
    },
}
