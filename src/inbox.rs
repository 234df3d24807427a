//! What awaits a person's review: patches of notes and skills, new skills, lessons. Nothing here takes effect by itself.
//!
//! ```
//! use adage::Playbook;
//! use adage::inbox::PatchKind;
//!
//! # let folder = tempfile::tempdir()?;
//! let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
//! let inbox = playbook.inbox();
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

pub use crate::error::inbox::Error;
pub use crate::error::{BadName, CannotApply, Forbidden, Limit, PatchError, TargetError};
pub use crate::playbook::inbox::written::{CheckedInbox, Quarantined};
pub use crate::playbook::inbox::{
    Applied, Dismissed, Inapplicable, Inbox, InboxChange as Change, Notice, Proposal, UndoneFiles,
};
pub use crate::proposal::{BadProposalName, FilePatch, Patch, PatchKind, ProposalKind, ProposalName};
