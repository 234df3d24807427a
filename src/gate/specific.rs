//! Whether a program's lesson names a situation (docs/spec/playbook.md, 3.1). A trigger of many words has some of nearly every question.

use std::collections::BTreeSet;

use crate::lesson::{Lesson, Origin, Refusal};
use crate::lexical::terms;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::lesson;

    fn words(n_words: usize) -> String {
        (0..n_words).map(|n| format!("w{n} the")).collect::<Vec<_>>().join(" ")
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
