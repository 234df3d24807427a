//! What crates above the library reach of an open playbook.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};

use super::{OpenPlaybook, Playbook, View};
use crate::embed::{Role, embed_units};
use crate::error::{Error, Result, with_causes};
use crate::folder::edits::{Journal, Reach};
use crate::folder::{Folder, JsonFile, JsonRecord, Lock};
use crate::gate;
use crate::learn::{LearnOutcome, RemovedLesson, ReviewedLesson};
use crate::lesson::{ChangeId, Lesson, LessonDraft, LessonId, Realm, Refusal, TextHash};
use crate::state::{Action, Book, Edit, EmbeddedText, Plan, Planned, Waiting, Why};
use crate::store::rows::RowStore;
use crate::store::undo::undo_within;
use crate::trust::Guard;

/// An open playbook, for a crate above the library: its lessons, the gate, records of its own in the folder, and the files there and
/// where the host named places.
#[derive(Clone, Copy)]
pub struct Extension<'p> {
    playbook: &'p Playbook,
    shared: &'p OpenPlaybook,
}

/// The lessons of a playbook at one time.
#[derive(Clone, Debug)]
pub struct KnownLessons(Arc<Book>);

impl KnownLessons {
    /// Those in use.
    pub fn in_use(&self) -> impl Iterator<Item = &Arc<Lesson>> {
        self.0.lessons.iter()
    }

    /// Those that await review.
    pub fn waiting(&self) -> impl Iterator<Item = &Arc<Lesson>> {
        self.0.waiting.iter().map(|waiting| &waiting.lesson)
    }

    /// Those that a person removed in the last 30 days.
    pub fn removed(&self) -> impl Iterator<Item = &Arc<Lesson>> {
        self.0.removed.iter().filter_map(|removed| removed.lesson.as_ref())
    }
}

/// A lesson that was found once more.
pub struct FoundAgain<'a> {
    /// What identifies the finding: the same one counts once.
    pub finding: TextHash,
    /// Whether a lesson is the one that was found.
    pub is_lesson: &'a dyn Fn(&Lesson) -> bool,
}

impl<'p> Extension<'p> {
    /// The extension of a playbook.
    #[must_use]
    pub fn of(playbook: &'p Playbook) -> Self {
        Self { playbook, shared: &playbook.shared }
    }

    /// The playbook's time.
    #[must_use]
    pub fn now(self) -> DateTime<FixedOffset> {
        self.shared.clock.now()
    }

