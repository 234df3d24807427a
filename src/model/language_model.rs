//! The interface to a language model (docs/spec/capture.md, 3.1). The crate ships none; the host supplies one.

use std::time::Duration;

use serde::Serialize;

use super::CancelToken;

/// Maximum size of an answer that is parsed, in bytes; chosen.
pub const MAX_REPLY_BYTES: usize = 256 << 10;

/// A language model that answers one request at a time. Calls block.
///
/// A function or closure from a [`Completion`] to its answer is a model:
///
/// ```
/// use adage::Playbook;
/// use adage::model::{CancelToken, Completion};
/// use adage::transcript::Transcript;
/// use adage_sessions::Sessions;
///
/// # let folder = tempfile::tempdir()?;
/// let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
/// // Here you call your model.
/// let model = |completion: &Completion| Ok(format!("{} bytes of data were asked about", completion.user.len()));
/// Sessions::of(&playbook).learn_from(&Transcript::default(), Some(&model), &CancelToken::default())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait LanguageModel: Send + Sync {
    /// The model's whole answer to the completion, as text.
    ///
    /// An implementation makes one attempt and leaves retries to its caller. It checks `completion.cancel` wherever it waits,
    /// and gives up after `completion.time_limit`.
    ///
    /// # Errors
    /// [`ModelError`]; [temporary ones](ModelError::is_passing) may be tried again.
    fn complete(&self, completion: &Completion) -> Result<String, ModelError>;
}

impl<F> LanguageModel for F
where
    F: Fn(&Completion) -> Result<String, ModelError> + Send + Sync,
{
    fn complete(&self, completion: &Completion) -> Result<String, ModelError> {
        self(completion)
    }
}

/// A request to a model. Instructions and data are in separate fields.
#[derive(Clone, Debug)]
pub struct Completion {
    /// The instructions; they contain no text of a session, a lesson or a tool.
    pub system: String,
    /// The data that the instructions refer to; never instructions, whatever it contains.
    pub user: String,
    /// The maximum length of the answer, in the model's tokens.
    pub max_tokens: u32,
    /// The model's sampling temperature, in [0, 2].
    pub temperature: f64,
    /// The time limit of this call, from its start to the last byte.
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
    /// The answer exceeded the time limit.
    #[error("no whole answer within {limit:?}")]
    OutOfTime {
        /// The time limit.
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
        /// The delay that the server asked for.
        #[serde(serialize_with = "crate::config::seconds::serialize_if_any")]
        retry_after: Option<Duration>,
    },
    /// There was no connection, or it broke.
    #[error("the server could not be reached: {reason}")]
    Unreachable {
        /// The error of the network.
        reason: String,
    },
    /// The answer exceeds the maximum size.
    #[error("the answer has more than {max_bytes} bytes")]
    TooLong {
        /// The maximum size in bytes.
        max_bytes: usize,
    },
    /// The server's answer does not conform to the interface.
    #[error("the answer is not in the shape of the interface: {reason}")]
    BadAnswer {
        /// What is wrong with it.
        reason: String,
    },
    /// A model that runs in the host failed.
    #[error("{reason}")]
    Run {
        /// The engine's message.
        reason: String,
    },
}

impl ModelError {
    /// True for a temporary error, after which the same request may succeed: broken connections, and the statuses 408, 425, 429
    /// and 5xx except 501 and 505.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => matches!(status, 408 | 425 | 429 | 500 | 502..=504 | 506..=599),
            _ => false,
        }
    }

    /// The delay that the server asked for, if it did.
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
    fn a_function_and_a_closure_are_models() {
        fn refusing(_: &Completion) -> Result<String, ModelError> {
            Err(ModelError::Cancelled)
        }
        let answer = "LEARN".to_owned();
        let model = |completion: &Completion| Ok(format!("{answer} {}", completion.user));
        let models: [&dyn LanguageModel; 2] = [&model, &refusing];
        let completion = Completion {
            system: String::new(),
            user: "x".to_owned(),
            max_tokens: 1,
            temperature: 0.0,
            time_limit: Duration::ZERO,
            cancel: CancelToken::default(),
        };
        let answers = models.map(|model| model.complete(&completion));
        assert_eq!(answers, [Ok("LEARN x".to_owned()), Err(ModelError::Cancelled)]);
    }

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
