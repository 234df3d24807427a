//! The language model that a host may supply: the trait, cancelling a call, a scripted model for tests, a model over HTTP.
//!
//! ```
//! use adage::LanguageModel;
//! use adage::model::{CancelToken, Completion, ScriptedModel};
//! use std::time::Duration;
//!
//! let model = ScriptedModel::new([Ok("LEARN".to_owned())]);
//! let completion = Completion {
//!     system: "Say LEARN or NOTHING.".into(),
//!     user: "no, use pnpm".into(),
//!     max_tokens: 16,
//!     temperature: 0.0,
//!     time_limit: Duration::from_secs(5),
//!     cancel: CancelToken::default(),
//! };
//! assert_eq!(model.complete(&completion)?, "LEARN");
//! # Ok::<(), adage::model::ModelError>(())
//! ```

mod cancel;
#[cfg(feature = "http-llm")]
mod http;
mod language_model;
mod scripted;

pub use cancel::{CancelHook, CancelToken};
#[cfg(feature = "http-llm")]
pub use http::HttpModel;
pub use language_model::{Completion, LanguageModel, MAX_REPLY_BYTES, ModelError};
pub use scripted::ScriptedModel;
