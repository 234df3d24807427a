//! The playbook: its handle, and the results of reading, listing, checking and undoing.
//!
//! ```
//! use adage::Playbook;
//! use adage::playbook::{Check, Stats};
//!
//! # let folder = tempfile::tempdir()?;
//! let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
//! let stats: Stats = playbook.stats()?;
//! assert_eq!(stats.n_lessons, 0);
//! let check: Check = playbook.check()?;
//! assert!(check.findings.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
mod care;
mod commit;
mod embedding;
pub(crate) mod exchange;
pub(crate) mod extension;
#[cfg(test)]
mod incremental_indexes;
mod inspect;
mod learning;
mod own_config;
mod playbooks;
mod reading;
mod recall;
pub(crate) mod skills;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use crate::clock::Clock;
use crate::config::Config;
use crate::credit::Chance;
use crate::embed::Embedder;
use crate::error::{Error, FolderError, Result, StoreError};
use crate::exchange::ExportKey;
use crate::lesson::TextHash;
use crate::state::{DedupIndex, Lazy, RecallIndex};
use crate::store::rows::Store;
use crate::store::skills::state::KnownSkillState;
use crate::store::{FolderStore, PlaybookStore, Snapshot, VectorCache};

use recall::reads::Reads;
use skills::Skills;
use skills::listing::SkillPlace;
use skills::matching::SkillMatcher;

pub use crate::error::CannotUndo;
pub use crate::state::{Action as ChangeAction, Waiting as WaitingLesson, Why as LessonChange};
pub use crate::store::{BackupFile, BackupRecord, Recovery, Restored};
pub use builder::PlaybookBuilder;
pub use care::keeping::{FromQuarantine, Repair};
pub use care::removal::{ChangeRecord, ChangedLesson, ForgottenLesson};
pub use care::skips::{SkipSelection, SkippedSuggestion};
pub use care::trusting::{AwaitingTrust, lesson_for_person};
pub use inspect::{Check, Finding, MemoryPart, Stats};
pub use playbooks::{FolderCredit, PlaybookLesson, Playbooks};
pub use reading::{Listing, Window};
pub use recall::feedback::Credited;

/// A lesson playbook in one folder, which any number of threads and processes can share.
///
/// A clone is cheap and refers to the same playbook. All calls block, and none accesses a network.
///
/// ```
/// use adage::{Feedback, LearnOutcome, Playbook, build_lesson};
///
/// # let folder = tempfile::tempdir()?;
/// let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
/// let learned = playbook.learn_lesson(
///     build_lesson("parsing CSV exports", "Use the csv module.").mistake("split(',') cut quoted commas"),
/// )?;
/// assert!(matches!(learned, LearnOutcome::Inserted { .. }));
///
/// let context = playbook.get_playbook_context("parse a CSV export")?;
/// assert!(context.text.contains("Use the csv module."));
/// if let Some(receipt) = context.receipt {
///     playbook.record_outcome(receipt, Feedback::Helpful)?;
/// }
/// assert_eq!(playbook.get_playbook_context("What is the capital of France?")?.text, "");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Playbook {
    shared: Arc<OpenPlaybook>,
}

/// An open playbook: what all its handles share.
struct OpenPlaybook {
    /// The folder; one without files if the playbook is kept elsewhere.
    store: Arc<FolderStore>,
    /// Where the lessons are kept.
    kept: PlaybookStore,
    config: Config,
    clock: Arc<dyn Clock>,
    /// Decides which lessons are withheld at random.
    chance: Chance,
    embedder: Option<Arc<dyn Embedder>>,
    /// The newest state that this handle knows, with its indexes.
    view: RwLock<Arc<View>>,
    /// One thread at a time reads what other handles committed.
    reads: Reads,
    vectors: RwLock<VectorCache>,
    /// Serializes commits of this process; the file lock serializes processes.
    writer: Mutex<()>,
    recovery: Option<Recovery>,
    skills: KnownSkills,
    /// Where proposals may write outside the folder.
    targets: NamedTargets,
    /// The folders of the project whose memory this is.
    own_roots: Vec<String>,
    /// The key that seals exports.
    export_key: Option<ExportKey>,
}

/// The folders of skills that the host named, and what is known of the skills in them.
struct KnownSkills {
    roots: Vec<(SkillPlace, PathBuf)>,
    state: Mutex<KnownSkillState>,
    /// The prepared index that a turn's text is matched against.
    matcher: SkillMatcher,
}

/// The targets of proposals that the host named.
struct NamedTargets {
    /// The file for global notes.
    global_notes: Option<PathBuf>,
    /// The roots of skills that may be changed.
    writable_skills: Vec<PathBuf>,
}

/// A state and its indexes.
struct View {
    snapshot: Snapshot,
    recall: RecallIndex,
    /// The index in which learning looks for duplicates; built by the first learn.
    dedup: Lazy<DedupIndex>,
}

impl View {
    fn new(snapshot: Snapshot) -> Arc<Self> {
        let recall = RecallIndex::new(Arc::clone(snapshot.book()));
        Arc::new(Self { snapshot, recall, dedup: Lazy::default() })
    }
}

