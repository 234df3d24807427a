//! The commit: decide under the lock, make everything safe, rename (the protocol of the module above).

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};

use super::{Event, Mark, Seen, Snapshot, Store, Truth, VectorCache, archive, is_alike, truth, usage, vectors};
use crate::error::{Error, Result};
use crate::lesson::{SCHEMA_VERSION, TextHash};
use crate::state::{Book, Change, Plan};

/// A vector cache is swept when it is larger than this, in bytes …
const MIN_BLOAT: u64 = 1 << 20;
/// … and than this many times what the lessons need.
const MAX_BLOAT: u64 = 4;

impl Store {
    /// Decides on the newest state under the lock and commits the plan, if there is one (the protocol of the module).
    pub(crate) fn commit<T>(
        &self,
        known: &Snapshot,
        vectors: Option<(&parking_lot::RwLock<VectorCache>, TextHash)>,
        decide: impl FnOnce(&Snapshot) -> Result<(Option<Plan>, T)>,
    ) -> Result<(Snapshot, T)> {
        let lock = self.place.lock()?;
        self.append_pending_locked(known);
        let mut snapshot = self.newest(known)?;
        snapshot.refuse_newer()?;
        self.place.sweep();
        let (plan, value) = decide(&snapshot)?;
        let Some(Plan { mut book, changes, forgets_vectors, .. }) = plan else { return Ok((snapshot, value)) };
        let older = book.lessons.iter().filter(|lesson| lesson.schema_version != SCHEMA_VERSION);
        for id in older.map(|lesson| lesson.id).collect::<Vec<_>>() {
            book.update(id, |lesson| lesson.schema_version = SCHEMA_VERSION);
        }
        let mut truth = Truth { book: Arc::new(book), ..Truth::clone(&snapshot.truth) };
        truth.generation += 1;
        truth.archive_length = self.write_archive(snapshot.truth.archive_length, &changes)?;
        truth.usage = self.rotate(snapshot.log.end)?;
        if let Some((cache, fingerprint)) = vectors {
            self.write_vectors(&mut cache.write(), fingerprint, forgets_vectors, &truth.book)?;
        }
        self.replace_truth(&mut snapshot, truth)?;
        self.drop_spent_segments(&mut snapshot);
        drop(lock);
        Ok((snapshot, value))
    }

    /// Appends an event under the exclusive lock, if `make` says so on the newest state.
    pub(crate) fn append_event<T>(
        &self,
        known: &Snapshot,
        make: impl FnOnce(&Snapshot) -> Result<(Option<Event>, T)>,
    ) -> Result<(Snapshot, T)> {
        let lock = self.place.lock()?;
        self.append_pending_locked(known);
        let mut snapshot = self.newest(known)?;
        snapshot.refuse_newer()?;
        let (event, value) = make(&snapshot)?;
        if let Some(event) = event {
            self.append_usage(&snapshot, &event.line())?;
            self.read_usage(&mut snapshot)?;
        }
        drop(lock);
        Ok((snapshot, value))
    }

    /// Writes down what recalls left in memory; the caller holds the lock. What cannot be written stays there.
    fn append_pending_locked(&self, known: &Snapshot) {
        let mut pending = self.pending.lock();
        if pending.is_empty() || !self.may_append(known) {
            return;
        }
        match self.append_usage(known, &pending) {
            Ok(()) => pending.clear(),
            Err(error) => tracing::warn!(%error, "retrievals wait in memory to be counted"),
        }
    }

    /// The mark of a commit: the end of what was folded in, or the start of a new segment when this one is full.
    fn rotate(&self, end: Mark) -> Result<Mark> {
        if end.offset <= usage::SEGMENT_BYTES {
            return Ok(end);
        }
        let next = Mark { segment: end.segment + 1, offset: 0 };
        let path = self.place.folder.usage(next.segment);
        self.place.disk.create(&path, b"").map_err(Error::io("make", &path))?;
        Ok(next)
    }

    /// Cuts off what a dead writer appended, appends, and returns the new length.
    fn write_archive(&self, length: u64, changes: &[Change]) -> Result<u64> {
        let path = self.place.folder.archive();
        let present =
            self.place.disk.stamp(&path).map_err(Error::io("look at", &path))?.map_or(0, |stamp| stamp.length);
        if present > length {
            self.place.disk.truncate(&path, length).map_err(Error::io("cut", &path))?;
        }
        let mut length = length.min(present);
        if !changes.is_empty() {
            let lines = archive::render(changes);
            self.place.disk.append(&path, &lines).map_err(Error::io("append to", &path))?;
            self.place.sync(&path)?;
            length += lines.len() as u64;
        }
        Ok(length)
    }

