//! A map whose clones share unchanged entries.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Arc;

/// A change copies one shard: a 256th of the map.
const N_SHARDS: usize = 256;

/// A hash map in shards. A clone copies 256 pointers; a change copies the affected shard, unless it is not shared.
#[derive(Clone, Debug)]
pub(super) struct Shards<K, V> {
    state: RandomState,
    shards: Vec<Arc<HashMap<K, V>>>,
}

impl<K, V> Default for Shards<K, V> {
    fn default() -> Self {
        Self { state: RandomState::new(), shards: (0..N_SHARDS).map(|_| Arc::default()).collect() }
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Shards<K, V> {
    fn place<Q: Hash + ?Sized>(&self, key: &Q) -> usize {
        usize::try_from(self.state.hash_one(key) % N_SHARDS as u64).unwrap_or(0)
    }

    pub(super) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.shards.get(self.place(key))?.get(key)
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        let place = self.place(&key);
        if let Some(shard) = self.shards.get_mut(place) {
            Arc::make_mut(shard).insert(key, value);
        }
    }

    pub(super) fn remove<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key);
        let shard = self.shards.get_mut(place)?;
        // Nothing is copied for a missing key.
        if shard.contains_key(key) { Arc::make_mut(shard).remove(key) } else { None }
    }
}
