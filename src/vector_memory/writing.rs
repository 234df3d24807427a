//! Adding, updating and removing documents; compaction and snapshots.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::chunk_index::Vectors;
use super::filter::Filter;
use super::view::{Searched, View};
use super::{Inner, VectorMemory};
use crate::document::Document;
use crate::error::FolderError;
use crate::error::vector_memory::{DocumentError, Error, Result};
use crate::folder::{Lock, Turn};
use crate::store::documents::{Change, Logged, MemoryRecovery};
use crate::store::vectors::memory::{self, IndexToStore};

/// A log is compacted when it is longer than this, in bytes, and more than half of it belongs to replaced or removed documents.
const MIN_COMPACTED: u64 = 64 << 10;

/// The vector file is rewritten when it is longer than this, in bytes …
const MIN_BLOAT: u64 = 1 << 20;
/// … and longer than this multiple of what the documents need.
const MAX_BLOAT: u64 = 2;

/// The index is stored when it has signs or a graph and has grown by more rows than this, and by a quarter, since it was last stored.
const MIN_UNSTORED: usize = 4_096;

/// The maximum characters of an id in an error.
const SHOWN_ID: usize = 100;

/// What a write requires of a document's id.
#[derive(Clone, Copy)]
enum Asked {
    Absent,
    Present,
    Any,
}

impl VectorMemory {
    /// Adds a document. It is durable when this returns.
    ///
    /// # Errors
    /// [`Error::DocumentExists`], [`Error::Document`], [`Error::Embed`], [`FolderError::Io`], [`FolderError::ReadOnly`],
    /// [`FolderError::NewerSchema`]; nothing is added then. After a failed sync the document may have been added, and the
    /// handle refuses further writes: [`FolderError::WritesStopped`].
    pub fn add(&self, document: Document) -> Result<()> {
        self.add_all([document])
    }

    /// Adds documents, all or none, with one sync. They are embedded first; other handles may read and write meanwhile.
    ///
    /// # Errors
    /// As [`add`](Self::add); [`DocumentError::Twice`] when two documents have the same id.
    pub fn add_all(&self, documents: impl IntoIterator<Item = Document>) -> Result<()> {
        self.0.put(documents.into_iter().collect(), Asked::Absent)
    }

    /// Replaces the text and metadata of the document with this id. An unchanged text is not embedded again.
    ///
    /// # Errors
    /// [`Error::NoSuchDocument`]; otherwise as [`add`](Self::add).
    pub fn update(&self, document: Document) -> Result<()> {
        self.0.put(vec![document], Asked::Present)
    }

    /// Adds documents, or replaces those with the same ids; all or none.
    ///
    /// # Errors
    /// As [`add_all`](Self::add_all), without [`Error::DocumentExists`].
    pub fn put_all(&self, documents: impl IntoIterator<Item = Document>) -> Result<()> {
        self.0.put(documents.into_iter().collect(), Asked::Any)
    }

    /// Removes a document. Its text stays in the file until a compaction, which happens automatically when more than half of
    /// the file is obsolete. [`compact`](Self::compact) purges text and vector at once.
    ///
    /// # Errors
    /// [`Error::NoSuchDocument`]; [`FolderError::Io`], [`FolderError::ReadOnly`], [`FolderError::NewerSchema`],
    /// [`FolderError::WritesStopped`].
    pub fn remove(&self, id: &str) -> Result<()> {
        self.0.write(&Vectors::new(), |view| match view.documents.key(id) {
            Some(_) => Ok((vec![Change::Remove(id.to_owned())], ())),
            None => Err(Error::NoSuchDocument { id: shortened(id) }),
        })
    }

    /// Removes the documents that match the filter, all or none. Returns their number.
    ///
    /// # Errors
    /// As [`remove`](Self::remove), without [`Error::NoSuchDocument`].
    pub fn remove_all(&self, filter: &Filter) -> Result<usize> {
        self.0.write(&Vectors::new(), |view| {
            let removed = view.documents.documents(filter.keys(&view.documents).as_deref());
            let removed: Vec<Change> = removed.iter().map(|document| Change::Remove(document.id.clone())).collect();
            let n_removed = removed.len();
            Ok((removed, n_removed))
        })
    }

