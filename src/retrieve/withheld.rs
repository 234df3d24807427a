//! Random withholding of lessons from a context, and its log (docs/spec/playbook.md, 6.7).

use std::collections::BTreeSet;

use super::Scored;
use super::tiers::Hit;
use crate::config::CreditConfig;
use crate::credit::{Draw, LoggedLesson};
use crate::lesson::{LessonId, TextHash};
use crate::state::Book;

/// The maximum number of logged lessons that the gate rejected: those that another gate would show next.
const MAX_PASSED_OVER: usize = 5;

/// Decides at random, for each lesson that a context would show, whether it is withheld.
///
/// This is done after limit and budget: no other lesson is shown instead of a withheld one, so that the propensities are exact.
pub(crate) fn withhold(hits: &[Hit], draw: Draw, config: &CreditConfig) -> Vec<LoggedLesson> {
    let referred: BTreeSet<LessonId> =
        hits.iter().filter_map(|hit| hit.contradicted_by.as_ref()).map(|by| by.id).collect();
    let logged = |hit: &Hit| {
        let lesson = &hit.lesson;
        let is_pinned = lesson.verified || hit.matched.is_some() || referred.contains(&lesson.id);
        let propensity = if is_pinned { 1.0 } else { 1.0 - config.dropout };
        LoggedLesson {
            id: lesson.id,
            text: lesson.text_hash(),
            shown: draw.number_for(lesson.id) < propensity,
            propensity,
            // A lesson with a matching pattern is shown whatever the gate is.
            probability: hit.probability.filter(|_| hit.matched.is_none()),
        }
    };
    hits.iter().map(logged).collect()
}

/// The best candidates that are not among the hits.
pub(crate) fn passed_over(considered: &[Scored], hits: &[Hit], book: &Book) -> Vec<LoggedLesson> {
    let others = considered.iter().filter(|scored| hits.iter().all(|hit| hit.lesson.id != scored.id));
    let text = |id: LessonId| -> Option<TextHash> { Some(book.get(id)?.text_hash()) };
    let logged = others.filter_map(|scored| {
        Some(LoggedLesson {
            id: scored.id,
            text: text(scored.id)?,
            shown: false,
            propensity: 0.0,
            probability: Some(scored.probability?),
        })
    });
    logged.take(MAX_PASSED_OVER).collect()
}
