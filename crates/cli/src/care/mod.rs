//! The care of a memory: checks, repairs, settings, the manual.

pub(crate) mod config;
pub(crate) mod health;
pub(crate) mod manual;
pub(crate) mod view;
