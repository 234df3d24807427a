//! The words of the chunks, followed from state to state.

use super::chunk_index::{Chunk, Chunks};
use super::document_table::DocumentTable;
use crate::lexical::{DocumentWords, Field, FieldIndex, WordHashes};

/// The usual number of terms of a chunk, from which the length of a chunk counts. Fitted: docs/benchmarks.md.
const USUAL_TERMS: f32 = 40.0;
/// The weight of its terms.
const WEIGHT: f32 = 3.0;

/// A word index of the chunks under their numbers. Clones share unchanged parts.
#[derive(Clone, Default)]
pub(super) struct ChunkWords {
    /// The chunks that it is built from.
    chunks: Chunks,
    pub(super) index: FieldIndex,
}

impl ChunkWords {
    /// Brings it up to date with these chunks of these documents.
    pub(super) fn follow(&mut self, chunks: &Chunks, documents: &DocumentTable) {
        let mut hashes = WordHashes::default();
        let mut words = |chunk: &Chunk| -> Option<(u32, DocumentWords)> {
            let document = documents.document(chunk.document)?;
            let text = document.text.get(chunk.range.clone()).unwrap_or_default();
            let field = Field { text, weight: WEIGHT, usual_terms: USUAL_TERMS };
            Some((chunk.number, DocumentWords::of(&[field], &mut hashes)))
        };
        let before = std::mem::take(&mut self.chunks);
        let changed = before.changed(chunks);
        if 2 * changed.len() > chunks.len() {
            self.index = FieldIndex::of(chunks.iter().filter_map(words));
        } else {
            for (before, after) in changed {
                if let Some(before) = before {
                    self.index.take(before.number);
                }
                if let Some((number, words)) = after.and_then(&mut words) {
                    self.index.put(number, words);
                }
            }
        }
        self.chunks = chunks.clone();
    }

    /// True if it is up to date with these chunks.
    pub(super) fn is_of(&self, chunks: &Chunks) -> bool {
        self.chunks.changed(chunks).is_empty()
    }
}
