//! Deciding about lessons that wait for review.

use std::sync::Arc;

use super::{Decided, Inner, Playbook, Removal};
use crate::config::DedupPolicy;
use crate::error::{Error, Result};
use crate::learn::{Learned, Learner, review};
use crate::lesson::{Lesson, LessonId, LessonRef, Realm, TextHash};
use crate::state::{Book, change_id};
use crate::store::{Decision, Step};

impl Playbook {
    /// Lets a lesson in that waits, exactly as it was looked at: `text` is its [`text_hash`](Lesson::text_hash). It is kept
    /// apart from all others, shown from then on, and counts as one that a person stands behind.
    ///
    /// [`Learned::Refused`] when the same text is here already; it does not wait any longer either way.
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`]; [`Error::ProposalChanged`] when it has another text by now; the errors of a commit.
    pub fn promote(&self, lesson: LessonId, text: TextHash) -> Result<Learned> {
        let learned = self.promote_all(&[(lesson, text)])?;
        learned.into_iter().next().ok_or(Error::NoSuchLesson { lesson: LessonRef::Id(lesson) })
    }

    /// Takes a waiting lesson out for good, exactly the one that was looked at. It is remembered as removed, so that no session
    /// suggests it again, and a draft skill that was made of it is archived; [`Playbook::undo`] lets it wait again within 30 days.
    ///
    /// # Errors
    /// As [`Playbook::promote`].
    pub fn dismiss(&self, lesson: LessonId, text: TextHash) -> Result<Removal> {
        let removals = self.dismiss_all(&[(lesson, text)])?;
        removals.into_iter().next().ok_or(Error::NoSuchLesson { lesson: LessonRef::Id(lesson) })
    }

    /// All of them in one commit, or none.
    pub(super) fn promote_all(&self, chosen: &[(LessonId, TextHash)]) -> Result<Vec<Learned>> {
        let inner = &self.0;
        let wholes = inner.prepare_waiting(chosen)?;
        inner.commit(|known, snapshot| {
            let vector_of = |text: &str| inner.vector(text);
            let dedup = inner.present_dedup(known, snapshot);
            let state = (Book::clone(snapshot.book()), dedup);
            let now = inner.clock.now();
            let mut learner = Learner::new(state, snapshot.truth.generation, now, &inner.config, &vector_of);
            let promoted: Vec<Learned> = chosen
                .iter()
                .zip(&wholes)
                .map(|((id, text), whole)| learner.promote(*id, *text, inner.vector(whole).as_ref()))
                .collect::<Result<_>>()?;
            let dedup = learner.dedup();
            let Learner { book, changes, .. } = learner;
            let step = Step::Commit(Decision { book, changes, forgets_vectors: false }, promoted);
            Ok(Decided { step, dedup: Some(dedup) })
        })
    }

    /// All of them in one commit, or none.
    pub(super) fn dismiss_all(&self, chosen: &[(LessonId, TextHash)]) -> Result<Vec<Removal>> {
        let inner = &self.0;
        let removals = inner.commit(|_, snapshot| {
            let mut book = Book::clone(snapshot.book());
            let now = inner.clock.now();
            let (mut changes, mut removals) = (Vec::new(), Vec::new());
            for lesson in chosen {
                let change = change_id(now, snapshot.truth.generation, changes.len());
                changes.push(review::dismiss(&mut book, *lesson, now, change)?);
                removals.push(Removal { id: lesson.0, change });
            }
            Ok(Step::Commit(Decision { book, changes, forgets_vectors: true }, removals))
        })?;
        self.skills().put_away_removed();
        Ok(removals)
    }
}

impl Inner {
    /// Embeds the waiting lessons while nobody waits for the folder; their whole texts.
    fn prepare_waiting(&self, chosen: &[(LessonId, TextHash)]) -> Result<Vec<String>> {
        let view = self.view()?;
        let waiting = &view.snapshot.book().waiting;
        let of = |(id, _): &(LessonId, TextHash)| -> Result<Arc<Lesson>> {
            let found = waiting.iter().find(|waiting| waiting.lesson.id == *id);
            let missing = || Error::NoSuchLesson { lesson: LessonRef::Id(*id) };
            found.map(|waiting| Arc::clone(&waiting.lesson)).ok_or_else(missing)
        };
        let lessons: Vec<Arc<Lesson>> = chosen.iter().map(of).collect::<Result<_>>()?;
        let wholes: Vec<String> = lessons.iter().map(|lesson| lesson.whole_text()).collect();
        let mut texts: Vec<String> = lessons.iter().map(|lesson| lesson.trigger.clone()).collect();
        if self.config.learn.dedup != DedupPolicy::Off {
            texts.extend(wholes.iter().cloned());
        }
        let mut realms: Vec<&Realm> = lessons.iter().map(|lesson| &lesson.realm).collect();
        realms.sort_unstable();
        realms.dedup();
        // Without vectors they come in all the same.
        self.prepare(&texts, &realms);
        Ok(wholes)
    }
}
