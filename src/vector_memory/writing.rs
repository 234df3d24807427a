//! Adding, updating, removing; compaction and snapshots.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use adage_index::KeySet;

use super::filter::Filter;
use super::view::{Vectors, View};
use super::{Inner, VectorMemory};
use crate::document::Document;
use crate::error::FolderError;
use crate::error::vector_memory::{DocumentError, Error, Result};
use crate::folder::{Lock, Turn};
use crate::store::documents::{Change, Logged, MemoryRecovery};
use crate::store::memory_vectors::{self, IndexToStore};

/// A log is compacted when it is longer than this, in bytes, and more than half of it is of replaced or removed documents.
const MIN_COMPACTED: u64 = 64 << 10;

/// The vector file is written anew when it is longer than this, in bytes …
const MIN_BLOAT: u64 = 1 << 20;
/// … and than this many times what the documents need.
const MAX_BLOAT: u64 = 2;

/// The index is stored when it has a graph and grew by more rows than this, and by a quarter, since it was stored last.
const MIN_UNSTORED: usize = 4_096;

/// Where documents are is stored again when an open would have to read more of the log than this, in bytes …
const MIN_REPLAYED: u64 = 256 << 10;

/// … and than this share of what is stored; or at the end of a handle more than this.
const REPLAYED_SHARE: u64 = 16;
const MIN_REPLAYED_AT_CLOSE: u64 = 64 << 10;

/// Characters of an id that an error shows.
const SHOWN_ID: usize = 100;

/// What a write asks of a document's id.
#[derive(Clone, Copy)]
enum Asked {
    Absent,
    Present,
    Any,
}

impl VectorMemory {
    /// Adds a document. It is safe on disk when this returns.
    ///
    /// # Errors
    /// Nothing is added: [`Error::DocumentExists`], [`Error::Document`], [`Error::Embed`], [`FolderError::Io`],
    /// [`FolderError::ReadOnly`], [`FolderError::NewerSchema`]. After a sync that failed it may have been added, and the
    /// handle writes no more: [`FolderError::WritesStopped`].
    pub fn add(&self, document: Document) -> Result<()> {
        self.add_all([document])
    }

    /// Adds documents, all or none, with one sync. They are embedded first, while others may read and write.
    ///
    /// # Errors
    /// As for [`add`](Self::add); [`DocumentError::Twice`] when two have the same id.
    pub fn add_all(&self, documents: impl IntoIterator<Item = Document>) -> Result<()> {
        self.0.put(documents.into_iter().collect(), Asked::Absent)
    }

    /// Puts a document in the place of the one with its id: text and metadata. A text that stays is not embedded again.
    ///
    /// # Errors
    /// [`Error::NoSuchDocument`]; else as for [`add`](Self::add).
    pub fn update(&self, document: Document) -> Result<()> {
        self.0.put(vec![document], Asked::Present)
    }

    /// Adds documents or puts them in the place of those with their ids, all or none.
    ///
    /// # Errors
    /// As for [`add_all`](Self::add_all), without [`Error::DocumentExists`].
    pub fn put_all(&self, documents: impl IntoIterator<Item = Document>) -> Result<()> {
        self.0.put(documents.into_iter().collect(), Asked::Any)
    }

    /// Removes a document. Its text stays in the file until that is compacted, which happens by itself when more than half
    /// of the file is obsolete; [`compact`](Self::compact) purges text and vector at once.
    ///
    /// # Errors
    /// [`Error::NoSuchDocument`]; [`FolderError::Io`], [`FolderError::ReadOnly`], [`FolderError::NewerSchema`],
    /// [`FolderError::WritesStopped`].
    pub fn remove(&self, id: &str) -> Result<()> {
        self.0.write(&Vectors::new(), |view| match view.shelf.key(id) {
            Some(_) => Ok((vec![Change::Remove(id.to_owned())], ())),
            None => Err(Error::NoSuchDocument { id: shortened(id) }),
        })
    }

