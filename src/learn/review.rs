//! Decisions about lessons that await review: exactly the text that was shown is promoted, or removed for good
//! (docs/spec/playbook.md, 3.7; docs/spec/skills.md, 4.4).

use std::sync::Arc;

use super::checking::Checked;
use super::decision::Decision;
use super::learner::{Arrival, Learner};
use super::outcome::LearnOutcome;
use super::removal::{self, RemovedLesson};
use crate::error::{Error, Result};
use crate::lesson::{Lesson, LessonId, LessonRef, Refusal, TextHash};
use crate::state::{Book, Plan, Planned, Why};

/// A lesson that awaits review, with the hash of what a person was shown.
#[derive(Clone, Copy, Debug)]
pub struct ReviewedLesson {
    /// Its id.
    pub id: LessonId,
    /// The [`shown_hash`](Lesson::shown_hash) of what was shown.
    pub shown: TextHash,
}

impl Learner<'_> {
    /// Promotes lessons that await review, if they still have the text that was shown. They are not merged: the person decided
    /// about this text, not about another one. They count as trusted, and evict no lesson written by hand: if no other can be
    /// evicted, they continue to await review.
    ///
    /// # Errors
    /// `NoSuchLesson`, `Changed`.
    pub(crate) fn promote_all(mut self, chosen: &[ReviewedLesson]) -> Result<Planned<Vec<LearnOutcome>>> {
        let promoted = chosen.iter().map(|reviewed| self.promote(*reviewed)).collect::<Result<_>>()?;
        Ok(Planned::Commit(self.into_plan(), promoted))
    }

    fn promote(&mut self, reviewed: ReviewedLesson) -> Result<LearnOutcome> {
        let mut lesson = Arc::unwrap_or_clone(take_waiting(&mut self.plan.book, reviewed)?);
        lesson.provenance.promoted = Some(reviewed.shown);
        let decision = self.decide_promotion(lesson);
        Ok(self.apply(decision))
    }

    fn decide_promotion(&self, lesson: Lesson) -> Decision {
        let text = lesson.text_hash();
        let is_same = |known: &&Arc<Lesson>| {
            known.realm == lesson.realm && known.trigger == lesson.trigger && known.text_hash() == text
        };
        let known = self.plan.book.lessons.iter().find(is_same);
        if let Some(known) = known.filter(|known| known.is_admitted()) {
            return Decision::Refuse(Refusal::AlreadyHere { id: known.id });
        }
        let arrival = Arrival::Promoted;
        let lesson = self.identified(lesson, arrival);
        // It replaces any lesson that it supersedes: the person was shown which.
        let supersession = self.implied(&lesson);
        self.decide_promoted(Checked { lesson, arrival, mined_text: None, supersession })
    }
}

/// Removes a lesson that awaits review, if it still has the text that was shown. Mining does not bring it back.
///
/// # Errors
/// `NoSuchLesson`, `Changed`.
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
        return Err(Error::Changed { what: format!("lesson {id}"), expected: shown, found });
    }
    Ok(book.waiting.remove(place).lesson)
}
