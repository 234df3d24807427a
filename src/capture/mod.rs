//! From what an agent wrote down of a session to candidates for lessons (capture 1–3). Pure stages over one [`Transcript`].

mod injected;
mod outcome;
mod readers;
mod transcript;

pub use outcome::error_line;
pub use readers::{Broken, BrokenReason, Format, Owner, ReadLimits, ReadReport, Reading, TranscriptReader};
pub use transcript::{Status, ToolCall, Transcript, Turn};
