//! Learning: from an admitted lesson to what the playbook becomes (docs/spec/playbook.md, 3). A pure stage.
//!
//! ```
//! use adage::{LearnOutcome, Playbook, build_lesson};
//!
//! # let folder = tempfile::tempdir()?;
//! let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
//! let outcome = playbook.learn_lesson(build_lesson("parsing CSV exports", "Use the csv module."))?;
//! assert!(matches!(outcome, LearnOutcome::Inserted { .. }));
//! let again = playbook.learn_lesson(build_lesson("parsing CSV exports", "Use the csv module."))?;
//! assert!(matches!(again, LearnOutcome::Merged { .. }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod applying;
mod checking;
mod decision;
pub(crate) mod feedback;
mod import;
mod known_texts;
mod learner;
mod merge;
mod neighbours;
mod outcome;
pub(crate) mod pruning;
mod removal;
mod retention;
mod review;
mod review_capacity;
mod undo;
mod versions;

pub use crate::state::ReviewReason;
pub use feedback::{Feedback, Verification};
pub use import::Imported;
pub(crate) use known_texts::KnownTexts;
pub(crate) use learner::{Admission, Arrival, Comparison, Learner, Newcomer, means_the_same};
pub use outcome::LearnOutcome;
pub use pruning::{KeptBecause, KeptFromPruning, Pruned};
pub use removal::RemovedLesson;
pub(crate) use removal::{forget, remove, retract, says_same};
pub use review::ReviewedLesson;
pub(crate) use review::dismiss;
pub(crate) use review_capacity::ReviewCapacity;
pub use undo::Undone;
pub(crate) use undo::undo;

#[cfg(test)]
mod tests;
