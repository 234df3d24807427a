//! The program as a whole: real processes on real folders.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    reason = "a test that panics is a test that fails"
)]

mod agents_as_they_are;
mod cli;
mod cli_mine;
mod config_cli;
mod every_command;
mod exchange_cli;
mod home;
mod hook;
mod inbox_cli;
mod init;
mod keeping;
mod kept_private;
mod mcp;
mod merges;
mod mistakes;
mod other_memories;
mod places;
mod processes;
mod random_merges;
mod red;
mod schemas;
#[cfg(feature = "http-llm")]
#[path = "../../../../tests/it/server.rs"]
mod server;
mod skills_cli;
mod store;
mod terminal_cli;
