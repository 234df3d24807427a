//! Attacks through the library: what must hold whichever program calls it.

mod links;
mod races;
