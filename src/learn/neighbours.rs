//! The lessons that a new one is compared with (docs/spec/playbook.md, 3.2): possible duplicates, lessons that it contradicts,
//! and lessons that a person is asked about.

use std::sync::Arc;

use adage_index::UnitVector;

use super::learner::Learner;
use crate::config::DedupPolicy;
use crate::difference::{Difference, SAME_AGREEMENT, agreement, contradicts};
use crate::lesson::{Lesson, LessonId};

/// The maximum number of nearest lessons that are examined for a duplicate.
const MAX_NEIGHBOURS: usize = 16;

/// Lessons whose first sentences agree are compared if the distance of their whole texts is at most this. Measured.
const MAX_SAME_DISTANCE: f32 = 0.5;

/// From this agreement on, a person is asked. Measured.
const ALIKE_AGREEMENT: f32 = 0.25;
const MAX_ALIKE_DISTANCE: f32 = 0.3;
/// So near, a person is asked whatever the words are. Chosen.
const ASKED_DISTANCE: f32 = 0.25;

/// At most at these distances of whole texts and of triggers, lessons are about the same situation. Measured.
const MAX_SITUATION_DISTANCE: f32 = 0.45;
const MAX_TRIGGER_DISTANCE: f32 = 0.5;

/// The maximum number of linked lessons of each kind.
const MAX_LINKS: usize = 4;

/// A possible duplicate of a lesson.
#[derive(Clone, Debug)]
pub(super) struct Duplicate {
    pub(super) lesson: Arc<Lesson>,
    /// The cosine distance; `None` if task and trigger were compared.
    pub(super) distance: Option<f32>,
}

/// A lesson near to a new one, from which it is distinct.
pub(super) struct Distinct {
    pub(super) from: Duplicate,
    pub(super) why: Difference,
}

/// The lessons that a new one is compared with.
pub(super) struct Neighbours {
    /// Possible duplicates: nearest first, then those with the same task and trigger.
    pub(super) duplicates: Vec<Duplicate>,
    pub(super) related: Related,
}

/// Lessons to link with.
#[derive(Clone, Debug, Default)]
pub(super) struct Related {
    /// Lessons that it contradicts, nearest first.
    pub(super) contradicted: Vec<Duplicate>,
    /// Lessons that may give the same advice, nearest first.
    pub(super) alike: Vec<LessonId>,
}

impl Related {
    pub(super) fn linked(&self) -> impl Iterator<Item = LessonId> {
        self.contradicted.iter().map(|other| other.lesson.id).chain(self.alike.iter().copied())
    }
}

impl Neighbours {
    pub(super) fn without(mut self, id: LessonId) -> Self {
        self.duplicates.retain(|duplicate| duplicate.lesson.id != id);
        self.related.contradicted.retain(|other| other.lesson.id != id);
        self.related.alike.retain(|other| *other != id);
        self
    }
}

impl Learner<'_> {
    /// The lessons of the same realm to compare with.
    pub(super) fn neighbours(&self, lesson: &Lesson, whole: Option<&UnitVector>) -> Neighbours {
        let near = self.near(lesson, whole);
        let mut titled: Vec<Arc<Lesson>> =
            self.dedup.titled(lesson).filter_map(|id| self.plan.book.get(id).cloned()).collect();
        titled.sort_by(|one, other| one.newest_first(other));
        let is_guarded = self.config.learn.dedup == DedupPolicy::Guarded;
        let (mut duplicates, mut related) = (Vec::new(), Related::default());
        for other in near {
            let from = other.distance.unwrap_or(f32::MAX);
            let agreement = if is_guarded { agreement(lesson, &other.lesson) } else { 0.0 };
            let is_same = agreement >= SAME_AGREEMENT && from <= MAX_SAME_DISTANCE;
            if is_guarded && self.is_contradicted(lesson, &other) {
                related.contradicted.push(other.clone());
            } else if is_guarded
                && ((agreement >= ALIKE_AGREEMENT && from <= MAX_ALIKE_DISTANCE) || from <= ASKED_DISTANCE)
            {
                related.alike.push(other.lesson.id);
            }
            if from < self.config.learn.duplicate_distance || is_same {
                duplicates.push(other);
            }
        }
        for lesson_of_title in titled {
            let id = lesson_of_title.id;
            let other = Duplicate { lesson: lesson_of_title, distance: None };
            let is_known = related.contradicted.iter().any(|known| known.lesson.id == id);
            if is_guarded && !is_known && contradicts(lesson, &other.lesson) {
                related.contradicted.push(other.clone());
            }
            if duplicates.iter().all(|known: &Duplicate| known.lesson.id != id) {
                duplicates.push(other);
            }
        }
        related.contradicted.truncate(MAX_LINKS);
        related.alike.truncate(MAX_LINKS);
        Neighbours { duplicates, related }
    }

    /// The nearest lessons by their whole texts.
    fn near(&self, lesson: &Lesson, whole: Option<&UnitVector>) -> Vec<Duplicate> {
        let Some(whole) = whole else { return Vec::new() };
        let near = self.dedup.nearest(&lesson.realm, whole, MAX_NEIGHBOURS).into_iter();
        let limit = MAX_SAME_DISTANCE.max(self.config.learn.duplicate_distance);
        let near = near.filter(|near| near.distance <= limit);
        near.filter_map(|near| {
            let lesson = Arc::clone(self.plan.book.get(near.id)?);
            Some(Duplicate { lesson, distance: Some(near.distance) })
        })
        .collect()
    }

    fn is_contradicted(&self, lesson: &Lesson, other: &Duplicate) -> bool {
        let vector_of = |lesson: &Lesson| (self.vector_of)(&lesson.trigger);
        let is_situation = other.distance.is_some_and(|distance| distance <= MAX_SITUATION_DISTANCE)
            && match (vector_of(lesson), vector_of(&other.lesson)) {
                (Some(ours), Some(theirs)) => distance(&ours, &theirs) <= MAX_TRIGGER_DISTANCE,
                _ => false,
            };
        is_situation && contradicts(lesson, &other.lesson)
    }
}

fn distance(ours: &UnitVector, theirs: &UnitVector) -> f32 {
    1.0 - ours.as_slice().iter().zip(theirs.as_slice()).map(|(one, other)| one * other).sum::<f32>()
}