    /// Rewrites documents and vectors: nothing is left of replaced and removed ones, except in `quarantine`.
    ///
    /// # Errors
    /// [`FolderError::Io`], [`FolderError::ReadOnly`], [`FolderError::NewerSchema`], [`FolderError::WritesStopped`]. The
    /// documents are unchanged then; obsolete data may have been purged or not.
    pub fn compact(&self) -> Result<()> {
        self.0.take_in_vectors()?;
        let turn = self.0.log.folder.turn(&self.0.writer)?;
        let (lock, _) = self.0.begin(&turn)?;
        self.0.compact(&lock)?;
        self.0.write_vectors(&lock)
    }

    /// Rewrites the vectors of the present documents, of every model, so that the next open reads less. Vectors are also saved as they are made, and rewritten automatically when more than half of their file
    /// is obsolete.
    ///
    /// # Errors
    /// [`FolderError::Io`], [`FolderError::ReadOnly`], [`FolderError::NewerSchema`], [`FolderError::WritesStopped`].
    pub fn snapshot(&self) -> Result<()> {
        self.0.take_in_vectors()?;
        let turn = self.0.log.folder.turn(&self.0.writer)?;
        let (lock, _) = self.0.begin(&turn)?;
        self.0.write_vectors(&lock)
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
        let check = |view: &View, document: &Document| match (asked, view.documents.key(&document.id)) {
            (Asked::Absent, Some(_)) => Err(Error::DocumentExists { id: shortened(&document.id) }),
            (Asked::Present, None) => Err(Error::NoSuchDocument { id: shortened(&document.id) }),
            _ => Ok(()),
        };
        // Checked before the embedding, which takes long; checked again under the lock.
        let view = self.view()?;
        documents.iter().try_for_each(|document| check(&view, document))?;
        self.log.probe(&view.mark)?;
        let vectors = self.embed_new(&view, &documents)?;
        let documents: Vec<Arc<Document>> = documents.into_iter().map(Arc::new).collect();
        self.write(&vectors, |view| {
            documents.iter().try_for_each(|document| check(view, document))?;
            let changed = documents.iter().filter(|document| view.documents.get(&document.id) != Some(*document));
            Ok((changed.map(|document| Change::Put(Arc::clone(document))).collect(), ()))
        })
    }

    /// Writes the changes that `decide` returns for the newest state.
    fn write<T>(&self, vectors: &Vectors, decide: impl FnOnce(&View) -> Result<(Vec<Change>, T)>) -> Result<T> {
        let turn = self.log.folder.turn(&self.writer)?;
        let (lock, view) = self.begin(&turn)?;
        let (changes, value) = decide(&view)?;
        if changes.is_empty() {
            return Ok(value);
        }
        let mut mark = view.mark.clone();
        let lengths = self.log.append(&mut mark, &changes, &lock)?;
        let changes = changes.into_iter().zip(lengths);
        let changes: Vec<Logged> = changes.map(|(change, n_bytes)| Logged { change, n_bytes }).collect();
        let view = self.change(|next| {
            let is_chunked = next.is_chunked();
            // A reader may have read the batch already. If the state belongs to another file now, the next read detects it.
            if next.mark.is_at(&view.mark) {
                next.apply(changes.clone(), mark.clone());
            }
            // Otherwise the next query does it, and reads the vectors from the folder.
            if is_chunked {
                next.follow(Searched::Vectors);
                next.chunks.give(vectors);
            }
        });
        // The documents are durable. A failure from here on costs only time later.
        self.unsaved.lock().extend(vectors.iter().map(|(text, vector)| (*text, vector.clone())));
        let kept_house = self.save(&lock).and_then(|()| {
            let dead = view.mark.read_to.saturating_sub(view.documents.n_bytes);
            let is_due = view.mark.read_to > MIN_COMPACTED && dead > view.mark.read_to / 2;
            if is_due { self.compact(&lock) } else { Ok(()) }
        });
        if let Err(error) = kept_house {
            tracing::warn!(%error, "the documents are written, but the folder could not be compacted or its caches updated");
        }
        Ok(value)
    }

    /// The lock, and the newest state under it, in which every line can be read.
    fn begin(&self, turn: &Turn<'_>) -> Result<(Lock, Arc<View>)> {
        let (lock, _) = self.clear_up(turn.patience)?;
        Ok((lock, Arc::clone(&self.view.read())))
    }

