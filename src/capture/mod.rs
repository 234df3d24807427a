//! From what an agent wrote down of a session to candidates for lessons (capture 1–3). Pure stages over one [`Transcript`].

mod cancel;
mod evidence;
mod extract;
#[cfg(feature = "http-llm")]
mod http;
mod model;
mod scripted;
mod transcript;

pub use cancel::{CancelHook, CancelToken};
pub use evidence::{MIN_QUOTE_WORDS, NoEvidence, Speaker, check_evidence, find_evidence};
pub use extract::{
    Existing, ExtractRequest, Extracted, Extraction, Refused, RefusedBecause, Unreadable, extract_lessons,
};
#[cfg(feature = "http-llm")]
pub use http::HttpModel;
pub use model::{Completion, LanguageModel, ModelError};
pub use scripted::ScriptedModel;
pub use transcript::{Status, ToolCall, Transcript, Turn};
