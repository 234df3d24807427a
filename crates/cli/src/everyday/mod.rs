//! What is used every day: learning, asking, listing, editing, removing, outcomes.

pub(crate) mod change;
pub(crate) mod diff;
pub(crate) mod editor;
pub(crate) mod learn;
pub(crate) mod learned;
pub(crate) mod show;
