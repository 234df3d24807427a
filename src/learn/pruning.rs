//! Pruning of lessons that were shown often and rarely helped (docs/spec/playbook.md, 6.6).

use std::sync::Arc;

use serde::Serialize;

use crate::config::{RetentionConfig, UtilityPolicy};
use crate::lesson::{ChangeId, Lesson, LessonId};
use crate::state::{Action, Book, Edit, Plan, Planned, Why, utility};

/// A playbook with fewer lessons is not pruned; the number is that of the earlier system.
pub(crate) const PRUNE_MIN_LESSONS: usize = 10;

/// The result of a prune.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Pruned {
    /// The pruned lessons, least utility first; they are archived.
    pub lessons: Vec<LessonId>,
    /// The id for [`Playbook::undo`](crate::Playbook::undo), if a lesson was pruned.
    pub change: Option<ChangeId>,
}

/// Removes the lessons that are [`prunable`].
pub(crate) fn prune(mut plan: Plan, config: &RetentionConfig) -> Planned<Pruned> {
    let lessons = prunable(&plan.book, config);
    if lessons.is_empty() {
        return Planned::Nothing(Pruned { lessons, change: None });
    }
    let taken: Vec<Arc<Lesson>> = lessons.iter().filter_map(|id| plan.book.take(*id)).collect();
    for lesson in &taken {
        plan.book.remember_evicted(lesson, config.capacity);
    }
    let edits = taken.into_iter().map(|lesson| Edit::gone(Why::Pruned, lesson)).collect();
    let change = Some(plan.record(Action::Prune, edits));
    Planned::Commit(plan, Pruned { lessons, change })
}

/// The lessons that a prune removes.
///
/// They are taken from the bottom quartile by utility: every lesson with at most the utility of the one at a quarter of the
/// ascending order. Of these, lessons are removed that were judged at least `prune_min_retrievals` times, have a hit rate under
/// 0.35, and are not verified, written by hand or disabled. The order is by utility, least first, and the number is limited
/// by the fraction. None if there are fewer than 10 lessons.
pub(crate) fn prunable(book: &Book, config: &RetentionConfig) -> Vec<LessonId> {
    let n_lessons = book.lessons.len();
    if n_lessons < PRUNE_MIN_LESSONS {
        return Vec::new();
    }
    let mut ranked: Vec<(f64, &Arc<Lesson>)> =
        book.lessons.iter().map(|lesson| (book.utility(config.utility, lesson), lesson)).collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.id.cmp(&b.1.id)));
    let cutoff = ranked.get(n_lessons / 4).map_or(f64::NEG_INFINITY, |(utility, _)| *utility);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count, not negative")]
    let most = (n_lessons as f64 * config.prune_max_fraction.clamp(0.0, 1.0)).floor() as usize;
    ranked
        .into_iter()
        .take_while(|(utility, _)| *utility <= cutoff)
        .filter(|(_, lesson)| has_failed(lesson, config) && !lesson.verified && !lesson.is_by_hand())
        .take(most)
        .map(|(_, lesson)| lesson.id)
        .collect()
}

/// True for a lesson that was judged often enough, and rarely helped.
fn has_failed(lesson: &Lesson, config: &RetentionConfig) -> bool {
    let (shown, hit_rate) = judged(config.utility, lesson);
    shown >= config.prune_min_retrievals && !lesson.is_disabled() && hit_rate < utility::STALE_HIT_RATE
}

/// A lesson that rarely helped and that no prune removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct KeptFromPruning {
    /// The lesson.
    pub id: LessonId,
    /// Why it is kept.
    pub because: KeptBecause,
}

/// Why a prune keeps a lesson that rarely helped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum KeptBecause {
    /// A person wrote it.
    ByHand,
    /// A check of it passed.
    Verified,
    /// A playbook of fewer than 10 lessons is not pruned.
    FewLessons,
}

