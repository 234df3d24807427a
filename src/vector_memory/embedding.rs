//! Vectors from memory, from the folder or from the model. The folder is not locked while a model runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use adage_index::VectorError;
use parking_lot::MutexGuard;

use super::chunk_index::Vectors;
use super::chunking::chunks;
use super::view::{Searched, View};
use super::{Inner, VectorMemory};
use crate::document::Document;
use crate::embed::{Embedder, Role, embed_each};
use crate::error::EmbedError;
use crate::error::vector_memory::Result;
use crate::lesson::TextHash;
use crate::store::vectors::memory::{self, StoredIndex, VectorMark};

/// Texts per call of the embedder. Vectors are saved after each batch, so that a failure loses one batch at most.
const BATCH: usize = 64;

impl VectorMemory {
    /// The ids, in order, of documents without a vector of this handle's model for a part of their text: another model embedded them, they
    /// were stored without an embedder, their vectors were lost, or the model makes no usable vector for them (zeros, NaN). The first query
    /// by text or vector embeds them as far as possible, or [`warm_up`](Self::warm_up) does; until then, and where the model fails, words
    /// find them. Without an embedder, all ids. No model is loaded.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn documents_without_vector(&self) -> Result<Vec<String>> {
        let mut mark = self.0.embedding.lock();
        let view = self.0.read_vectors(&mut mark)?;
        let documents = view.documents.documents(Some(&view.chunks.incomplete()));
        let mut ids: Vec<String> = documents.iter().map(|document| document.id.clone()).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// Loads the model and embeds every document that has no vector, so that the first query is as fast as later ones. Vectors
    /// are saved after each batch; an interrupted warm-up continues where it stopped.
    ///
    /// Returns the number of texts that were embedded; 0 without an embedder.
    ///
    /// # Errors
    /// [`Error::Embed`](super::Error::Embed) when the model fails; [`FolderError::Io`](crate::FolderError::Io).
    pub fn warm_up(&self) -> Result<usize> {
        let Some(embedder) = &self.0.embedder else { return Ok(0) };
        embedder.dimension()?;
        self.0.embed_missing(embedder.as_ref()).map(|(_, n_embedded)| n_embedded)
    }
}

impl Inner {
    /// The state with a vector for every chunk, as far as the embedder makes usable ones, and the number of texts that had to
    /// be embedded.
    pub(super) fn embed_missing(&self, embedder: &dyn Embedder) -> Result<(Arc<View>, usize)> {
        let view = self.followed(Searched::Vectors)?;
        if view.chunks.missing.is_empty() {
            return Ok((view, 0));
        }
        let mut mark = self.embedding.lock();
        let mut view = self.read_vectors(&mut mark)?;
        let missing = texts(&view);
        if missing.len() > BATCH {
            tracing::info!(texts = missing.len(), "embedding documents that have no vector of this model yet");
        }
        let missing: Vec<(TextHash, String)> = missing.into_iter().collect();
        for batch in missing.chunks(BATCH) {
            let texts: Vec<&str> = batch.iter().map(|(_, text)| text.as_str()).collect();
            let units = embed_each(embedder, &texts, Role::Document)?;
            let (mut vectors, mut unusable) = (Vectors::new(), BTreeSet::new());
            for ((text, _), unit) in batch.iter().zip(units) {
                match unit {
                    Ok(unit) => drop(vectors.insert(*text, unit)),
                    Err(error) => {
                        tracing::warn!(%error, "a text is searched by its words alone");
                        unusable.insert(*text);
                    }
                }
            }
            view = self.change(|next| {
                next.chunks.give(&vectors);
                next.chunks.give_up(&unusable);
            });
            self.save_unless_busy(vectors)?;
        }
        Ok((view, missing.len()))
    }

    /// Reads the index and the vectors of the folder, which a handle without queries has not read yet.
    pub(super) fn take_in_vectors(&self) -> Result<()> {
        self.read_vectors(&mut self.embedding.lock()).map(drop)
    }

