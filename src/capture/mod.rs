//! From what an agent wrote down of a session to candidates for lessons (capture 1–3). Pure stages over one [`Transcript`].

mod transcript;

pub use transcript::{Status, ToolCall, Transcript, Turn};
