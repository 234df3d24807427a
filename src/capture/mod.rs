//! From what an agent wrote down of a session to candidates for lessons (docs/spec/capture.md, 1–3). Pure stages over
//! one [`Transcript`](adage_transcript::Transcript).

pub(crate) mod agent;
mod evidence;
mod extract;
pub(crate) mod foreign;
mod heuristics;
mod sessions;

pub use agent::{AgentJob, AgentLimits, AgentTool, Denied, ToolPolicy};
pub(crate) use evidence::Shown;
pub use evidence::{MIN_QUOTE_WORDS, NoEvidence, Speaker, find_evidence};
pub use extract::{
    Existing, ExtractRequest, Extracted, Extraction, ProposalEvidence, RecoveryPart, RecoveryRefusal, Refused,
    RefusedBecause, Unreadable, extract_lessons,
};
pub(crate) use extract::{MAX_EXISTING, redacted_record};
pub use heuristics::{
    Author, Because, Candidate, Explanation, FiredBecause, Heuristic, Instruction, RejectedBecause, StatedLine,
    StatedSentence, Statement, Suggestions, stated_lines, statements, suggest,
};
pub(crate) use heuristics::{project_checks, split_by_failure};
pub use sessions::{Ineligible, ReadState, SessionEntry, SessionSummary, index};
pub(crate) use sessions::commands_told;
