//! The agreement of two lessons, by the terms of their first sentences.

use std::collections::BTreeSet;

use super::side::PHRASING;
use crate::lesson::Lesson;
use crate::lexical::code_terms;

/// The Jaccard similarity of the terms of both lessons' first sentences, in [0, 1]; 0 if one has no terms. Words that only
/// phrase a rule are ignored.
pub(crate) fn agreement(ours: &Lesson, theirs: &Lesson) -> f32 {
    let (ours, theirs) = (first_terms(ours), first_terms(theirs));
    let n_shared = ours.intersection(&theirs).count();
    let n_all = ours.len() + theirs.len() - n_shared;
    if n_shared == 0 { 0.0 } else { n_shared as f32 / n_all as f32 }
}

/// At most this share of a lesson's terms may be missing in another one that says the same. Chosen.
const MAX_OWN_TERMS: f32 = 0.25;

/// True if nearly all terms of the first lesson's advice, mistake and code are in the other one.
pub(crate) fn says_the_same(ours: &Lesson, theirs: &Lesson) -> bool {
    let said = |lesson: &Lesson| -> BTreeSet<String> {
        let mistakes = [&lesson.mistake, &lesson.anti_pattern];
        let advice = [&lesson.solution, &lesson.correct_pattern, &lesson.code_example];
        mistakes.into_iter().chain(advice).flat_map(|text| terms_of(text)).collect()
    };
    let (ours, mut known) = (said(ours), said(theirs));
    known.extend([&theirs.task, &theirs.trigger].into_iter().flat_map(|text| terms_of(text)));
    let n_own = ours.difference(&known).count();
    n_own as f32 <= MAX_OWN_TERMS * ours.len() as f32
}

/// The terms of the first sentences of a lesson's trigger and advice.
fn first_terms(lesson: &Lesson) -> BTreeSet<String> {
    [&lesson.trigger, &lesson.correct_pattern].into_iter().flat_map(|text| terms_of(first_sentence(text))).collect()
}

/// The terms of a text, without words that only phrase a rule.
fn terms_of(text: &str) -> BTreeSet<String> {
    let mut terms = BTreeSet::new();
    code_terms(text, |term| {
        if !PHRASING.contains(&term) {
            terms.insert(term.to_owned());
        }
    });
    terms
}

/// The text up to a full stop, question or exclamation mark that is followed by white space.
fn first_sentence(text: &str) -> &str {
    let text = text.trim();
    let ends = text.match_indices(['.', '!', '?']).map(|(place, mark)| place + mark.len());
    let mut ends = ends.filter(|end| text.get(*end..).is_some_and(|rest| rest.starts_with(char::is_whitespace)));
    ends.next().and_then(|end| text.get(..end)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::lesson;

    #[test]
    fn agreement_is_the_share_of_the_terms_of_first_sentences() {
        let check = |a: &str, b: &str, expected: f32| {
            let found = agreement(&lesson(a, a), &lesson(b, b));
            assert!((found - expected).abs() < 1e-6, "{a:?} and {b:?}: {found}");
        };
        check("Disallow unused labels. Old code has some.", "Prevents unused labels", 1.0);
        check("unused labels", "unused imports", 1.0 / 3.0);
        check("call setState", "use set_state", 0.5);
        check("the one", "the other", 0.0);
    }

    #[test]
    fn a_lesson_says_the_same_if_the_other_has_nearly_all_of_its_words() {
        let rule = lesson("pushing a branch", "Always rebase it on `main` before you push, with `git rebase main`.");
        for (advice, expected) in [
            ("Rebase the branch on main before pushing.", true),
            ("Run git rebase main.", true),
            ("Rebase on main, then run the deploy script of the vendor.", false),
            ("Force it.", false),
        ] {
            assert_eq!(says_the_same(&lesson("pushing a branch", advice), &rule), expected, "{advice}");
        }
    }
}
