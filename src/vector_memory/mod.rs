//! A folder of your program's own documents, searched by meaning and words and filtered by metadata.
//!
//! ```
//! use adage::embed::HashingEmbedder;
//! use adage::vector_memory::{Document, Filter, Lookup};
//! use adage::VectorMemory;
//! use std::sync::Arc;
//!
//! # let folder = tempfile::tempdir()?;
//! let memory = VectorMemory::builder(folder.path()).with_embedder(Arc::new(HashingEmbedder)).open()?;
//! memory.add(Document::new("n1", "The staging database is read-only on Sundays.").with("type", "note"))?;
//! memory.add(Document::new("t1", "Ask for a new staging database.").with("type", "task"))?;
//!
//! let found = memory.query(&Lookup::text("staging database").filtered(Filter::is("type", "note")))?;
//! assert_eq!(found.hits[0].document.id, "n1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A write is on disk when it returns; a batch is written completely or not at all.

mod builder;
mod chunk_index;
mod chunk_words;
mod chunking;
mod document_table;
mod embedding;
mod filter;
mod lookup;
mod ranking;
mod shards;
mod view;
mod writing;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use adage_index::UnitVector;
use parking_lot::{Mutex, RwLock};

use crate::embed::Embedder;
use crate::lesson::TextHash;
use crate::store::documents::{DocumentLog, LogUpdate, MemoryRecovery};
use crate::store::vectors::memory::VectorMark;
use view::{Searched, View};

pub use crate::document::Document;
pub use crate::error::vector_memory::{DocumentError, Error, Result};
pub use crate::store::documents::MemoryRecovery as Recovery;
pub use builder::VectorMemoryBuilder;
pub use filter::Filter;
pub use lookup::{Hit, Lookup, LookupResult};

/// Documents searched by the meaning and the words of their texts, in one folder that any number of threads and processes can share.
///
/// A clone is cheap and refers to the same memory. All calls block, and none accesses a network. A write is durable when it
/// returns. Queries read an immutable state, so they do not wait for writes. A folder holds either a vector memory or a
/// playbook.
///
/// ```
/// use std::sync::Arc;
/// use adage::{Document, Filter, HashingEmbedder, Lookup, VectorMemory};
///
/// # let folder = tempfile::tempdir()?;
/// let memory = VectorMemory::builder(folder.path()).with_embedder(Arc::new(HashingEmbedder)).open()?;
/// memory.add_all([
///     Document::new("n1", "The staging database is read-only on Sundays.").with("type", "note"),
///     Document::new("t1", "Ask for a new staging database.").with("type", "task"),
/// ])?;
/// let found = memory.query(&Lookup::text("staging database").filtered(Filter::is("type", "note")))?;
/// assert_eq!(found.hits[0].document.id, "n1");
/// assert_eq!(memory.count(&Filter::all())?, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct VectorMemory(Arc<Inner>);

struct Inner {
    log: DocumentLog,
    embedder: Option<Arc<dyn Embedder>>,
    /// The newest state that this handle knows.
    view: RwLock<Arc<View>>,
    /// Serializes writes of this process; the file lock serializes processes.
    writer: Mutex<()>,
    /// How far the vector file was read. Held while missing vectors are made, so that no thread makes them twice.
    embedding: Mutex<VectorMark>,
    /// Vectors that are not written yet because the folder was busy.
    unsaved: Mutex<Vec<(TextHash, UnitVector)>>,
    /// The number of rows of the stored index, as far as this handle knows.
    n_stored: AtomicUsize,
    recovery: Option<MemoryRecovery>,
}

impl VectorMemory {
    /// Opens the memory in a folder, with the bundled embedder if the crate includes it. A missing folder is created.
    ///
    /// No vector is read, and no model is loaded before the first embedding.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io) when the folder cannot be created or read. Damaged lines are not an error:
    /// see [`VectorMemory::recovery`].
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        Self::builder(folder).open()
    }

    /// A builder, to open the memory with another embedder or index, or read-only.
    pub fn builder(folder: impl AsRef<Path>) -> VectorMemoryBuilder {
        VectorMemoryBuilder::new(folder.as_ref().to_owned())
    }

    /// What the open did about unreadable lines; none if there were none.
    #[must_use]
    pub fn recovery(&self) -> Option<&MemoryRecovery> {
        self.0.recovery.as_ref()
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.0.log.folder.path()
    }

    /// The document with this id.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn get(&self, id: &str) -> Result<Option<Arc<Document>>> {
        Ok(self.0.view()?.documents.get(id).cloned())
    }

    /// The documents that match the filter, in the order of their ids.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn documents(&self, filter: &Filter) -> Result<Vec<Arc<Document>>> {
        let view = self.0.view()?;
        let mut documents = view.documents.documents(filter.keys(&view.documents).as_deref());
        documents.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        Ok(documents)
    }

    /// The number of documents that match the filter.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn count(&self, filter: &Filter) -> Result<usize> {
        let view = self.0.view()?;
        Ok(filter.keys(&view.documents).map_or(view.documents.live.len(), |keys| keys.len()))
    }
}

impl Inner {
    /// The newest documents, including those that other processes wrote.
    fn view(&self) -> Result<Arc<View>> {
        loop {
            let base = Arc::clone(&self.view.read());
            let Some(news) = self.log.look(&base.mark)? else { return Ok(base) };
            let mut next = View::clone(&base);
            match news {
                LogUpdate::Appended(changes, mark) => next.apply(changes, mark),
                LogUpdate::Replaced(changes, mark) => next.replace(changes, mark),
            }
            if let Some(view) = self.show(&base, next) {
                return Ok(view);
            }
        }
    }

    /// The newest state, with what is searched up to date.
    fn followed(&self, searched: Searched) -> Result<Arc<View>> {
        let mut words = None;
        loop {
            let base = self.view()?;
            if base.has_followed(searched) {
                return Ok(base);
            }
            let mut next = View::clone(&base);
            // Built for a state that was replaced meanwhile: little of it differs.
            next.words = words.take().unwrap_or(next.words);
            next.follow(searched);
            words = Some(next.words.clone());
            if let Some(view) = self.show(&base, next) {
                return Ok(view);
            }
        }
    }

    /// Replaces the state, unless it is no longer `base`.
    fn show(&self, base: &Arc<View>, next: View) -> Option<Arc<View>> {
        let next = Arc::new(next);
        let mut view = self.view.write();
        let is_newest = Arc::ptr_eq(&view, base);
        if is_newest {
            *view = Arc::clone(&next);
        }
        is_newest.then_some(next)
    }

    /// Replaces the state with the result of `change`, which may run several times, each time on a newer state.
    fn change(&self, change: impl Fn(&mut View)) -> Arc<View> {
        loop {
            let base = Arc::clone(&self.view.read());
            let mut next = View::clone(&base);
            change(&mut next);
            if let Some(view) = self.show(&base, next) {
                return view;
            }
        }
    }
}
