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

/// The terms of the first sentences of a lesson's trigger and advice.
fn first_terms(lesson: &Lesson) -> BTreeSet<String> {
    let mut terms = BTreeSet::new();
    for text in [&lesson.trigger, &lesson.correct_pattern] {
        code_terms(first_sentence(text), |term| {
            if !PHRASING.contains(&term) {
                terms.insert(term.to_owned());
            }
        });
    }
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
}