/// The lessons that failed and that no prune removes, in the order of the book.
pub(crate) fn kept_from_pruning(book: &Book, config: &RetentionConfig) -> Vec<KeptFromPruning> {
    let has_few = book.lessons.len() < PRUNE_MIN_LESSONS;
    let kept = |lesson: &Arc<Lesson>| {
        let because = match lesson {
            lesson if lesson.is_by_hand() => KeptBecause::ByHand,
            lesson if lesson.verified => KeptBecause::Verified,
            _ if has_few => KeptBecause::FewLessons,
            _ => return None,
        };
        Some(KeptFromPruning { id: lesson.id, because })
    };
    book.lessons.iter().filter(|lesson| has_failed(lesson, config)).filter_map(kept).collect()
}

/// The retrievals by which a lesson is judged, and the fraction of them that helped. Retrievals with a helpful or harmful
/// outcome count; under the earlier system's formula, all count, and one without an outcome did not help.
fn judged(policy: UtilityPolicy, lesson: &Lesson) -> (u64, f64) {
    match policy {
        UtilityPolicy::Aging => {
            let judged = lesson.helpful_retrievals.saturating_add(lesson.harmful_retrievals);
            (judged, utility::judged_hit_rate(lesson))
        }
        UtilityPolicy::Standard | UtilityPolicy::Custom(_) => (lesson.retrievals, utility::hit_rate(lesson)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::retention::tests::{book, mined, standard, sure};
    use super::*;
    use crate::lesson::Provenance;

    fn shown(trigger: &str, retrievals: u64, helpful: u64) -> Lesson {
        Lesson { retrievals, helpful_retrievals: helpful, ..mined(trigger, 0.5) }
    }

    fn with_fraction(prune_max_fraction: f64) -> RetentionConfig {
        RetentionConfig { prune_max_fraction, ..standard() }
    }

    fn pruned(lessons: impl IntoIterator<Item = Lesson>, max_fraction: f64) -> usize {
        prunable(&book(lessons), &with_fraction(max_fraction)).len()
    }

    fn numbered(n: usize, make: impl Fn(&str) -> Lesson) -> Vec<Lesson> {
        (0..n).map(|number| make(&format!("lesson {number}"))).collect()
    }

    #[test]
    fn pruning_takes_at_most_the_fraction_of_those_that_failed() {
        assert_eq!(pruned(numbered(9, |trigger| shown(trigger, 9, 0)), 0.25), 0);
        assert_eq!(pruned(numbered(10, |trigger| shown(trigger, 9, 0)), 0.25), 2);
        assert_eq!(pruned(numbered(12, |trigger| shown(trigger, 9, 0)), 0.25), 3);
        assert_eq!(pruned(numbered(20, |trigger| shown(trigger, 9, 0)), 0.25), 5);
        assert_eq!(pruned(numbered(20, |trigger| shown(trigger, 9, 0)), 0.0), 0);
        assert_eq!(pruned(numbered(10, |trigger| shown(trigger, 9, 0)), 0.09), 0);
    }

    #[test]
    fn lessons_that_failed_and_are_kept_have_a_reason() {
        let by_hand = Lesson { retrievals: 9, ..sure("by hand", 0.5) };
        let proven = Lesson { verified: true, ..shown("verified", 9, 0) };
        let mut lessons = vec![by_hand, proven, shown("mined", 9, 0), shown("new", 0, 0)];
        let kept = |lessons: &[Lesson]| -> Vec<(String, KeptBecause)> {
            let book = book(lessons.iter().cloned());
            let kept = kept_from_pruning(&book, &with_fraction(0.25)).into_iter();
            let mut kept: Vec<_> =
                kept.map(|kept| (book.get(kept.id).unwrap().trigger.clone(), kept.because)).collect();
            kept.sort_by(|one, other| one.0.cmp(&other.0));
            kept
        };
        let of = |trigger: &str, because| (trigger.to_owned(), because);
        let expected = [
            of("by hand", KeptBecause::ByHand),
            of("mined", KeptBecause::FewLessons),
            of("verified", KeptBecause::Verified),
        ];
        assert_eq!(kept(&lessons), expected);
        lessons.extend(numbered(9, |trigger| shown(trigger, 0, 0)));
        assert_eq!(kept(&lessons), [expected[0].clone(), expected[2].clone()]);
    }

    #[test]
    fn the_least_useful_of_the_failed_are_pruned_first() {
        let failed =
            |number: u32| Lesson { confidence: f64::from(number) / 20.0, ..shown(&format!("failed {number}"), 9, 0) };
        let book = book((0..12).map(failed));
        let gone = prunable(&book, &with_fraction(1.0));
        let triggers: Vec<&str> = gone.iter().map(|id| book.get(*id).unwrap().trigger.as_str()).collect();
        // Up to the one at a quarter of the ascending order: the fourth of twelve.
        assert_eq!(triggers, ["failed 0", "failed 1", "failed 2", "failed 3"]);
        assert_eq!(prunable(&book, &with_fraction(0.25)), gone[..3]);
    }

    #[test]
    fn pruning_spares_what_is_untried_verified_helpful_or_by_hand() {
        assert_eq!(pruned(numbered(12, |trigger| shown(trigger, 4, 0)), 0.25), 0);
        assert_eq!(pruned(numbered(12, |trigger| shown(trigger, 5, 0)), 0.25), 3);
        assert_eq!(pruned(numbered(12, |trigger| Lesson { verified: true, ..shown(trigger, 9, 0) }), 0.25), 0);
        let by_hand = |trigger: &str| Lesson { provenance: Provenance::default(), ..shown(trigger, 9, 0) };
        assert_eq!(pruned(numbered(12, by_hand), 0.25), 0);
        // The bottom quartile of excellent lessons is not pruned.
        assert_eq!(pruned(numbered(12, |trigger| shown(trigger, 10, 7)), 0.25), 0);
        // (6 + 1) / (18 + 2) is 0.35, which is not under 0.35.
        assert_eq!(pruned(numbered(12, |trigger| shown(trigger, 18, 6)), 0.25), 0);
    }

    #[test]
    fn pruning_stays_within_the_bottom_quartile() {
        // Of 12, the lessons up to index 3 in ascending order are candidates. The four least useful have no retrievals, so the
        // eight that failed are above the cutoff.
        let untried = numbered(4, |trigger| sure(trigger, 0.0)).into_iter().map(|lesson| Lesson {
            frequency: 1,
            retrievals: 4,
            ..lesson
        });
        let failed =
            (0..8).map(|number| Lesson { confidence: 1.0, frequency: 50, ..shown(&format!("failed {number}"), 5, 0) });
        let lessons: Vec<Lesson> = untried.chain(failed).collect();
        let worth: Vec<f64> = lessons.iter().map(|lesson| utility::under(UtilityPolicy::Standard, lesson, 0)).collect();
        assert!(worth[..4].iter().all(|low| worth[4..].iter().all(|high| low < high)), "{worth:?}");
        assert!(prunable(&book(lessons), &standard()).is_empty());
    }

    #[test]
    fn by_default_a_retrieval_without_an_outcome_prunes_nothing() {
        let config = RetentionConfig { prune_max_fraction: 1.0, ..RetentionConfig::default() };
        let pruned = |lessons| prunable(&book(lessons), &config).len();
        assert_eq!(pruned(numbered(12, |trigger| shown(trigger, 99, 0))), 0);
        let harmed = |trigger: &str| Lesson { harmful_retrievals: 5, ..shown(trigger, 9, 0) };
        assert_eq!(pruned(numbered(12, harmed)), 12);
        let mixed = |trigger: &str| Lesson { harmful_retrievals: 3, ..shown(trigger, 9, 2) };
        assert_eq!(pruned(numbered(12, mixed)), 0, "(2 + 1) / (5 + 2) is not under .35");
    }
}
