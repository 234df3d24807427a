//! Decisions about lessons that await review: exactly the text that was shown is promoted, or removed for good
//! (docs/spec/playbook.md, 3.7; docs/spec/skills.md, 4.4).

use std::sync::Arc;

use super::learner::{Addition, Arrival, Learner};
use super::outcome::LearnOutcome;
use super::removal::{self, RemovedLesson};
use crate::error::{Error, Result, inbox};
use crate::lesson::{Lesson, LessonId, LessonRef, Refusal, TextHash};
use crate::state::{Book, Plan, Planned, Why};

/// A lesson that awaits review, with the hash of what a person was shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReviewedLesson {
    pub(crate) id: LessonId,
    pub(crate) shown: TextHash,
}

impl Learner<'_> {
    /// Promotes lessons that await review, if they still have the text that was shown. They are not merged: the person decided
    /// about this text, not about another one. They count as trusted, and evict no lesson written by hand: if no other can be
    /// evicted, they continue to await review.
    ///
    /// # Errors
    /// `NoSuchLesson`, `inbox::Error::Changed`.
    pub(crate) fn promote_all(mut self, chosen: &[ReviewedLesson]) -> Result<Planned<Vec<LearnOutcome>>> {
        let promoted = chosen.iter().map(|reviewed| self.promote(*reviewed)).collect::<Result<_>>()?;
        Ok(Planned::Commit(self.into_plan(), promoted))
    }

    fn promote(&mut self, reviewed: ReviewedLesson) -> Result<LearnOutcome> {
        let book = &mut self.plan.book;
        let mut lesson = Arc::unwrap_or_clone(take_waiting(book, reviewed)?);
        let text = lesson.text_hash();
        lesson.provenance.promoted = Some(reviewed.shown);
        let is_same = |known: &&Arc<Lesson>| {
            known.realm == lesson.realm && known.trigger == lesson.trigger && known.text_hash() == text
        };
        if let Some(known) = book.lessons.iter().find(is_same).filter(|known| known.is_admitted()) {
            return Ok(LearnOutcome::Refused { reason: Refusal::AlreadyHere { id: known.id } });
        }
        self.assign_id(&mut lesson, Arrival::MovedIn);
        lesson.timestamp = self.plan.now;
        let superseded = lesson.provenance.supersedes.and_then(|id| self.plan.book.get(id).cloned());
        let whole = (self.vector_of)(&lesson.whole_text());
        let addition = Addition::promoted(lesson, whole);
        // It replaces any lesson that it supersedes: the person was shown which.
        let given = addition.lesson.clone();
        let outcome = match superseded {
            Some(old) => self.supersede(&old, |learner| learner.add(addition)),
            None => self.add(addition),
        };
        self.remember(&given, Arrival::MovedIn, &outcome);
        Ok(outcome)
    }
}

/// Removes a lesson that awaits review, if it still has the text that was shown. Mining does not bring it back.
///
/// # Errors
/// `NoSuchLesson`, `inbox::Error::Changed`.
pub(crate) fn dismiss(plan: &mut Plan, reviewed: ReviewedLesson) -> Result<RemovedLesson> {
    let lesson = take_waiting(&mut plan.book, reviewed)?;
    Ok(removal::note_removed(plan, Why::Dismissed, lesson))
}

fn take_waiting(book: &mut Book, ReviewedLesson { id, shown }: ReviewedLesson) -> Result<Arc<Lesson>> {
    let place = book.waiting.iter().position(|waiting| waiting.lesson.id == id);
    let Some((place, waiting)) = place.and_then(|place| Some((place, book.waiting.get(place)?))) else {
        return Err(Error::NoSuchLesson { lesson: LessonRef::Id(id) });
    };
    let found = waiting.lesson.shown_hash();
    if found != shown {
        return Err(inbox::Error::Changed { what: format!("lesson {id}"), expected: shown, found }.into());
    }
    Ok(book.waiting.remove(place).lesson)
}
