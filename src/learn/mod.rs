//! Learning: from an admitted lesson to what the playbook becomes (docs/spec/playbook.md, 3). A pure stage.

pub(crate) mod feedback;
mod learned;
mod learner;
mod merge;
mod removal;
pub(crate) mod retention;
mod review;
mod undo;

pub use feedback::{Outcome, Verification};
pub use learned::Learned;
pub(crate) use learner::{Arrival, Comparison, Learner, Newcomer};
pub use removal::Removal;
pub(crate) use removal::remove;
pub use retention::Pruned;
pub(crate) use review::{ReviewedLesson, dismiss};
pub use undo::Undone;
pub(crate) use undo::undo;

#[cfg(test)]
mod tests;
