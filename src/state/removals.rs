//! The lessons that a person removed, so that they stay removed (docs/spec/playbook.md, 7).

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};

use crate::lesson::{ChangeId, Lesson, LessonId, RemovedText, TextHash};

/// The record of a lesson that a person removed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Removed {
    pub(crate) id: LessonId,
    pub(crate) text: RemovedText,
    pub(crate) at: DateTime<FixedOffset>,
    /// The change that removed it, for `undo`.
    pub(crate) change: Option<ChangeId>,
    /// The lesson itself, for 30 days.
    pub(crate) lesson: Option<Arc<Lesson>>,
}

/// All removals, the latest last.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Removals(Vec<Removed>);

impl Removals {
    pub(crate) fn push(&mut self, removed: Removed) {
        self.0.push(removed);
    }

    /// The removal of the lesson with this id.
    pub(crate) fn find(&self, id: LessonId) -> Option<&Removed> {
        self.0.iter().find(|removed| removed.id == id)
    }

    /// True if the lesson with this id was removed, whatever it says now.
    pub(crate) fn matches_id(&self, id: LessonId) -> bool {
        self.find(id).is_some()
    }

    /// True if this text was removed, perhaps written slightly differently, under whatever id.
    pub(crate) fn matches_text(&self, lesson: &Lesson) -> bool {
        let text = RemovedText::of(lesson);
        self.0.iter().any(|removed| removed.text.is(text))
    }

    /// True if the text with this hash was removed. The same text written differently has another hash.
    pub(crate) fn matches_hash(&self, text_hash: TextHash) -> bool {
        self.0.iter().any(|removed| removed.text.exact == text_hash)
    }

    /// True if this lesson was removed, by its id or its text.
    pub(crate) fn matches_text_or_id(&self, lesson: &Lesson) -> bool {
        self.matches_id(lesson.id) || self.matches_text(lesson)
    }

    /// Ends the removals of this text, because it is learned again.
    pub(crate) fn lift_text(&mut self, lesson: &Lesson) {
        let text = RemovedText::of(lesson);
        self.0.retain(|removed| !removed.text.is(text));
    }

    /// Ends the removal of the lesson with this id, because it is undone.
    pub(crate) fn lift_id(&mut self, id: LessonId) {
        self.0.retain(|removed| removed.id != id);
    }

    /// Ends the removals of this lesson, by id and by text, because a person admits it again.
    pub(crate) fn lift(&mut self, lesson: &Lesson) {
        self.lift_id(lesson.id);
        self.lift_text(lesson);
    }
}

impl Deref for Removals {
    type Target = [Removed];

    fn deref(&self) -> &[Removed] {
        &self.0
    }
}

impl DerefMut for Removals {
    fn deref_mut(&mut self) -> &mut [Removed] {
        &mut self.0
    }
}

impl FromIterator<Removed> for Removals {
    fn from_iter<I: IntoIterator<Item = Removed>>(removals: I) -> Self {
        Self(removals.into_iter().collect())
    }
}

impl Extend<Removed> for Removals {
    fn extend<I: IntoIterator<Item = Removed>>(&mut self, removals: I) {
        self.0.extend(removals);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, lesson};

    /// Checks what the removal of `Tag it.` matches, and that lifting by the same means ends it.
    fn check(other: &Lesson, [by_id, by_text, by_hash]: [bool; 3]) {
        let gone = lesson("t", "Tag it.");
        let text = RemovedText::of(&gone);
        let removals: Removals =
            [Removed { id: gone.id, text, at: at(0), change: None, lesson: None }].into_iter().collect();
        let matches = |removals: &Removals| {
            [removals.matches_id(other.id), removals.matches_text(other), removals.matches_hash(other.text_hash())]
        };
        assert_eq!(matches(&removals), [by_id, by_text, by_hash]);
        assert_eq!(removals.matches_text_or_id(other), by_id || by_text);
        let after = |lift: fn(&mut Removals, &Lesson)| {
            let mut removals = removals.clone();
            lift(&mut removals, other);
            removals.is_empty()
        };
        assert_eq!(after(|removals, other| removals.lift_id(other.id)), by_id);
        assert_eq!(after(Removals::lift_text), by_text);
        assert_eq!(after(Removals::lift), by_id || by_text);
    }

    #[test]
    fn a_removal_matches_an_id_a_text_and_its_other_spellings() {
        let gone = lesson("t", "Tag it.");
        let with_other_id = |lesson: Lesson| Lesson { id: crate::testing::lesson("other id", "s").id, ..lesson };
        check(&gone, [true, true, true]);
        check(&with_other_id(gone.clone()), [false, true, true]);
        check(&with_other_id(lesson("t", "tag it")), [false, true, false]);
        check(&Lesson { id: gone.id, ..lesson("t", "Push it.") }, [true, false, false]);
        check(&with_other_id(lesson("t", "Push it.")), [false, false, false]);
    }
}
