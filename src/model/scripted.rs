//! A model with scripted answers, for tests.

use std::collections::VecDeque;

use parking_lot::Mutex;

use super::{Completion, LanguageModel, ModelError};

/// Returns answers from a list, in order, and records the requests: for tests of code that uses a [`LanguageModel`].
///
/// At the end of the list it fails with [`ModelError::Run`]. For a cancelled completion it fails with [`ModelError::Cancelled`]
/// and uses no answer.
///
/// ```
/// use adage::LanguageModel;
/// use adage::model::{CancelToken, Completion, ScriptedModel};
///
/// let model = ScriptedModel::new([Ok("yes".to_owned())]);
/// let completion = Completion {
///     system: "Answer.".to_owned(),
///     user: "Is it?".to_owned(),
///     max_tokens: 10,
///     temperature: 0.0,
///     time_limit: std::time::Duration::from_secs(1),
///     cancel: CancelToken::default(),
/// };
/// assert_eq!(model.complete(&completion).as_deref(), Ok("yes"));
/// assert!(model.complete(&completion).is_err());
/// assert_eq!(model.requests()[0].user, "Is it?");
/// ```
#[derive(Debug, Default)]
pub struct ScriptedModel {
    script: Mutex<VecDeque<Result<String, ModelError>>>,
    asked: Mutex<Vec<Completion>>,
}

impl ScriptedModel {
    /// A model that returns these answers, one per call.
    pub fn new(script: impl IntoIterator<Item = Result<String, ModelError>>) -> Self {
        Self { script: Mutex::new(script.into_iter().collect()), asked: Mutex::default() }
    }

    /// The requests so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Completion> {
        self.asked.lock().clone()
    }
}

impl LanguageModel for ScriptedModel {
    fn complete(&self, completion: &Completion) -> Result<String, ModelError> {
        self.asked.lock().push(completion.clone());
        if completion.cancel.is_cancelled() {
            return Err(ModelError::Cancelled);
        }
        let over = || Err(ModelError::Run { reason: "the script is at its end".to_owned() });
        self.script.lock().pop_front().unwrap_or_else(over)
    }
}
