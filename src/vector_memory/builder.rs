//! The builder of a vector memory.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use adage_index::IndexConfig;
use parking_lot::{Mutex, RwLock};

use super::view::View;
use super::{Inner, VectorMemory};
use crate::config::LOCK_TIMEOUT;
use crate::embed::{Embedder, bundled};
use crate::error::config;
use crate::error::folder::FolderKind;
use crate::error::vector_memory::Result;
use crate::folder::disk::{Disk, RealDisk};
use crate::folder::limits::MAX_OF_DOCUMENTS;
use crate::folder::{Access, Folder};
use crate::setters::setters;
use crate::store::documents::DocumentLog;
use crate::store::folder_kind::check_kind;

/// Settings for opening a vector memory; [`VectorMemory::builder`] starts one.
pub struct VectorMemoryBuilder {
    folder: PathBuf,
    embedder: Option<Arc<dyn Embedder>>,
    index: IndexConfig,
    access: Access,
    disk: Box<dyn Disk>,
    lock_timeout: Duration,
}

impl VectorMemoryBuilder {
    pub(super) fn new(folder: PathBuf) -> Self {
        let (index, disk) = (IndexConfig::default(), Box::new(RealDisk));
        Self { folder, embedder: bundled(), index, access: Access::ReadWrite, disk, lock_timeout: LOCK_TIMEOUT }
    }

    setters! {
        /// Uses the host's embedder instead of the bundled one. Vectors of another model in the folder are kept but not used.
        with_embedder(embedder: Arc<dyn Embedder>) => embedder = Some(embedder);
        /// Uses no embedder: documents are found by their words alone. The first handle with an embedder embeds them.
        without_embedder() => embedder = None;
        /// Replaces the default settings of the index.
        with_index_config(config: IndexConfig) => index = config;
        /// Sets how long a writer waits for the folder's lock; 2 seconds by default.
        lock_timeout(timeout: Duration) => lock_timeout = timeout;
        /// Opens the folder for reading: nothing in it is created or changed, and it need not exist.
        read_only() => access = Access::ReadOnly;
    }

    #[cfg(test)]
    pub(crate) fn with_disk(mut self, disk: Box<dyn Disk>) -> Self {
        self.disk = disk;
        self
    }

    /// Opens the memory: reads the documents. No vector is read, and no model is loaded.
    ///
    /// # Errors
    /// [`Error::Config`](super::Error::Config) when a setting of the index is out of range;
    /// [`FolderError::Io`](crate::FolderError::Io) when the folder cannot be created or read;
    /// [`FolderError::WrongKind`](crate::FolderError::WrongKind) for the folder of a playbook.
    pub fn open(self) -> Result<VectorMemory> {
        self.index.validate().map_err(config::Error::from)?;
        let log = DocumentLog {
            folder: Folder::open(&self.folder, self.disk, self.access)?
                .with_lock_timeout(self.lock_timeout)
                .with_max_file(MAX_OF_DOCUMENTS),
        };
        check_kind(&log.folder, FolderKind::VectorMemory)?;
        let mut inner = Inner {
            log,
            embedder: self.embedder,
            view: RwLock::new(Arc::new(View::new(self.index))),
            writer: Mutex::new(()),
            embedding: Mutex::default(),
            unsaved: Mutex::default(),
            n_stored: AtomicUsize::new(0),
            recovery: None,
        };
        let view = inner.view()?;
        inner.recovery = inner.log.report(&view.mark);
        if inner.recovery.is_some() && inner.log.folder.may_write() {
            inner.recovery = inner.repair()?;
        }
        Ok(VectorMemory(Arc::new(inner)))
    }
}
