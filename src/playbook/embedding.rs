//! Vectors from memory, from the folder's cache or from the model. The folder is not locked while a model runs.

use adage_index::UnitVector;

use super::{OpenPlaybook, Playbook, View};
use crate::embed::{Embedder, Role, embed_units};
use crate::error::{EmbedError, Result};
use crate::state::EmbeddedText;
use crate::store::Snapshot;

/// Texts per call of the embedder. Vectors are kept after each batch, so that a failure loses one batch at most.
const BATCH: usize = 64;

impl Playbook {
    /// Loads the model and embeds every searched text that has no vector yet, so that the first recall is as fast as later
    /// ones.
    ///
    /// After a change of the model, all texts are embedded again, here or at the first recall. An interrupted warm-up continues
    /// where it stopped.
    ///
    /// Returns how many texts were embedded.
    ///
    /// # Errors
    /// [`Error::Embed`](crate::Error::Embed) when the model fails; [`FolderError::Io`](crate::FolderError::Io).
    pub fn warm_up(&self) -> Result<usize> {
        let Some(embedder) = &self.shared.embedder else { return Ok(0) };
        let view = self.shared.view()?;
        let missing = self.shared.searched_without_vector(embedder.as_ref(), &view)?;
        for batch in missing.chunks(BATCH) {
            self.shared.embed(embedder.as_ref(), batch, Role::Document)?;
            self.shared.save_vectors(&view.snapshot)?;
        }
        Ok(missing.len())
    }

    /// The number of texts that [`warm_up`](Self::warm_up), or the next recall by vectors, would embed now. 0 without an
    /// embedder.
    ///
    /// After a clone, a manual import or a change of the model, it may be thousands, which takes seconds.
    ///
    /// # Errors
    /// As [`warm_up`](Self::warm_up).
    pub fn texts_without_vector(&self) -> Result<usize> {
        let Some(embedder) = &self.shared.embedder else { return Ok(0) };
        Ok(self.shared.searched_without_vector(embedder.as_ref(), &*self.shared.view()?)?.len())
    }
}

impl OpenPlaybook {
    /// The searched texts that have no vector.
    fn searched_without_vector(&self, embedder: &dyn Embedder, view: &View) -> Result<Vec<String>> {
        embedder.dimension()?;
        let searched = EmbeddedText::searched(self.config.retrieval.rule);
        let lessons = view.recall.book.lessons.iter();
        let texts: Vec<String> = lessons.flat_map(|lesson| searched.iter().flat_map(|text| text.of(lesson))).collect();
        self.missing(&texts.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Reads the folder's vectors of this dimension into memory.
    pub(super) fn read_vectors(&self, dimension: usize) -> Result<()> {
        let Some(fingerprint) = self.fingerprint() else { return Ok(()) };
        let mut vectors = self.vectors.write();
        vectors.fix_dimension(dimension);
        self.kept.read_vectors(&mut vectors, fingerprint)
    }

    /// The texts that have no vector in memory or in the folder.
    pub(super) fn missing(&self, texts: &[&str]) -> Result<Vec<String>> {
        let unknown = |texts: &[&str]| {
            let cache = self.vectors.read();
            let mut unknown: Vec<String> =
                texts.iter().filter(|text| cache.get(text).is_none()).map(|text| (*text).to_owned()).collect();
            unknown.sort_unstable();
            unknown.dedup();
            unknown
        };
        let missing = unknown(texts);
        let Some(fingerprint) = self.fingerprint().filter(|_| !missing.is_empty()) else { return Ok(missing) };
        self.kept.read_vectors(&mut self.vectors.write(), fingerprint)?;
        Ok(unknown(texts))
    }

    /// Gets the vectors of these texts into memory; embeds those that are missing.
    pub(super) fn ensure_vectors(&self, embedder: &dyn Embedder, texts: &[&str]) -> Result<()> {
        let missing = self.missing(texts)?;
        if missing.len() > BATCH {
            tracing::info!(texts = missing.len(), "embedding texts that have no vector of this model yet");
        }
        for batch in missing.chunks(BATCH) {
            self.embed(embedder, batch, Role::Document)?;
        }
        Ok(())
    }

    fn embed(&self, embedder: &dyn Embedder, texts: &[String], role: Role) -> Result<(), EmbedError> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let units = embed_units(embedder, &texts, role)?;
        let mut cache = self.vectors.write();
        for (text, unit) in texts.into_iter().zip(units) {
            cache.put(text, unit);
        }
        Ok(())
    }

    pub(super) fn vector(&self, text: &str) -> Option<UnitVector> {
        self.vectors.read().get(text).cloned()
    }

    pub(super) fn save_vectors(&self, known: &Snapshot) -> Result<()> {
        match self.fingerprint() {
            Some(fingerprint) => self.kept.save_vectors(known, &mut self.vectors.write(), fingerprint),
            None => Ok(()),
        }
    }
}
