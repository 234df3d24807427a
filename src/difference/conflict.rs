//! Whether one of two lessons about the same situation retracts the other's advice.

use std::collections::BTreeSet;

use super::exchange::{self, Pair, is_filler, is_limiting};
use super::polarity;
use super::side::{Said, Side};
use super::token::{Token, tokens};
use super::{Difference, Field, compare, difference, shared};
use crate::lesson::Lesson;
use crate::lexical::is_telling;

/// Words that reject a former practice.
const TURNS: [&str; 16] = [
    "instead", "rather", "whatever", "back", "off", "out", "stop", "drop", "remove", "avoid", "leave", "nothing",
    "nowhere", "unblock", "longer", "anymore",
];

/// True if the later lesson contradicts the earlier one: it has another value, or mentions the earlier advice as a mistake or
/// to reject it. The caller ensures that both are about similar situations.
///
/// Advice that only adds to the other does not mention it, and a lesson that says the same again in other words rejects nothing.
pub(crate) fn contradicts(later: &Lesson, earlier: &Lesson) -> bool {
    !is_other_situation(later, earlier)
        && (is_corrected(later, earlier) || (takes_up(later, earlier) && !restates(later, earlier)))
}

/// The triggers agree except for a value or a word: "releasing the CLI" and "releasing the SDK".
fn is_other_situation(later: &Lesson, earlier: &Lesson) -> bool {
    let (later, earlier) = (Side::new(later, &[Field::Trigger]), Side::new(earlier, &[Field::Trigger]));
    let ([(field, ours)], [(_, theirs)]) = (later.fields.as_slice(), earlier.fields.as_slice()) else { return false };
    compare(*field, Said { tokens: ours, by: &later }, Said { tokens: theirs, by: &earlier }).is_some()
        || exchange::exchanged(&[Pair { ours, theirs }]).is_some()
}

/// Both mistakes and both advices share words. Measured.
fn restates(later: &Lesson, earlier: &Lesson) -> bool {
    const SHARED: f32 = 0.3;
    let situation = &content(&[&later.trigger, &earlier.trigger]);
    let is_shared = |texts: fn(&Lesson) -> [&str; 2]| {
        let words = |lesson: &Lesson| &content(&texts(lesson)) - situation;
        shared(&words(later), &words(earlier)).is_some_and(|shared| shared >= SHARED)
    };
    is_shared(|lesson| [&lesson.anti_pattern, &lesson.mistake])
        && is_shared(|lesson| [&lesson.correct_pattern, &lesson.solution])
}

/// The same situation, and another value in the advice.
fn is_corrected(later: &Lesson, earlier: &Lesson) -> bool {
    const ALIKE: f32 = 0.5;
    let words = |lesson: &Lesson| tokens(&lesson.trigger).iter().map(Token::key).collect::<Vec<_>>();
    let Some(
        Difference::Value { field, .. }
        | Difference::Polarity { field, .. }
        | Difference::Exchange { field, .. }
        | Difference::Order { field },
    ) = difference(later, earlier)
    else {
        return false;
    };
    let is_of_advice = matches!(field, Field::AntiPattern | Field::CorrectPattern | Field::Solution | Field::Code);
    let (ours, theirs) = (content(&[&later.correct_pattern]), content(&[&earlier.correct_pattern]));
    is_of_advice && words(later) == words(earlier) && shared(&ours, &theirs).is_some_and(|shared| shared >= ALIKE)
}

fn takes_up(later: &Lesson, earlier: &Lesson) -> bool {
    let situation = &content(&[&later.trigger, &earlier.trigger]);
    let advice = &content(&[&earlier.correct_pattern, &earlier.solution]) - situation;
    let shared = |texts: &[&str]| advice.intersection(&content(texts)).count();
    if shared(&[&later.anti_pattern, &later.mistake]) > 0 {
        return true;
    }
    let (ours, theirs) = (tokens(&later.correct_pattern), tokens(&earlier.correct_pattern));
    match shared(&[&later.correct_pattern, &later.solution]) {
        0 => polarity::opposites(&ours, &theirs).is_some(),
        _ => rejects(&ours, &advice),
    }
}

