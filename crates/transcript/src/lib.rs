//! Sessions of coding agents, read into one [`Transcript`]: who said what, which calls were made and how they ended.
//!
//! - [`TranscriptReader`] reads what Claude Code, Codex, gemini-cli, pi and programs with `OpenAI` or Anthropic messages write, and
//!   reports what it left out.
//! - [`ToolCall::command`], [`ToolCall::changed_path`] and [`error_line`] say what a call did and why it failed.
//! - [`CommandLine`] reads a command line by shell grammar, for comparing.
//!
//! ```
//! use adage_transcript::{CommandLine, Format, Status, TranscriptReader, Turn, error_line};
//!
//! let session = r#"{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "bash", "arguments": "{\"command\": \"cargo tset\"}"}}]}
//! {"role": "tool", "tool_call_id": "1", "content": "error: no such command: `tset`"}"#;
//! let reading = TranscriptReader::new().read(session.as_bytes(), Format::Auto)?;
//! let Turn::ToolCall(call) = &reading.transcript.turns[0] else { panic!() };
//! assert_eq!(call.status, Status::Failed);
//! assert_eq!(error_line(call.result.as_deref().unwrap()), Some("error: no such command: `tset`"));
//! assert_eq!(CommandLine::parse(&call.command().unwrap()).normal_form(), "cargo tset");
//! # Ok::<(), adage_transcript::Error>(())
//! ```

pub mod answer;
mod code_mode;
pub mod command;
mod error;
mod injected;
mod mending;
pub mod outcome;
mod patch;
mod readers;
mod tool_call;
mod transcript;

pub use command::{CommandLine, Relation, WordChange};
pub use error::Error;
pub use injected::{task_in, without_harness_tags};
pub use mending::{JsonRepair, MendedJson, decoded, read_json};
pub use outcome::error_line;
pub use readers::{Broken, BrokenReason, Format, Owner, ReadLimits, ReadReport, Reading, TranscriptReader};
pub use tool_call::ToolCall;
pub use transcript::{Source, Status, Transcript, Turn};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
