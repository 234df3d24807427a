//! Unites two versions of a playbook file, between which git left the marks of a conflict (docs/spec/folder-format.md, 4.1).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::lesson::{ChangeId, Lesson, LessonId, QUARANTINED, Realm, RemovedText, TextHash};
use crate::state::{Book, Change, Removals, ReviewReason, Waiting, Why};
use crate::store::PlaybookFile;

/// What the archive, which has the changes of both branches, says about lessons.
#[derive(Default)]
struct Past {
    /// Lessons that were removed, replaced or evicted, and did not come back.
    gone: BTreeSet<LessonId>,
    /// Texts that a change took from a lesson.
    texts: BTreeSet<(LessonId, TextHash)>,
    undone: BTreeSet<ChangeId>,
}

impl Past {
    fn of(history: &[Change]) -> Self {
        let undone = history.iter().filter_map(|change| change.undoes).collect();
        let mut past = Self { undone, ..Self::default() };
        for edit in history.iter().filter(|change| !past.undone.contains(&change.id)).flat_map(|change| &change.edits) {
            let removed = edit.removed_text.map(|text| text.exact);
            let before = edit.before.as_ref().map(|lesson| lesson.text_hash()).or(removed);
            past.texts.extend(before.filter(|before| Some(*before) != edit.after).map(|before| (edit.id, before)));
            if edit.after.is_none() {
                past.gone.insert(edit.id);
            } else if matches!(edit.why, Why::Inserted | Why::Restored | Why::Awaiting) {
                past.gone.remove(&edit.id);
            }
        }
        past
    }

    fn has_text(&self, lesson: &Lesson) -> bool {
        self.texts.contains(&(lesson.id, lesson.text_hash()))
    }
}

/// A lesson, and why it awaits review if it does.
type Row = (Arc<Lesson>, Option<ReviewReason>);

/// The rows of both versions: the same for every clone that unites them. Lessons that `admits` rejects are kept apart.
pub(in crate::store) fn united(
    ours: PlaybookFile,
    theirs: PlaybookFile,
    history: &[Change],
    admits: &dyn Fn(&Lesson) -> bool,
) -> PlaybookFile {
    let past = Past::of(history);
    let mut file = ours;
    file.generation = file.generation.max(theirs.generation).saturating_add(1);
    file.is_unmarked |= theirs.is_unmarked;
    file.edited.extend(theirs.edited);
    for (key, value) in theirs.extra {
        file.extra.entry(key).or_insert(value);
    }
    let (own, other) = (Arc::unwrap_or_clone(file.book), Arc::unwrap_or_clone(theirs.book));
    let removed = removals(&own.removed, &other.removed, &past);
    let rows = unite_rows(rows_of(&own).chain(rows_of(&other)), &removed, &past);
    let mut book = Book { removed, ..own };
    add_records(&mut book, other);
    put(rows, &mut book, admits);
    file.book = Arc::new(book);
    file
}

/// The removals of both without those that were undone, the latest last. A lesson that either version forgot is in none.
fn removals(own: &Removals, others: &Removals, past: &Past) -> Removals {
    let mut each: Vec<_> = own.iter().chain(others.iter()).collect();
    each.retain(|removed| removed.change.is_none_or(|change| !past.undone.contains(&change)));
    each.sort_by_key(|removed| removed.lesson.is_none());
    let by_id: BTreeMap<LessonId, _> = each.into_iter().map(|removed| (removed.id, removed.clone())).collect();
    let mut removals: Removals = by_id.into_values().collect();
    removals.sort_by_key(|removed| removed.at);
    removals
}

fn rows_of(book: &Book) -> impl Iterator<Item = Row> {
    let used = book.lessons.iter().chain(&book.foreign).map(|lesson| (Arc::clone(lesson), None));
    used.chain(book.waiting.iter().map(|waiting| (Arc::clone(&waiting.lesson), Some(waiting.reason))))
}

