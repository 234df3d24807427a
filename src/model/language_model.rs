//! The interface to a language model (docs/spec/capture.md, 3.1). The crate ships none; the host supplies one.

use std::time::Duration;

use serde::Serialize;

use super::CancelToken;

/// A language model that answers one request at a time. Calls block.
pub trait LanguageModel: Send + Sync {
    /// The model's whole answer to the completion, as text.
    ///
    /// An implementation asks once and leaves trying again to its caller; it looks at `completion.cancel` wherever it
    /// waits, and gives up after `completion.time_limit`.
    ///
    /// # Errors
    /// [`ModelError`]; those that [are passing](ModelError::is_passing) may be tried again.
    fn complete(&self, completion: &Completion) -> Result<String, ModelError>;
}

/// What a model is asked. Instructions and what they are about never share a field.
#[derive(Clone, Debug)]
pub struct Completion {
    /// The instructions; no text of a session, of a lesson or of a tool is in here.
    pub system: String,
    /// What the instructions are about: data, whatever it says of itself.
    pub user: String,
    /// The longest answer, in the model's tokens.
    pub max_tokens: u32,
    /// The model's sampling temperature, in [0, 2].
    pub temperature: f64,
    /// How long this one call may take, from start to the last byte.
    pub time_limit: Duration,
    /// Ends the call early.
    pub cancel: CancelToken,
}

/// Why a model gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelError {
    /// The caller cancelled.
    #[error("the call was cancelled")]
    Cancelled,
    /// The answer took longer than it was given.
    #[error("no whole answer within {limit:?}")]
    OutOfTime {
        /// The time that was given.
        #[serde(serialize_with = "crate::config::seconds::serialize")]
        limit: Duration,
    },
    /// The server answered with a status other than success.
    #[error("the server refused with status {status}: {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What the server said, shortened and without secrets.
        message: String,
        /// How long the server asked to be left alone.
        #[serde(serialize_with = "crate::config::seconds::serialize_if_any")]
        retry_after: Option<Duration>,
    },
    /// No connection, or it broke.
    #[error("the server could not be reached: {reason}")]
    Unreachable {
        /// What the network said.
        reason: String,
    },
    /// The answer is longer than is read.
    #[error("the answer has more than {max_bytes} bytes")]
    TooLong {
        /// The most that is read.
        max_bytes: usize,
    },
    /// The server answered, and not in the shape that its interface has.
    #[error("the answer is not in the shape of the interface: {reason}")]
    BadAnswer {
        /// What is wrong with it.
        reason: String,
    },
    /// A model that runs in the host failed.
    #[error("the model failed: {reason}")]
    Run {
        /// What its engine said.
        reason: String,
    },
}

impl ModelError {
    /// True when the same request may succeed a moment later: connections that broke, and the statuses 408, 425, 429 and
    /// 5xx but for 501 and 505.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => matches!(status, 408 | 425 | 429 | 500 | 502..=504 | 506..=599),
            _ => false,
        }
    }

    /// How long the server asked to be left alone, if it did.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_passes_is_tried_again() {
        let refused = |status| ModelError::Refused { status, message: String::new(), retry_after: None };
        for (error, is_passing) in [
            (refused(429), true),
            (refused(408), true),
            (refused(500), true),
            (refused(529), true),
            (refused(501), false),
            (refused(400), false),
            (refused(401), false),
            (refused(302), false),
            (ModelError::Unreachable { reason: String::new() }, true),
            (ModelError::Cancelled, false),
            (ModelError::OutOfTime { limit: Duration::ZERO }, false),
            (ModelError::TooLong { max_bytes: 1 }, false),
        ] {
            assert_eq!(error.is_passing(), is_passing, "{error}");
        }
    }
}
