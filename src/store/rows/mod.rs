//! A playbook in a store that keeps rows: the same decisions as on a folder, written as the rows that differ.
//!
//! A commit is decided on the newest state without a lock, and takes effect only if nothing was committed meanwhile; otherwise it is
//! decided again, then under a lock. Usage is appended beside it, and folded in by the next commit.

mod content;
mod places;
mod records;
mod store;
mod usage;
mod vectors;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use self::content::Content;
pub use self::store::{Changes, Commit, Known, List, Row, Store, StoredEvent, StoredVector, UsageEvent};
use super::commit::prepared::{Marks, PreparedCommit};
use super::{Event, ModelVectors, Snapshot, UsageLog, archive};
use crate::clock::Clock;
use crate::config::{CreditConfig, FeedbackConfig};
use crate::credit::ReceiptLog;
use crate::error::{Error, Result, StoreError};
use crate::folder::Lock;
use crate::lesson::LessonId;
use crate::state::{Change, Erasure, Plan};

/// How often a call is tried while others write …
const MAX_ATTEMPTS: usize = 32;
/// … and from which attempt on one that waits for others.
const POLITE_FROM: usize = 1;
/// The lock of those that wait.
const COMMIT_LOCK: &str = "commit";

/// A playbook in a store of rows.
pub(crate) struct RowStore {
    store: Arc<dyn Store>,
    may_write: bool,
    clock: Arc<dyn Clock>,
    feedback: FeedbackConfig,
    credit: CreditConfig,
    /// What was read or written last.
    known: Mutex<KnownRows>,
    pending: Mutex<Vec<UsageEvent>>,
}

/// What a handle knows of the rows.
#[derive(Clone, Default)]
struct KnownRows {
    content: Content,
    /// The folded events.
    log: UsageLog,
    /// The ids of the events that are not folded in, as they were applied.
    unfolded: Vec<i64>,
    /// The id of the last feedback.
    last_feedback: i64,
}

impl RowStore {
    pub(crate) fn open(
        store: Arc<dyn Store>,
        may_write: bool,
        clock: Arc<dyn Clock>,
        feedback: FeedbackConfig,
        credit: CreditConfig,
    ) -> Result<(Self, Snapshot)> {
        let (known, pending) = (Mutex::default(), Mutex::default());
        let may_write = may_write && store.may_write();
        let rows = Self { store, may_write, clock, feedback, credit, known, pending };
        let (_, snapshot) = rows.newest(true)?;
        Ok((rows, snapshot))
    }

    /// The present state; none if `known` is current.
    pub(crate) fn refresh(&self, known: &Snapshot) -> Result<Option<Snapshot>> {
        let (rows, snapshot) = self.newest(false)?;
        Ok((rows.content.file.generation != known.committed.generation).then_some(snapshot))
    }

    /// The present state with all usage appended so far.
    pub(crate) fn refresh_usage(&self) -> Result<Snapshot> {
        Ok(self.newest(true)?.1)
    }

    /// The newest state. Without `wants_usage`, one that was not committed since has no later usage.
    fn newest(&self, wants_usage: bool) -> Result<(KnownRows, Snapshot)> {
        let known = self.known.lock().clone();
        let (generation, usage) = (known.content.file.generation, known.log.end);
        let changes = self.store.read(Known { generation, usage, wants_usage })?;
        if changes.generation == generation && !wants_usage {
            let snapshot = known.snapshot(Arc::clone(&known.content.file), known.log.clone());
            return Ok((known, snapshot));
        }
        self.adopt(known, changes)
    }

    /// As [`newest`](Self::newest), with the receipts of all usage that is kept.
    fn newest_with_receipts(&self) -> Result<(KnownRows, Snapshot)> {
        let (known, snapshot) = self.newest(true)?;
        if known.log.is_partial() { self.with_all_events(known) } else { Ok((known, snapshot)) }
    }

    fn with_all_events(&self, known: KnownRows) -> Result<(KnownRows, Snapshot)> {
        let generation = known.content.file.generation;
        let changes = self.store.read(Known { generation, usage: 0, wants_usage: true })?;
        self.adopt(KnownRows { log: UsageLog::default(), ..known }, changes)
    }

    /// The state after these changes of a known one.
    fn adopt(&self, known: KnownRows, changes: Changes) -> Result<(KnownRows, Snapshot)> {
        let Changes { generation, folded, last_feedback, is_whole, rows, events } = changes;
        let before = if is_whole { Content::default() } else { known.content };
        let is_first = before.file.generation == 0;
        let content = match before.after(rows, [generation, folded], self.clock.as_ref()) {
            _ if generation == before.file.generation => before,
            Ok(content) => content,
            Err([what, reason]) => {
                return Err(StoreError::Unreadable { store: self.store.name().to_owned(), what, reason }.into());
            }
        };
        // A first read has no use for receipts that are counted.
        let log = if is_first && known.log.end == 0 { UsageLog::after(folded) } else { known.log };
        let mut next = KnownRows { content, log, unfolded: Vec::new(), last_feedback };
        let mut file = Arc::clone(&next.content.file);
        let mut log = next.log.clone();
        for StoredEvent { id, number, event } in events {
            let Ok(event) = serde_json::from_value::<Event>(event) else { continue };
            if let Some(number) = number {
                let book = Arc::make_mut(&mut Arc::make_mut(&mut file).book);
                next.log.add(event.clone(), Some(number), book, &self.feedback);
                log.add(event, Some(number), book, &self.feedback);
            } else {
                let book = Arc::make_mut(&mut Arc::make_mut(&mut file).book);
                log.add(event, None, book, &self.feedback);
                next.unfolded.push(id);
            }
        }
        if log.needs_earlier() {
            return self.with_all_events(next);
        }
        let snapshot = next.snapshot(file, log);
        let mut held = self.known.lock();
        if held.content.file.generation <= next.content.file.generation || is_whole {
            *held = next.clone();
        }
        Ok((next, snapshot))
    }

