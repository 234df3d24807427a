//! Lessons from past sessions of an agent: which sessions a folder has, which are due, and one run at a time over them.
//!
//! ```
//! use adage::Playbook;
//! use adage::model::CancelToken;
//! use adage::sessions::{NotDue, RunOutcome};
//!
//! # let (folder, recorded) = (tempfile::tempdir()?, tempfile::tempdir()?);
//! let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
//! let sessions = playbook.sessions();
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

pub use crate::capture::{Ineligible, ReadState, SessionEntry as Entry, SessionSummary as Summary, index};
pub use crate::playbook::extraction::SessionLessons as Lessons;
pub use crate::playbook::mining::{Mined, SkipSelection};
pub use crate::playbook::session_files::{
    LeftOut, LeftOutReason, SessionFile as File, SessionFiles as Files, files, open,
};
pub use crate::playbook::session_place::{is_agent_folder, source_of_named, source_of_queued};
pub use crate::playbook::session_run::{RunOutcome, SessionRun as Run};
pub use crate::playbook::sessions::{DueSessions, NotDue, SessionScan as Scan, Sessions};
pub use crate::state::book::SkippedSuggestion;
pub use crate::store::mining::{RunEnd, RunOwner, RunRecord};
pub use crate::store::mining_rows::{SessionOutcome as Outcome, SessionResult};
