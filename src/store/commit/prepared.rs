//! A commit that is decided and not written: everything that follows from the plan and the state before, without I/O.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::lesson::{Lesson, SCHEMA_VERSION, TextHash};
use crate::state::{Book, Change, Erasure, Plan};
use crate::store::forget::Words;
use crate::store::playbook_file::PlaybookFile;
use crate::store::snapshot::Snapshot;
use crate::store::usage::Folded;

/// What becomes of vectors and indexes of removed texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum DerivedData {
    /// They may stay until a compaction.
    Keep,
    /// They are dropped with the commit.
    DropRemoved,
}

/// How much of the files that are written before a commit belongs to its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct Marks {
    pub(in crate::store) archive_length: u64,
    /// The number of the last line of usage.
    pub(in crate::store) usage: u64,
}

/// A commit that is ready to be written.
pub(in crate::store) struct PreparedCommit {
    /// The book as it was decided; the book of the file has every lesson in the present schema.
    decided: Book,
    /// The next state, with the marks of the state before.
    file: PlaybookFile,
    pub(in crate::store) changes: Vec<Change>,
    /// Earlier texts of what must be removed from every file.
    forgotten_texts: Vec<Arc<Lesson>>,
    /// What must be removed from every file.
    pub(in crate::store) forgotten: Option<Words>,
    pub(in crate::store) derived: DerivedData,
}

impl PreparedCommit {
    pub(in crate::store) fn new(before: &Snapshot, plan: Plan) -> Self {
        let Plan { book: decided, changes, erasure, accepts_edits, .. } = plan;
        let forgotten = erasure.forgotten();
        let mut book = decided.clone();
        migrate(&mut book);
        let mut file = PlaybookFile { book: Arc::new(book), ..PlaybookFile::clone(&before.file) };
        file.generation = file.generation.saturating_add(1);
        if accepts_edits {
            file.edited.clear();
        }
        Self {
            forgotten_texts: forgotten.map(|forgotten| forgotten.texts.clone()).unwrap_or_default(),
            forgotten: forgotten.map(Words::of),
            derived: if matches!(erasure, Erasure::None) { DerivedData::Keep } else { DerivedData::DropRemoved },
            decided,
            file,
            changes,
        }
    }

    pub(in crate::store) fn generation(&self) -> u64 {
        self.file.generation
    }

    pub(in crate::store) fn book(&self) -> &Book {
        &self.file.book
    }

    /// The lessons that the state before did not have like this.
    pub(in crate::store) fn new_lessons<'a>(&'a self, before: &'a Book) -> impl Iterator<Item = &'a Arc<Lesson>> {
        let is_same = |lesson: &Arc<Lesson>| before.get(lesson.id).is_some_and(|known| Arc::ptr_eq(known, lesson));
        self.decided.lessons.iter().filter(move |lesson| !is_same(lesson))
    }

    /// The rows that the state before had and this one has not, under whatever id, by admission hash.
    pub(in crate::store) fn gone(&self, before: &Book) -> Vec<TextHash> {
        let is_same = |lesson: &&Arc<Lesson>| self.decided.get(lesson.id).is_some_and(|kept| Arc::ptr_eq(kept, lesson));
        let edits = self.changes.iter().flat_map(|change| &change.edits);
        let known = before
            .lessons
            .iter()
            .filter(|lesson| !is_same(lesson))
            .chain(edits.filter_map(|edit| edit.before.as_ref()));
        let gone: Vec<&Arc<Lesson>> = known.chain(&self.forgotten_texts).collect();
        let triggers: BTreeSet<&str> = gone.iter().map(|lesson| lesson.trigger.as_str()).collect();
        let is_like_one = |lesson: &&Arc<Lesson>| triggers.contains(lesson.trigger.as_str());
        let hash = |lesson: &Arc<Lesson>| lesson.admission_hash();
        let kept: BTreeSet<TextHash> = self.decided.lessons.iter().filter(is_like_one).map(hash).collect();
        gone.into_iter().map(hash).filter(|text| !kept.contains(text)).collect()
    }

