//! A memory folder that somebody else made must not speak: neither a cloned one, nor a pulled row, nor a forged claim.

#![allow(clippy::print_stdout, clippy::disallowed_macros, reason = "the tables and the story are there to be read")]

mod checks;
mod commands;
mod environment;
mod first_hour;
mod folders;
mod ground;
mod honest;
mod poisoning;
mod program;
mod pulled;
mod repositories;
mod rows;
mod settings;
mod shown;
mod skills;
mod state;
mod team;
