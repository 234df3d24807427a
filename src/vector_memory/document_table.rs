//! The documents as a value, indexed by key, id and metadata.

use std::sync::Arc;

use adage_index::KeySet;

use super::shards::Shards;
use super::stored_table::StoredTable;
use crate::document::Document;
use crate::error::folder::Result;
use crate::lesson::TextHash;
use crate::store::documents::{Described, LineSpan, StoredDocuments};

/// Documents per block: the amount that a change of one document copies.
const BLOCK: usize = 256;

/// A document with its position in the log.
#[derive(Clone, Debug)]
struct Positioned {
    document: Arc<Document>,
    text: TextHash,
    span: LineSpan,
}

/// The content under a key.
#[derive(Clone, Debug, Default)]
enum Slot {
    /// The stored document with this key, if there is one.
    #[default]
    AsStored,
    Free,
    Held(Positioned),
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

/// True if both are the same, or neither exists.
fn is_shared<T>(one: Option<&Arc<T>>, other: Option<&Arc<T>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// The hashes of all metadata entries of a document.
fn names(document: &Document) -> impl Iterator<Item = TextHash> {
    document.metadata.iter().flat_map(|(field, value)| [value_name(field, value), field_name(field)])
}

/// The documents: those of the cache, which covers the beginning of the log, and later changes on top of them. Clones share
/// unchanged parts.
#[derive(Clone, Debug, Default)]
pub(super) struct DocumentTable {
    stored: Option<Arc<StoredTable>>,
    blocks: Vec<Option<Arc<Vec<Slot>>>>,
    /// By the hash of the id; stored documents that are unchanged are omitted.
    ids: Shards<TextHash, u32>,
    pub(super) live: KeySet,
    /// Keys below the end that no document has.
    free: KeySet,
    /// Posting lists by metadata entry; stored lists that are unchanged are omitted.
    named: Shards<TextHash, Arc<KeySet>>,
    /// The total length of all documents' lines in the log, in bytes.
    pub(super) n_bytes: u64,
}

impl DocumentTable {
    /// Starts with stored documents, under their stored keys.
    pub(super) fn over(stored: StoredDocuments) -> Self {
        let (live, n_bytes) = ((0..stored.len()).collect(), stored.n_bytes());
        Self { stored: Some(Arc::new(StoredTable::new(stored))), live, n_bytes, ..Self::default() }
    }

    /// True if a stored document turned out damaged: the log must be read again.
    pub(super) fn is_damaged(&self) -> bool {
        self.stored.as_ref().is_some_and(|documents| documents.stored.is_damaged())
    }

    pub(super) fn key(&self, id: &str) -> Option<u32> {
        let id = id_hash(id);
        self.ids.get(&id).copied().or_else(|| {
            let key = self.stored.as_ref()?.stored.find(&id)?;
            self.as_stored(key).map(|_| key)
        })
    }

    fn slot(&self, key: u32) -> &Slot {
        let block = self.blocks.get(key as usize / BLOCK).and_then(Option::as_ref);
        block.and_then(|block| block.get(key as usize % BLOCK)).unwrap_or(&Slot::AsStored)
    }

    /// The stored documents, if the document of this key is unchanged.
    fn as_stored(&self, key: u32) -> Option<&StoredTable> {
        matches!(self.slot(key), Slot::AsStored).then_some(self.stored.as_deref()?)
    }

    /// The hash of a document's text.
    pub(super) fn text(&self, key: u32) -> Option<TextHash> {
        match self.slot(key) {
            Slot::AsStored => self.stored.as_ref()?.stored.text(key),
            Slot::Free => None,
            Slot::Held(held) => Some(held.text),
        }
    }

    /// The document, read from the log at its first use. None if there is none, or if its line is damaged: then
    /// [`is_damaged`](Self::is_damaged) is true.
    pub(super) fn document(&self, key: u32) -> Result<Option<Arc<Document>>> {
        match self.slot(key) {
            Slot::AsStored => self.stored.as_ref().map_or(Ok(None), |stored| stored.document(key)),
            Slot::Free => Ok(None),
            Slot::Held(held) => Ok(Some(Arc::clone(&held.document))),
        }
    }

    /// As [`document`](Self::document), by id.
    pub(super) fn get(&self, id: &str) -> Result<Option<Arc<Document>>> {
        self.key(id).map_or(Ok(None), |key| self.document(key))
    }

    /// The documents of these keys, or all, in the order of their keys; without damaged ones.
    pub(super) fn documents(&self, keys: Option<&KeySet>) -> Result<Vec<(u32, Arc<Document>)>> {
        let found =
            keys.unwrap_or(&self.live).iter().map(|key| Ok(self.document(key)?.map(|document| (key, document))));
        found.filter_map(Result::transpose).collect()
    }

    /// True if a clone of one is the other, unchanged. The documents are not compared.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.shares_stored(other) && (0..self.n_blocks().max(other.n_blocks())).all(|nth| self.shares_block(other, nth))
    }

    /// The keys under which the text differs. What both share is not compared.
    pub(super) fn changed(&self, newer: &Self) -> Vec<u32> {
        let is_stored_shared = self.shares_stored(newer);
        let blocks = 0..self.n_blocks().max(newer.n_blocks());
        let changed = blocks.filter(|nth| !is_stored_shared || !self.shares_block(newer, *nth));
        let keys = changed.flat_map(|nth| nth * BLOCK..(nth + 1) * BLOCK).filter_map(|key| u32::try_from(key).ok());
        keys.filter(|key| self.text(*key) != newer.text(*key)).collect()
    }

    fn n_blocks(&self) -> usize {
        (self.end() as usize).div_ceil(BLOCK)
    }

    fn shares_stored(&self, other: &Self) -> bool {
        is_shared(self.stored.as_ref(), other.stored.as_ref())
    }

    fn shares_block(&self, other: &Self, nth: usize) -> bool {
        let block = |table: &Self| table.blocks.get(nth).cloned().flatten();
        is_shared(block(self).as_ref(), block(other).as_ref())
    }

    /// The descriptions of all documents for the cache, in the order of their keys.
    pub(super) fn describe(&self) -> impl Iterator<Item = Described> {
        self.live.iter().filter_map(|key| match self.slot(key) {
            Slot::AsStored => self.stored.as_ref()?.stored.describe(key),
            Slot::Free => None,
            Slot::Held(Positioned { document, text, span }) => {
                let names = names(document).collect();
                Some(Described { id: id_hash(&document.id), text: *text, span: *span, names })
            }
        })
    }

    pub(super) fn with_value(&self, field: &str, value: &str) -> Option<Arc<KeySet>> {
        self.with_name(&value_name(field, value))
    }

    pub(super) fn with_field(&self, field: &str) -> Option<Arc<KeySet>> {
        self.with_name(&field_name(field))
    }

    fn with_name(&self, name: &TextHash) -> Option<Arc<KeySet>> {
        self.named.get(name).cloned().or_else(|| self.stored.as_ref()?.with_name(name))
    }

    /// Replaces the document with this id, or adds it under a free key. Returns the key.
    pub(super) fn put(&mut self, document: Arc<Document>, span: LineSpan) -> u32 {
        let old = self.key(&document.id);
        let key = old.or_else(|| self.free.iter().next()).unwrap_or_else(|| self.end());
        self.put_at(key, document, span);
        key
    }

    /// Stores a document under the key of its id, or under one that no document has.
    fn put_at(&mut self, key: u32, document: Arc<Document>, span: LineSpan) {
        self.take(key);
        self.free.remove(key);
        self.live.insert(key);
        self.ids.insert(id_hash(&document.id), key);
        for name in names(&document) {
            self.rename(name, |keys| keys.insert(key));
        }
        self.n_bytes += span.n_bytes as u64;
        let text = document.text_hash();
        self.set(key, Slot::Held(Positioned { document, text, span }));
    }

    /// Removes a document. Returns its key.
    pub(super) fn remove(&mut self, id: &str) -> Option<u32> {
        let key = self.key(id)?;
        self.ids.remove(&id_hash(id));
        self.take(key);
        self.live.remove(key);
        self.free.insert(key);
        Some(key)
    }

    /// A documents of only these documents, held in memory. Each keeps the key that its id has here, or gets a free one.
    pub(super) fn with_documents(&self, documents: Vec<(Arc<Document>, LineSpan)>) -> Self {
        let mut next = Self::default();
        let (kept, new): (Vec<_>, Vec<_>) = documents
            .into_iter()
            .map(|(document, span)| (self.key(&document.id), document, span))
            .partition(|(key, ..)| key.is_some());
        for (key, document, span) in kept {
            next.put_at(key.unwrap_or_default(), document, span);
        }
        next.free = (0..self.end()).filter(|key| !next.live.contains(*key)).collect();
        for (_, document, span) in new {
            next.put(document, span);
        }
        next
    }

    /// The first key that was never used. At 100 bytes per document, the keys last for 400 GiB.
    fn end(&self) -> u32 {
        let n_keys = self.live.len() + self.free.len();
        u32::try_from(n_keys).unwrap_or(u32::MAX)
    }

    fn set(&mut self, key: u32, slot: Slot) {
        let (block, place) = (key as usize / BLOCK, key as usize % BLOCK);
        if self.blocks.len() <= block {
            self.blocks.resize(block + 1, None);
        }
        let Some(block) = self.blocks.get_mut(block) else { return };
        let block = block.get_or_insert_with(|| Arc::new(vec![Slot::AsStored; BLOCK]));
        if let Some(old) = Arc::make_mut(block).get_mut(place) {
            *old = slot;
        }
    }

    fn take(&mut self, key: u32) {
        let (names, span) = match self.slot(key) {
            Slot::AsStored => match self.stored.as_ref().and_then(|documents| documents.stored.describe(key)) {
                Some(described) => (described.names, described.span),
                None => return,
            },
            Slot::Free => return,
            Slot::Held(held) => (names(&held.document).collect(), held.span),
        };
        self.n_bytes -= span.n_bytes as u64;
        self.set(key, Slot::Free);
        for name in names {
            self.rename(name, |keys| keys.remove(key));
        }
    }

    /// Changes the posting list of a metadata entry. An empty list is kept if it hides a stored one.
    fn rename(&mut self, name: TextHash, change: impl FnOnce(&mut KeySet) -> bool) {
        let held = self.named.remove(&name);
        let stored = self.stored.as_ref().and_then(|documents| documents.with_name(&name));
        let is_stored = stored.is_some();
        let mut keys = held.or(stored).unwrap_or_default();
        change(Arc::make_mut(&mut keys));
        if is_stored || !keys.is_empty() {
            self.named.insert(name, keys);
        }
    }
}
