//! Attacks through the library: what must hold whichever program calls it.

mod eviction;
mod loss;
mod table;
