//! What the crate does as a whole: real files, real processes, the real model where the crate has it.

#![allow(missing_docs)]

mod layers;
#[cfg(all(feature = "rten", feature = "bundled-model"))]
mod merging;
#[cfg(all(feature = "rten", feature = "bundled-model"))]
mod parity;
#[cfg(feature = "cli")]
mod processes;
