//! A folder of your program's own documents, found by meaning under a metadata filter.
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
mod embedding;
mod filter;
mod lookup;
mod shards;
mod shelf;
mod stored_shelf;
mod view;
mod writing;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};

use adage_index::UnitVector;
use parking_lot::{Mutex, RwLock};

use crate::embed::Embedder;
use crate::lesson::TextHash;
use crate::store::documents::{DocumentLog, MemoryRecovery, News};
use crate::store::memory_vectors::VectorMark;
use view::View;

pub use crate::document::Document;
pub use crate::error::vector_memory::{DocumentError, Error, Result};
pub use crate::store::documents::MemoryRecovery as Recovery;
pub use builder::VectorMemoryBuilder;
pub use filter::Filter;
pub use lookup::{Found, Hit, Lookup};

/// Documents that are found by the meaning of their texts: one folder, shared by as many threads and processes as like.
///
/// Cloning is cheap and gives another handle to the same memory. All calls block, and none of them touches a network. A
/// write is safe on disk when it returns. Queries look at a state that is never changed, only replaced: they do not wait for
/// writes. A folder is a vector memory's or a playbook's, not both.
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
    /// The newest state this handle knows.
    view: RwLock<Arc<View>>,
    /// One write at a time in this process; the file lock is for the others.
    writer: Mutex<()>,
    /// How far the vector file was read. Held while missing vectors are made, so that nobody makes them twice.
    embedding: Mutex<VectorMark>,
    /// Vectors that could not be written yet because somebody else was writing.
    unsaved: Mutex<Vec<(TextHash, UnitVector)>>,
    /// Rows of the index that the folder's file begins with, as far as this handle knows.
    n_stored: AtomicUsize,
    /// How far the cache of where documents are goes in the log, in bytes, as far as this handle knows.
    stored_to: AtomicU64,
    recovery: Option<MemoryRecovery>,
}

impl VectorMemory {
    /// Opens the memory in a folder, with the bundled embedder where the crate has it. The folder is made if there is none.
    ///
    /// No vector is read, and no model is loaded before the first embedding; documents are read when they are asked for, where the
    /// folder has the cache that says where they are.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io) when the folder cannot be made or read. Broken lines are no error: see
    /// [`VectorMemory::recovery`].
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        Self::builder(folder).open()
    }

    /// Opens with another embedder or index, or for reading only.
    pub fn builder(folder: impl AsRef<Path>) -> VectorMemoryBuilder {
        VectorMemoryBuilder::new(folder.as_ref().to_owned())
    }

    /// What the open had to do about lines that could not be read, if there were any.
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
        self.0.read(|view| Ok(view.shelf.get(id)?))
    }

    /// The documents that are meant, in the order of their ids.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn documents(&self, filter: &Filter) -> Result<Vec<Arc<Document>>> {
        let found = self.0.read(|view| Ok(view.shelf.documents(filter.keys(&view.shelf).as_deref())?))?;
        let mut documents: Vec<Arc<Document>> = found.into_iter().map(|(_, document)| document).collect();
        documents.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        Ok(documents)
    }

    /// How many documents are meant.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn count(&self, filter: &Filter) -> Result<usize> {
        let view = self.0.view()?;
        Ok(filter.keys(&view.shelf).map_or(view.shelf.live.len(), |keys| keys.len()))
    }
}

impl Inner {
    /// The newest documents, with what other processes wrote.
    fn view(&self) -> Result<Arc<View>> {
        loop {
            let base = Arc::clone(&self.view.read());
            let news = if base.shelf.is_damaged() {
                self.log.read_again()?
            } else {
                let Some(news) = self.log.look(&base.mark)? else { return Ok(base) };
                news
            };
            let mut next = View::clone(&base);
            match news {
                News::More(changes, mark) => next.apply(changes, mark),
                News::Anew(changes, mark) => next.replace(changes, mark),
            }
            if let Some(view) = self.show(&base, next) {
                return Ok(view);
            }
        }
    }

    /// What `read` makes of the newest state; once more where a line turned out damaged, without the documents that are lost.
    fn read<T>(&self, read: impl Fn(&View) -> Result<T>) -> Result<T> {
        loop {
            let view = self.view()?;
            let value = read(&view)?;
            if !view.shelf.is_damaged() {
                return Ok(value);
            }
        }
    }

    /// Replaces the state, unless it is another one than `base` by now.
    fn show(&self, base: &Arc<View>, next: View) -> Option<Arc<View>> {
        let next = Arc::new(next);
        let mut view = self.view.write();
        let is_newest = Arc::ptr_eq(&view, base);
        if is_newest {
            *view = Arc::clone(&next);
        }
        is_newest.then_some(next)
    }

    /// Replaces the state by what `change` makes of it. `change` may run several times, each time on a newer state.
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
