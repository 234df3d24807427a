//! What speaks for each lesson: how near its texts are to the query, and which words they share.

use std::collections::BTreeSet;
use std::sync::Arc;

use adage_index::{IndexKind, UnitVector};
use serde::Serialize;

use super::tiers::Search;
use crate::lesson::{Lesson, LessonId};
use crate::state::LessonVectors;

/// What speaks for a lesson. All of it is larger for better matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Evidence {
    /// Cosine of query and trigger, in [-1, 1]; vector tier only.
    pub trigger: Option<f32>,
    /// Cosine of query and whole text, in [-1, 1]; vector tier only.
    pub whole: Option<f32>,
    /// BM25F over trigger, mistake and solution.
    pub words: f32,
    /// The same over character n-grams.
    pub grams: f32,
    /// Share of the query's idf mass that the lesson has, in [0, 1].
    pub coverage: f32,
}

/// The query's vector, and those of the lessons.
#[derive(Clone, Copy)]
pub(crate) struct QueryVectors<'a> {
    pub(crate) vector: &'a UnitVector,
    pub(crate) triggers: &'a LessonVectors,
    pub(crate) wholes: &'a LessonVectors,
}

/// The lessons that could answer a query.
pub(super) struct Candidates {
    pub(super) lessons: Vec<(Arc<Lesson>, Evidence)>,
    /// How many lessons are in sight.
    pub(super) n_in_sight: usize,
    /// What searched the vectors, where they were.
    pub(super) index: Option<IndexKind>,
}

impl Search<'_> {
    /// The best by each kind of evidence, with all evidence there is for them; in no particular order.
    pub(super) fn candidates(self, text: &str, vectors: Option<QueryVectors<'_>>) -> Candidates {
        let words = self.recall.words();
        let words = words.scored(text, self.realm);
        let k = self.config.candidates.max(self.limit);
        let mut ids: BTreeSet<LessonId> = words.best(k).into_iter().collect();
        let mut index = None;
        if let Some(QueryVectors { vector, triggers, wholes }) = vectors {
            let (nearest, by) = triggers.nearest(self.realm, vector, k);
            index = Some(by);
            if words.n_in_sight() > k {
                ids.extend(nearest.iter().chain(&wholes.nearest(self.realm, vector, k).0).map(|near| near.id));
            }
        }
        let lessons = ids.into_iter().filter_map(|id| {
            let lesson = self.recall.book.get(id)?;
            let of_words = words.score(lesson);
            let cosine = |vectors: &LessonVectors, query| Some(1.0 - vectors.distance(lesson, query)?);
            let evidence = Evidence {
                trigger: vectors.and_then(|vectors| cosine(vectors.triggers, vectors.vector)),
                whole: vectors.and_then(|vectors| cosine(vectors.wholes, vectors.vector)),
                words: of_words.words,
                grams: words.grams(lesson),
                coverage: of_words.mass,
            };
            Some((Arc::clone(lesson), evidence))
        });
        Candidates { lessons: lessons.collect(), n_in_sight: words.n_in_sight(), index }
    }
}