    /// Decides on the newest state, and commits the plan if there is one; again if others have committed meanwhile.
    pub(crate) fn commit<T>(
        &self,
        patience: Duration,
        vectors: Option<ModelVectors<'_>>,
        mut decide: impl FnMut(&Snapshot) -> Result<(Option<Plan>, T)>,
    ) -> Result<(Snapshot, T)> {
        self.refuse_read_only()?;
        self.append_pending();
        self.try_often(patience, |has_lock| {
            let (known, snapshot) = self.newest(true)?;
            let (plan, value) = decide(&snapshot)?;
            let Some(plan) = plan else { return Ok(Some((snapshot, value))) };
            let after = self.publish((known, &snapshot), plan, vectors, has_lock)?;
            Ok(after.map(|after| (after, value)))
        })
    }

    /// Tries until a try succeeds: after some attempts one after the other with those of other processes.
    fn try_often<T>(&self, patience: Duration, mut attempt: impl FnMut(bool) -> Result<Option<T>>) -> Result<T> {
        let mut lock = None;
        for number in 0..MAX_ATTEMPTS {
            if number >= POLITE_FROM && lock.is_none() {
                let busy = || StoreError::Busy { store: self.store.name().to_owned(), waited: patience };
                lock = Some(self.store.lock(COMMIT_LOCK, patience)?.ok_or_else(busy)?);
            }
            if let Some(done) = attempt(lock.is_some())? {
                return Ok(done);
            }
        }
        Err(Error::Contended { rounds: MAX_ATTEMPTS })
    }

    /// Writes a plan. Returns the state after it; none if others have committed meanwhile.
    fn publish(
        &self,
        (known, before): (KnownRows, &Snapshot),
        plan: Plan,
        vectors: Option<ModelVectors<'_>>,
        has_lock: bool,
    ) -> Result<Option<Snapshot>> {
        let is_erased = !matches!(plan.erasure, Erasure::None);
        let prepared = PreparedCommit::new(before, plan);
        let folded = known.content.file.usage.line() + known.unfolded.len() as u64;
        let file = Arc::new(prepared.file(Marks { archive_length: 0, usage: folded }));
        let unwritable = |error: serde_json::Error| StoreError::Unreadable {
            store: self.store.name().to_owned(),
            what: "the state".to_owned(),
            reason: error.to_string(),
        };
        let (rows, content) = known.content.rows_to(Arc::clone(&file)).map_err(unwritable)?;
        let mut commit = Commit {
            id: uuid::Uuid::new_v4().as_u128(),
            known: known.content.file.generation,
            generation: file.generation,
            rows,
            history: lines(&archive::render(&prepared.changes, file.generation)),
            folded: known.unfolded,
            has_lock,
            ..Commit::default()
        };
        if let Some(forgotten) = &prepared.forgotten {
            let changed = self.store.history()?.join("\n");
            let kept = archive::without(format!("{changed}\n").as_bytes(), forgotten.ids());
            commit.history = [lines(&kept), commit.history].concat();
            commit.replaces_history = true;
        }
        if is_erased {
            commit.kept_texts = Some(super::vectors::file::live_texts(&file.book).into_iter().collect());
        }
        if let Some(ModelVectors { cache, fingerprint }) = vectors {
            commit.vectors = Some((fingerprint, vectors::unsaved(&cache.read())));
        }
        if !self.store.commit(&commit)? {
            return Ok(None);
        }
        if let Some(ModelVectors { cache, .. }) = vectors {
            vectors::after_commit(&mut cache.write(), commit.kept_texts.as_deref());
        }
        let mut log = before.log.clone();
        log.end = folded;
        let next = KnownRows { content, log: log.clone(), unfolded: Vec::new(), last_feedback: known.last_feedback };
        let snapshot = next.snapshot(file, log);
        let mut held = self.known.lock();
        if held.content.file.generation < next.content.file.generation {
            *held = next;
        }
        Ok(Some(snapshot))
    }

    /// The recorded changes, oldest first.
    pub(crate) fn history(&self) -> Result<Vec<Change>> {
        let lines = self.store.history()?;
        Ok(archive::parse(lines.join("\n").as_bytes(), self.clock.as_ref()))
    }

    /// The logged receipts, without lessons that were removed.
    pub(crate) fn receipts(&self, snapshot: &Snapshot) -> Result<ReceiptLog> {
        let mut log = ReceiptLog::parse(self.store.logged()?.join("\n").as_bytes());
        let is_removed = |id: LessonId| snapshot.book().removed.matches_id(id);
        log.forget(is_removed);
        log.keep_newest(self.credit.max_receipts);
        Ok(log)
    }

    /// A lock of this name; none while another handle holds it.
    pub(crate) fn try_lock(&self, name: &str) -> Result<Option<Lock>> {
        self.refuse_read_only()?;
        Ok(self.store.lock(name, Duration::ZERO)?)
    }

    pub(crate) fn may_write(&self) -> bool {
        self.may_write
    }

    /// # Errors
    /// `ReadOnly`.
    pub(crate) fn refuse_read_only(&self) -> Result<()> {
        if self.may_write {
            return Ok(());
        }
        Err(StoreError::ReadOnly { store: self.store.name().to_owned() }.into())
    }
}

impl KnownRows {
    fn snapshot(&self, file: Arc<super::PlaybookFile>, log: UsageLog) -> Snapshot {
        Snapshot::of_rows(Arc::clone(&self.content.file), file, log)
    }
}

/// The lines of these bytes, without their ends.
fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
}
