//! Sessions as agents write them, from the files to what a person reviews.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    reason = "a test that panics is a test that fails"
)]

mod agent;
mod extract;
mod learning_from_sessions;
mod mining;
mod proposed_recoveries;
mod sessions;
