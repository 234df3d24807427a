//! A local web page on a lesson memory: served on 127.0.0.1, or written into one file.

mod answer;
mod ask;
mod change;
mod entrance;
mod export;
mod form;
mod history;
mod layout;
mod lesson;
mod lessons;
mod memory;
mod plot;
mod review;
mod server;
mod text;
mod time;

pub use export::export;
pub use memory::{Access, Memory};
pub use server::{PageServer, ServeError, StopHandle};

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
