//! What becomes of a lesson that was compared with others. A decision only reads; `applying.rs` carries it out.

use std::collections::BTreeSet;
use std::sync::Arc;

use adage_index::UnitVector;

use super::checking::{Checked, Supersession};
use super::learner::{Arrival, Comparison, Learner, means_the_same};
use super::neighbours::{Distinct, Duplicate, Neighbours, Related};
use super::retention::Trim;
use super::review_capacity::ReviewCapacity;
use super::{merge, retention};
use crate::config::DedupPolicy;
use crate::difference::{Difference, difference, says_the_same};
use crate::lesson::{Approval, Backing, Lesson, LessonId, Refusal, TextHash};
use crate::state::{Ranking, ReviewReason, Waiting};

/// What becomes of a lesson.
pub(super) enum Decision {
    Insert(Box<Insertion>),
    MergeInto(Box<Merging>),
    AwaitReview(Box<Review>),
    Refuse(Refusal),
}

/// A lesson with those that it is compared with.
pub(super) struct Compared {
    pub(super) checked: Checked,
    /// The vector of its whole text.
    pub(super) whole: Option<UnitVector>,
    pub(super) neighbours: Neighbours,
}

/// A lesson that is added.
pub(super) struct Insertion {
    pub(super) lesson: Lesson,
    pub(super) mined_text: Option<TextHash>,
    pub(super) whole: Option<UnitVector>,
    /// The nearest lesson that it is near to but distinct from.
    pub(super) distinct_from: Option<Distinct>,
    /// Lessons that may give the same advice.
    pub(super) alike: Vec<LessonId>,
    /// Lessons that are linked with it.
    pub(super) linked: BTreeSet<LessonId>,
    pub(super) supersession: Option<Supersession>,
    pub(super) evicted: Vec<LessonId>,
}

/// A lesson that is merged into another one.
pub(super) struct Merging {
    pub(super) incoming: Lesson,
    pub(super) mined_text: Option<TextHash>,
    pub(super) into: Duplicate,
    /// What the other one becomes.
    pub(super) merged: Lesson,
    pub(super) supersession: Option<Supersession>,
    pub(super) evicted: Vec<LessonId>,
}

/// A lesson that awaits review.
pub(super) struct Review {
    pub(super) lesson: Lesson,
    pub(super) mined_text: Option<TextHash>,
    pub(super) reason: ReviewReason,
    /// The lesson that it would have been merged into.
    pub(super) near: Option<LessonId>,
    /// The lesson of the same text that awaits review already.
    pub(super) same: Option<Waiting>,
}

