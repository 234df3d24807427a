//! Documents read from the log on demand, and kept in memory afterwards.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use adage_index::KeySet;
use parking_lot::Mutex;

use crate::document::Document;
use crate::error::folder::Result;
use crate::lesson::TextHash;
use crate::store::documents::StoredDocuments;

/// Documents per block: a block is allocated when its first document is read.
const BLOCK: usize = 256;

type Block = Box<[OnceLock<Arc<Document>>]>;

/// The stored documents, with those already read.
#[derive(Debug)]
pub(super) struct StoredShelf {
    pub(super) stored: StoredDocuments,
    blocks: Vec<OnceLock<Block>>,
    sets: Mutex<HashMap<TextHash, Arc<KeySet>>>,
}

impl StoredShelf {
    pub(super) fn new(stored: StoredDocuments) -> Self {
        let blocks = (0..(stored.len() as usize).div_ceil(BLOCK)).map(|_| OnceLock::new()).collect();
        Self { stored, blocks, sets: Mutex::default() }
    }

    /// None if there is none or its line is damaged.
    pub(super) fn document(&self, key: u32) -> Result<Option<Arc<Document>>> {
        let Some(block) = self.blocks.get(key as usize / BLOCK) else { return Ok(None) };
        let block = block.get_or_init(|| (0..BLOCK).map(|_| OnceLock::new()).collect());
        let Some(slot) = block.get(key as usize % BLOCK) else { return Ok(None) };
        if let Some(document) = slot.get() {
            return Ok(Some(Arc::clone(document)));
        }
        let read = self.stored.document(key)?;
        Ok(read.map(|document| Arc::clone(slot.get_or_init(|| document))))
    }

    /// The keys of the documents with this metadata entry.
    pub(super) fn with_name(&self, name: &TextHash) -> Option<Arc<KeySet>> {
        let keys = self.stored.with_name(name)?;
        let mut sets = self.sets.lock();
        Some(Arc::clone(sets.entry(*name).or_insert_with(|| Arc::new(keys.collect()))))
    }
}
