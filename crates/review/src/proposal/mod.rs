//! The review inbox: what an agent proposes and a person decides (docs/spec/skills.md, 4). Pure: values in, values out.
//!
//! A proposal is a unified diff, a skill or a lesson. [`patch`] knows diffs, but not paths; [`target`] says which paths a diff of a
//! kind may touch; [`pointer`] keeps the table of contents of the notes; [`show`] is what a person reads.

mod look_alike;
mod name;
mod patch;
mod plan;
mod pointer;
mod show;
mod target;

pub use name::{BadProposalName, PatchKind, ProposalKind, ProposalName};
pub use patch::{FilePatch, Patch};
pub(crate) use patch::{MAX_BYTES, MAX_FILE_BYTES, recounted};
pub(crate) use plan::{Content, Plan};
pub(crate) use pointer::{INDEX, with_pointers};
pub(crate) use show::for_person;
pub(crate) use target::{
    AllowedRoot, AllowedRoots, Effect, Located, SKILL_FILE, View, in_memory, judge, locate, saved_skill,
};