/// The rows by their ids. A removal wins, unless the text was learned again later under another id. A text that is not kept, and that no
/// change replaced, awaits review under an id that follows from it.
fn unite_rows(rows: impl Iterator<Item = Row>, removed: &Removals, past: &Past) -> BTreeMap<LessonId, Row> {
    let is_gone = |lesson: &Lesson| past.gone.contains(&lesson.id) || removed.matches_id(lesson.id);
    let is_removed_text = |lesson: &Lesson| {
        let text = RemovedText::of(lesson);
        removed.iter().any(|removed| removed.text.is(text) && lesson.timestamp <= removed.at)
    };
    let (mut united, mut others) = (BTreeMap::<LessonId, Row>::new(), Vec::new());
    for mut kept in rows {
        if let Some(mut other) = united.remove(&kept.0.id) {
            if rank(&other.0, past) >= rank(&kept.0, past) {
                std::mem::swap(&mut kept, &mut other);
            }
            unite(Arc::make_mut(&mut kept.0), &other.0);
            others.extend((shown(&kept.0) != shown(&other.0)).then_some(other.0));
        }
        united.insert(kept.0.id, kept);
    }
    others.extend(united.values().map(|(lesson, _)| lesson).filter(|lesson| is_gone(lesson)).cloned());
    for lesson in others.into_iter().filter(|lesson| !past.has_text(lesson)) {
        let seed = TextHash::of(&[lesson.id.to_string(), lesson.admission_hash().to_string()]);
        let id = LessonId::at(lesson.timestamp, seed);
        let lesson = Arc::new(Lesson { id, ..Arc::unwrap_or_clone(lesson) });
        united.entry(id).or_insert((lesson, Some(ReviewReason::OtherVersion)));
    }
    united.retain(|_, (lesson, _)| !is_gone(lesson) && !is_removed_text(lesson));
    united
}

/// All that a person is shown of a lesson.
fn shown(lesson: &Lesson) -> (TextHash, Realm) {
    (lesson.shown_hash(), lesson.realm.clone())
}

/// Of two rows with one id, the one that ranks higher is kept.
fn rank(lesson: &Lesson, past: &Past) -> impl Ord {
    let is_vouched_for = [lesson.is_admitted(), lesson.verification_attempted];
    let row = serde_json::json!(lesson).to_string();
    (!past.has_text(lesson), lesson.timestamp, is_vouched_for, lesson.last_credited_at, row)
}

/// Gives the row that is kept the larger counts and later times of both. It is covered if the other one says the same and is, and
/// switched off if the other one is.
fn unite(lesson: &mut Lesson, other: &Lesson) {
    for (own, others) in [
        (&mut lesson.frequency, other.frequency),
        (&mut lesson.retrievals, other.retrievals),
        (&mut lesson.helpful_retrievals, other.helpful_retrievals),
        (&mut lesson.harmful_retrievals, other.harmful_retrievals),
        (&mut lesson.settled_retrievals, other.settled_retrievals),
        (&mut lesson.learned_at_recall, other.learned_at_recall),
        (&mut lesson.shown_at_recall, other.shown_at_recall),
    ] {
        *own = others.max(*own);
    }
    let judged = lesson.helpful_retrievals.saturating_add(lesson.harmful_retrievals);
    lesson.settled_retrievals = lesson.settled_retrievals.max(judged);
    lesson.retrievals = lesson.retrievals.max(lesson.settled_retrievals);
    lesson.last_retrieved_at = lesson.last_retrieved_at.max(other.last_retrieved_at);
    lesson.last_credited_at = lesson.last_credited_at.max(other.last_credited_at);
    lesson.graduated |= other.graduated && shown(lesson) == shown(other);
    if other.is_disabled() {
        lesson.extra.insert(QUARANTINED.to_owned(), true.into());
    }
}