    /// Removes the documents that are meant, all or none; how many.
    ///
    /// # Errors
    /// As for [`remove`](Self::remove), without [`Error::NoSuchDocument`].
    pub fn remove_all(&self, filter: &Filter) -> Result<usize> {
        self.0.write(&Vectors::new(), |view| {
            let removed = view.shelf.documents(filter.keys(&view.shelf).as_deref())?;
            let removed: Vec<Change> =
                removed.into_iter().map(|(_, document)| Change::Remove(document.id.clone())).collect();
            let n_removed = removed.len();
            Ok((removed, n_removed))
        })
    }

    /// Writes documents and vectors anew: nothing is left of what was replaced or removed, but for what is in `quarantine`.
    ///
    /// # Errors
    /// [`FolderError::Io`], [`FolderError::ReadOnly`], [`FolderError::NewerSchema`], [`FolderError::WritesStopped`]. The
    /// documents are then as before, and purged or not.
    pub fn compact(&self) -> Result<()> {
        self.0.take_in_vectors()?;
        let turn = self.0.log.folder.turn(&self.0.writer)?;
        let (lock, _) = self.0.begin(&turn)?;
        self.0.compact(&lock)?;
        self.0.write_vectors(&lock)
    }

    /// Writes the vectors anew, so that the next open finds them in one piece: those of the present documents, of whatever
    /// model; and where the documents are, so that it need not read them. Vectors are written as they are made; this happens by
    /// itself when more than half of their file is obsolete.
    ///
    /// # Errors
    /// [`FolderError::Io`], [`FolderError::ReadOnly`], [`FolderError::NewerSchema`], [`FolderError::WritesStopped`].
    pub fn snapshot(&self) -> Result<()> {
        self.0.take_in_vectors()?;
        let turn = self.0.log.folder.turn(&self.0.writer)?;
        let (lock, _) = self.0.begin(&turn)?;
        self.0.write_vectors(&lock)?;
        self.0.store(&lock)
    }
}

impl Inner {
    fn put(&self, documents: Vec<Document>, asked: Asked) -> Result<()> {
        let refused = |document: &Document, reason| Error::Document { id: shortened(&document.id), reason };
        let mut ids = BTreeSet::new();
        for document in &documents {
            document.validate().map_err(|reason| refused(document, reason))?;
            if !ids.insert(document.id.as_str()) {
                return Err(refused(document, DocumentError::Twice));
            }
        }
        let check = |view: &View, document: &Document| match (asked, view.shelf.key(&document.id)) {
            (Asked::Absent, Some(_)) => Err(Error::DocumentExists { id: shortened(&document.id) }),
            (Asked::Present, None) => Err(Error::NoSuchDocument { id: shortened(&document.id) }),
            _ => Ok(()),
        };
        // Before the embedding, which is the long part; under the lock it is looked at again.
        let view = self.view()?;
        documents.iter().try_for_each(|document| check(&view, document))?;
        self.log.probe(&view.mark)?;
        let vectors = self.embed_new(&view, &documents)?;
        let documents: Vec<Arc<Document>> = documents.into_iter().map(Arc::new).collect();
        self.write(&vectors, |view| {
            documents.iter().try_for_each(|document| check(view, document))?;
            let mut changed = Vec::with_capacity(documents.len());
            for document in &documents {
                if view.shelf.get(&document.id)?.as_ref() != Some(document) {
                    changed.push(Change::Put(Arc::clone(document)));
                }
            }
            Ok((changed, ()))
        })
    }

