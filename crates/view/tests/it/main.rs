//! The page over real HTTP: what it shows, what its forms do, and who is not let in.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that panics is a test that fails"
)]

mod attacks;
mod browser;
mod pages;