/// A word that turns away is followed by a word of the advice: "not endemic ones" rejects nothing that does not say "endemic".
fn rejects(tokens: &[Token], advice: &BTreeSet<String>) -> bool {
    let is_rejected = |(place, token): (usize, &Token)| {
        let next = tokens.iter().skip(place + 1).find(|next| is_telling(&next.normal));
        let is_of_advice = next.is_some_and(|next| advice.contains(&next.key()));
        is_turn(token) && (is_of_advice || token.text.eq_ignore_ascii_case("instead"))
    };
    tokens.iter().enumerate().any(is_rejected)
}

fn is_turn(token: &Token) -> bool {
    is_limiting(token) || TURNS.iter().any(|word| token.text.eq_ignore_ascii_case(word))
}

/// The words of some texts, without stop words.
fn content(texts: &[&str]) -> BTreeSet<String> {
    let tokens = texts.iter().flat_map(|text| tokens(text));
    // "One" is a pronoun here, not a number.
    let is_content = |token: &Token| {
        is_telling(&token.normal) && is_telling(&token.text.to_lowercase()) && !is_filler(token) && token.normal != "1"
    };
    tokens.filter(is_content).map(|token| token.key()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::lesson;

    fn check(earlier: &str, later: [&str; 2], expected: bool) {
        let [mistake, advice] = later;
        let later = Lesson { anti_pattern: mistake.into(), ..lesson("font sizes in the theme", advice) };
        assert_eq!(
            contradicts(&later, &lesson("font sizes in the theme", earlier)),
            expected,
            "{earlier} and {later:?}"
        );
    }

    #[test]
    fn what_takes_the_advice_up_contradicts_it() {
        check("Give all sizes in px.", ["px ignores the reader's settings", "Use rem."], true);
        check("Round each size to whole pixels.", ["", "Do not round; keep three digits."], true);
        check("Copy the scale into each file.", ["", "Import the scale and never copy it into a file."], true);
        check("Always scale them.", ["", "Never scale them."], true);
    }

    #[test]
    fn another_value_in_the_same_situation_contradicts() {
        check("Set 16 px.", ["", "Set 18 px."], true);
    }

    #[test]
    fn what_says_the_same_again_does_not() {
        let first = |trigger: &str, mistake: &str, advice: &str| Lesson {
            anti_pattern: mistake.into(),
            ..lesson(trigger, advice)
        };
        let earlier = first(
            "Editing generated code",
            "The change vanished at the next build",
            "Edit codegen/templates and run make generate.",
        );
        let again = first(
            "Fixing a bug in a generated file",
            "The next build overwrote my fix",
            "Do not touch the output; change codegen/templates, then make generate.",
        );
        assert!(!contradicts(&again, &earlier));
        let corrected = first(
            "Fixing a bug in a generated file",
            "make generate has no effect since the move",
            "Do not run make generate; edit codegen/templates and push.",
        );
        assert!(contradicts(&corrected, &earlier));
    }

    #[test]
    fn a_sibling_situation_is_another_one() {
        let pairs = [
            ("Deploying to eu-west-1", "Deploying to us-east-1"),
            ("Uploading images", "Uploading videos"),
            ("Adding a Rust dependency", "Adding a Python dependency"),
            ("Cutting a release of the CLI", "Cutting a release of the SDK"),
            ("Renaming a database table", "Renaming an API field"),
        ];
        for (one, other) in pairs {
            let of =
                |trigger: &str, advice: &str| Lesson { anti_pattern: "Too large.".into(), ..lesson(trigger, advice) };
            let (earlier, later) =
                (of(one, "Limit them to 5 MB in the settings."), of(other, "Limit them to 200 MB in the settings."));
            assert!(!contradicts(&later, &earlier), "{one} and {other}");
            assert!(contradicts(&of(one, "Limit them to 200 MB in the settings."), &earlier), "{one}");
        }
    }

    #[test]
    fn advice_that_adds_does_not() {
        check(
            "Give all sizes in px.",
            ["Headings were larger than the logo.", "Look at the page with a long title."],
            false,
        );
        check("Give all sizes in px.", ["", "Name each step of the scale."], false);
    }
}