    /// Writes what `decide` makes of the newest state.
    fn write<T>(&self, vectors: &Vectors, decide: impl FnOnce(&View) -> Result<(Vec<Change>, T)>) -> Result<T> {
        let turn = self.log.folder.turn(&self.writer)?;
        let (lock, view) = self.begin(&turn)?;
        let (changes, value) = decide(&view)?;
        if changes.is_empty() {
            return Ok(value);
        }
        let mut mark = view.mark.clone();
        let places = self.log.append(&mut mark, &changes, &lock)?;
        let changes: Vec<Logged> =
            changes.into_iter().zip(places).map(|(change, place)| Logged { change, place }).collect();
        let view = self.change(|next| {
            // A reader may have read the batch already. Should the state be another file's by now, the next look reads it.
            if next.mark.is_at(&view.mark) {
                next.apply(changes.clone(), mark.clone());
            }
            let ids = changes.iter().filter_map(|logged| match &logged.change {
                Change::Put(document) => Some(&document.id),
                Change::Remove(_) => None,
            });
            let keys: KeySet = ids.filter_map(|id| next.shelf.key(id)).collect();
            next.give(&keys, vectors);
        });
        // The documents are safe; whatever fails from here on costs time later, not them.
        self.unsaved.lock().extend(vectors.iter().map(|(text, vector)| (*text, vector.clone())));
        let kept_house = self.save(&lock).and_then(|()| {
            let dead = view.mark.read_to.saturating_sub(view.shelf.n_bytes);
            let is_due = view.mark.read_to > MIN_COMPACTED && dead > view.mark.read_to / 2;
            if is_due { self.compact(&lock) } else { self.store_when_due(&lock, self.replayed_at_most()) }
        });
        if let Err(error) = kept_house {
            tracing::warn!(%error, "the documents are written; their folder could not be tidied");
        }
        Ok(value)
    }

    /// The lock, and the newest state under it, in which every line can be read.
    fn begin(&self, turn: &Turn<'_>) -> Result<(Lock, Arc<View>)> {
        let (lock, _) = self.clear_up(turn.patience)?;
        Ok((lock, Arc::clone(&self.view.read())))
    }

    /// At the open: broken lines are kept aside, and the log is written anew from the others.
    pub(super) fn repair(&self) -> Result<Option<MemoryRecovery>> {
        match self.clear_up(Duration::ZERO) {
            Err(Error::Folder(FolderError::NewerSchema { .. })) => Ok(None),
            // An open does not wait; the next write clears up.
            Err(Error::Folder(FolderError::Locked { .. })) => Ok(self.log.report(&self.view()?.mark)),
            cleared => Ok(cleared?.1),
        }
    }

    /// The lock, under which the log has been read and put in order.
    fn clear_up(&self, patience: Duration) -> Result<(Lock, Option<MemoryRecovery>)> {
        // Nobody waits for the state while this waits for the folder.
        let known = Arc::clone(&self.view.read());
        let lock = self.log.lock(&known.mark, patience)?;
        // Another process may have done it meanwhile.
        let mut mark = self.view()?.mark.clone();
        let recovery = self.log.clear_up(&mut mark, &lock)?;
        if recovery.is_some() {
            self.compact(&lock)?;
        }
        Ok((lock, recovery))
    }

    fn compact(&self, lock: &Lock) -> Result<()> {
        let (view, documents) = self.all_documents(lock)?;
        // The hashes of removed documents are gone before the new log is in place, even if the process ends between.
        self.log.drop_stored(lock)?;
        self.stored_to.store(0, Ordering::Relaxed);
        let mut mark = view.mark.clone();
        let places = self.log.rewrite(&mut mark, documents.iter().map(AsRef::as_ref), lock)?;
        let kept: Vec<_> = documents.into_iter().zip(places).collect();
        self.change(|next| {
            if next.mark.is_at(&view.mark) {
                next.shelf = next.shelf.with_documents(kept.clone());
                next.mark = mark.clone();
                next.index.compact();
            }
        });
        if let Err(error) = self.store(lock) {
            tracing::warn!(%error, "the log is written; where the documents are could not be stored");
        }
        Ok(())
    }

    /// All documents, with the state they are of. Damaged lines that only this shows are kept aside first.
    fn all_documents(&self, lock: &Lock) -> Result<(Arc<View>, Vec<Arc<Document>>)> {
        loop {
            let view = Arc::clone(&self.view.read());
            let documents = view.shelf.documents(None)?;
            if !view.shelf.is_damaged() {
                return Ok((view, documents.into_iter().map(|(_, document)| document).collect()));
            }
            self.log.clear_up(&mut self.view()?.mark.clone(), lock)?;
        }
    }

