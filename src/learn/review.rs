//! What a person decides about lessons that wait: exactly this text comes in, or it goes for good (playbook 3.7, skills 4.4).

use std::sync::Arc;

use super::{Learned, Learner, undo};
use crate::error::{Error, Result};
use crate::lesson::{ChangeId, Lesson, LessonId, LessonRef, Refusal, TextHash};
use crate::state::{Action, Book, Change, Edit, Why};
use adage_index::UnitVector;
use chrono::{DateTime, FixedOffset};

impl Learner<'_> {
    /// Lets a waiting lesson in as it is, if it still has the text that was looked at. It is not merged: a person decided about
    /// this text, not about another. It counts as one that a person stands behind, and makes room for itself.
    ///
    /// # Errors
    /// `NoSuchLesson`, `ProposalChanged`.
    pub(crate) fn promote(&mut self, id: LessonId, text: TextHash, whole: Option<&UnitVector>) -> Result<Learned> {
        let mut lesson = Arc::unwrap_or_clone(take_waiting(&mut self.book, id, text)?);
        self.is_changed = true;
        self.book.forget_removal(text);
        lesson.provenance.promoted = Some(text);
        let is_same = |known: &&Arc<Lesson>| {
            known.realm == lesson.realm && known.trigger == lesson.trigger && known.text_hash() == text
        };
        if let Some(known) = self.book.lessons.iter().find(is_same).filter(|known| known.is_admitted()) {
            return Ok(Learned::Refused { reason: Refusal::AlreadyHere { id: known.id } });
        }
        self.name(&mut lesson, true);
        lesson.timestamp = self.now;
        // Whatever it replaces: that stands in what the person looked at.
        Ok(match self.superseded(&lesson) {
            Some(old) => self.supersede(&old, |learner| learner.insert(lesson, whole, None)),
            None => self.insert(lesson, whole, None),
        })
    }
}

/// Takes a waiting lesson out for good, if it still has the text that was looked at: no mining brings it back. The record of it,
/// under this id.
///
/// # Errors
/// `NoSuchLesson`, `ProposalChanged`.
pub(crate) fn dismiss(
    book: &mut Book,
    (id, text): (LessonId, TextHash),
    now: DateTime<FixedOffset>,
    change: ChangeId,
) -> Result<Change> {
    let lesson = take_waiting(book, id, text)?;
    let edits = vec![Edit::removed(Why::Dismissed, &lesson)];
    book.remember_removal(lesson, change, now);
    undo::forget_old_removals(book, now);
    Ok(Change { id: change, at: now, action: Action::Remove, undoes: None, edits })
}

fn take_waiting(book: &mut Book, id: LessonId, text: TextHash) -> Result<Arc<Lesson>> {
    let place = book.waiting.iter().position(|waiting| waiting.lesson.id == id);
    let Some((place, waiting)) = place.and_then(|place| Some((place, book.waiting.get(place)?))) else {
        return Err(Error::NoSuchLesson { lesson: LessonRef::Id(id) });
    };
    let found = waiting.lesson.text_hash();
    if found != text {
        return Err(Error::ProposalChanged { what: format!("lesson {id}"), expected: text, found });
    }
    Ok(book.waiting.remove(place).lesson)
}
