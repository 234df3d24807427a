//! The documents as a value: by key, by id, and by what their metadata says.

use std::collections::BTreeSet;
use std::sync::Arc;

use adage_index::KeySet;

use super::shards::Shards;
use crate::document::Document;
use crate::lesson::TextHash;

/// Documents of a block: what a change of one document copies.
const BLOCK: usize = 256;

/// A document in its place.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) document: Arc<Document>,
    pub(super) text: TextHash,
    /// What its line in the log takes, in bytes.
    pub(super) n_bytes: usize,
}

/// A field and a value, as one string: the length of the field keeps apart what a mere concatenation would not.
fn posting(field: &str, value: &str) -> String {
    format!("{}:{field}{value}", field.len())
}

/// The documents. A clone shares what it does not change.
#[derive(Clone, Debug, Default)]
pub(super) struct Shelf {
    blocks: Vec<Arc<Vec<Option<Placed>>>>,
    ids: Shards<Arc<str>, u32>,
    pub(super) live: KeySet,
    /// Keys below the end of the blocks that no document has.
    free: KeySet,
    with_value: Shards<String, Arc<KeySet>>,
    with_field: Shards<String, Arc<KeySet>>,
    /// What the lines of all documents take in the log, in bytes.
    pub(super) n_bytes: u64,
}

impl Shelf {
    pub(super) fn key(&self, id: &str) -> Option<u32> {
        self.ids.get(id).copied()
    }

    pub(super) fn at(&self, key: u32) -> Option<&Placed> {
        self.blocks.get(key as usize / BLOCK)?.get(key as usize % BLOCK)?.as_ref()
    }

    pub(super) fn get(&self, id: &str) -> Option<&Placed> {
        self.at(self.key(id)?)
    }

    /// The documents in the order of their keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Placed)> {
        self.live.iter().filter_map(|key| Some((key, self.at(key)?)))
    }

    /// The hashes of all texts.
    pub(super) fn texts(&self) -> BTreeSet<TextHash> {
        self.iter().map(|(_, placed)| placed.text).collect()
    }

    pub(super) fn with_value(&self, field: &str, value: &str) -> Option<&KeySet> {
        self.with_value.get(&posting(field, value)).map(Arc::as_ref)
    }

    pub(super) fn with_field(&self, field: &str) -> Option<&KeySet> {
        self.with_field.get(field).map(Arc::as_ref)
    }

    /// Puts a document in the place of the one with its id, or in a free one; its key.
    pub(super) fn put(&mut self, document: Arc<Document>, n_bytes: usize) -> u32 {
        let text = document.text_hash();
        let old = self.key(&document.id);
        if let Some(key) = old {
            self.take(key);
        }
        let key = old.or_else(|| self.free.iter().next()).unwrap_or_else(|| self.end());
        if old.is_none() {
            self.free.remove(key);
            self.live.insert(key);
            self.ids.insert(document.id.as_str().into(), key);
        }
        for (field, value) in &document.metadata {
            file(&mut self.with_value, posting(field, value), key);
            file(&mut self.with_field, field.clone(), key);
        }
        self.n_bytes += n_bytes as u64;
        self.set(key, Placed { document, text, n_bytes });
        key
    }

    /// Takes a document out; the key it had.
    pub(super) fn remove(&mut self, id: &str) -> Option<u32> {
        let key = self.ids.remove(id)?;
        self.take(key);
        self.live.remove(key);
        self.free.insert(key);
        Some(key)
    }

    /// Notes what a document's line takes in another log.
    pub(super) fn set_length(&mut self, key: u32, n_bytes: usize) {
        if let Some(placed) = self.at(key).filter(|placed| placed.n_bytes != n_bytes).cloned() {
            self.n_bytes = self.n_bytes - placed.n_bytes as u64 + n_bytes as u64;
            self.set(key, Placed { n_bytes, ..placed });
        }
    }

    /// The first key that no document ever had. At 100 bytes a document, 400 GiB come before the last one.
    fn end(&self) -> u32 {
        let n_keys = self.live.len() + self.free.len();
        u32::try_from(n_keys).unwrap_or(u32::MAX)
    }

    fn slot(&mut self, key: u32) -> Option<&mut Option<Placed>> {
        let (block, slot) = (key as usize / BLOCK, key as usize % BLOCK);
        while self.blocks.len() <= block {
            self.blocks.push(Arc::new(vec![None; BLOCK]));
        }
        self.blocks.get_mut(block).and_then(|block| Arc::make_mut(block).get_mut(slot))
    }

    fn set(&mut self, key: u32, placed: Placed) {
        if let Some(slot) = self.slot(key) {
            *slot = Some(placed);
        }
    }

    fn take(&mut self, key: u32) {
        let Some(placed) = self.slot(key).and_then(Option::take) else { return };
        self.n_bytes -= placed.n_bytes as u64;
        for (field, value) in &placed.document.metadata {
            unfile(&mut self.with_value, posting(field, value), key);
            unfile(&mut self.with_field, field.clone(), key);
        }
    }
}

fn file(postings: &mut Shards<String, Arc<KeySet>>, name: String, key: u32) {
    let mut keys = postings.remove(&name).unwrap_or_default();
    Arc::make_mut(&mut keys).insert(key);
    postings.insert(name, keys);
}

fn unfile(postings: &mut Shards<String, Arc<KeySet>>, name: String, key: u32) {
    let Some(mut keys) = postings.remove(&name) else { return };
    Arc::make_mut(&mut keys).remove(key);
    if !keys.is_empty() {
        postings.insert(name, keys);
    }
}