    /// Reads the missing vectors that the folder has.
    fn read_vectors(&self, mark: &mut MutexGuard<'_, VectorMark>) -> Result<Arc<View>> {
        let view = self.followed(Searched::Vectors)?;
        let Some(embedder) = self.embedder.as_ref().filter(|_| !view.chunks.missing.is_empty()) else {
            return Ok(view);
        };
        let unsaved: Vectors = self.unsaved.lock().iter().cloned().collect();
        let view = if unsaved.is_empty() { view } else { self.change(|next| next.chunks.give(&unsaved)) };
        let Some(sections) = memory::news(&self.log.folder, mark)? else { return Ok(view) };
        let model = embedder.fingerprint();
        let stored = StoredIndex::among(&sections, model).filter(|_| view.chunks.vectors.is_empty());
        let view = match &stored {
            Some(stored) => {
                let view = self.change(|next| next.chunks.restore(stored));
                self.n_stored.store(view.chunks.vectors.len(), Ordering::Relaxed);
                view
            }
            None => view,
        };
        if view.chunks.missing.is_empty() {
            return Ok(view);
        }
        let wanted = view.chunks.missing_texts();
        let found = memory::vectors(&sections, model, |text| wanted.contains(text));
        Ok(self.change(|next| next.chunks.give(&found)))
    }

    /// Vectors for the chunks of these documents, except where the state has a document with the same text.
    pub(super) fn embed_new(&self, view: &View, documents: &[Document]) -> Result<Vectors> {
        let mut vectors = Vectors::new();
        let Some(embedder) = &self.embedder else { return Ok(vectors) };
        let is_known = |document: &&Document| {
            let known = view.documents.key(&document.id).and_then(|key| view.documents.text(key));
            known == Some(document.text_hash())
        };
        let chunks = documents.iter().filter(|document| !is_known(document)).flat_map(|document| {
            let parts = chunks(&document.text).into_iter().filter_map(|range| document.text.get(range));
            parts.map(|text| (TextHash::of(&[text]), (text, document.id.as_str())))
        });
        let texts: BTreeMap<TextHash, (&str, &str)> = chunks.collect();
        let texts: Vec<(TextHash, (&str, &str))> = texts.into_iter().collect();
        for batch in texts.chunks(BATCH) {
            let words: Vec<&str> = batch.iter().map(|(_, (text, _))| *text).collect();
            for ((text, (_, id)), unit) in batch.iter().zip(embed_each(embedder.as_ref(), &words, Role::Document)?) {
                match unit {
                    Ok(unit) => drop(vectors.insert(*text, unit)),
                    // The model does not make what it declares.
                    Err(error @ EmbedError::BadRow { reason: VectorError::Dimension { .. }, .. }) => {
                        return Err(error.into());
                    }
                    Err(error) => tracing::warn!(%id, %error, "the document is stored and is found by its words alone"),
                }
            }
        }
        Ok(vectors)
    }

    /// Writes vectors made for a query, if the handle may write and the lock is free. Otherwise they are kept in memory until
    /// the next write.
    fn save_unless_busy(&self, vectors: Vectors) -> Result<()> {
        let folder = &self.log.folder;
        if !folder.may_write() || self.view.read().mark.newer.is_some() {
            return Ok(());
        }
        self.unsaved.lock().extend(vectors);
        match folder.try_lock()? {
            Some(lock) => self.save(&lock),
            None => Ok(()),
        }
    }
}

/// The texts of the chunks without a vector.
fn texts(view: &View) -> BTreeMap<TextHash, String> {
    let mut texts = BTreeMap::new();
    for chunk in view.chunks.missing.iter().filter_map(|number| view.chunks.chunk(number)) {
        if let Some(document) = view.documents.document(chunk.document) {
            texts.insert(chunk.text, document.text.get(chunk.range.clone()).unwrap_or_default().to_owned());
        }
    }
    texts
}
