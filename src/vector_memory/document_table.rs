//! The documents as a value, indexed by key, id and metadata.

use std::sync::Arc;

use adage_index::KeySet;

use super::shards::Shards;
use crate::document::Document;
use crate::lesson::TextHash;

/// Documents per block: the amount that a change of one document copies.
const BLOCK: usize = 256;

/// A document, the hash of its text, and the length of its line in the log in bytes.
#[derive(Clone, Debug)]
struct Row {
    document: Arc<Document>,
    text: TextHash,
    n_bytes: u64,
}

/// The hash of a field with a value.
fn value_name(field: &str, value: &str) -> TextHash {
    TextHash::of(&[field, value])
}

/// The hash of a field, for any value.
fn field_name(field: &str) -> TextHash {
    TextHash::of(&[field])
}

fn id_hash(id: &str) -> TextHash {
    TextHash::of(&[id])
}

/// The hashes of all metadata entries of a document.
fn names(document: &Document) -> impl Iterator<Item = TextHash> {
    document.metadata.iter().flat_map(|(field, value)| [value_name(field, value), field_name(field)])
}

/// The documents. Clones share unchanged parts.
#[derive(Clone, Debug, Default)]
pub(super) struct DocumentTable {
    /// None for a key that no document has.
    blocks: Vec<Arc<Vec<Option<Row>>>>,
    /// By the hash of the id.
    ids: Shards<TextHash, u32>,
    pub(super) live: KeySet,
    /// Keys below the end that no document has.
    free: KeySet,
    /// Posting lists by metadata entry.
    named: Shards<TextHash, Arc<KeySet>>,
    /// The total length of all documents' lines in the log, in bytes.
    pub(super) n_bytes: u64,
}

impl DocumentTable {
    pub(super) fn key(&self, id: &str) -> Option<u32> {
        self.ids.get(&id_hash(id)).copied()
    }

    fn row(&self, key: u32) -> Option<&Row> {
        self.blocks.get(key as usize / BLOCK)?.get(key as usize % BLOCK)?.as_ref()
    }

    /// The hash of a document's text.
    pub(super) fn text(&self, key: u32) -> Option<TextHash> {
        self.row(key).map(|row| row.text)
    }

    pub(super) fn document(&self, key: u32) -> Option<&Arc<Document>> {
        self.row(key).map(|row| &row.document)
    }

    pub(super) fn get(&self, id: &str) -> Option<&Arc<Document>> {
        self.document(self.key(id)?)
    }

    /// The documents of these keys, or all, in the order of their keys.
    pub(super) fn documents(&self, keys: Option<&KeySet>) -> Vec<Arc<Document>> {
        keys.unwrap_or(&self.live).iter().filter_map(|key| self.document(key)).map(Arc::clone).collect()
    }

    /// True if a clone of one is the other, unchanged. The documents are not compared.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (0..self.blocks.len().max(other.blocks.len())).all(|nth| self.shares_block(other, nth))
    }

    /// The keys under which the text differs. What both share is not compared.
    pub(super) fn changed(&self, newer: &Self) -> Vec<u32> {
        let blocks = 0..self.blocks.len().max(newer.blocks.len());
        let changed = blocks.filter(|nth| !self.shares_block(newer, *nth));
        let keys = changed.flat_map(|nth| nth * BLOCK..(nth + 1) * BLOCK).filter_map(|key| u32::try_from(key).ok());
        keys.filter(|key| self.text(*key) != newer.text(*key)).collect()
    }

    fn shares_block(&self, other: &Self, nth: usize) -> bool {
        match (self.blocks.get(nth), other.blocks.get(nth)) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    pub(super) fn with_value(&self, field: &str, value: &str) -> Option<Arc<KeySet>> {
        self.named.get(&value_name(field, value)).cloned()
    }

    pub(super) fn with_field(&self, field: &str) -> Option<Arc<KeySet>> {
        self.named.get(&field_name(field)).cloned()
    }

    /// Replaces the document with this id, or adds it under a free key. `n_bytes` is the length of its line in the log.
    pub(super) fn put(&mut self, document: Arc<Document>, n_bytes: usize) {
        let old = self.key(&document.id);
        let key = old.or_else(|| self.free.iter().next()).unwrap_or_else(|| self.end());
        self.put_at(key, document, n_bytes);
    }

    /// Stores a document under the key of its id, or under one that no document has.
    fn put_at(&mut self, key: u32, document: Arc<Document>, n_bytes: usize) {
        self.take(key);
        self.free.remove(key);
        self.live.insert(key);
        self.ids.insert(id_hash(&document.id), key);
        for name in names(&document) {
            self.rename(name, |keys| keys.insert(key));
        }
        let (text, n_bytes) = (document.text_hash(), n_bytes as u64);
        self.n_bytes += n_bytes;
        self.set(key, Some(Row { document, text, n_bytes }));
    }

    pub(super) fn remove(&mut self, id: &str) {
        let Some(key) = self.key(id) else { return };
        self.ids.remove(&id_hash(id));
        self.take(key);
        self.live.remove(key);
        self.free.insert(key);
    }

    /// Only these documents. Each keeps the key that its id has here, or gets a free one.
    pub(super) fn with_documents(&self, documents: Vec<(Arc<Document>, usize)>) -> Self {
        let mut next = Self::default();
        let (kept, new): (Vec<_>, Vec<_>) = documents
            .into_iter()
            .map(|(document, n_bytes)| (self.key(&document.id), document, n_bytes))
            .partition(|(key, ..)| key.is_some());
        for (key, document, n_bytes) in kept {
            next.put_at(key.unwrap_or_default(), document, n_bytes);
        }
        next.free = (0..self.end()).filter(|key| !next.live.contains(*key)).collect();
        for (_, document, n_bytes) in new {
            next.put(document, n_bytes);
        }
        next
    }

    /// The first key that was never used. At 100 bytes per document, the keys last for 400 GiB.
    fn end(&self) -> u32 {
        let n_keys = self.live.len() + self.free.len();
        u32::try_from(n_keys).unwrap_or(u32::MAX)
    }

    fn set(&mut self, key: u32, row: Option<Row>) {
        let (block, place) = (key as usize / BLOCK, key as usize % BLOCK);
        if self.blocks.len() <= block {
            self.blocks.resize_with(block + 1, || Arc::new(vec![None; BLOCK]));
        }
        if let Some(old) = self.blocks.get_mut(block).and_then(|block| Arc::make_mut(block).get_mut(place)) {
            *old = row;
        }
    }

    fn take(&mut self, key: u32) {
        let Some(row) = self.row(key).cloned() else { return };
        self.n_bytes -= row.n_bytes;
        self.set(key, None);
        for name in names(&row.document) {
            self.rename(name, |keys| keys.remove(key));
        }
    }

    /// Changes the posting list of a metadata entry.
    fn rename(&mut self, name: TextHash, change: impl FnOnce(&mut KeySet) -> bool) {
        let mut keys = self.named.remove(&name).unwrap_or_default();
        change(Arc::make_mut(&mut keys));
        if !keys.is_empty() {
            self.named.insert(name, keys);
        }
    }
}
