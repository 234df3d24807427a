//! Whether what a user says objects to something, and whether it says what to do instead.
//!
//! Two weights are read from the words, sentence by sentence: how much they *object*, and how much they *direct*. "no, it still
//! crashes" objects and directs nothing; "use 12 columns" directs and objects to nothing; a correction does both. Words count
//! as words: "know" and "another" hold neither "no" nor "not". The numbers are chosen, on real sessions.

use super::cues::{TELLS, Weights, agrees, weigh};
use super::wording::{Sentence, sentences};

/// What a user's turn says against something.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Objection {
    /// How much it objects; from 0.
    pub(super) weight: f64,
    /// How much it directs; from 0.
    pub(super) direction: f64,
    /// The words that do, as bytes of the turn: whole sentences.
    pub(super) start: usize,
    pub(super) end: usize,
}

/// From here on the words object at all.
const MIN_WEIGHT: f64 = 0.5;
/// Both together; one alone may be weak.
const MIN_SUM: f64 = 1.1;
/// From here on they reject what was done, whether or not they say what to do.
const MIN_REJECTION: f64 = 0.8;

/// An objection after a "yes" counts for this much.
const AGREEMENT: f64 = 0.5;

impl Objection {
    /// True when it says that something was wrong and what is right.
    pub(super) fn corrects(&self) -> bool {
        self.weight >= MIN_WEIGHT && self.direction >= TELLS && self.weight + self.direction >= MIN_SUM
    }

    /// True when it says that something was wrong.
    pub(super) fn rejects(&self) -> bool {
        self.weight >= MIN_REJECTION
    }
}

/// All that a user's turn says to do from a place in it on, as far as it fits: an objection is often followed by the way to go.
pub(super) fn directions(text: &str, objection: &Objection, max_chars: usize) -> String {
    let said = text.get(objection.start..objection.end).unwrap_or_default();
    let mut words = said.to_owned();
    for sentence in sentences(text).iter().filter(|sentence| sentence.start >= objection.end) {
        let is_telling = weigh(sentence.text).direction >= TELLS;
        if is_telling && words.chars().count() + sentence.text.chars().count() < max_chars {
            words.push(' ');
            words.push_str(sentence.text);
        }
    }
    words
}

/// True when a sentence asks for something to be done.
pub(super) fn requests(sentence: &str) -> bool {
    let weights = weigh(sentence);
    weights.direction >= TELLS && weights.objection < MIN_REJECTION
}

/// Reads a user's turn. None when nothing in it objects, and for slash commands.
pub(super) fn read(text: &str) -> Option<Objection> {
    if text.trim_start().starts_with(['/', '<']) {
        return None;
    }
    let sentences = sentences(text);
    let share = if sentences.first().is_some_and(|first| agrees(first.text)) { AGREEMENT } else { 1.0 };
    let weighed = |sentence: &Sentence<'_>| {
        let Weights { objection, direction } = weigh(sentence.text);
        Objection { weight: objection * share, direction, start: sentence.start, end: sentence.end() }
    };
    let said: Vec<Objection> = sentences.iter().map(weighed).collect();
    let (place, strongest) =
        said.iter().enumerate().filter(|(_, said)| said.weight > 0.0).max_by(|(i, a), (j, b)| {
            let sum = |said: &Objection| said.weight + said.direction;
            // Of equals the first.
            sum(a).total_cmp(&sum(b)).then(j.cmp(i))
        })?;
    if strongest.direction >= TELLS {
        return Some(strongest.clone());
    }
    // "No. Use bun!": what to do may stand in the next sentence, or in the one before.
    let near = [place.checked_add(1), place.checked_add(2), place.checked_sub(1)].into_iter().flatten();
    let best = near.filter_map(|place| said.get(place)).find(|near| near.direction >= TELLS);
    Some(best.map_or_else(|| strongest.clone(), |other| strongest.with(other)))
}

impl Objection {
    fn with(&self, other: &Self) -> Self {
        Self {
            weight: self.weight.max(other.weight),
            direction: self.direction.max(other.direction),
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn corrects(text: &str) -> bool {
        read(text).is_some_and(|objection| objection.corrects())
    }

    #[test]
    fn corrections() {
        for text in [
            "no, use bun",
            "No! Use bun.",
            "no wait, put it in utils.go",
            "No man, let's use 12 chars",
            "uhhh... no... name it provenance.go",
            "use bun instead",
            "Instead of session_helpers.go name it stats_helpers.go",
            "try pnpm",
            "Try a different port",
            "Actually, use make",
            "That's not the best comparison, try Claude Code as the definitive provider.",
            "NO! I'm undoing all that. YOU ARE TO ASK ME!",
            "That's wrong. Run cargo test.",
            "That's not what I asked for",
            "I don't want that test.",
            "You don't need to do that, you have a local copy",
            "revert the debug logging though, let's start over",
            "The tests pass now, thanks a lot for this. One thing about the name of it.\n\nno, call it parse",
            "No\u{2014}use bun",
            "don\u{2019}t use npm here",
        ] {
            assert!(corrects(text), "{text}: {:?}", read(text));
        }
    }

    #[test]
    fn no_corrections() {
        for text in [
            "I know, run the tests",
            "add another test",
            "no problem, go on",
            "No need to hurry, run the tests",
            "there is no history in this folder, add it",
            "what's wrong with the build?",
            "does it actually work?",
            "Try the tests now",
            "no, it still crashes",
            "nothing different",
            "what happens if both run at once? No?",
            "and both are the same there. No?",
            "yes, let's do that",
            "> no, use bun instead\nwhat does it mean",
            "```\nno, use bun instead\n```\nthis is the log",
            "/review no, use bun instead",
            "<system>no, use bun instead</system>",
            "yes, don't need that one either",
            "yep, need formatters for all\n\nwe will audit again, but don't need to for the known gaps",
            "This should just be every message that isn't role user.",
            "When --json is used we don't want this",
            "",
        ] {
            assert!(!corrects(text), "{text}: {:?}", read(text));
        }
    }

    #[test]
    fn the_words_are_the_sentences_that_correct() {
        let text = "Good start. No. Use bun! Then we can ship it.";
        let objection = read(text).unwrap();
        assert_eq!(text.get(objection.start..objection.end), Some("No. Use bun!"));
    }

    proptest! {
        #[test]
        fn the_words_are_a_span_of_the_turn(text in "(no|No|use|instead|try|wrong|[,.!?。 \\n]|é|```|[a-z]{1,5}){0,40}") {
            if let Some(objection) = read(&text) {
                prop_assert!(text.get(objection.start..objection.end).is_some_and(|words| !words.is_empty()));
            }
        }
    }
}
