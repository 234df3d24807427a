//! Sessions as agents record them (Claude Code, Codex, gemini-cli, pi, `OpenAI` and Anthropic messages), read into one shape.
//!
//! ```
//! use adage::transcript::{Format, TranscriptReader, Turn};
//!
//! let source = r#"[{"role": "user", "content": "no, use pnpm"}, {"role": "assistant", "content": "Right."}]"#;
//! let reading = TranscriptReader::new().read(source.as_bytes(), Format::Auto)?;
//! assert_eq!(reading.report.format, Format::OpenAi);
//! assert_eq!(reading.transcript.turns[0], Turn::User("no, use pnpm".into()));
//! # Ok::<(), adage::transcript::Error>(())
//! ```
//!
//! A `User` turn is what a person typed; text that a harness (the agent's program) writes under the user's role is a `System` turn.
//! A broken line costs that line and is reported.

pub use adage_transcript::{
    Broken, BrokenReason, CommandLine, Error, Format, JsonRepair, MendedJson, Owner, ReadLimits, ReadReport, Reading,
    Relation, Source, Status, ToolCall, Transcript, TranscriptReader, Turn, WordChange, answer, error_line, read_json,
    task_in, without_harness_tags,
};
