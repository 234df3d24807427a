//! Nearest neighbours under small keys, every row looked at.

use std::sync::Arc;

use super::dot;
use super::key_set::KeySet;
use crate::embed::UnitVector;
use crate::error::VectorError;

/// Which way of searching answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexKind {
    /// Every row was looked at.
    Exact,
    /// A graph led to the neighbours; now and then one is missed.
    Graph,
}

/// How vectors are searched.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct IndexConfig {}

/// A neighbour: the key it was put under, and its cosine distance `1 − cos`, in [0, 2], smaller is nearer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Neighbour {
    pub(crate) key: u32,
    pub(crate) distance: f32,
}

/// What a search found: nearest first, ties by key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) neighbours: Vec<Neighbour>,
    pub(crate) by: IndexKind,
}

/// Which keys a search may find.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Among<'a> {
    All,
    Only(&'a KeySet),
}

/// Rows of a block: what a change of one row copies.
const BLOCK: usize = 128;

/// Unit vectors of one dimension under keys. A clone shares its blocks; a change copies the block that it is in.
#[derive(Clone, Debug)]
pub(crate) struct VectorIndex {
    #[expect(dead_code, reason = "nothing to choose yet")]
    config: IndexConfig,
    dimension: usize,
    present: KeySet,
    /// `BLOCK` rows each; a row without a key is whatever was there.
    blocks: Vec<Arc<Vec<f32>>>,
}

fn place(key: u32) -> (usize, usize) {
    (key as usize / BLOCK, key as usize % BLOCK)
}

impl VectorIndex {
    pub(crate) fn new(config: IndexConfig) -> Self {
        Self { config, dimension: 0, present: KeySet::default(), blocks: Vec::new() }
    }

    /// Adds a vector, or replaces the one under the same key.
    pub(crate) fn put(&mut self, key: u32, vector: &UnitVector) -> Result<(), VectorError> {
        self.put_all([(key, vector)])
    }

    /// Adds or replaces vectors, all or none.
    pub(crate) fn put_all<'v>(
        &mut self,
        rows: impl IntoIterator<Item = (u32, &'v UnitVector)>,
    ) -> Result<(), VectorError> {
        let rows: Vec<(u32, &[f32])> = rows.into_iter().map(|(key, vector)| (key, vector.as_slice())).collect();
        let Some((_, first)) = rows.first() else { return Ok(()) };
        let expected = self.dimension().unwrap_or(first.len());
        if let Some((_, odd)) = rows.iter().find(|(_, row)| row.len() != expected) {
            return Err(VectorError::Dimension { found: odd.len(), expected });
        }
        if self.is_empty() {
            self.blocks.clear();
            self.dimension = expected;
        }
        for (key, row) in rows {
            let (block, slot) = place(key);
            while self.blocks.len() <= block {
                self.blocks.push(Arc::default());
            }
            let Some(block) = self.blocks.get_mut(block).map(Arc::make_mut) else { continue };
            block.resize(BLOCK * expected, 0.0);
            if let Some(place) = block.get_mut(slot * expected..(slot + 1) * expected) {
                place.copy_from_slice(row);
                self.present.insert(key);
            }
        }
        Ok(())
    }

    /// Takes a vector out; true when there was one.
    pub(crate) fn remove(&mut self, key: u32) -> bool {
        self.present.remove(key)
    }

    /// The `k` nearest, nearest first, ties by key.
    pub(crate) fn search(&self, query: &UnitVector, k: usize, among: Among<'_>) -> Result<Answer, VectorError> {
        let query = query.as_slice();
        let expected = self.dimension().unwrap_or(query.len());
        if query.len() != expected {
            return Err(VectorError::Dimension { found: query.len(), expected });
        }
        let keys = match among {
            Among::All => self.present.clone(),
            Among::Only(keys) => self.present.intersect(keys),
        };
        let rows = keys.iter().filter_map(|key| Some((key, self.vector(key)?)));
        let mut neighbours: Vec<Neighbour> =
            rows.map(|(key, row)| Neighbour { key, distance: (1.0 - dot(query, row)).clamp(0.0, 2.0) }).collect();
        neighbours.sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance).then(a.key.cmp(&b.key)));
        neighbours.truncate(k);
        Ok(Answer { neighbours, by: IndexKind::Exact })
    }

    pub(crate) fn vector(&self, key: u32) -> Option<&[f32]> {
        let (block, slot) = place(key);
        let rows = self.blocks.get(block).filter(|_| self.present.contains(key))?;
        rows.get(slot * self.dimension..(slot + 1) * self.dimension)
    }

    pub(crate) fn len(&self) -> usize {
        self.present.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The dimension of the vectors; none while there is no vector.
    pub(crate) fn dimension(&self) -> Option<usize> {
        (!self.is_empty()).then_some(self.dimension)
    }

    /// Gives back the memory of removed rows.
    pub(crate) fn compact(&mut self) {
        let last = self.present.iter().last().map_or(0, |last| place(last).0 + 1);
        self.blocks.truncate(last);
    }
}
