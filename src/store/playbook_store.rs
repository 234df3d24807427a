//! Where a playbook is kept: in a folder, or as rows of another store. The façade decides on either in the same way.

use std::sync::Arc;

use super::rows::RowStore;
use super::{Event, FolderStore, ModelVectors, Snapshot, VectorCache};
use crate::credit::ReceiptLog;
use crate::error::Result;
use crate::folder::Turn;
use crate::lesson::TextHash;
use crate::state::{Change, Plan};

pub(crate) enum PlaybookStore {
    Folder(Arc<FolderStore>),
    Rows(Box<RowStore>),
}

impl PlaybookStore {
    /// True if nothing was committed or edited since `known`, as far as that is known without reading.
    pub(crate) fn is_current(&self, known: &Snapshot) -> Result<bool> {
        match self {
            Self::Folder(folder) => Ok(folder.is_current(known)?),
            Self::Rows(_) => Ok(false),
        }
    }

    /// The present state; none if `known` is current.
    pub(crate) fn refresh(&self, known: &Snapshot) -> Result<Option<Snapshot>> {
        match self {
            Self::Folder(folder) => Ok(folder.refresh(known)?),
            Self::Rows(rows) => rows.refresh(known),
        }
    }

    /// The present state with all usage appended so far.
    pub(crate) fn refresh_usage(&self, known: &Snapshot) -> Result<Snapshot> {
        match self {
            Self::Folder(folder) => Ok(folder.refresh_usage(known)?),
            Self::Rows(rows) => rows.refresh_usage(),
        }
    }

    /// The present state, loaded in any case.
    pub(crate) fn reload(&self) -> Result<Snapshot> {
        match self {
            Self::Folder(folder) => Ok(folder.reload()?),
            Self::Rows(rows) => rows.refresh_usage(),
        }
    }

    /// Decides on the newest state, and commits the plan if there is one.
    pub(crate) fn commit<T>(
        &self,
        known: &Snapshot,
        turn: &Turn<'_>,
        vectors: Option<ModelVectors<'_>>,
        decide: impl FnMut(&Snapshot) -> Result<(Option<Plan>, T)>,
    ) -> Result<(Snapshot, T)> {
        match self {
            Self::Folder(folder) => folder.commit(known, turn, vectors, decide),
            Self::Rows(rows) => rows.commit(turn.patience, vectors, decide),
        }
    }

    /// Appends an event, if `make` returns one for the newest state.
    pub(crate) fn append_event<T>(
        &self,
        known: &Snapshot,
        turn: &Turn<'_>,
        make: impl FnMut(&Snapshot) -> Result<(Option<Event>, T)>,
    ) -> Result<(Snapshot, T)> {
        match self {
            Self::Folder(folder) => folder.append_event(known, turn, make),
            Self::Rows(rows) => rows.append_event(turn.patience, make),
        }
    }

    /// Records the event of a recall, and the line of its receipt if receipts are logged: now, or with a later call.
    pub(crate) fn note(&self, known: &Snapshot, event: Event, receipt: Option<Vec<u8>>) -> Result<()> {
        match self {
            Self::Folder(folder) => Ok(folder.note(known, event, receipt)?),
            Self::Rows(rows) => {
                rows.note(&event, receipt.as_deref());
                Ok(())
            }
        }
    }

    /// Appends the usage in memory. Returns true when nothing is left.
    pub(crate) fn flush(&self, known: &Snapshot) -> Result<bool> {
        match self {
            Self::Folder(folder) => Ok(folder.flush(known)?),
            Self::Rows(rows) => rows.flush(),
        }
    }

    /// Appends the usage in memory for the last time. What cannot be written is lost, and logged.
    pub(crate) fn close(&self, known: &Snapshot) {
        match self {
            Self::Folder(folder) => folder.close(known),
            Self::Rows(rows) => rows.close(),
        }
    }

    /// The recorded changes, oldest first.
    pub(crate) fn history(&self, snapshot: &Snapshot) -> Result<Vec<Change>> {
        match self {
            Self::Folder(folder) => Ok(folder.history(snapshot)?),
            Self::Rows(rows) => rows.history(),
        }
    }

    /// Every recorded change, those too that nobody here has admitted.
    pub(crate) fn all_changes(&self) -> Result<Vec<Change>> {
        match self {
            Self::Folder(folder) => Ok(folder.archive().changes()?),
            Self::Rows(rows) => rows.history(),
        }
    }

    /// The logged receipts, without lessons that were removed.
    pub(crate) fn receipts(&self, snapshot: &Snapshot) -> Result<ReceiptLog> {
        match self {
            Self::Folder(folder) => Ok(folder.receipts(snapshot)?),
            Self::Rows(rows) => rows.receipts(snapshot),
        }
    }

    /// False if usage cannot be written.
    pub(crate) fn may_append(&self, known: &Snapshot) -> bool {
        match self {
            Self::Folder(folder) => folder.may_append(known),
            Self::Rows(rows) => rows.may_write(),
        }
    }

    /// Checks whether a write could begin now.
    pub(crate) fn probe(&self, known: &Snapshot) -> Result<()> {
        match self {
            Self::Folder(folder) => Ok(folder.probe(known)?),
            Self::Rows(rows) => rows.refuse_read_only(),
        }
    }

    /// Reads the vectors that were written since the last read.
    pub(crate) fn read_vectors(&self, cache: &mut VectorCache, fingerprint: TextHash) -> Result<()> {
        match self {
            Self::Folder(folder) => Ok(folder.read_vectors(cache, fingerprint)?),
            Self::Rows(rows) => rows.read_vectors(cache, fingerprint),
        }
    }

    /// Writes vectors made outside a commit.
    pub(crate) fn save_vectors(&self, known: &Snapshot, cache: &mut VectorCache, fingerprint: TextHash) -> Result<()> {
        match self {
            Self::Folder(folder) => Ok(folder.save_vectors(known, cache, fingerprint)?),
            Self::Rows(rows) => rows.save_vectors(cache, fingerprint),
        }
    }

    /// The store of rows; none for a folder.
    pub(crate) fn rows(&self) -> Option<&RowStore> {
        match self {
            Self::Folder(_) => None,
            Self::Rows(rows) => Some(rows),
        }
    }
}
