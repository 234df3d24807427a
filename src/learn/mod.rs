//! Learning: from an admitted lesson to what the playbook becomes (docs/spec/playbook.md, 3). A pure stage.

pub(crate) mod feedback;
mod learner;
mod merge;
mod outcome;
mod removal;
pub(crate) mod retention;
mod review;
mod undo;

pub use feedback::{Feedback, Verification};
pub(crate) use learner::{Arrival, Comparison, Learner, Newcomer};
pub use outcome::LearnOutcome;
pub use removal::RemovedLesson;
pub(crate) use removal::remove;
pub use retention::Pruned;
pub(crate) use review::{ReviewedLesson, dismiss};
pub use undo::Undone;
pub(crate) use undo::undo;

#[cfg(test)]
mod tests;