    /// At an open: damaged lines are quarantined, and the log is rewritten without them.
    pub(super) fn repair(&self) -> Result<Option<MemoryRecovery>> {
        match self.clear_up(Duration::ZERO) {
            Err(Error::Folder(FolderError::NewerSchema { .. })) => Ok(None),
            // An open does not wait; the next write does the repair.
            Err(Error::Folder(FolderError::Locked { .. })) => Ok(self.log.report(&self.view()?.mark)),
            cleared => Ok(cleared?.1),
        }
    }

    /// The lock, after the log was read and repaired under it.
    fn clear_up(&self, patience: Duration) -> Result<(Lock, Option<MemoryRecovery>)> {
        // The state is not locked while this waits for the folder.
        let known = Arc::clone(&self.view.read());
        let lock = self.log.lock(&known.mark, patience)?;
        // Another process may have repaired it meanwhile.
        let mut mark = self.view()?.mark.clone();
        let recovery = self.log.clear_up(&mut mark, &lock)?;
        if recovery.is_some() {
            self.compact(&lock)?;
        }
        Ok((lock, recovery))
    }

    fn compact(&self, lock: &Lock) -> Result<()> {
        let view = Arc::clone(&self.view.read());
        let documents = view.documents.documents(None);
        let mut mark = view.mark.clone();
        let lengths = self.log.rewrite(&mut mark, documents.iter().map(AsRef::as_ref), lock)?;
        let kept: Vec<_> = documents.into_iter().zip(lengths).collect();
        self.change(|next| {
            if next.mark.is_at(&view.mark) {
                next.documents = next.documents.with_documents(kept.clone());
                next.mark = mark.clone();
                next.chunks.vectors.compact();
            }
        });
        Ok(())
    }

    /// Appends the unsaved vectors, and rewrites the file when much of it is obsolete.
    pub(super) fn save(&self, lock: &Lock) -> Result<()> {
        let Some(embedder) = &self.embedder else { return Ok(()) };
        let mut unsaved = self.unsaved.lock();
        let length = memory::append(&self.log.folder, embedder.fingerprint(), &unsaved, lock)?;
        unsaved.clear();
        drop(unsaved);
        let view = Arc::clone(&self.view.read());
        let index = &view.chunks.vectors;
        let n_row_bytes = index.dimension().unwrap_or(0) * size_of::<f32>() + size_of::<u128>();
        let needed = (view.chunks.chunks.len() * n_row_bytes) as u64;
        // While vectors are missing, it is unknown how many in the file are obsolete.
        let is_complete = view.is_chunked() && view.chunks.missing.is_empty();
        let is_bloated = length > MIN_BLOAT && length > MAX_BLOAT * needed && is_complete;
        // The rows whose signs or links an open would have to make again.
        let n_stored = self.n_stored.load(Ordering::Relaxed);
        let n_unstored = index.len().saturating_sub(n_stored);
        if is_bloated
            || index.is_damaged()
            || (index.has_signs_or_graph() && n_unstored > MIN_UNSTORED.max(n_stored / 4))
        {
            self.write_vectors(lock)?;
        }
        Ok(())
    }

    fn write_vectors(&self, lock: &Lock) -> Result<()> {
        let view = self.followed(Searched::Vectors)?;
        let chunks = &view.chunks;
        let model = self.embedder.as_ref().map(|embedder| embedder.fingerprint());
        let unsaved = std::mem::take(&mut *self.unsaved.lock());
        let own = model.into_iter().flat_map(|model| {
            let known =
                chunks.chunks.iter().filter_map(|chunk| Some((chunk.text, chunks.vectors.vector(chunk.number)?)));
            let unsaved = unsaved.iter().map(|(text, vector)| (*text, vector.as_slice()));
            known.chain(unsaved).map(move |(text, row)| (model, text, row))
        });
        let index = model.map(|model| IndexToStore { model, index: &chunks.vectors, texts: chunks.texts_by_row() });
        let live = chunks.chunks.iter().map(|chunk| chunk.text).collect();
        memory::rewrite(&self.log.folder, &live, index.as_ref(), own, lock)?;
        self.n_stored.store(chunks.vectors.len(), Ordering::Relaxed);
        Ok(())
    }
}

fn shortened(id: &str) -> String {
    id.chars().take(SHOWN_ID).collect()
}
