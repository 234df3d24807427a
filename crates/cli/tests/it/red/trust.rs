//! Nothing of a memory folder made by someone else is used without trust: not a cloned folder, a pulled row or a forged claim.

#![allow(clippy::print_stdout, clippy::disallowed_macros, reason = "the tables and the story are there to be read")]

mod checks;
mod commands;
mod environment;
mod first_hour;
mod folders;
mod ground;
mod honest;
mod journals;
mod numbers;
mod poisoning;
mod program;
mod pulled;
mod queued;
mod removed;
mod repositories;
mod repository_traps;
mod restored;
mod rows;
mod said_about_skills;
mod served;
mod sessions;
mod settings;
mod shown;
mod skills;
mod state;
mod team;
mod windows;
mod writers;
