//! Vectors in a store of rows, read and written as far as they are new.

use super::{RowStore, StoredVector};
use crate::error::Result;
use crate::lesson::TextHash;
use crate::store::VectorCache;

impl RowStore {
    /// Reads the vectors that were written since the last read.
    pub(crate) fn read_vectors(&self, cache: &mut VectorCache, model: TextHash) -> Result<()> {
        for StoredVector { number, text, components } in self.store.vectors(model, cache.read_to)? {
            cache.put_stored(text, components);
            cache.read_to = cache.read_to.max(number);
        }
        Ok(())
    }

    /// Writes vectors made outside a commit.
    pub(crate) fn save_vectors(&self, cache: &mut VectorCache, model: TextHash) -> Result<()> {
        if !cache.unsaved.is_empty() && self.may_write {
            self.store.save_vectors(model, &unsaved(cache))?;
            cache.unsaved.clear();
        }
        Ok(())
    }
}

/// The vectors that are not written yet.
pub(super) fn unsaved(cache: &VectorCache) -> Vec<StoredVector> {
    let vectors = cache.unsaved_vectors();
    vectors.map(|(text, vector)| StoredVector { number: 0, text, components: vector.as_slice().to_vec() }).collect()
}

/// Notes that a commit wrote them, and dropped those of other texts.
pub(super) fn after_commit(cache: &mut VectorCache, kept: Option<&[TextHash]>) {
    cache.unsaved.clear();
    if let Some(kept) = kept {
        cache.keep_only(&kept.iter().copied().collect());
    }
}
