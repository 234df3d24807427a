//! The immutable state that queries read.

use std::collections::BTreeMap;

use adage_index::IndexConfig;

use super::chunk_index::ChunkIndex;
use super::chunk_words::ChunkWords;
use super::document_table::DocumentTable;
use crate::store::documents::{Change, LogMark, Logged};

/// The documents up to a position in the log, and what queries search, which may be behind. Clones share unchanged parts.
#[derive(Clone)]
pub(super) struct View {
    pub(super) mark: LogMark,
    pub(super) documents: DocumentTable,
    pub(super) chunks: ChunkIndex,
    pub(super) words: ChunkWords,
}

/// What of a state is brought up to date for a query.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Searched {
    Vectors,
    VectorsAndWords,
}

impl View {
    pub(super) fn new(config: IndexConfig) -> Self {
        Self {
            mark: LogMark::default(),
            documents: DocumentTable::default(),
            chunks: ChunkIndex::new(config),
            words: ChunkWords::default(),
        }
    }

    /// Applies the next changes of the log.
    pub(super) fn apply(&mut self, changes: Vec<Logged>, mark: LogMark) {
        for Logged { change, n_bytes } in changes {
            match change {
                Change::Put(document) => self.documents.put(document, n_bytes),
                Change::Remove(id) => self.documents.remove(&id),
            }
        }
        self.mark = mark;
    }

    /// Replaces the documents by those of another log. Documents in both keep their keys.
    pub(super) fn replace(&mut self, changes: Vec<Logged>, mark: LogMark) {
        let mut documents = BTreeMap::new();
        for Logged { change, n_bytes } in changes {
            match change {
                Change::Put(document) => drop(documents.insert(document.id.clone(), (document, n_bytes))),
                Change::Remove(id) => drop(documents.remove(&id)),
            }
        }
        self.documents = self.documents.with_documents(documents.into_values().collect());
        self.mark = mark;
    }

    /// True if the chunks are those of the documents.
    pub(super) fn is_chunked(&self) -> bool {
        self.chunks.is_of(&self.documents)
    }

    /// Brings what is searched up to date with the documents.
    pub(super) fn follow(&mut self, searched: Searched) {
        self.chunks.follow(&self.documents);
        if searched == Searched::VectorsAndWords {
            self.words.follow(&self.chunks.chunks, &self.documents);
        }
    }

    /// True if [`follow`](Self::follow) would change nothing.
    pub(super) fn has_followed(&self, searched: Searched) -> bool {
        self.is_chunked() && (searched == Searched::Vectors || self.words.is_of(&self.chunks.chunks))
    }
}
