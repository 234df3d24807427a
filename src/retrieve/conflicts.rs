//! Contradicting lessons in one context: the one that prevails comes first, and the other one is marked (docs/spec/playbook.md,
//! 5.5).

use std::sync::Arc;

use super::tiers::Hit;
use crate::difference::contradicts;
use crate::lesson::{Lesson, Realm};
use crate::lexical::bare_words;
use crate::state::Book;

/// Inserts before each lesson the contradicting lessons of this realm that prevail over it, and marks it. At most `limit`
/// lessons remain.
pub(crate) fn resolve_contradictions(hits: &[Hit], book: &Book, realm: &Realm, limit: usize) -> Vec<Hit> {
    let mut resolved: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits {
        let mut counting: Vec<Arc<Lesson>> = hit.lesson.near.iter().filter_map(|id| book.get(*id).cloned()).collect();
        counting.retain(|other| {
            is_shown(other, realm) && counts_more(other, &hit.lesson) && says_otherwise(other, &hit.lesson)
        });
        counting.sort_by(|one, other| one.newest_first(other));
        for other in &counting {
            if resolved.iter().any(|resolved| resolved.lesson.id == other.id) {
                continue;
            }
            let ranked = hits.iter().find(|ranked| ranked.lesson.id == other.id).cloned();
            resolved.push(ranked.unwrap_or_else(|| Hit::of(Arc::clone(other))));
        }
        let contradicted_by = counting.into_iter().next();
        match resolved.iter_mut().find(|resolved| resolved.lesson.id == hit.lesson.id) {
            Some(resolved) => resolved.contradicted_by = contradicted_by,
            None => resolved.push(Hit { contradicted_by, ..hit.clone() }),
        }
    }
    newest_first_under_one_trigger(&mut resolved);
    // A lesson that mostly did harm comes last, whatever its score.
    resolved.sort_by_key(|hit| hit.lesson.did_mostly_harm());
    resolved.truncate(limit);
    resolved
}

/// Of several lessons about the same situation a newer one that counts as much comes first, in the places that they have among the others.
fn newest_first_under_one_trigger(hits: &mut [Hit]) {
    for place in 0..hits.len() {
        let trigger = |hit: &Hit| bare_words(&hit.lesson.trigger).collect::<Vec<_>>();
        let Some(wanted) = hits.get(place).map(trigger) else { return };
        let others = (place + 1..hits.len()).filter(|other| hits.get(*other).is_some_and(|hit| trigger(hit) == wanted));
        for other in others.collect::<Vec<_>>() {
            let is_later = hits.get(place).zip(hits.get(other)).is_some_and(|(one, two)| {
                two.lesson.timestamp > one.lesson.timestamp && two.lesson.approval() >= one.lesson.approval()
            });
            if is_later {
                hits.swap(place, other);
            }
        }
    }
}

fn is_shown(lesson: &Lesson, realm: &Realm) -> bool {
    lesson.is_admitted() && realm.sees(&lesson.realm)
}

/// True if the first lesson prevails: what a person wrote over what they confirmed, that over a program's, otherwise the newer one.
fn counts_more(one: &Lesson, other: &Lesson) -> bool {
    one.approval().cmp(&other.approval()).then_with(|| other.newest_first(one)).is_gt()
}

fn says_otherwise(one: &Lesson, other: &Lesson) -> bool {
    let (later, earlier) = if one.newest_first(other).is_lt() { (one, other) } else { (other, one) };
    contradicts(later, earlier)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::Origin;
    use crate::testing::{at, lesson};

    #[test]
    fn a_lesson_that_mostly_did_harm_comes_last() {
        let harmful = Lesson { harmful_retrievals: 5, ..lesson("first", "s") };
        let hits = [harmful, lesson("second", "s"), lesson("third", "s")].map(|lesson| Hit::of(Arc::new(lesson)));
        let resolved = resolve_contradictions(&hits, &Book::default(), &Realm::default(), 5);
        let triggers: Vec<&str> = resolved.iter().map(|hit| hit.lesson.trigger.as_str()).collect();
        assert_eq!(triggers, ["second", "third", "first"]);
    }

    const SITUATION: &str = "font sizes in the theme";

    /// An earlier and a later lesson that contradict each other and are linked.
    fn pair() -> [Lesson; 2] {
        let mut earlier = Lesson { timestamp: at(1), ..lesson(SITUATION, "Give all sizes in px.") };
        let mistake = "px ignores the reader's settings".into();
        let later =
            Lesson { timestamp: at(2), anti_pattern: mistake, near: vec![earlier.id], ..lesson(SITUATION, "Use rem.") };
        earlier.near = vec![later.id];
        [earlier, later]
    }

    /// Checks the advice of the resulting hits in order, each with the advice of the lesson that contradicts it.
    fn check(lessons: &[Lesson], found: &[usize], limit: usize, expected: &[(&str, Option<&str>)]) {
        let mut book = Book::default();
        for lesson in lessons {
            book.put(lesson.clone());
        }
        let hits: Vec<Hit> = found.iter().map(|place| Hit::of(Arc::new(lessons[*place].clone()))).collect();
        let resolved = resolve_contradictions(&hits, &book, &Realm::default(), limit);
        let shown: Vec<(&str, Option<&str>)> = resolved
            .iter()
            .map(|hit| (hit.lesson.solution.as_str(), hit.contradicted_by.as_ref().map(|by| by.solution.as_str())))
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn the_newer_of_two_comes_first_and_the_older_is_marked() {
        let [earlier, later] = pair();
        let lessons = [earlier, later, lesson("another matter", "s")];
        let (old, new) = (("Give all sizes in px.", Some("Use rem.")), ("Use rem.", None));
        check(&lessons, &[0, 2, 1], 5, &[new, old, ("s", None)]);
        check(&lessons, &[2, 1, 0], 5, &[("s", None), new, old]);
        // The newer one is shown even if only the older one was found.
        check(&lessons, &[0, 2], 2, &[new, old]);
        check(&lessons, &[1, 2], 5, &[new, ("s", None)]);
    }

    #[test]
    fn a_persons_lesson_prevails_over_a_newer_one_of_a_program() {
        let [earlier, mut later] = pair();
        later.provenance.origin = Origin::Program;
        let old = ("Give all sizes in px.", None);
        check(&[earlier, later], &[1, 0], 5, &[old, ("Use rem.", Some("Give all sizes in px."))]);
    }

    #[test]
    fn a_contradicting_lesson_of_another_project_is_not_shown_or_named() {
        let [earlier, mut later] = pair();
        later.realm.project = "other".into();
        check(&[earlier, later], &[0], 5, &[("Give all sizes in px.", None)]);
    }

    #[test]
    fn of_lessons_that_do_not_contradict_each_other_the_newer_comes_first_only_under_the_same_trigger() {
        let [earlier, mut later] = pair();
        later.anti_pattern.clear();
        let (old, new) = (("Give all sizes in px.", None), ("Use rem.", None));
        check(&[earlier.clone(), later.clone()], &[0, 1], 5, &[new, old]);
        let other = |lesson: Lesson, trigger: &str| Lesson { trigger: trigger.into(), ..lesson };
        check(&[earlier, other(later, "colours in the theme")], &[0, 1], 5, &[old, new]);
    }
}
