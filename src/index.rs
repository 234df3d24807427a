//! Nearest neighbours among unit vectors, in memory: an exact scan, from 6,000 rows on a scan of signs first, from 300,000 on a graph.
//!
//! ```
//! use adage::index::{IndexConfig, KeySet, SearchScope, UnitVector, VectorIndex};
//!
//! let mut index = VectorIndex::new(IndexConfig::default());
//! index.put(0, &UnitVector::new(&[1.0, 0.0])?)?;
//! index.put(1, &UnitVector::new(&[0.0, 1.0])?)?;
//!
//! let query = UnitVector::new(&[3.0, 1.0])?; // scaled to length 1
//! let found = index.search(&query, 1, SearchScope::All)?.neighbours;
//! assert_eq!(found[0].key, 0);
//! assert!((found[0].distance - 0.0513).abs() < 1e-4); // 1 − cos
//!
//! let mut allowed = KeySet::default();
//! allowed.insert(1);
//! assert_eq!(index.search(&query, 1, SearchScope::Only(&allowed))?.neighbours[0].key, 1);
//! # Ok::<(), adage::index::VectorError>(())
//! ```

pub use adage_index::{
    IndexConfig, IndexKind, InvalidSetting, KeySet, Neighbour, SearchResult, SearchScope, UnitVector, VectorError,
    VectorIndex,
};
