//! A model whose answers a test scripts.

use std::collections::VecDeque;

use parking_lot::Mutex;

use super::{Completion, LanguageModel, ModelError};

/// Answers from a list, in order, and keeps what it was asked: for tests of what is built on a [`LanguageModel`].
///
/// When the list is used up it fails with [`ModelError::Run`]; when the completion was cancelled, with
/// [`ModelError::Cancelled`], and the list stays as it is.
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
/// assert_eq!(model.asked()[0].user, "Is it?");
/// ```
#[derive(Debug, Default)]
pub struct ScriptedModel {
    script: Mutex<VecDeque<Result<String, ModelError>>>,
    asked: Mutex<Vec<Completion>>,
}

impl ScriptedModel {
    /// A model that gives these answers, one a call.
    pub fn new(script: impl IntoIterator<Item = Result<String, ModelError>>) -> Self {
        Self { script: Mutex::new(script.into_iter().collect()), asked: Mutex::default() }
    }

    /// What it was asked so far, in order.
    #[must_use]
    pub fn asked(&self) -> Vec<Completion> {
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
