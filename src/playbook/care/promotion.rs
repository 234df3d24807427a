//! Promotion and dismissal of lessons that await review.

use crate::error::{Error, Result};
use crate::learn::{self, Comparison, LearnOutcome, Learner, RemovedLesson, ReviewedLesson};
use crate::lesson::{Lesson, LessonId, LessonRef, TextHash};
use crate::playbook::Playbook;
use crate::playbook::commit::VectorNeeds;
use crate::state::Planned;

impl Playbook {
    /// Promotes a lesson that awaits review, exactly as it was shown: `shown` is its [`shown_hash`](Lesson::shown_hash). It is
    /// stored without merging, used in recalls from then on, and counts as confirmed by a person.
    ///
    /// If the playbook already has the same text, the outcome is [`LearnOutcome::Refused`]. In both cases the lesson no longer
    /// awaits review.
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`]; [`Error::Changed`] when its text has changed since it was
    /// shown; the errors of a commit.
    pub fn promote(&self, lesson: LessonId, shown: TextHash) -> Result<LearnOutcome> {
        let learned = self.promote_all(&[ReviewedLesson { id: lesson, shown }])?;
        learned.into_iter().next().ok_or(Error::NoSuchLesson { lesson: LessonRef::Id(lesson) })
    }

    /// Removes a lesson that awaits review, exactly as it was shown. Its removal is recorded, so that no session suggests it
    /// again, and a draft skill made from it is archived. [`Playbook::undo`] returns it to review within 30 days.
    ///
    /// # Errors
    /// As [`Playbook::promote`].
    pub fn dismiss(&self, lesson: LessonId, shown: TextHash) -> Result<RemovedLesson> {
        let removals = self.dismiss_all(&[ReviewedLesson { id: lesson, shown }])?;
        removals.into_iter().next().ok_or(Error::NoSuchLesson { lesson: LessonRef::Id(lesson) })
    }

    /// Promotes all of them in one commit.
    pub(in crate::playbook) fn promote_all(&self, chosen: &[ReviewedLesson]) -> Result<Vec<LearnOutcome>> {
        let shared = &self.shared;
        let view = shared.view()?;
        let waiting = &view.snapshot.book().waiting;
        let find = |reviewed: &ReviewedLesson| -> Result<&Lesson> {
            let found = waiting.iter().find(|waiting| waiting.lesson.id == reviewed.id);
            let missing = || Error::NoSuchLesson { lesson: LessonRef::Id(reviewed.id) };
            found.map(|waiting| waiting.lesson.as_ref()).ok_or_else(missing)
        };
        let lessons: Vec<&Lesson> = chosen.iter().map(find).collect::<Result<_>>()?;
        // If the vectors fail, the lessons are promoted all the same.
        let needs = VectorNeeds::of(lessons.into_iter(), &shared.config);
        let learned = shared.commit_with(needs, |attempt| {
            let vector_of = |text: &str| shared.vector(text);
            let (plan, dedup) = (shared.plan(attempt), shared.dedup_index(attempt));
            Learner::new(plan, dedup, &shared.config, Comparison::KnownVectors, &vector_of).promote_all(chosen)
        })?;
        learned.iter().for_each(LearnOutcome::trace);
        Ok(learned)
    }

    /// Dismisses all of them in one commit.
    pub(in crate::playbook) fn dismiss_all(&self, chosen: &[ReviewedLesson]) -> Result<Vec<RemovedLesson>> {
        let shared = &self.shared;
        let removals = shared.commit(|attempt| {
            let mut plan = shared.plan(attempt);
            let dismissed =
                chosen.iter().map(|reviewed| learn::dismiss(&mut plan, *reviewed)).collect::<Result<_>>()?;
            Ok(Planned::Commit(plan, dismissed))
        })?;
        self.skills().archive_drafts_of_removed();
        Ok(removals)
    }
}