impl Learner<'_> {
    /// Finds the lessons that a new one has to be compared with.
    pub(super) fn compare(&self, checked: Checked) -> Compared {
        let whole = match self.comparison {
            Comparison::Titles => None,
            Comparison::Vectors | Comparison::KnownVectors => (self.vector_of)(&checked.lesson.whole_text()),
        };
        let neighbours = self.neighbours(&checked.lesson, whole.as_ref());
        Compared { checked, whole, neighbours }
    }

    pub(super) fn decide(&self, mut compared: Compared) -> Decision {
        let Checked { lesson, arrival, supersession, .. } = &compared.checked;
        let duplicates = &mut compared.neighbours.duplicates;
        if let Some(disabled) = duplicates.iter().find(|duplicate| duplicate.lesson.is_disabled()) {
            if *arrival == Arrival::MovedIn || !lesson.is_by_hand() {
                return Decision::Refuse(Refusal::Quarantined { id: disabled.lesson.id });
            }
            // A text written by a person is a lesson of its own; the other one stays disabled.
            duplicates.retain(|duplicate| !duplicate.lesson.is_disabled());
        }
        let old = supersession.as_ref().map(|supersession| Arc::clone(supersession.old()));
        if let Some(reason) = review_reason(lesson, *arrival, old.as_deref()) {
            let near = duplicates.first().map(|duplicate| duplicate.lesson.id);
            return self.await_review(compared.checked, reason, near);
        }
        if let Some(old) = old {
            // It is not merged into the lesson that it replaces: a merge could keep the older text.
            compared.neighbours = compared.neighbours.without(old.id);
        }
        self.merge_or_insert(compared)
    }

    /// Merges a lesson into the nearest one with the same advice, or adds it.
    fn merge_or_insert(&self, compared: Compared) -> Decision {
        let Compared { checked, whole, neighbours: Neighbours { duplicates, related } } = compared;
        let mut distinct_from = None;
        for duplicate in duplicates {
            let difference = match self.config.learn.dedup {
                DedupPolicy::Guarded => difference(&checked.lesson, &duplicate.lesson)
                    .or_else(|| goes_beyond(&checked.lesson, &duplicate.lesson)),
                DedupPolicy::Classic => goes_beyond(&checked.lesson, &duplicate.lesson),
                DedupPolicy::Plain | DedupPolicy::Off => None,
            };
            match difference {
                None => return self.merge(checked, duplicate),
                Some(why) => distinct_from = distinct_from.or(Some(Distinct { from: duplicate, why })),
            }
        }
        let contradicted = related.contradicted.first().cloned();
        let contradiction = contradicted.map(|from| Distinct { from, why: Difference::Contradiction });
        self.insert(checked, whole, distinct_from.or(contradiction), related)
    }

    fn merge(&self, checked: Checked, into: Duplicate) -> Decision {
        let Checked { lesson: incoming, mined_text, supersession, .. } = checked;
        let existing = &into.lesson;
        let mut merged = merge::merge(existing, &incoming, self.plan.now, &self.config.learn, &|one, other| {
            means_the_same(self.vector_of, one, other)
        });
        // A lesson that is learned again counts as shown just now.
        merged.shown_at_recall = self.plan.book.recalls(&merged.realm).max(merged.shown_at_recall);
        let old = supersession.as_ref().map(|supersession| &**supersession.old());
        let mut ranking = self.dedup.ranking.of_realm(&merged.realm);
        old.into_iter().chain([&**existing]).for_each(|gone| ranking.leave(gone));
        ranking.enter(&merged);
        let evicted =
            match retention::trim(&self.plan.book, &ranking, &merged, incoming.backing(), &self.config.retention) {
                Trim::Evict(ids) => ids,
                Trim::NoRoomForHead => Vec::new(),
            };
        Decision::MergeInto(Box::new(Merging { incoming, mined_text, into, merged, supersession, evicted }))
    }

    /// Adds a lesson without merging. If the lessons that would have to be evicted have a higher backing, it awaits review.
    fn insert(
        &self,
        mut checked: Checked,
        whole: Option<UnitVector>,
        distinct_from: Option<Distinct>,
        related: Related,
    ) -> Decision {
        let near = distinct_from.as_ref().map(|distinct| distinct.from.lesson.id);
        let linked: BTreeSet<LessonId> = near.into_iter().chain(related.linked()).collect();
        let lesson = &mut checked.lesson;
        lesson.near.extend(linked.iter().filter(|near| !lesson.near.contains(near)).copied().collect::<Vec<_>>());
        let evicted = match self.room_for(&checked) {
            Trim::Evict(ids) => ids,
            Trim::NoRoomForHead => return self.await_review(checked, ReviewReason::WouldEvictTrusted, near),
        };
        let Checked { lesson, mined_text, supersession, .. } = checked;
        let alike = related.alike;
        Decision::Insert(Box::new(Insertion {
            lesson,
            mined_text,
            whole,
            distinct_from,
            alike,
            linked,
            supersession,
            evicted,
        }))
    }

    /// The lessons that make room for a new one.
    fn room_for(&self, checked: &Checked) -> Trim {
        let Checked { lesson, arrival, supersession, .. } = checked;
        let backing = match arrival {
            // It evicts no lesson written by hand.
            Arrival::Promoted => Backing::Checked,
            Arrival::New | Arrival::Quoted | Arrival::MovedIn => lesson.backing(),
        };
        let trim =
            |ranking: &Ranking| retention::trim(&self.plan.book, ranking, lesson, backing, &self.config.retention);
        match supersession {
            None => trim(&self.dedup.ranking),
            Some(supersession) => {
                let mut ranking = self.dedup.ranking.of_realm(&lesson.realm);
                ranking.leave(supersession.old());
                trim(&ranking)
            }
        }
    }

    /// Adds a promoted lesson without merging: the person decided about this text, not about another one.
    pub(super) fn decide_promoted(&self, checked: Checked) -> Decision {
        let whole = (self.vector_of)(&checked.lesson.whole_text());
        self.insert(checked, whole, None, Related::default())
    }

    fn await_review(&self, checked: Checked, reason: ReviewReason, near: Option<LessonId>) -> Decision {
        let Checked { mut lesson, arrival, mined_text, .. } = checked;
        let capacity = ReviewCapacity::of(&self.plan.book, self.config.retention.max_waiting);
        if let (Arrival::MovedIn, Err(reason)) = (arrival, capacity.check()) {
            return Decision::Refuse(reason);
        }
        let text_hash = lesson.text_hash();
        let is_same =
            |waiting: &&Waiting| waiting.lesson.realm == lesson.realm && waiting.lesson.text_hash() == text_hash;
        let same = self.plan.book.waiting.iter().find(is_same).cloned();
        lesson.near.extend(near.filter(|near| !lesson.near.contains(near)));
        Decision::AwaitReview(Box::new(Review { lesson, mined_text, reason, near, same }))
    }
}

/// What nobody confirmed is merged into a lesson that a person wrote or confirmed only if it says the same: otherwise what it says
/// would be lost, and it would count for a text that it does not repeat.
fn goes_beyond(lesson: &Lesson, existing: &Lesson) -> Option<Difference> {
    let is_less_approved = lesson.approval() == Approval::Nobody && existing.approval() != Approval::Nobody;
    (is_less_approved && !says_the_same(lesson, existing)).then_some(Difference::Beyond)
}

/// Why a lesson has to await review; none if it does not.
fn review_reason(lesson: &Lesson, arrival: Arrival, superseded: Option<&Lesson>) -> Option<ReviewReason> {
    if let Some(reason) = ReviewReason::of(lesson) {
        Some(reason)
    } else if lesson.is_unreviewed()
        && (arrival == Arrival::New || (arrival == Arrival::Quoted && !lesson.is_confident()))
    {
        Some(ReviewReason::Mined)
    } else if superseded.is_some_and(|old| !lesson.is_by_hand() && !lesson.may_supersede(old)) {
        Some(ReviewReason::WouldSupersedeTrusted)
    } else {
        None
    }
}
