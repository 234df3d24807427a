//! Nearest neighbours among unit vectors. The indexes know numbers, never lessons.

mod graph;
mod kernels;
mod key_set;
mod rows;
mod shortlist;
mod snapshot;
mod vector_index;

pub use key_set::KeySet;
pub use vector_index::{Among, Answer, Neighbour, VectorIndex};
