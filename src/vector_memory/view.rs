//! The state that queries look at: never changed, only replaced.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use adage_index::{IndexConfig, KeySet, UnitVector, VectorIndex};

use super::shelf::Shelf;
use crate::lesson::TextHash;
use crate::store::documents::{Change, LogMark, Logged};
use crate::store::memory_vectors::StoredIndex;

/// Vectors by the texts they were made of.
pub(super) type Vectors = BTreeMap<TextHash, UnitVector>;

/// The documents up to a place of the log, and the vectors of them that are known. A clone shares what it does not change.
#[derive(Clone)]
pub(super) struct View {
    pub(super) mark: LogMark,
    pub(super) shelf: Shelf,
    pub(super) index: VectorIndex,
    /// Documents that are not in the index.
    pub(super) missing: KeySet,
    config: IndexConfig,
}

impl View {
    pub(super) fn new(config: IndexConfig) -> Self {
        let index = VectorIndex::new(config.clone());
        Self { mark: LogMark::default(), shelf: Shelf::default(), index, missing: KeySet::default(), config }
    }

    /// Takes in what the log says next.
    pub(super) fn apply(&mut self, changes: Vec<Logged>, mark: LogMark) {
        for Logged { change, n_bytes } in changes {
            match change {
                Change::Put(document) => {
                    let text = self.shelf.get(&document.id).map(|placed| placed.text);
                    let key = self.shelf.put(document, n_bytes);
                    // A text that stays keeps its vector.
                    if text.is_none() || text != self.shelf.at(key).map(|placed| placed.text) {
                        self.index.remove(key);
                        self.missing.insert(key);
                    }
                }
                Change::Remove(id) => {
                    if let Some(key) = self.shelf.remove(&id) {
                        self.index.remove(key);
                        self.missing.remove(key);
                    }
                }
            }
        }
        self.mark = mark;
    }

    /// Takes in all that another log says. Documents that are in both keep their keys and vectors.
    pub(super) fn replace(&mut self, changes: Vec<Logged>, mark: LogMark) {
        let mut documents = BTreeMap::new();
        for Logged { change, n_bytes } in changes {
            match change {
                Change::Put(document) => drop(documents.insert(document.id.clone(), (document, n_bytes))),
                Change::Remove(id) => drop(documents.remove(&id)),
            }
        }
        let gone = self.shelf.iter().filter(|(_, placed)| !documents.contains_key(&placed.document.id));
        let mut next: Vec<Logged> =
            gone.map(|(_, placed)| Logged { change: Change::Remove(placed.document.id.clone()), n_bytes: 0 }).collect();
        for (id, (document, n_bytes)) in documents {
            match self.shelf.key(&id).filter(|key| self.has(*key, &document)) {
                Some(key) => self.shelf.set_length(key, n_bytes),
                None => next.push(Logged { change: Change::Put(document), n_bytes }),
            }
        }
        self.apply(next, mark);
    }

    fn has(&self, key: u32, document: &Arc<crate::document::Document>) -> bool {
        self.shelf.at(key).is_some_and(|placed| placed.document == *document)
    }

    /// Puts vectors to those of these documents that miss one. Vectors of another dimension than the present ones are
    /// newer: an embedder that changed and kept its fingerprint made the present ones, and they are forgotten.
    pub(super) fn give(&mut self, keys: &KeySet, vectors: &Vectors) {
        if vectors.is_empty() {
            return;
        }
        let missing = self.missing.intersect(keys);
        let vector = |key: u32| Some((key, vectors.get(&self.shelf.at(key)?.text)?));
        let rows: Vec<(u32, &UnitVector)> = missing.iter().filter_map(vector).collect();
        let Some((_, first)) = rows.first() else { return };
        let dimension = first.as_slice().len();
        let rows: Vec<_> = rows.into_iter().filter(|(_, vector)| vector.as_slice().len() == dimension).collect();
        if self.index.dimension().is_some_and(|present| present != dimension) {
            self.index = VectorIndex::new(self.config.clone());
            self.missing = self.shelf.live.clone();
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

    /// Takes over a stored index for the documents that miss a vector, where there is no index yet.
    pub(super) fn restore(&mut self, stored: &StoredIndex) {
        if !self.index.is_empty() {
            return;
        }
        let mut waiting: HashMap<TextHash, Vec<u32>> = HashMap::new();
        for key in self.missing.iter() {
            if let Some(placed) = self.shelf.at(key) {
                waiting.entry(placed.text).or_default().push(key);
            }
        }
        let keys: Vec<Option<u32>> = stored.texts.iter().map(|text| waiting.get_mut(text)?.pop()).collect();
        if let Some(index) = VectorIndex::from_sections(self.config.clone(), |part| stored.section(part), &keys) {
            self.index = index;
            self.missing = self.missing.minus(&keys.into_iter().flatten().collect());
        }
    }

    /// The text of each row of the index, none where it was removed.
    pub(super) fn texts_by_row(&self) -> Vec<Option<TextHash>> {
        let text = |key: u32| self.shelf.at(key).map(|placed| placed.text);
        self.index.stored_keys().into_iter().map(|key| key.and_then(text)).collect()
    }

    /// Forgets all vectors.
    pub(super) fn forget_vectors(&mut self) {
        self.index = VectorIndex::new(self.config.clone());
        self.missing = self.shelf.live.clone();
    }

    /// The texts that have no vector.
    pub(super) fn missing_texts(&self) -> BTreeSet<TextHash> {
        self.missing.iter().filter_map(|key| Some(self.shelf.at(key)?.text)).collect()
    }
}