/// Puts the rows into a book, those in use first. One that says the same as another is left out.
fn put(rows: BTreeMap<LessonId, Row>, book: &mut Book, admits: &dyn Fn(&Lesson) -> bool) {
    (book.lessons, book.foreign, book.waiting) = Default::default();
    let mut known = BTreeSet::new();
    let (used, waiting): (Vec<Row>, Vec<Row>) = rows.into_values().partition(|(_, awaits)| awaits.is_none());
    for (lesson, awaits) in used.into_iter().chain(waiting).filter(|(lesson, _)| known.insert(shown(lesson))) {
        if let Some(reason) = awaits {
            book.waiting.push(Waiting { lesson, reason });
            continue;
        }
        // A text that is in use was learned again after its removal.
        book.removed.lift_text(&lesson);
        if lesson.is_admitted() && !admits(&lesson) {
            book.foreign.push(lesson);
        } else {
            book.lessons.put(lesson);
        }
    }
}

/// Adds what the other version records apart from lessons.
fn add_records(book: &mut Book, other: Book) {
    fn add<T: PartialEq>(own: &mut Vec<T>, others: Vec<T>) {
        for row in others {
            if !own.contains(&row) {
                own.push(row);
            }
        }
    }
    add(&mut book.unread, other.unread);
    add(&mut book.evicted, other.evicted);
    add(&mut book.skips, other.skips);
    add(&mut book.mined_texts, other.mined_texts);
    for (realm, n) in other.recalls {
        let own = book.recalls.entry(realm).or_default();
        *own = n.max(*own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Action, Edit, Removed};
    use crate::testing::{at, lesson};

    fn file<'l>(lessons: impl IntoIterator<Item = &'l Lesson>) -> PlaybookFile {
        let book = Book { lessons: lessons.into_iter().cloned().map(Arc::new).collect(), ..Book::default() };
        PlaybookFile { book: Arc::new(book), ..PlaybookFile::default() }
    }

    /// Unites two versions in both orders, which has to give the same rows.
    fn both_ways(ours: &PlaybookFile, theirs: &PlaybookFile, history: &[Change]) -> Book {
        let of = |own: &PlaybookFile, other: &PlaybookFile| united(own.clone(), other.clone(), history, &|_| true);
        let (one, other) = (of(ours, theirs), of(theirs, ours));
        assert_eq!((&one.book.lessons, &one.book.waiting), (&other.book.lessons, &other.book.waiting));
        assert_eq!((&one.book.removed, one.generation), (&other.book.removed, other.generation));
        Book::clone(&one.book)
    }

    fn solutions(book: &Book) -> [Vec<String>; 2] {
        let of = |lessons: &mut dyn Iterator<Item = &Arc<Lesson>>| {
            lessons.map(|lesson| lesson.solution.clone()).collect::<Vec<_>>()
        };
        [of(&mut book.lessons.iter()), of(&mut book.waiting.iter().map(|waiting| &waiting.lesson))]
    }

    fn check(ours: &PlaybookFile, theirs: &PlaybookFile, history: &[Change], in_use: &[&str], waiting: &[&str]) {
        let book = both_ways(ours, theirs, history);
        assert_eq!(
            solutions(&book),
            [in_use, waiting].map(|texts| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
        );
        assert!(book.waiting.iter().all(|waiting| waiting.reason == ReviewReason::OtherVersion));
    }

    fn change(edits: Vec<Edit>) -> Change {
        let id = ChangeId::at(at(7), TextHash::of(&["change"]));
        Change { id, at: at(7), action: Action::Edit, undoes: None, edits }
    }

    #[test]
    fn the_newer_text_is_used_and_the_other_one_awaits_review() {
        let old = Lesson { timestamp: at(1), ..lesson("t", "old") };
        let new = Lesson { timestamp: at(2), solution: "new".into(), correct_pattern: "new".into(), ..old.clone() };
        check(&file([&old]), &file([&new]), &[], &["new"], &["old"]);
        let mut united = file([&new]);
        united.book = Arc::new(both_ways(&file([&old]), &file([&new]), &[]));
        check(&united, &file([&old]), &[], &["new"], &["old"]);
        // A change says that the later one was replaced.
        let edit = Edit { after: Some(old.text_hash()), ..Edit::gone(Why::Edited, Arc::new(new.clone())) };
        check(&file([&old]), &file([&new]), &[change(vec![edit])], &["old"], &[]);
        let elsewhere = Lesson { timestamp: at(3), id: lesson("another id", "s").id, ..old.clone() };
        check(&file([&old]), &file([&elsewhere]), &[], &["old"], &[]);
    }

    #[test]
    fn a_removal_wins_but_what_was_written_since_awaits_review() {
        let row = Lesson { timestamp: at(1), ..lesson("t", "s") };
        let mut gone = file([]);
        let removed = Removed { id: row.id, text: RemovedText::of(&row), at: at(5), change: None, lesson: None };
        Arc::make_mut(&mut gone.book).removed.push(removed);
        check(&file([&row]), &gone, &[], &[], &[]);
        let with_id = |id: &str, seconds| Lesson { id: lesson(id, "s").id, timestamp: at(seconds), ..row.clone() };
        check(&file([&with_id("later", 9)]), &gone, &[], &["s"], &[]);
        check(&file([&with_id("earlier", 3)]), &gone, &[], &[], &[]);
        let rewritten = Lesson { solution: "new".into(), correct_pattern: "new".into(), ..row.clone() };
        check(&file([&rewritten]), &gone, &[], &[], &["new"]);
        let replaced = change(vec![Edit::gone(Why::Superseded, Arc::new(row.clone()))]);
        check(&file([&row]), &file([]), std::slice::from_ref(&replaced), &[], &[]);
        check(&file([&rewritten]), &file([]), std::slice::from_ref(&replaced), &[], &["new"]);
        let undo = Change { undoes: Some(replaced.id), ..change(Vec::new()) };
        check(&file([&row]), &file([]), &[replaced, undo], &["s"], &[]);
    }

    #[test]
    fn counts_are_the_larger_ones_and_a_lesson_that_either_switched_off_stays_off() {
        let own = Lesson { frequency: 2, retrievals: 5, harmful_retrievals: 2, ..lesson("t", "s") };
        let off = [(QUARANTINED.to_owned(), true.into())].into_iter().collect();
        let other = Lesson { retrievals: 4, helpful_retrievals: 4, graduated: true, ..lesson("t", "s") };
        let other = Lesson { id: own.id, extra: off, verified: true, verification_attempted: true, ..other };
        let book = both_ways(&file([&own]), &file([&other]), &[]);
        let row = book.get(own.id).unwrap();
        assert_eq!([row.frequency, row.retrievals, row.harmful_retrievals, row.helpful_retrievals], [2, 6, 2, 4]);
        assert!(row.is_disabled() && row.graduated);
    }

    #[test]
    fn what_is_no_lesson_is_taken_from_both() {
        let mut files = [file([]), file([])];
        for (n, file) in (1_u64..).zip(&mut files) {
            let book = Arc::make_mut(&mut file.book);
            book.unread = vec!["note".into(), n.into()];
            book.recalls = [(Realm::default(), n), (Realm::new("shop", ""), 5 - n)].into();
            book.mined_texts = vec![TextHash::of(&["both"]), TextHash::of(&[n.to_string()])];
            file.extra.insert(n.to_string(), n.into());
            file.generation = n;
        }
        let [ours, theirs] = files;
        let file = united(ours, theirs, &[], &|_| true);
        assert_eq!((file.generation, file.extra.len(), file.book.mined_texts.len()), (3, 2, 3));
        assert_eq!(file.book.unread, [serde_json::json!("note"), 1.into(), 2.into()]);
        assert_eq!(file.book.recalls, [(Realm::default(), 2), (Realm::new("shop", ""), 4)].into());
    }
}
