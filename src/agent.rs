//! An agent, run by the host, that reads past sessions: its instructions, the sessions as redacted text, and the permissions of
//! its tools.
//!
//! ```
//! use adage::Playbook;
//! use adage::sessions::NotDue;
//!
//! # let (folder, recorded) = (tempfile::tempdir()?, tempfile::tempdir()?);
//! let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
//! match playbook.begin_agent(recorded.path())? {
//!     Ok(run) => println!("{}", run.job().system),
//!     Err(waiting) => assert_eq!(waiting, NotDue::NothingEligible),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use crate::capture::{AgentJob as Job, AgentLimits as Limits, AgentTool as Tool, Denied, ToolPolicy};
pub use crate::playbook::agent_run::{AgentReport as Report, AgentRun as Run, SessionText};
