//! The vectors of some texts of each lesson that may be shown, updated from state to state.

use std::sync::Arc;

use adage_index::{IndexConfig, IndexKind, UnitVector};

use super::lessons_by_time::{Changed, LessonsByTime};
use super::realm_vectors::{Near, RealmVectors, VectorOf};
use super::recall_index::visible_realms;
use crate::config::RetrievalRule;
use crate::lesson::{Lesson, LessonId, Realm};

/// The texts of a lesson that a query is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EmbeddedText {
    /// The trigger, and each situation and sign. The nearest counts.
    WaysIn,
    Whole,
    Mistake,
}

/// Vectors of lessons that may be shown.
#[derive(Clone, Debug)]
pub(crate) struct LessonVectors {
    text: EmbeddedText,
    /// The lessons it is built from.
    lessons: LessonsByTime,
    vectors: RealmVectors,
}

impl EmbeddedText {
    pub(crate) const ALL: [Self; 3] = [Self::WaysIn, Self::Whole, Self::Mistake];

    /// The texts that a rule compares queries with.
    pub(crate) fn searched(rule: RetrievalRule) -> &'static [Self] {
        match rule {
            RetrievalRule::Classic => &[Self::WaysIn],
            RetrievalRule::Signals => &Self::ALL,
        }
    }

    pub(crate) fn of(self, lesson: &Lesson) -> Vec<String> {
        match self {
            Self::WaysIn => std::iter::once(&lesson.trigger).chain(lesson.ways_in.embedded()).cloned().collect(),
            Self::Whole => vec![lesson.searched_text()],
            Self::Mistake => vec![lesson.searched_mistake()],
        }
    }
}

/// The vectors of all texts; none if one of them is not known.
fn all_vectors(texts: &[String], vector_of: &VectorOf<'_>) -> Option<Vec<UnitVector>> {
    texts.iter().map(|text| vector_of(text)).collect()
}

impl LessonVectors {
    /// Built with the known vectors.
    pub(super) fn new(
        text: EmbeddedText,
        config: &IndexConfig,
        lessons: &LessonsByTime,
        vector_of: &VectorOf<'_>,
    ) -> Self {
        let vectors = RealmVectors::new(config.clone());
        let mut made = Self { text, lessons: LessonsByTime::default(), vectors };
        made.follow(lessons, vector_of);
        made
    }

    pub(super) fn follow(&mut self, lessons: &LessonsByTime, vector_of: &VectorOf<'_>) {
        for Changed { before, after } in self.lessons.changed(lessons) {
            let admitted = |lesson: Option<Arc<Lesson>>| lesson.filter(|lesson| lesson.is_admitted());
            let (before, after) = (admitted(before), admitted(after));
            let texts = after.as_ref().map(|after| self.text.of(after));
            let is_same = before.as_ref().zip(after.as_ref()).is_some_and(|(before, after)| {
                before.realm == after.realm && texts.as_ref() == Some(&self.text.of(before))
            });
            if is_same {
                continue;
            }
            if let Some(before) = before {
                self.vectors.take(&before.realm, before.id);
            }
            if let Some((after, texts)) = after.zip(texts) {
                self.vectors.put(&after.realm, after.id, all_vectors(&texts, vector_of).as_deref());
            }
        }
        self.lessons = lessons.clone();
    }

    /// True when its vectors are of this dimension, as far as there are any.
    pub(super) fn is_of(&self, dimension: usize) -> bool {
        self.vectors.dimension().is_none_or(|found| found == dimension)
    }

    /// True if every vector is known, with this dimension.
    pub(super) fn is_complete(&self, dimension: usize) -> bool {
        self.is_of(dimension) && self.vectors.unknown().next().is_none()
    }

    /// The texts whose vector is not known.
    pub(super) fn unknown_texts(&self) -> Vec<String> {
        self.vectors.unknown().filter_map(|id| Some(self.text.of(self.lessons.get(id)?))).flatten().collect()
    }

    /// Adds newly known vectors.
    pub(super) fn complete(&mut self, vector_of: &VectorOf<'_>) {
        let unknown: Vec<LessonId> = self.vectors.unknown().collect();
        for lesson in unknown.into_iter().filter_map(|id| self.lessons.get(id)) {
            if let Some(vectors) = all_vectors(&self.text.of(lesson), vector_of) {
                self.vectors.put(&lesson.realm, lesson.id, Some(&vectors));
            }
        }
    }

    /// The nearest lessons that this realm sees, and the kind of index that searched them.
    pub(crate) fn nearest(&self, realm: &Realm, query: &UnitVector, k: usize) -> (Vec<Near>, IndexKind) {
        self.vectors.nearest(&visible_realms(realm), query, k)
    }

    /// The distance of the nearest of a lesson's texts from a query, if their vectors are known.
    pub(crate) fn distance(&self, lesson: &Lesson, query: &UnitVector) -> Option<f32> {
        self.vectors.distance(&lesson.realm, lesson.id, query)
    }

    /// Panics unless it equals one that is built from these lessons alone.
    #[cfg(test)]
    pub(super) fn check_against(&self, lessons: &LessonsByTime, config: &IndexConfig, vector_of: &VectorOf<'_>) {
        let mut complete = self.clone();
        complete.complete(vector_of);
        let made = Self::new(self.text, config, lessons, vector_of);
        assert_eq!(complete.lessons, made.lessons);
        complete.vectors.check_against(&made.vectors);
    }
}
