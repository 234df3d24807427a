//! The exact index: every row is looked at.

use std::collections::HashMap;

use super::{Nearest, Neighbour, dot};
use crate::embed::UnitVector;

/// Unit vectors in one block of memory, scanned row by row.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExactIndex {
    dimension: usize,
    rows: Vec<f32>,
    keys: Vec<u128>,
    positions: HashMap<u128, usize>,
}

impl ExactIndex {
    /// Adds a vector, or replaces the one under the same key. A vector of another dimension than the first one's is left
    /// out and `false` returned: vectors of two models never meet in one index.
    pub(crate) fn put(&mut self, key: u128, vector: &UnitVector) -> bool {
        let vector = vector.as_slice();
        if self.keys.is_empty() {
            self.dimension = vector.len();
        }
        if vector.len() != self.dimension {
            return false;
        }
        if let Some(row) = self.positions.get(&key).copied().and_then(|position| self.row_mut(position)) {
            row.copy_from_slice(vector);
        } else {
            self.positions.insert(key, self.keys.len());
            self.keys.push(key);
            self.rows.extend_from_slice(vector);
        }
        true
    }

    /// Takes a vector out; the last row moves into its place.
    pub(crate) fn remove(&mut self, key: u128) {
        let Some(position) = self.positions.remove(&key) else { return };
        let last = self.keys.len() - 1;
        self.rows.copy_within(last * self.dimension.., position * self.dimension);
        self.rows.truncate(last * self.dimension);
        self.keys.swap_remove(position);
        if let Some(moved) = self.keys.get(position) {
            self.positions.insert(*moved, position);
        }
    }

    fn row_mut(&mut self, position: usize) -> Option<&mut [f32]> {
        self.rows.get_mut(position * self.dimension..(position + 1) * self.dimension)
    }
}

impl Nearest for ExactIndex {
    fn nearest(&self, query: &[f32], k: usize, accept: &dyn Fn(u128) -> bool) -> Vec<Neighbour> {
        if query.len() != self.dimension || self.dimension == 0 {
            return Vec::new();
        }
        let rows = self.keys.iter().zip(self.rows.chunks_exact(self.dimension));
        let mut found: Vec<Neighbour> = rows
            .filter(|(key, _)| accept(**key))
            .map(|(key, row)| Neighbour { key: *key, distance: (1.0 - dot(query, row)).clamp(0.0, 2.0) })
            .collect();
        let order = |a: &Neighbour, b: &Neighbour| a.distance.total_cmp(&b.distance).then(a.key.cmp(&b.key));
        if k < found.len() {
            if k > 0 {
                found.select_nth_unstable_by(k - 1, order);
            }
            found.truncate(k);
        }
        found.sort_unstable_by(order);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unit(components: &[f32]) -> UnitVector {
        UnitVector::new(components).unwrap()
    }

    fn keys(found: &[Neighbour]) -> Vec<u128> {
        found.iter().map(|neighbour| neighbour.key).collect()
    }

    #[test]
    fn distances_are_one_minus_cosine_nearest_first() {
        let mut index = ExactIndex::default();
        for (key, vector) in [(1, [1.0, 0.0]), (2, [0.0, 1.0]), (3, [-1.0, 0.0]), (4, [3.0, 4.0])] {
            assert!(index.put(key, &unit(&vector)));
        }
        let found = index.nearest(&[1.0, 0.0], 10, &|_| true);
        assert_eq!(keys(&found), [1, 4, 2, 3]);
        let distances: Vec<f32> = found.iter().map(|neighbour| neighbour.distance).collect();
        // 1 − cos of 0°, of the 3-4-5 triangle (cos 0.6), of 90° and of 180°.
        assert!(
            distances.iter().zip([0.0, 0.4, 1.0, 2.0]).all(|(a, b): (&f32, f32)| (a - b).abs() < 1e-6),
            "{distances:?}"
        );
        assert_eq!(keys(&index.nearest(&[1.0, 0.0], 2, &|key| key != 1)), [4, 2]);
        assert!(index.nearest(&[1.0, 0.0], 0, &|_| true).is_empty());
        assert!(index.nearest(&[1.0, 0.0, 0.0], 3, &|_| true).is_empty());
        assert!(!index.put(9, &unit(&[1.0])));
    }

    #[test]
    fn equal_distances_come_in_the_order_of_their_keys() {
        let mut index = ExactIndex::default();
        for key in [5, 3, 4] {
            index.put(key, &unit(&[1.0, 1.0]));
        }
        assert_eq!(keys(&index.nearest(&[1.0, 0.0], 2, &|_| true)), [3, 4]);
    }

    proptest! {
        #[test]
        fn agrees_with_a_naive_search_through_changes(
            changes in prop::collection::vec((0_u128..12, prop::option::of(prop::array::uniform3(-1.0_f32..1.0))), 0..60),
            k in 0_usize..8,
        ) {
            let mut index = ExactIndex::default();
            let mut model = std::collections::BTreeMap::new();
            for (key, vector) in changes {
                match vector.map(|vector| UnitVector::new(&vector)) {
                    Some(Ok(vector)) => { index.put(key, &vector); model.insert(key, vector); }
                    Some(Err(_)) => {}
                    None => { index.remove(key); model.remove(&key); }
                }
            }
            let query = [0.6, 0.8, 0.0];
            let mut expected: Vec<(f32, u128)> = model.iter()
                .map(|(key, vector)| ((1.0 - dot(&query, vector.as_slice())).clamp(0.0, 2.0), *key)).collect();
            expected.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let expected: Vec<u128> = expected.into_iter().take(k).map(|(_, key)| key).collect();
            prop_assert_eq!(keys(&index.nearest(&query, k, &|_| true)), expected);
        }
    }
}
