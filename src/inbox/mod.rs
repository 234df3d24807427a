//! The review inbox: what an agent proposes and a person decides (skills 4). Pure: values in, values out.
//!
//! A proposal is a unified diff, a skill or a lesson. [`patch`] knows diffs and nothing of paths; [`target`] says which paths a
//! diff of a kind may touch; [`pointer`] keeps the table of contents of the notes; [`show`] is what a person reads.

mod name;
mod patch;
mod target;

pub use name::{BadProposalName, PatchKind, ProposalKind, ProposalName};
pub use patch::{FilePatch, Forbidden, Limit, Patch, PatchError};
pub(crate) use target::Entry;
pub use target::{BadName, TargetError};
