//! The file with indexes for the first recall of a process, `recall.bin`: read by that recall, and written for the next
//! process.

use std::sync::Arc;

use super::{OpenPlaybook, View};
use crate::error::Result;
use crate::state::{EmbeddedText, RecallIndex};
use crate::store::{MIN_STORED_LESSONS, RecallFile};

/// The state of the recall file; it is read by the first recall only.
#[derive(Default)]
pub(super) enum StoredFile {
    Unused(Box<RecallFile>),
    /// Missing, or of another state: the first recall writes it.
    Outdated,
    /// It was read or written.
    #[default]
    Done,
    /// It was damaged. What was read of it is not written again.
    Damaged,
}

/// The indexes that recalls of a memory use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UsedIndexes {
    Words,
    WordsAndVectors,
}

impl UsedIndexes {
    /// Those that a recall has built.
    pub(super) fn of(recall: &RecallIndex) -> Self {
        if recall.has_vectors(EmbeddedText::WaysIn) { Self::WordsAndVectors } else { Self::Words }
    }
}

impl StoredFile {
    pub(super) fn of(file: Option<RecallFile>) -> Self {
        file.map_or(Self::Outdated, |file| Self::Unused(Box::new(file)))
    }
}

impl OpenPlaybook {
    /// The newest lessons, with the stored indexes.
    pub(super) fn recall_view(&self) -> Result<Arc<View>> {
        let mut stored = self.stored_recall.lock();
        if !matches!(*stored, StoredFile::Unused(_)) {
            drop(stored);
            return self.view();
        }
        // Read under the lock: a waiting thread gets the view with the indexes and does not build them again.
        let view = self.view()?;
        let StoredFile::Unused(file) = std::mem::take(&mut *stored) else { return Ok(view) };
        let model = self.fingerprint();
        let is_done = file.is_up_to_date && (model.is_none() || file.is_of(model));
        *stored = if is_done { StoredFile::Done } else { StoredFile::Outdated };
        let Some(indexes) = file.indexes(model, &self.config.index).filter(|_| !view.recall.has_words()) else {
            *stored = StoredFile::Outdated;
            return Ok(view);
        };
        Ok(self.publish_after(&indexes, &view.dedup, view.snapshot.clone()))
    }

    /// Writes the indexes of a large memory for the next process, once. A failure costs that process time only.
    pub(super) fn store_recall(&self, view: &View, used: UsedIndexes) {
        let mut stored = self.stored_recall.lock();
        if !matches!(*stored, StoredFile::Damaged) && view.recall.is_damaged() {
            *stored = StoredFile::Damaged;
            self.store.drop_damaged_recall(&view.snapshot);
        }
        let n_lessons = view.snapshot.book().lessons.len();
        if matches!(*stored, StoredFile::Outdated) && n_lessons >= MIN_STORED_LESSONS {
            *stored = StoredFile::Done;
            drop(stored);
            if let Err(error) = self.write_recall(view, used) {
                tracing::debug!(%error, "the indexes of the memory are not stored");
            }
        }
    }

    pub(super) fn write_recall(&self, view: &View, used: UsedIndexes) -> Result<()> {
        if !self.store.may_append(&view.snapshot) {
            return Ok(());
        }
        let mut model = None;
        if let Some(embedder) = self.embedder.as_ref().filter(|_| used == UsedIndexes::WordsAndVectors) {
            let dimension = embedder.dimension()?;
            for text in EmbeddedText::searched(self.config.retrieval.rule) {
                self.lesson_vectors(view, *text, dimension)?;
            }
            model = self.fingerprint();
        }
        view.recall.words();
        match view.recall.stored() {
            Some(stored) => Ok(self.store.save_recall(&view.snapshot, &stored, model)?),
            None => Ok(()),
        }
    }
}
