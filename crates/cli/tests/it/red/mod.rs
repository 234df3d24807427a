//! Attacks through the program: what a hostile file, name or argument must not bring about.

mod program;
mod terminal;
mod terminal_sources;
mod terminal_words;
