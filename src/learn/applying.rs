//! Carries out a decision: the only place where learning changes the plan and its indexes.

use std::sync::Arc;

use adage_index::UnitVector;

use super::checking::Supersession;
use super::decision::{Decision, Insertion, Merging, Review};
use super::learner::Learner;
use super::neighbours::Distinct;
use super::outcome::LearnOutcome;
use crate::lesson::{ChangeId, Lesson, LessonId, TextHash};
use crate::state::{Action, Changed, Edit, Waiting, Why};

impl Learner<'_> {
    pub(super) fn apply(&mut self, decision: Decision) -> LearnOutcome {
        match decision {
            Decision::Insert(insertion) => self.apply_insertion(*insertion),
            Decision::MergeInto(merging) => self.apply_merge(*merging),
            Decision::AwaitReview(review) => self.apply_review(*review),
            Decision::Refuse(reason) => LearnOutcome::Refused { reason },
        }
    }

    fn apply_insertion(&mut self, insertion: Insertion) -> LearnOutcome {
        let Insertion { mut lesson, mined_text, whole, distinct_from, alike, linked, supersession, evicted } =
            insertion;
        let id = lesson.id;
        self.accept(&lesson, id, mined_text);
        self.lift_removal(&lesson);
        let mut edits = vec![Edit::added(Why::Inserted, &lesson)];
        edits.extend(self.make_room(supersession.as_ref(), &evicted));
        self.plan.book.begin(&mut lesson);
        self.put(lesson, whole.as_ref());
        for near in linked {
            self.link(near, id);
        }
        if let Some(Supersession::Requested(old)) = &supersession {
            return LearnOutcome::Superseded { id, old: old.id, evicted, change: self.record(edits) };
        }
        // An insertion alone is a change only in an import.
        let is_recorded = edits.len() > 1 || self.import.is_some();
        let change = is_recorded.then(|| self.record(edits));
        let evicted = gone(supersession.as_ref(), evicted);
        match distinct_from {
            None => LearnOutcome::Inserted { id, near: alike, evicted, change },
            Some(Distinct { from, why }) => {
                LearnOutcome::Distinct { id, near: from.lesson.id, distance: from.distance, why, evicted, change }
            }
        }
    }

    fn apply_merge(&mut self, merging: Merging) -> LearnOutcome {
        let Merging { incoming, mined_text, into, merged, supersession, evicted } = merging;
        let (id, distance) = (merged.id, into.distance);
        self.accept(&incoming, id, mined_text);
        self.lift_removal(&incoming);
        let mut edits = vec![Edit {
            id,
            why: Why::Merged,
            after: Some(merged.text_hash()),
            before: Some(into.lesson),
            incoming: Some(Arc::new(incoming)),
            removed_text: None,
        }];
        let whole = merged.whole_text();
        let vector = (self.vector_of)(&whole);
        if vector.is_none() && distance.is_some() {
            self.unembedded.push(whole);
        }
        self.put(merged, vector.as_ref());
        edits.extend(self.make_room(supersession.as_ref(), &evicted));
        let change = self.record(edits);
        if let Some(Supersession::Requested(old)) = supersession {
            return LearnOutcome::Superseded { id, old: old.id, evicted, change };
        }
        LearnOutcome::Merged { into: id, distance, evicted: gone(supersession.as_ref(), evicted), change }
    }

    fn apply_review(&mut self, review: Review) -> LearnOutcome {
        let Review { lesson, mined_text, reason, near, same } = review;
        if let Some(same) = same {
            self.remember(&lesson, same.lesson.id, mined_text);
            return LearnOutcome::Review { id: same.lesson.id, reason: same.reason, near };
        }
        let id = lesson.id;
        self.accept(&lesson, id, mined_text);
        let added = self.import.map(|_| Edit::added(Why::Awaiting, &lesson));
        let waiting = &mut self.plan.book.waiting;
        waiting.push(Waiting { lesson: Arc::new(lesson), reason });
        let excess = waiting.len().saturating_sub(self.config.retention.max_waiting);
        let dropped = waiting.drain(..excess).map(|waiting| Edit::gone(Why::Unreviewed, waiting.lesson));
        let edits: Vec<Edit> = dropped.chain(added).collect();
        if !edits.is_empty() {
            self.record(edits);
        }
        LearnOutcome::Review { id, reason, near }
    }

    /// Counts a lesson that changes the book.
    fn accept(&mut self, lesson: &Lesson, id: LessonId, mined_text: Option<TextHash>) {
        self.n_accepted += 1;
        self.is_changed = true;
        self.remember(lesson, id, mined_text);
    }

    /// Records that the lesson `id` has the text of this one.
    fn remember(&mut self, lesson: &Lesson, id: LessonId, mined_text: Option<TextHash>) {
        if let Some(text) = mined_text {
            self.is_changed |= self.plan.book.remember_mined(text);
        }
        if let Some(texts) = self.texts.get_mut() {
            texts.insert(lesson, id);
        }
    }

    /// Ends the removal of a text that is learned. Only a lesson by hand or a promoted one can have a removed text here.
    fn lift_removal(&mut self, lesson: &Lesson) {
        self.plan.book.removed.lift_text(lesson);
    }

    /// Takes out the lessons that make room, then the one that is replaced.
    fn make_room(&mut self, supersession: Option<&Supersession>, evicted: &[LessonId]) -> Vec<Edit> {
        let mut edits = Vec::new();
        for id in evicted {
            let Some(lesson) = self.take(*id) else { continue };
            self.plan.book.remember_evicted(&lesson, self.config.retention.capacity);
            edits.push(Edit::gone(Why::Evicted, lesson));
        }
        let old = supersession.and_then(|supersession| self.take(supersession.old().id));
        edits.extend(old.map(|old| Edit::gone(Why::Superseded, old)));
        edits
    }

    /// Records the edits of one lesson as a change, or as a part of the import.
    fn record(&mut self, edits: Vec<Edit>) -> ChangeId {
        match (self.import, self.plan.changes.last_mut()) {
            (Some(import), Some(change)) => {
                change.edits.extend(edits);
                import
            }
            _ => self.plan.record(Action::Learn, edits),
        }
    }

    fn take(&mut self, id: LessonId) -> Option<Arc<Lesson>> {
        let before = self.plan.book.take(id);
        self.dedup.replace(&Changed { before: before.clone(), after: None }, &|_| None);
        before
    }

    /// Adds a lesson or replaces its text. `whole` is the vector of the text.
    fn put(&mut self, lesson: Lesson, whole: Option<&UnitVector>) {
        let lesson = Arc::new(lesson);
        let before = self.plan.book.lessons.put(Arc::clone(&lesson));
        self.dedup.replace(&Changed { before, after: Some(lesson) }, &|_| whole.cloned());
    }

    /// Links a lesson, if it still exists, with another one near to it.
    fn link(&mut self, id: LessonId, near: LessonId) {
        let before = self.plan.book.get(id).cloned();
        self.plan.book.update(id, |lesson| lesson.near.push(near));
        self.dedup.replace(&Changed { before, after: self.plan.book.get(id).cloned() }, self.vector_of);
    }
}

/// The lessons that are gone: the one that was replaced, and those that were evicted.
fn gone(supersession: Option<&Supersession>, evicted: Vec<LessonId>) -> Vec<LessonId> {
    supersession.map(|supersession| supersession.old().id).into_iter().chain(evicted).collect()
}
