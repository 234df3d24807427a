//! What the crate does as a whole: real files, real processes, the real model where the crate has it.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    reason = "a test that panics is a test that fails"
)]

#[cfg(feature = "cli")]
mod cli;
mod layers;
#[cfg(all(feature = "rten", feature = "bundled-model"))]
mod merging;
#[cfg(all(feature = "rten", feature = "bundled-model"))]
mod parity;
#[cfg(feature = "cli")]
mod processes;
