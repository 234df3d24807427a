//! Nearest neighbours among unit vectors. The indexes know numbers, never lessons.

mod graph;
#[cfg(feature = "hnsw_rs")]
mod hnsw_rs;
mod kernels;
mod key_set;
mod rows;
mod shortlist;
mod snapshot;
#[cfg(test)]
mod tests;
mod vector_index;

pub use key_set::KeySet;
pub(crate) use snapshot::{Bytes, Part};
pub use vector_index::{Among, Answer, Neighbour, VectorIndex};
