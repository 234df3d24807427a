//! The language model that a host may give: the trait, how a call is stopped, a scripted one for tests, one over HTTP.
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
pub use language_model::{Completion, LanguageModel, ModelError};
pub use scripted::ScriptedModel;
