//! The commit: decide under the lock, prepare, publish. The steps are in the documentation of the parent module.

pub(in crate::store) mod prepared;
pub(in crate::store) mod publication;

use parking_lot::RwLock;

use crate::credit::outcome_line;
use crate::error::{FolderError, Result};
use crate::folder::Turn;
use crate::lesson::TextHash;
use crate::state::{Book, Plan};
use crate::store::commit::prepared::{DerivedData, Marks, PreparedCommit};
use crate::store::{Event, FolderStore, Snapshot, VectorCache};

/// Caches of former versions: they may contain texts of removed lessons.
const FORMER_CACHES: [&str; 3] = ["recall.bin", "recall-code.bin", "words.bin"];

/// The vectors of a model that a handle has in memory.
#[derive(Clone, Copy)]
pub(crate) struct ModelVectors<'a> {
    pub(crate) cache: &'a RwLock<VectorCache>,
    pub(crate) fingerprint: TextHash,
}

impl FolderStore {
    /// Decides on the newest state under the lock, and commits the plan if there is one.
    pub(crate) fn commit<T>(
        &self,
        known: &Snapshot,
        turn: &Turn<'_>,
        vectors: Option<ModelVectors<'_>>,
        decide: impl FnOnce(&Snapshot) -> Result<(Option<Plan>, T)>,
    ) -> Result<(Snapshot, T)> {
        let lock = self.folder.lock_within(turn.patience)?;
        self.append_pending(known);
        let mut snapshot = self.newest(known)?;
        self.refuse_newer(&snapshot)?;
        self.folder.sweep();
        let (plan, value) = decide(&snapshot)?;
        if let Some(mut plan) = plan {
            self.add_hand_edits(&snapshot, &mut plan)?;
            let prepared = PreparedCommit::new(&snapshot, plan);
            snapshot = self.publish(snapshot, &prepared, vectors)?;
        }
        drop(lock);
        Ok((snapshot, value))
    }

    /// Writes a prepared commit. Returns the state after it.
    fn publish(
        &self,
        before: Snapshot,
        commit: &PreparedCommit,
        vectors: Option<ModelVectors<'_>>,
    ) -> Result<Snapshot> {
        let marks = self.write_ahead(&before, commit, vectors)?;
        let gone = if self.guard.is_recording() { commit.gone(before.book()) } else { Vec::new() };
        let counted_before = before.committed.usage.line();
        let after = self.make_newest(before, commit.file(marks))?;
        // The state is committed: what fails from here on is not an error of the call.
        let withdrawn = self.guard.withdraw(&gone);
        let purged = commit.forgotten.as_ref().map_or(Ok(()), |forgotten| self.purge(forgotten));
        for error in [withdrawn, purged].into_iter().filter_map(Result::err) {
            tracing::warn!(%error, "the change is made, and a step after it failed");
        }
        self.archive().mark_committed(&commit.changes, commit.generation());
        self.shorten_usage(counted_before);
        self.shorten_receipts(&after);
        Ok(after)
    }

    /// Writes what must not be missing once the state is the newest one. Without that, none of it counts.
    fn write_ahead(
        &self,
        before: &Snapshot,
        commit: &PreparedCommit,
        vectors: Option<ModelVectors<'_>>,
    ) -> Result<Marks> {
        self.note_own(before.book(), commit)?;
        let (archive, length) = (self.archive(), before.file.archive_length);
        let archive_length = match &commit.forgotten {
            None => archive.append(length, &commit.changes, commit.generation())?,
            Some(forgotten) => archive.rewrite(length, &commit.changes, commit.generation(), forgotten.ids())?,
        };
        if let Some(ModelVectors { cache, fingerprint }) = vectors {
            self.vector_file().write(&mut cache.write(), fingerprint, commit.derived, commit.book())?;
        }
        for cache in FORMER_CACHES {
            self.files().remove_if_exists(cache)?;
        }
        if commit.derived == DerivedData::DropRemoved {
            self.write_usage(|| self.receipt_file().forget_removed(commit.book()))?;
        }
        Ok(Marks { archive_length, usage: before.log.end })
    }

    /// Records the user's own rows before they are written, so that they are not treated as another's when the file is read
    /// again.
    fn note_own(&self, before: &Book, commit: &PreparedCommit) -> Result<(), FolderError> {
        if !self.guard.is_recording() {
            return Ok(());
        }
        self.guard.note(&commit.new_lessons(before).map(|lesson| lesson.admission_hash()).collect::<Vec<_>>())
    }

    /// Appends an event under the exclusive lock, if `make` returns one for the newest state.
    pub(crate) fn append_event<T>(
        &self,
        known: &Snapshot,
        turn: &Turn<'_>,
        make: impl FnOnce(&Snapshot) -> Result<(Option<Event>, T)>,
    ) -> Result<(Snapshot, T)> {
        let lock = self.folder.lock_within(turn.patience)?;
        self.append_pending(known);
        let mut snapshot = self.newest(known)?;
        self.refuse_newer(&snapshot)?;
        self.read_receipts(&mut snapshot)?;
        let (event, value) = make(&snapshot)?;
        if let Some(event) = event {
            self.write_usage(|| {
                self.usage_file().append(snapshot.log.end, std::slice::from_ref(&event))?;
                self.log_outcome(&event);
                Ok(())
            })?;
            self.shorten_receipts(&snapshot);
            self.read_usage(&mut snapshot)?;
        }
        drop(lock);
        Ok((snapshot, value))
    }

    /// Logs the outcome for a receipt. The outcome counts even if it cannot be logged.
    fn log_outcome(&self, event: &Event) {
        if let Event::Outcome { receipt, feedback, at } = event
            && self.credit.log_receipts
            && let Err(error) = self.receipt_file().append(&outcome_line(*receipt, *feedback, *at))
        {
            tracing::warn!(%error, "an outcome could not be added to the log of receipts");
        }
    }

    /// After a failure, the next commit tries again.
    fn shorten_receipts(&self, snapshot: &Snapshot) {
        let log = self.receipt_file();
        let shorten = || if log.is_over()? { self.write_usage(|| log.shorten(snapshot.book())) } else { Ok(()) };
        if self.credit.log_receipts
            && let Err(error) = shorten()
        {
            tracing::warn!(%error, "the log of receipts could not be shortened");
        }
    }

    /// Removes lines that an earlier commit counted too, so that a backup that is one commit older has them, if their receipts are over.
    /// After a failure, the next commit tries again.
    fn shorten_usage(&self, counted_before: u64) {
        let (file, now) = (self.usage_file(), self.clock.now());
        let shorten = || if file.is_long()? { self.write_usage(|| file.shorten(counted_before, now)) } else { Ok(()) };
        if let Err(error) = shorten() {
            tracing::warn!(%error, "the usage file could not be shortened");
        }
    }
}