    /// Stores where the documents are.
    fn store(&self, lock: &Lock) -> Result<()> {
        // Of the log as it is now, even where a reader replaced the state meanwhile.
        let view = self.view()?;
        let stored_to = self.log.store(&view.mark, view.shelf.describe(), lock)?;
        self.stored_to.store(stored_to, Ordering::Relaxed);
        Ok(())
    }

    /// Stores where the documents are, where an open would have to read much.
    fn store_when_due(&self, lock: &Lock, min_replayed: u64) -> Result<()> {
        if self.n_unstored_bytes() > min_replayed { self.store(lock) } else { Ok(()) }
    }

    /// How much of the log an open may have to read line by line while this handle writes, in bytes.
    fn replayed_at_most(&self) -> u64 {
        MIN_REPLAYED.max(self.stored_to.load(Ordering::Relaxed) / REPLAYED_SHARE)
    }

    /// How much of the log an open would have to read line by line, in bytes.
    fn n_unstored_bytes(&self) -> u64 {
        self.view.read().mark.read_to.saturating_sub(self.stored_to.load(Ordering::Relaxed))
    }

    /// At the end of a handle: stores where the documents are, unless somebody writes.
    fn close(&self) -> Result<()> {
        if self.n_unstored_bytes() <= MIN_REPLAYED_AT_CLOSE || !self.log.folder.may_write() {
            return Ok(());
        }
        let Some(lock) = self.log.folder.try_lock()? else { return Ok(()) };
        // Of the log as it is now: another process may have replaced it.
        self.view()?;
        self.store_when_due(&lock, MIN_REPLAYED_AT_CLOSE)
    }

    /// Appends the vectors that are not saved, and writes the file anew when much of it is obsolete.
    pub(super) fn save(&self, lock: &Lock) -> Result<()> {
        let Some(embedder) = &self.embedder else { return Ok(()) };
        let mut unsaved = self.unsaved.lock();
        let length = memory_vectors::append(&self.log.folder, embedder.fingerprint(), &unsaved, lock)?;
        unsaved.clear();
        drop(unsaved);
        let view = Arc::clone(&self.view.read());
        let n_row_bytes = view.index.dimension().unwrap_or(0) * size_of::<f32>() + size_of::<u128>();
        let needed = (view.shelf.live.len() * n_row_bytes) as u64;
        // While vectors are missing it is not known how many of the file's are obsolete.
        let is_bloated = length > MIN_BLOAT && length > MAX_BLOAT * needed && view.missing.is_empty();
        // What an open would have to put into the graph again.
        let n_stored = self.n_stored.load(Ordering::Relaxed);
        let n_unstored = view.index.len().saturating_sub(n_stored);
        if is_bloated
            || view.index.is_damaged()
            || (view.index.has_graph() && n_unstored > MIN_UNSTORED.max(n_stored / 4))
        {
            self.write_vectors(lock)?;
        }
        Ok(())
    }

    fn write_vectors(&self, lock: &Lock) -> Result<()> {
        let view = Arc::clone(&self.view.read());
        let model = self.embedder.as_ref().map(|embedder| embedder.fingerprint());
        let unsaved = std::mem::take(&mut *self.unsaved.lock());
        let own = model.into_iter().flat_map(|model| {
            let text = |key| Some((view.shelf.text(key)?, view.index.vector(key)?));
            let known = view.shelf.live.iter().filter_map(text);
            let unsaved = unsaved.iter().map(|(text, vector)| (*text, vector.as_slice()));
            known.chain(unsaved).map(move |(text, row)| (model, text, row))
        });
        let index = model.map(|model| IndexToStore { model, index: &view.index, texts: view.texts_by_row() });
        memory_vectors::rewrite(&self.log.folder, &view.shelf.texts(), index.as_ref(), own, lock)?;
        self.n_stored.store(view.index.len(), Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            tracing::warn!(%error, "where the documents are could not be stored");
        }
    }
}

fn shortened(id: &str) -> String {
    id.chars().take(SHOWN_ID).collect()
}
