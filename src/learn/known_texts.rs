//! The texts that the playbook has, by realm: an import refuses them.

use std::collections::HashMap;

use crate::lesson::{Lesson, LessonId, Realm, TextHash};
use crate::state::Book;

/// Which lesson has a text, in a realm or in review.
#[derive(Debug, Default)]
pub(crate) struct KnownTexts(HashMap<(Realm, TextHash), LessonId>);

impl KnownTexts {
    pub(crate) fn of(book: &Book) -> Self {
        Self(book.used_and_reviewed().map(|known| ((known.realm.clone(), known.text_hash()), known.id)).collect())
    }

    /// The lesson that has the text of this one.
    pub(crate) fn find(&self, lesson: &Lesson) -> Option<LessonId> {
        self.0.get(&(lesson.realm.clone(), lesson.text_hash())).copied()
    }

    /// Records which lesson has the text of `lesson` now. True if no lesson had it.
    pub(crate) fn insert(&mut self, lesson: &Lesson, id: LessonId) -> bool {
        self.0.insert((lesson.realm.clone(), lesson.text_hash()), id).is_none()
    }
}