    pub(super) fn write_vectors(
        &self,
        cache: &mut VectorCache,
        model: TextHash,
        forgets: bool,
        book: &Book,
    ) -> Result<()> {
        let path = self.place.folder.vectors();
        let length = self.read_vectors(cache, model)?;
        if cache.read_to > 0 && length > cache.read_to {
            // The end cannot be read: what is appended behind it could not be either.
            self.place.disk.truncate(&path, cache.read_to).map_err(Error::io("cut", &path))?;
        }
        // Evicted lessons leave their vectors behind; now and then these are swept out.
        let live_bytes = |book: &Book| book.lessons.len() as u64 * 2 * vectors::RECORD_ESTIMATE;
        if forgets || (cache.read_to > MIN_BLOAT && cache.read_to > MAX_BLOAT * live_bytes(book)) {
            let live = live_texts(book);
            cache.keep_only(&live);
            let bytes = vectors::compacted(&self.read_or_empty(&path, 0)?, &live);
            let temporary = self.place.folder.temporary("vectors");
            self.place.disk.create(&temporary, &bytes).map_err(Error::io("write", &temporary))?;
            self.place.disk.rename(&temporary, &path).map_err(Error::io("replace", &path))?;
            self.read_vectors(cache, model)?;
        }
        if cache.unsaved.is_empty() {
            return Ok(());
        }
        // A cache that is not ours, or of another version, is made anew: its beginning was not understood.
        let is_ours = cache.read_to > 0;
        let records = cache.unsaved_records(model, !is_ours);
        if is_ours {
            self.place.disk.append(&path, &records).map_err(Error::io("append to", &path))?;
        } else {
            // Not in place: a vector memory may have mapped it.
            let temporary = self.place.folder.temporary("vectors");
            self.place.disk.create(&temporary, &records).map_err(Error::io("write", &temporary))?;
            self.place.rename(&temporary, &path)?;
            cache.reread();
        }
        cache.unsaved.clear();
        Ok(())
    }

    /// Replaces the playbook file: the commit itself.
    fn replace_truth(&self, snapshot: &mut Snapshot, truth: Truth) -> Result<()> {
        let (path, backup) = (self.place.folder.truth(), self.place.folder.backup());
        let (temporary, bytes) = self.write_temporary(&truth)?;
        if snapshot.seen.stamp.is_some() {
            let link = self.place.folder.temporary("backup");
            match self.place.disk.remove(&link) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::io("remove", &link)(error)),
                _ => {}
            }
            self.place.disk.link(&path, &link).map_err(Error::io("link", &path))?;
            self.place.disk.rename(&link, &backup).map_err(Error::io("replace", &backup))?;
            // A rename between two names of one file leaves both: a commit that failed here before has made them so.
            let _ = self.place.disk.remove(&link);
        }
        // A person's editor does not take our lock. What it saved in the meantime is in the backup at least; if it is
        // seen in time, nothing happens at all.
        let present = self.place.disk.stamp(&path).map_err(Error::io("look at", &path))?;
        if !is_alike(snapshot.seen.stamp.as_ref(), present.as_ref()) {
            return Err(Error::Contended { rounds: 1 });
        }
        self.place.disk.rename(&temporary, &path).map_err(Error::io("replace", &path))?;
        self.after_rename(snapshot, truth, &bytes).inspect_err(|_| self.place.stop_writes())
    }

    /// Writes the file beside its place and makes it safe; its path and bytes.
    pub(super) fn write_temporary(&self, truth: &Truth) -> Result<(PathBuf, Vec<u8>)> {
        let name = "playbook";
        let bytes = truth::render(truth)
            .map_err(|error| Error::io("write", &self.place.folder.temporary(name))(error.into()))?;
        Ok((self.place.write_temporary(name, &bytes)?, bytes))
    }

    fn after_rename(&self, snapshot: &mut Snapshot, truth: Truth, bytes: &[u8]) -> Result<()> {
        let path = self.place.folder.truth();
        let folder = self.place.folder.path();
        self.place.disk.sync_folder(folder).map_err(Error::io("make safe", folder))?;
        snapshot.seen = Seen::new(self.place.disk.stamp(&path).map_err(Error::io("look at", &path))?, bytes);
        snapshot.log.end = truth.usage;
        snapshot.truth = Arc::new(truth);
        Ok(())
    }

    /// Removes segments that nobody needs. A failure leaves them for the next commit.
    fn drop_spent_segments(&self, snapshot: &mut Snapshot) {
        let now: DateTime<FixedOffset> = self.clock.now();
        let spent = snapshot.log.spent_segments(snapshot.truth.usage.segment, now);
        if spent.is_empty() {
            return;
        }
        let backup = self.read_or_empty(&self.place.folder.backup(), 0).ok();
        let backup = backup.and_then(|bytes| match truth::parse(&bytes, self.clock.as_ref()) {
            Ok(truth::Parsed::Truth(truth)) => Some(truth.usage.segment),
            _ => None,
        });
        for segment in spent.into_iter().filter(|segment| backup.is_none_or(|backup| *segment < backup)) {
            if self.place.disk.remove(&self.place.folder.usage(segment)).is_ok() {
                snapshot.log.forget_segment(segment, now);
            }
        }
    }
}

/// The texts whose vectors are worth keeping.
fn live_texts(book: &Book) -> BTreeSet<TextHash> {
    let lessons = book.lessons.iter().chain(book.waiting.iter().map(|waiting| &waiting.lesson));
    lessons.flat_map(|lesson| [vectors::key(&lesson.trigger), vectors::key(&lesson.whole_text())]).collect()
}
