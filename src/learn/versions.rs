//! Which lessons of the archive are other versions of one: an edit and a lesson that supersedes another have an id of their own.

use std::collections::BTreeSet;

use crate::lesson::LessonId;
use crate::state::{Book, Change, Edit, Why};

/// The lesson, what it superseded, and what superseded it and was taken back, as far as the history knows. A lesson that is still in
/// the book is not a version of another one.
pub(super) fn versions(book: &Book, history: &[Change], lesson: LessonId) -> BTreeSet<LessonId> {
    let mut ids = BTreeSet::from([lesson]);
    let undone: BTreeSet<_> = history.iter().filter_map(|change| change.undoes).collect();
    let pairs: Vec<(LessonId, &Edit)> = history
        .iter()
        .flat_map(|change| {
            // A lesson that another one was merged into is a version of it while the merge stands.
            let is_newer = |edit: &&Edit| match edit.why {
                Why::Inserted => true,
                Why::Merged => !undone.contains(&change.id),
                _ => false,
            };
            let older = change.edits.iter().filter(|edit| edit.why == Why::Superseded);
            older.flat_map(move |older| change.edits.iter().filter(is_newer).map(|newer| (older.id, newer)))
        })
        .collect();
    loop {
        let n_before = ids.len();
        for (older, newer) in &pairs {
            let is_gone = |id: LessonId| book.get(id).is_none();
            if ids.contains(&newer.id) && is_gone(*older) {
                ids.insert(*older);
            }
            if ids.contains(older) && newer.why == Why::Inserted && is_gone(newer.id) {
                ids.insert(newer.id);
            }
        }
        if ids.len() == n_before {
            return ids;
        }
    }
}
