//! What a person does to the lessons that are there: edits, removes, trusts, mends.

pub(in crate::playbook) mod editing;
pub(in crate::playbook) mod keeping;
pub(in crate::playbook) mod promotion;
pub(in crate::playbook) mod removal;
pub(in crate::playbook) mod skips;
pub(in crate::playbook) mod trusting;
