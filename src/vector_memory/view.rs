//! The immutable state that queries read.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use adage_index::{IndexConfig, KeySet, UnitVector, VectorIndex};

use super::document_table::DocumentTable;
use crate::lesson::TextHash;
use crate::store::documents::{Change, LogMark, Logged, StoredDocuments};
use crate::store::memory_vectors::StoredIndex;

/// Vectors by the hashes of their texts.
pub(super) type Vectors = BTreeMap<TextHash, UnitVector>;

/// The documents up to a position in the log, and their known vectors. Clones share unchanged parts.
#[derive(Clone)]
pub(super) struct View {
    pub(super) mark: LogMark,
    pub(super) documents: DocumentTable,
    pub(super) index: VectorIndex,
    /// Documents that are not in the index.
    pub(super) missing: KeySet,
    config: IndexConfig,
}

impl View {
    pub(super) fn new(config: IndexConfig) -> Self {
        let index = VectorIndex::new(config.clone());
        Self {
            mark: LogMark::default(),
            documents: DocumentTable::default(),
            index,
            missing: KeySet::default(),
            config,
        }
    }

    /// The stored documents.
    pub(super) fn over(stored: StoredDocuments, config: IndexConfig) -> Self {
        let documents = DocumentTable::over(stored);
        Self { missing: documents.live.clone(), documents, ..Self::new(config) }
    }

    /// Applies the next changes of the log.
    pub(super) fn apply(&mut self, changes: Vec<Logged>, mark: LogMark) {
        for Logged { change, span } in changes {
            match change {
                Change::Put(document) => {
                    let text = self.documents.key(&document.id).and_then(|key| self.documents.text(key));
                    let key = self.documents.put(document, span);
                    // An unchanged text keeps its vector.
                    if text.is_none() || text != self.documents.text(key) {
                        self.index.remove(key);
                        self.missing.insert(key);
                    }
                }
                Change::Remove(id) => {
                    if let Some(key) = self.documents.remove(&id) {
                        self.index.remove(key);
                        self.missing.remove(key);
                    }
                }
            }
        }
        self.mark = mark;
    }

    /// Replaces the documents by those of another log. Documents in both keep their keys, and their vectors if the text is the
    /// same.
    pub(super) fn replace(&mut self, changes: Vec<Logged>, mark: LogMark) {
        let mut documents = BTreeMap::new();
        for Logged { change, span } in changes {
            match change {
                Change::Put(document) => drop(documents.insert(document.id.clone(), (document, span))),
                Change::Remove(id) => drop(documents.remove(&id)),
            }
        }
        let before = self.documents.clone();
        self.documents = before.with_documents(documents.into_values().collect());
        for key in before.live.union(&self.documents.live).iter() {
            let text = self.documents.text(key);
            if text != before.text(key) {
                self.index.remove(key);
                if text.is_some() {
                    self.missing.insert(key)
                } else {
                    self.missing.remove(key)
                };
            }
        }
        self.mark = mark;
    }

    /// Adds the vectors of those documents that have none. If their dimension differs from that of the present vectors, the
    /// embedder has changed without changing its fingerprint: the present vectors are dropped.
    pub(super) fn give(&mut self, keys: &KeySet, vectors: &Vectors) {
        if vectors.is_empty() {
            return;
        }
        let missing = self.missing.intersect(keys);
        let vector = |key: u32| Some((key, vectors.get(&self.documents.text(key)?)?));
        let rows: Vec<(u32, &UnitVector)> = missing.iter().filter_map(vector).collect();
        let Some((_, first)) = rows.first() else { return };
        let dimension = first.as_slice().len();
        let rows: Vec<_> = rows.into_iter().filter(|(_, vector)| vector.as_slice().len() == dimension).collect();
        if self.index.dimension().is_some_and(|present| present != dimension) {
            self.index = VectorIndex::new(self.config.clone());
            self.missing = self.documents.live.clone();
        }
        let given: KeySet = rows.iter().map(|(key, _)| *key).collect();
        let is_put = match rows.as_slice() {
            [(key, vector)] => self.index.put(*key, vector),
            _ => self.index.put_all(rows),
        };
        if is_put.is_ok() {
            self.missing = self.missing.minus(&given);
        }
    }

    /// Uses a stored index for the documents without a vector, if there is no index yet.
    pub(super) fn restore(&mut self, stored: &StoredIndex) {
        if !self.index.is_empty() {
            return;
        }
        let keys = self.keys_of(&stored.texts);
        if let Some(index) = VectorIndex::from_sections(self.config.clone(), |part| stored.section(part), &keys) {
            self.index = index;
            self.missing = self.missing.minus(&keys.into_iter().flatten().collect());
        }
    }

    /// For each of these texts, a document without a vector; each document once.
    fn keys_of(&self, texts: &[TextHash]) -> Vec<Option<u32>> {
        let has = |key: &u32, text: &TextHash| self.documents.text(*key).as_ref() == Some(text);
        // Rows and documents are usually in the same order, so that no text has to be looked up.
        let mut next = self.missing.iter().peekable();
        let in_order = |text| next.next_if(|key| has(key, text));
        let mut keys: Vec<Option<u32>> = texts.iter().map(in_order).collect();
        let left = self.missing.minus(&keys.iter().copied().flatten().collect());
        let mut waiting: HashMap<TextHash, Vec<u32>> = HashMap::new();
        for key in left.iter() {
            if let Some(text) = self.documents.text(key) {
                waiting.entry(text).or_default().push(key);
            }
        }
        for (key, text) in keys.iter_mut().zip(texts).filter(|(key, _)| key.is_none()) {
            *key = waiting.get_mut(text).and_then(Vec::pop);
        }
        keys
    }

    /// The text of each row of the index; none for a removed row.
    pub(super) fn texts_by_row(&self) -> Vec<Option<TextHash>> {
        let text = |key: u32| self.documents.text(key);
        self.index.stored_keys().into_iter().map(|key| key.and_then(text)).collect()
    }

    /// Drops all vectors.
    pub(super) fn forget_vectors(&mut self) {
        self.index = VectorIndex::new(self.config.clone());
        self.missing = self.documents.live.clone();
    }

    /// The texts that have no vector.
    pub(super) fn missing_texts(&self) -> BTreeSet<TextHash> {
        self.missing.iter().filter_map(|key| self.documents.text(key)).collect()
    }
}
