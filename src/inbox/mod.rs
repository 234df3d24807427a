//! The review inbox: what an agent proposes and a person decides (skills 4). Pure: values in, values out.
//!
//! A proposal is a unified diff, a skill or a lesson. [`patch`] knows diffs and nothing of paths; the rules of paths stand above
//! it.

mod patch;

pub use patch::{FilePatch, Forbidden, Limit, Patch, PatchError};
