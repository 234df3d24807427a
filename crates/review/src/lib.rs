//! What awaits a person's review in the lesson memory `adage`: patches of notes and skills, new skills, lessons. Nothing here takes effect
//! by itself.
//!
//! ```
//! use adage::Playbook;
//! use adage_review::{Inbox, PatchKind};
//!
//! # let folder = tempfile::tempdir()?;
//! let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
//! let inbox = Inbox::of(&playbook);
//! let notes = folder.path().canonicalize()?.join("deploy.md");
//! let patch = format!("--- /dev/null\n+++ {}\n@@ -0,0 +1 @@\n+Deploy on Mondays.\n", notes.display());
//! inbox.propose(&PatchKind::Private, patch.as_bytes())?;
//!
//! let proposals = inbox.list()?;
//! assert!(inbox.show(&proposals[0])?.contains("+Deploy on Mondays."));
//! let applied = inbox.apply(&proposals)?;
//! assert_eq!(std::fs::read_to_string(&notes)?, "Deploy on Mondays.\n");
//!
//! inbox.undo(applied.change.ok_or("no file changed")?)?;
//! assert!(!notes.exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A proposal is shown, applied and dismissed exactly as it was listed, by hash. Several files change together or not at all.

mod error;
mod examined;
mod files;
mod found;
mod inbox;
mod named_targets;
mod patch_error;
mod proposal;
mod proposing;
mod results;
mod written;

pub use error::{BadName, CannotApply, Error, Result, TargetError};
pub use inbox::Inbox;
pub use patch_error::{Forbidden, Limit, PatchError};
pub use proposal::{BadProposalName, FilePatch, Patch, PatchKind, ProposalKind, ProposalName};
pub use results::{Applied, Dismissed, Inapplicable, InboxChange as Change, Notice, Proposal, UndoneFiles};
pub use written::{CheckedInbox, Quarantined};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
