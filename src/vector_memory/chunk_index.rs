//! The chunks of the documents with their vectors, followed from state to state.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use adage_index::{IndexConfig, KeySet, UnitVector, VectorIndex};

use super::chunking::chunks;
use super::document_table::DocumentTable;
use crate::hash::TextHash;
use crate::store::vectors::memory::StoredIndex;

/// Vectors by the hashes of their texts.
pub(super) type Vectors = BTreeMap<TextHash, UnitVector>;

/// A chunk of a document's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) number: u32,
    /// The key of its document.
    pub(super) document: u32,
    pub(super) range: Range<usize>,
    pub(super) text: TextHash,
}

/// Chunks by number. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Chunks {
    /// None for an unused number. The last one is used.
    rows: Arc<Vec<Option<Chunk>>>,
    n_chunks: usize,
}

impl Chunks {
    pub(super) fn len(&self) -> usize {
        self.n_chunks
    }

    /// In the order of numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Chunk> {
        self.rows.iter().flatten()
    }

    fn get(&self, number: u32) -> Option<&Chunk> {
        self.rows.get(number as usize)?.as_ref()
    }

    fn put(&mut self, chunk: Chunk) {
        self.take(chunk.number);
        let (rows, place) = (Arc::make_mut(&mut self.rows), chunk.number as usize);
        if rows.len() <= place {
            rows.resize(place + 1, None);
        }
        if let Some(row) = rows.get_mut(place) {
            *row = Some(chunk);
            self.n_chunks += 1;
        }
    }

    fn take(&mut self, number: u32) {
        if self.get(number).is_none() {
            return;
        }
        let rows = Arc::make_mut(&mut self.rows);
        if let Some(row) = rows.get_mut(number as usize) {
            *row = None;
            self.n_chunks -= 1;
        }
        while rows.last().is_some_and(Option::is_none) {
            rows.pop();
        }
    }

    /// The chunks that differ in a newer state: before and after.
    pub(super) fn changed<'a>(&'a self, newer: &'a Self) -> Vec<(Option<&'a Chunk>, Option<&'a Chunk>)> {
        if Arc::ptr_eq(&self.rows, &newer.rows) {
            return Vec::new();
        }
        let n_rows = self.rows.len().max(newer.rows.len());
        let row = |rows: &'a [Option<Chunk>], place: usize| rows.get(place).and_then(Option::as_ref);
        let both = (0..n_rows).map(|place| (row(&self.rows, place), row(&newer.rows, place)));
        both.filter(|(before, after)| before != after).collect()
    }
}

/// The chunks of all documents, numbered, and their known vectors. Clones share unchanged parts.
#[derive(Clone)]
pub(super) struct ChunkIndex {
    /// The documents whose chunks these are.
    documents: DocumentTable,
    pub(super) chunks: Chunks,
    /// Documents' keys with the numbers of their chunks.
    of_documents: BTreeSet<(u32, u32)>,
    /// Unused numbers below the end.
    free: KeySet,
    pub(super) vectors: VectorIndex,
    /// Chunks without a vector.
    pub(super) missing: KeySet,
    /// Chunks for which the model makes no usable vector.
    unusable: KeySet,
    config: IndexConfig,
}

impl ChunkIndex {
    pub(super) fn new(config: IndexConfig) -> Self {
        Self {
            documents: DocumentTable::default(),
            chunks: Chunks::default(),
            of_documents: BTreeSet::new(),
            free: KeySet::default(),
            vectors: VectorIndex::new(config.clone()),
            missing: KeySet::default(),
            unusable: KeySet::default(),
            config,
        }
    }

    /// True if it is up to date with these documents.
    pub(super) fn is_of(&self, documents: &DocumentTable) -> bool {
        self.documents.is_same(documents)
    }

    /// Brings it up to date.
    pub(super) fn follow(&mut self, documents: &DocumentTable) {
        for key in self.documents.changed(documents) {
            self.remove(key);
            if let (Some(hash), Some(document)) = (documents.text(key), documents.document(key)) {
                self.put(key, &document.text, hash);
            }
        }
        self.documents = documents.clone();
    }

    fn put(&mut self, document: u32, text: &str, hash: TextHash) {
        let ranges = chunks(text);
        let is_whole = ranges.len() == 1;
        for range in ranges {
            let part = text.get(range.clone()).unwrap_or_default();
            let hash = if is_whole { hash } else { TextHash::of(&[part]) };
            let number = self.free.iter().next().unwrap_or_else(|| self.end());
            self.free.remove(number);
            self.missing.insert(number);
            self.of_documents.insert((document, number));
            self.chunks.put(Chunk { number, document, range, text: hash });
        }
    }

