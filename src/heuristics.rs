//! The five rules that find candidates for lessons in a transcript, without a model.
//!
//! ```
//! use adage::config::CaptureConfig;
//! use adage::heuristics::{Heuristic, suggest};
//! use adage::transcript::{Transcript, Turn};
//!
//! let transcript = Transcript {
//!     turns: vec![Turn::User("Remember this: run just fmt before a commit.".into())],
//!     ..Transcript::default()
//! };
//! let suggestions = suggest(&transcript, &CaptureConfig::default());
//! assert_eq!(suggestions.candidates[0].heuristic, Heuristic::ExplicitInstruction);
//! ```

pub use crate::capture::{
    Author, Because, Candidate, Explanation, FiredBecause, Heuristic, Instruction, RejectedBecause, StatedLine,
    StatedSentence, Statement, Suggestions, stated_lines, statements, suggest,
};
