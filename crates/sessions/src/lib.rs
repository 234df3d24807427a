//! Lessons from past sessions of coding agents, for the lesson memory `adage`.
//!
//! - [`heuristics`]: five rules that find candidates in a transcript, without a model.
//! - [`extract`]: what the host's language model proposes, with quotes that are checked.
//! - [`Sessions`]: which sessions a folder has, which are due, and one run at a time over them; what is found waits for a person.
//! - [`agent`]: the job of an agent that the host runs over past sessions.
//!
//! ```
//! use adage::Playbook;
//! use adage::model::CancelToken;
//! use adage_sessions::{NotDue, RunOutcome, Sessions};
//!
//! # let (folder, recorded) = (tempfile::tempdir()?, tempfile::tempdir()?);
//! let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
//! let sessions = Sessions::of(&playbook);
//! for entry in sessions.scan(recorded.path())?.shown() {
//!     println!("{entry}"); // [NEW] intent | workflow: hint (12 user msgs) — path
//! }
//! // Reads what is due; sessions that were read are not read again.
//! let run = sessions.learn(recorded.path(), None, &CancelToken::default())?;
//! assert!(matches!(run, RunOutcome::NotDue(NotDue::NothingEligible)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A session is due when it was last written at least 3 hours ago and has at least 10 user turns. If a run dies, the next run reads
//! its remaining sessions.

pub mod agent;
mod cleaned;
mod evidence;
pub mod extract;
mod files;
mod foreign;
pub mod heuristics;
mod index;
mod known_lessons;
mod learning;
mod mining;
mod place;
mod record;
mod record_rows;
mod run;
mod sessions;
#[cfg(test)]
mod testing;

pub use files::{LeftOut, LeftOutReason, SessionFile, SessionFiles, files, open};
pub use index::{Ineligible, ReadState, SessionEntry, SessionSummary, index};
pub use learning::SessionLessons;
pub use mining::Mined;
pub use place::{is_agent_folder, source_of_named, source_of_queued};
pub use record::{RunEnd, RunOwner, RunRecord};
pub use record_rows::{SessionOutcome, SessionResult};
pub use run::{RunOutcome, SessionRun};
pub use sessions::{DueSessions, NotDue, SessionScan, Sessions};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