    fn remove(&mut self, document: u32) {
        for number in self.numbers(document).collect::<Vec<_>>() {
            self.of_documents.remove(&(document, number));
            self.chunks.take(number);
            self.vectors.remove(number);
            self.missing.remove(number);
            self.unusable.remove(number);
            self.free.insert(number);
        }
    }

    fn end(&self) -> u32 {
        u32::try_from(self.chunks.len() + self.free.len()).unwrap_or(u32::MAX)
    }

    /// The numbers of a document's chunks.
    pub(super) fn numbers(&self, document: u32) -> impl Iterator<Item = u32> {
        self.of_documents.range((document, u32::MIN)..=(document, u32::MAX)).map(|row| row.1)
    }

    pub(super) fn chunk(&self, number: u32) -> Option<&Chunk> {
        self.chunks.get(number)
    }

    /// The keys of the documents that have a chunk without a vector.
    pub(super) fn incomplete(&self) -> KeySet {
        let numbers = self.missing.iter().chain(self.unusable.iter());
        numbers.filter_map(|number| self.chunk(number)).map(|chunk| chunk.document).collect()
    }

    /// The hashes of the texts that have no vector.
    pub(super) fn missing_texts(&self) -> BTreeSet<TextHash> {
        self.missing.iter().filter_map(|number| Some(self.chunk(number)?.text)).collect()
    }

    /// Adds the vectors of those chunks that have none. If their dimension differs from that of the present vectors, the
    /// embedder has changed without changing its fingerprint: the present vectors are dropped.
    pub(super) fn give(&mut self, vectors: &Vectors) {
        if vectors.is_empty() {
            return;
        }
        let vector = |number: u32| Some((number, vectors.get(&self.chunk(number)?.text)?));
        let rows: Vec<(u32, &UnitVector)> = self.missing.iter().filter_map(vector).collect();
        let Some((_, first)) = rows.first() else { return };
        let dimension = first.as_slice().len();
        let rows: Vec<_> = rows.into_iter().filter(|(_, vector)| vector.as_slice().len() == dimension).collect();
        if self.vectors.dimension().is_some_and(|present| present != dimension) {
            self.forget_vectors();
        }
        let given: KeySet = rows.iter().map(|(number, _)| *number).collect();
        if self.vectors.put_all(rows).is_ok() {
            self.missing = self.missing.minus(&given);
        }
    }

    /// No vector of these texts is asked for again.
    pub(super) fn give_up(&mut self, texts: &BTreeSet<TextHash>) {
        let has = |number: &u32| self.chunk(*number).is_some_and(|chunk| texts.contains(&chunk.text));
        for number in self.missing.iter().filter(has).collect::<Vec<_>>() {
            self.missing.remove(number);
            self.unusable.insert(number);
        }
    }

    /// Uses a stored index for the chunks without a vector, if there is no vector yet.
    pub(super) fn restore(&mut self, stored: &StoredIndex) {
        if !self.vectors.is_empty() {
            return;
        }
        let numbers = self.numbers_of(&stored.texts);
        if let Some(index) = VectorIndex::from_sections(self.config.clone(), |part| stored.section(part), &numbers) {
            self.vectors = index;
            self.missing = self.missing.minus(&numbers.into_iter().flatten().collect());
        }
    }

    /// For each of these texts, a chunk without a vector; each chunk once.
    fn numbers_of(&self, texts: &[TextHash]) -> Vec<Option<u32>> {
        let mut waiting: HashMap<TextHash, Vec<u32>> = HashMap::new();
        for chunk in self.missing.iter().filter_map(|number| self.chunk(number)) {
            waiting.entry(chunk.text).or_default().push(chunk.number);
        }
        texts.iter().map(|text| waiting.get_mut(text).and_then(Vec::pop)).collect()
    }

    /// The text of each row of the vectors; none for a removed row.
    pub(super) fn texts_by_row(&self) -> Vec<Option<TextHash>> {
        let text = |number: u32| Some(self.chunk(number)?.text);
        self.vectors.stored_keys().into_iter().map(|number| number.and_then(text)).collect()
    }

    /// Drops all vectors.
    pub(super) fn forget_vectors(&mut self) {
        self.vectors = VectorIndex::new(self.config.clone());
        self.unusable = KeySet::default();
        self.missing = self.chunks.iter().map(|chunk| chunk.number).collect();
    }

    /// The chunks of these documents; none for all.
    pub(super) fn among(&self, documents: Option<&KeySet>) -> Option<KeySet> {
        documents.map(|documents| documents.iter().flat_map(|key| self.numbers(key)).collect())
    }
}
