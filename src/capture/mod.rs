//! From what an agent wrote down of a session to candidates for lessons (capture 1–3). Pure stages over one [`Transcript`].

mod evidence;
mod transcript;

pub use evidence::{MIN_QUOTE_WORDS, NoEvidence, Speaker, check_evidence, find_evidence};
pub use transcript::{Status, ToolCall, Transcript, Turn};
