//! The files of skills, and what is recorded of them.

pub(crate) mod curation;
pub(crate) mod files;
pub(in crate::store) mod scan;
pub(crate) mod state;
pub(crate) mod supporting;
