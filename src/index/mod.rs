//! Nearest neighbours among unit vectors. The indexes know numbers, never lessons.

mod exact;
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

pub(crate) use exact::ExactIndex;
pub use key_set::KeySet;
pub(crate) use snapshot::{Bytes, Part};
pub use vector_index::{Among, Answer, IndexConfig, IndexKind, Neighbour as IndexNeighbour, VectorIndex};

/// A neighbour: the key it was added under, and its cosine distance `1 − cos`, in [0, 2], smaller is nearer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Neighbour {
    pub(crate) key: u128,
    pub(crate) distance: f32,
}

/// What every index answers.
pub(crate) trait Nearest {
    /// The `k` nearest of the keys that `accept` lets through, nearest first, ties by key.
    fn nearest(&self, query: &[f32], k: usize, accept: &dyn Fn(u128) -> bool) -> Vec<Neighbour>;
}

/// The dot product. Sixteen sums side by side, so that the compiler keeps them in vector registers.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let mut sums = [0.0_f32; LANES];
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}
