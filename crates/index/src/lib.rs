//! Nearest neighbours among unit vectors, in memory: an exact scan over one-byte codes, a scan over signs before it for more rows, and a flat
//! graph (HNSW) for many.
//!
//! An exact answer is exact: the codes only decide which rows the floats need not be read of, within a proven bound. By their signs rows
//! are passed over that are farther with all but certainty ([`IndexKind::Coarse`]). The graph is deterministic: it depends on the rows and their order alone. This crate is the index of the lesson memory `adage`, and can
//! be used alone.
//!
//! ```
//! use adage_index::{IndexConfig, KeySet, SearchScope, UnitVector, VectorIndex};
//!
//! let mut index = VectorIndex::new(IndexConfig::default());
//! for (key, vector) in (0..).zip([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]) {
//!     index.put(key, &UnitVector::new(&vector)?)?;
//! }
//! let query = UnitVector::new(&[0.0, 2.0])?;
//! let nearest = index.search(&query, 2, SearchScope::All)?.neighbours;
//! assert_eq!(nearest.iter().map(|near| near.key).collect::<Vec<_>>(), [2, 1]);
//! assert_eq!(nearest[0].distance, 0.0);
//!
//! // Only among some of the keys.
//! let keys: KeySet = [0, 1].into_iter().collect();
//! let nearest = index.search(&query, 2, SearchScope::Only(&keys))?.neighbours;
//! assert_eq!(nearest[0].key, 1);
//! # Ok::<(), adage_index::VectorError>(())
//! ```
//!
//! Distances are cosine, `1 − cos`, in [0, 2]; smaller is nearer, ties are in the order of keys.
//!
//! # Features
//!
//! `hnsw_rs` adds the graph of that crate as a kind of index, to compare with.

mod coarse;
mod config;
mod float_block;
mod graph;
#[cfg(feature = "hnsw_rs")]
mod hnsw_rs;
mod kernels;
mod key_set;
mod rotation;
mod rows;
mod shared;
mod shortlist;
pub mod snapshot;
#[cfg(test)]
mod tests;
mod unit_vector;
mod vector_index;

pub use config::{IndexConfig, IndexKind, InvalidSetting};
pub use key_set::KeySet;
pub use shortlist::Neighbour;
pub use unit_vector::{UnitVector, VectorError};
pub use vector_index::{SearchResult, SearchScope, VectorIndex};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
