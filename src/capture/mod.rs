//! From what an agent wrote down of a session to candidates for lessons (docs/spec/capture.md, 1–3). Pure stages over
//! one [`Transcript`](adage_transcript::Transcript).

pub(crate) mod agent;
mod cancel;
mod evidence;
mod extract;
mod heuristics;
#[cfg(feature = "http-llm")]
mod http;
mod model;
mod scripted;
mod sessions;
pub(crate) mod taint;

pub use agent::{AgentJob, AgentTool, Denied, ToolPolicy};
pub use cancel::{CancelHook, CancelToken};
pub use evidence::{MIN_QUOTE_WORDS, NoEvidence, Speaker, check_evidence, find_evidence};
pub(crate) use extract::redacted_record;
pub use extract::{
    Existing, ExtractRequest, Extracted, Extraction, Refused, RefusedBecause, Unreadable, extract_lessons,
};
pub use heuristics::{Because, Candidate, Explanation, Ground, Heuristic, Hurdle, Suggestions, suggest};
#[cfg(feature = "http-llm")]
pub use http::HttpModel;
pub use model::{Completion, LanguageModel, ModelError};
pub use scripted::ScriptedModel;
pub use sessions::{Ineligible, Recurrence, Ripeness, SessionEntry, SessionSummary, Standing, index, recurring};