    /// The next state, once the files that its marks are about are written.
    pub(in crate::store) fn file(&self, marks: Marks) -> PlaybookFile {
        let usage = Folded::Line(marks.usage);
        PlaybookFile { archive_length: marks.archive_length, usage, ..self.file.clone() }
    }
}

/// Gives lessons of an older schema the present one.
fn migrate(book: &mut Book) {
    let older = book.lessons.iter().filter(|lesson| lesson.schema_version != SCHEMA_VERSION);
    for id in older.map(|lesson| lesson.id).collect::<Vec<_>>() {
        book.update(id, |lesson| lesson.schema_version = SCHEMA_VERSION);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Action, Edit, Forgotten, Why};
    use crate::store::snapshot::OnDisk;
    use crate::testing::{at, lesson};

    /// A state of generation 7 with these lessons.
    fn before(lessons: &[Arc<Lesson>]) -> Snapshot {
        let book = Arc::new(Book { lessons: lessons.iter().cloned().collect(), ..Book::default() });
        let file = PlaybookFile { generation: 7, archive_length: 70, book, ..PlaybookFile::default() };
        Snapshot::new(file, OnDisk::no_file(None))
    }

    fn plan(before: &Snapshot) -> Plan {
        Plan::new(Book::clone(before.book()), before.file.generation, at(0))
    }

    #[test]
    fn the_next_state_has_the_next_generation_and_the_marks_of_what_was_written_first() {
        let before = before(&[]);
        let commit = PreparedCommit::new(&before, plan(&before));
        let file = commit.file(Marks { archive_length: 90, usage: 5 });
        assert_eq!((file.generation, file.archive_length, file.usage), (8, 90, Folded::Line(5)));
        assert_eq!(before.file.generation, 7);
    }

    #[test]
    fn only_an_added_lesson_is_new_although_an_old_schema_is_replaced_in_every_row() {
        let old = Arc::new(Lesson { schema_version: 1, ..lesson("one", "rename it") });
        let before = before(&[Arc::clone(&old)]);
        let mut plan = plan(&before);
        let added = Arc::new(lesson("two", "move it"));
        plan.book.lessons = [old, Arc::clone(&added)].into_iter().collect();
        let commit = PreparedCommit::new(&before, plan);
        assert_eq!(commit.new_lessons(before.book()).map(|lesson| lesson.id).collect::<Vec<_>>(), [added.id]);
        assert!(commit.book().lessons.iter().all(|lesson| lesson.schema_version == SCHEMA_VERSION));
    }

    #[test]
    fn a_row_that_leaves_the_book_is_gone_unless_another_says_the_same() {
        let gone = Arc::new(lesson("one", "rename it"));
        let before = before(&[Arc::clone(&gone)]);
        for why in [Why::Removed, Why::Evicted] {
            let mut plan = plan(&before);
            plan.book.take(gone.id);
            plan.record(Action::Remove, vec![Edit::gone(why, Arc::clone(&gone))]);
            let commit = PreparedCommit::new(&before, plan);
            assert_eq!(BTreeSet::from_iter(commit.gone(before.book())), [gone.admission_hash()].into(), "{why:?}");
        }
    }

    #[test]
    fn forgetting_a_lesson_drops_derived_data() {
        let gone = Arc::new(lesson("one", "rename it"));
        let before = before(&[Arc::clone(&gone)]);
        let forgotten = Forgotten { ids: [gone.id].into(), texts: vec![Arc::clone(&gone)] };
        let erasure = Erasure::Everywhere(forgotten);
        let commit = PreparedCommit::new(&before, Plan { erasure, ..plan(&before) });
        assert_eq!(commit.derived, DerivedData::DropRemoved);
        assert!(commit.forgotten.as_ref().is_some_and(|words| words.ids().contains(&gone.id)));
        // A lesson with the same text stays, so that its text stays admitted.
        assert!(commit.gone(before.book()).is_empty());
    }
}