    /// The file for global notes that the host named.
    #[must_use]
    pub fn global_notes(self) -> Option<&'p Path> {
        self.shared.targets.global_notes.as_deref()
    }

    /// The roots of skills that the host named as writable.
    #[must_use]
    pub fn writable_skills(self) -> &'p [PathBuf] {
        &self.shared.targets.writable_skills
    }

    /// The lessons now.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn lessons(self) -> Result<KnownLessons> {
        Ok(KnownLessons(Arc::clone(self.shared.view()?.snapshot.book())))
    }

    /// At most `max` lessons that a realm sees: all if there are no more; otherwise those whose trigger is near to one of the texts.
    /// Compared by words if there are no vectors.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn nearest(self, texts: &[&str], realm: &Realm, max: usize) -> Result<Vec<Arc<Lesson>>> {
        let view = self.shared.view()?;
        let all: Vec<&Arc<Lesson>> = view.recall.visible(realm).take(max.saturating_add(1)).collect();
        if all.len() <= max {
            return Ok(all.into_iter().cloned().collect());
        }
        let near = self.near_triggers(&view, texts, realm, max).unwrap_or_else(|error| {
            if !matches!(error, Error::NoEmbedder) {
                tracing::warn!(error = with_causes(&error), "known lessons are looked up by words: the vectors failed");
            }
            view.recall.sharing_words(&texts.join("\n"), realm, max)
        });
        Ok(near.into_iter().filter_map(|id| view.snapshot.book().get(id).cloned()).collect())
    }

    fn near_triggers(self, view: &View, texts: &[&str], realm: &Realm, max: usize) -> Result<Vec<LessonId>> {
        let embedder = self.shared.embedder.as_ref().ok_or(Error::NoEmbedder)?;
        let mut nearest: BTreeMap<LessonId, f32> = BTreeMap::new();
        let vectors = embed_units(embedder.as_ref(), texts, Role::Query)?;
        if let Some(first) = vectors.first() {
            let triggers = self.shared.lesson_vectors(view, EmbeddedText::WaysIn, first.as_slice().len())?;
            for near in vectors.iter().flat_map(|vector| triggers.nearest(realm, vector, max).0) {
                nearest.entry(near.id).and_modify(|known| *known = known.min(near.distance)).or_insert(near.distance);
            }
        }
        let mut nearest: Vec<(LessonId, f32)> = nearest.into_iter().collect();
        nearest.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        Ok(nearest.into_iter().take(max).map(|(id, _)| id).collect())
    }

    /// The lesson that a draft would be, redacted; nothing is learned.
    ///
    /// # Errors
    /// [`Refusal`] with the reason.
    pub fn admit(self, draft: LessonDraft) -> Result<Lesson, Refusal> {
        gate::admit(draft, &self.shared.config.learn, &*self.shared.clock)
    }

    /// A mined draft that is learned without review, because it quotes the user. The caller checks the quotes.
    #[must_use]
    pub fn admitted_by_quote(draft: LessonDraft) -> LessonDraft {
        draft.admitted_by_quote()
    }

    /// Counts lessons that were found again: the frequency of each rises by one for each new finding. Those with the highest are
    /// reviewed first.
    ///
    /// # Errors
    /// The errors of a commit.
    pub fn count_again(self, found: &[FoundAgain<'_>]) -> Result<()> {
        if found.is_empty() {
            return Ok(());
        }
        self.shared.commit(|attempt| {
            let mut plan = self.shared.plan(attempt);
            let mut is_changed = false;
            for FoundAgain { finding, is_lesson } in found {
                is_changed |= plan.book.remember_mined(*finding) && count(&mut plan, is_lesson);
            }
            Ok(if is_changed { Planned::Commit(plan, ()) } else { Planned::Nothing(()) })
        })
    }

    /// Takes lessons that await review back. It is one change, which can be undone.
    ///
    /// # Errors
    /// The errors of a commit.
    pub fn take_back(self, is_lesson: &dyn Fn(&Lesson) -> bool) -> Result<()> {
        self.shared.commit(|attempt| {
            let mut plan = self.shared.plan(attempt);
            let waiting = std::mem::take(&mut plan.book.waiting);
            let (gone, kept): (Vec<Waiting>, _) = waiting.into_iter().partition(|waiting| is_lesson(&waiting.lesson));
            plan.book.waiting = kept;
            if gone.is_empty() {
                return Ok(Planned::Nothing(()));
            }
            let edits = gone.into_iter().map(|waiting| Edit::gone(Why::Unreviewed, waiting.lesson)).collect();
            plan.record(Action::Learn, edits);
            Ok(Planned::Commit(plan, ()))
        })
    }

    /// Promotes lessons that await review, exactly as they were shown, in one commit. As
    /// [`Playbook::promote`](crate::Playbook::promote).
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`], [`Error::Changed`]; the errors of a commit. Nothing was changed then.
    pub fn promote_all(self, chosen: &[ReviewedLesson]) -> Result<Vec<LearnOutcome>> {
        self.playbook.promote_all(chosen)
    }

    /// Removes lessons that await review, exactly as they were shown, in one commit. As
    /// [`Playbook::dismiss`](crate::Playbook::dismiss).
    ///
    /// # Errors
    /// As [`promote_all`](Self::promote_all).
    pub fn dismiss_all(self, chosen: &[ReviewedLesson]) -> Result<Vec<RemovedLesson>> {
        self.playbook.dismiss_all(chosen)
    }

    /// Reverts edits of files by their id, if all the files are within the reach that `reach` returns: every file gets its former
    /// content, to the byte.
    ///
    /// # Errors
    /// The errors of `reach`; [`Error::NoSuchChange`]; [`Error::FileChanged`] when a file was changed since; [`Error::OutOfReach`];
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn undo_files(
        self,
        change: ChangeId,
        reach: impl FnOnce(&Journal) -> Result<Reach>,
    ) -> Result<(ChangeId, Journal)> {
        undo_within(self.folder(), change, self.now(), reach)
    }

    /// The record of a type in the folder. One that cannot be read counts as empty; so does one that the user's own program did not
    /// write, where that matters: a pull, an archive or a patch may have brought it.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn read<R: JsonRecord>(self) -> Result<R> {
        match self.shared.kept.rows() {
            Some(rows) => rows.record(),
            None => Ok(self.file::<R>().read_by(&self.shared.store.guard.codes())?),
        }
    }

    /// Changes the newest version of a record, which is written as a whole. If nothing changes, nothing is written; a file that cannot
    /// be read goes to quarantine.
    ///
    /// # Errors
    /// [`FolderError`](crate::FolderError): `Locked`, `ReadOnly`, `NewerSchema`, `Io`.
    pub fn change<R: JsonRecord, T>(self, change: impl FnOnce(&mut R) -> T) -> Result<T> {
        match self.shared.kept.rows() {
            Some(rows) => rows.change_record(change),
            None => Ok(self.file::<R>().change_by(&self.shared.store.guard.codes_to_write(), change)?),
        }
    }

    fn file<R: JsonRecord>(self) -> JsonFile<'p, R> {
        JsonFile::new(self.folder()).within(Guard::scope(self.folder()))
    }

    /// A lock of its own in the folder; none while another handle or process holds it. The kernel frees it when the process dies.
    ///
    /// # Errors
    /// [`FolderError`](crate::FolderError): `ReadOnly`, `Io`.
    pub fn try_lock(self, name: &'static str) -> Result<Option<Lock>> {
        match self.shared.kept.rows() {
            Some(rows) => rows.try_lock(name),
            None => Ok(self.folder().try_lock_file(name)?),
        }
    }

    /// True if this handle may write.
    #[must_use]
    pub fn may_write(self) -> bool {
        self.shared.kept.rows().map_or_else(|| self.folder().may_write(), RowStore::may_write)
    }

    /// The path with every link followed.
    ///
    /// # Errors
    /// `NotFound` when any part of it does not exist.
    pub fn resolve(self, path: &Path) -> io::Result<PathBuf> {
        self.folder().links().resolve(path)
    }

    /// The path with every link followed as far as it exists. None if a link on it leads nowhere: by the time of a write, it could lead
    /// anywhere.
    #[must_use]
    pub fn resolve_existing(self, path: &Path) -> Option<PathBuf> {
        let links = self.folder().links();
        links.resolve_existing(path).ok().filter(|_| !links.dangles(path))
    }

    /// The memory's folder.
    #[must_use]
    pub fn folder(self) -> &'p Folder {
        &self.shared.store.folder
    }
}

fn count(plan: &mut Plan, is_lesson: &dyn Fn(&Lesson) -> bool) -> bool {
    let more = |lesson: &mut Lesson| lesson.frequency = lesson.frequency.saturating_add(1);
    if let Some(waiting) = plan.book.waiting.iter_mut().find(|waiting| is_lesson(&waiting.lesson)) {
        more(Arc::make_mut(&mut waiting.lesson));
        return true;
    }
    let Some(id) = plan.book.lessons.iter().find(|lesson| is_lesson(lesson)).map(|lesson| lesson.id) else {
        return false;
    };
    plan.book.update(id, more);
    true
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::folder::disk::RealDisk;
    use crate::testing::faults::{Fault, FaultyDisk};

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Read {
        schema: u64,
        n: u64,
    }

    impl JsonRecord for Read {
        const NAME: &'static str = "read";
        const SCHEMA: u64 = 1;
        const LOST: &'static str = "all is read once more";

        fn schema(&self) -> u64 {
            self.schema
        }
    }

    #[test]
    fn after_any_disk_failure_a_record_is_as_before_the_change_or_after_it() {
        for fault in [Fault::Once, Fault::Freeze] {
            for number in 1.. {
                let memory = tempfile::tempdir().unwrap();
                let done = Arc::new(AtomicUsize::new(0));
                let disk = FaultyDisk { fault, at: number, done: Arc::clone(&done) };
                let count = |playbook: &Playbook| Extension::of(playbook).change(|read: &mut Read| read.n += 1);
                let open = |disk| Playbook::builder(memory.path()).without_embedder().with_disk(disk).open();
                let n_acknowledged = open(Box::new(disk))
                    .map(|playbook| (0..3).filter(|_| count(&playbook).is_ok()).count())
                    .unwrap_or_default();
                let playbook = open(Box::new(RealDisk)).unwrap();
                let n = usize::try_from(Extension::of(&playbook).read::<Read>().unwrap().n).unwrap();
                let is_over = done.load(Ordering::SeqCst) < number;
                assert!((n_acknowledged..=3).contains(&n), "{fault:?} {number}: {n} of {n_acknowledged}");
                assert!(!memory.path().join("quarantine").exists(), "{fault:?} {number}");
                if is_over {
                    assert!(n == 3 && number > 10, "only {number} operations were made to fail");
                    break;
                }
            }
        }
    }
}
