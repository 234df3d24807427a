//! Whether a program's lesson names a situation (docs/spec/playbook.md, 3.1). A trigger of many words has some of nearly every question.

use std::collections::BTreeSet;

use crate::lesson::{Lesson, Origin, Refusal, WaysIn};
use crate::lexical::{bare_words, is_telling, terms};

/// The maximum number of different words of a trigger or task, without stop words. Chosen: 97% of 2,645 lint rules have no more in
/// the situation that their documentation describes, and lessons that people write have about 6.
const MAX_WORDS: usize = 40;

/// # Errors
/// `Unspecific` if a program wrote the lesson and its trigger or task has too many words.
pub(super) fn check(lesson: &Lesson) -> Result<(), Refusal> {
    if !matches!(lesson.provenance.origin, Origin::Program | Origin::SelfPlay) {
        return Ok(());
    }
    for (field, text) in [("trigger", &lesson.trigger), ("task", &lesson.task)] {
        let n_words = terms(text).collect::<BTreeSet<_>>().len();
        if n_words > MAX_WORDS {
            return Err(Refusal::Unspecific { field, n_words, max: MAX_WORDS });
        }
    }
    Ok(())
}

/// # Errors
/// `TooManyWaysIn`, `WayInTooLong`, `WayInFitsEverything` for one that has only common words.
pub(super) fn check_ways_in(ways_in: &WaysIn) -> Result<(), Refusal> {
    ways_in.check_limits()?;
    match ways_in.texts().find(|text| !names_something(text)) {
        Some(text) => Err(Refusal::WayInFitsEverything { text: text.clone() }),
        None => Ok(()),
    }
}

/// False for a text that consists of common words, which are in nearly every question.
pub(crate) fn names_something(text: &str) -> bool {
    bare_words(text).any(|word| (is_telling(&word) && word.chars().nth(1).is_some()) || !word.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::lesson;

    fn words(n_words: usize) -> String {
        (0..n_words).map(|n| format!("w{n} the")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_way_in_of_common_words_fits_everything() {
        for (text, is_fit) in
            [("the", false), ("do it", false), ("  ", false), ("k8s", true), ("部署", true), ("do deploy", true)]
        {
            let ways_in = WaysIn { names: vec![text.into()], ..WaysIn::default() };
            assert_eq!(check_ways_in(&ways_in).is_ok(), is_fit, "{text}");
        }
    }

    #[test]
    fn only_a_program_is_held_to_a_specific_trigger_and_task() {
        for (n_words, origin, is_refused) in [
            (40, Origin::Program, false),
            (41, Origin::Program, true),
            (41, Origin::SelfPlay, true),
            (41, Origin::Hand, false),
            (41, Origin::Mined, false),
        ] {
            let mut long = lesson(&words(n_words), "s");
            long.provenance.origin = origin;
            assert_eq!(check(&long).is_err(), is_refused, "{n_words} {origin:?}");
            (long.task, long.trigger) = (long.trigger, "t".into());
            assert_eq!(check(&long).is_err(), is_refused, "{n_words} {origin:?}: the task");
        }
        // Repeated words name nothing more.
        let mut repeated = lesson(&"cargo test fails ".repeat(50), "s");
        repeated.provenance.origin = Origin::Program;
        assert_eq!(check(&repeated), Ok(()));
    }
}
