//! From what an agent wrote down of a session to candidates for lessons (capture 1–3). Pure stages over one [`Transcript`].

mod command;
mod heuristics;
mod injected;
mod outcome;
mod readers;
mod sessions;
pub(crate) mod taint;
mod terminal;
mod transcript;

pub use command::{CommandLine, Relation, WordChange};
pub use heuristics::{Because, Candidate, Explanation, Ground, Heuristic, Hurdle, Suggestions, suggest};
pub use outcome::error_line;
pub use readers::{Broken, BrokenReason, Format, Owner, ReadLimits, ReadReport, Reading, TranscriptReader};
pub use sessions::{Ineligible, Recurrence, Ripeness, SessionEntry, SessionSummary, Standing, index, recurring};
pub use transcript::{Status, ToolCall, Transcript, Turn};