impl Playbook {
    /// Opens the playbook in a folder, with the bundled embedder if the crate includes it. A missing folder is created.
    ///
    /// Opening is cheap: no model is loaded before the first embedding.
    ///
    /// # Errors
    /// [`FolderError::Io`] when the folder cannot be created or read. A broken playbook file is not an error: see
    /// [`Playbook::recovery`].
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        Self::builder(folder).open()
    }

    /// A builder, to open the playbook with another embedder, clock or configuration, or read-only.
    pub fn builder(folder: impl AsRef<Path>) -> PlaybookBuilder {
        PlaybookBuilder::new(folder.as_ref().to_owned())
    }

    /// A builder of a playbook that is kept in another store than a folder, such as `adage-postgres`. Learning, retrieval, feedback,
    /// review, removal and undo are the same. What is about files (skills, the inbox, backups, trust in a folder) finds nothing there, and
    /// is refused with [`FolderError::NeedsFolder`] where it would write.
    pub fn on(store: Arc<dyn Store>) -> PlaybookBuilder {
        PlaybookBuilder::on(store)
    }

    /// What the open did about a broken playbook file; none if the file was whole.
    #[must_use]
    pub fn recovery(&self) -> Option<&Recovery> {
        self.shared.recovery.as_ref()
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.shared.store.folder.path()
    }

    /// False for a playbook opened with [`without_creating`](PlaybookBuilder::without_creating) that found no folder.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.shared.kept.rows().is_some() || !self.shared.store.folder.is_absent()
    }

    /// Whether the folder that was opened still is at its path, with its id where the handle has a trust store. Every call finds that
    /// out by itself; a host that keeps handles open asks before it uses one, and opens the folder again.
    ///
    /// # Errors
    /// [`FolderError::Replaced`]; [`FolderError::Io`].
    pub fn check_folder(&self) -> Result<()> {
        Ok(self.shared.store.guard.check(&self.shared.store.folder)?)
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.shared.config
    }

    /// Writes the retrieval counts that are still in memory because the folder was busy. Dropping the last handle does this
    /// too; it waits for the folder's lock (`config().store.lock_timeout`) and logs how many could not be written.
    ///
    /// Returns true when nothing is left.
    ///
    /// # Errors
    /// [`FolderError::Io`]; the counts stay in memory.
    pub fn flush(&self) -> Result<bool> {
        self.shared.flush()
    }

    /// Checks whether a write could begin now. It does not wait for the folder's lock and changes nothing, so it cannot detect
    /// whether files can be created in the folder.
    ///
    /// # Errors
    /// The error that a write would return: [`FolderError::Locked`], [`FolderError::ReadOnly`], [`FolderError::NewerSchema`],
    /// [`FolderError::WritesStopped`], [`FolderError::Io`].
    pub fn check_writable(&self) -> Result<()> {
        self.shared.check_writable()
    }
}

impl OpenPlaybook {
    /// The newest lessons. Their counts may be out of date: see `recount`.
    fn view(&self) -> Result<Arc<View>> {
        let view = Arc::clone(&self.view.read());
        if let Ok(true) = self.kept.is_current(&view.snapshot) {
            return Ok(view);
        }
        let Some(_reading) = self.reads.begin(self.reads.n_begun()) else { return Ok(Arc::clone(&self.view.read())) };
        let view = Arc::clone(&self.view.read());
        match self.kept.refresh(&view.snapshot) {
            Ok(None) => Ok(view),
            Ok(Some(newer)) => Ok(self.publish(newer)),
            // A person may be in the middle of an edit. Writes are refused until the file is valid; reads continue.
            Err(
                error @ (Error::Folder(FolderError::Unreadable { .. }) | Error::Store(StoreError::Unreachable { .. })),
            ) => {
                tracing::warn!(%error, "the playbook cannot be read; the last state that was read is used");
                Ok(view)
            }
            Err(error) => Err(error),
        }
    }

    /// Reads the playbook file again, after a change of what may be used of it.
    fn reload(&self) -> Result<()> {
        let snapshot = self.kept.reload()?;
        self.publish(snapshot);
        Ok(())
    }

    /// The newest lessons with all counts.
    fn recount(&self) -> Result<Arc<View>> {
        self.flush()?;
        let _reading = self.reads.begin_own();
        let view = Arc::clone(&self.view.read());
        let snapshot = self.kept.refresh_usage(&view.snapshot)?;
        let is_same = Arc::ptr_eq(&snapshot.file, &view.snapshot.file) && snapshot.log.end == view.snapshot.log.end;
        Ok(if is_same { view } else { self.publish(snapshot) })
    }

    fn publish(&self, snapshot: Snapshot) -> Arc<View> {
        // A slower reader may publish an older state; the next check of the file detects that.
        let known = Arc::clone(&self.view.read());
        self.publish_after(&known.recall, &known.dedup, snapshot)
    }

    /// Publishes a state. Its indexes are those of another state, updated by the difference.
    fn publish_after(&self, recall: &RecallIndex, dedup: &Lazy<DedupIndex>, snapshot: Snapshot) -> Arc<View> {
        let vector_of = |text: &str| self.vector(text);
        let recall = recall.follow(Arc::clone(snapshot.book()), &vector_of);
        let dedup = dedup.carried(|dedup| dedup.follow(&snapshot.book().lessons, &vector_of));
        let view = Arc::new(View { snapshot, recall, dedup });
        *self.view.write() = Arc::clone(&view);
        view
    }

    /// See [`Playbook::check_writable`].
    fn check_writable(&self) -> Result<()> {
        self.kept.probe(&self.view()?.snapshot)
    }

    fn fingerprint(&self) -> Option<TextHash> {
        self.embedder.as_ref().map(|embedder| embedder.fingerprint())
    }

    /// See [`Playbook::flush`].
    fn flush(&self) -> Result<bool> {
        let view = Arc::clone(&self.view.read());
        self.kept.flush(&view.snapshot)
    }
}

impl Drop for OpenPlaybook {
    fn drop(&mut self) {
        let view = Arc::clone(&self.view.read());
        self.kept.close(&view.snapshot);
    }
}
