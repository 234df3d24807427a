//! Errors of reading a session.

/// Why a session could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The format could not be detected from the beginning of the source; pass it explicitly.
    #[error(
        "no known transcript format in the first {n_bytes} bytes; name one: claude-code, codex, gemini, pi, openai, anthropic"
    )]
    UnknownFormat {
        /// The number of bytes examined.
        n_bytes: usize,
    },
    /// No format has this name.
    #[error("no transcript format {name:?}; there are auto, claude-code, codex, gemini, pi, openai, anthropic")]
    NoSuchFormat {
        /// The requested name.
        name: String,
    },
    /// A text is no JSON, and no repair makes it JSON.
    #[error("{reason}")]
    NotJson {
        /// Where and why reading ended.
        reason: String,
    },
    /// Reading the source failed.
    #[error("the transcript could not be read past byte {n_bytes}")]
    Source {
        /// The number of bytes read before the error.
        n_bytes: u64,
        /// The error of the source.
        source: std::io::Error,
    },
}
