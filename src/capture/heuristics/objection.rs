//! Whether what a user says objects to something, and whether it says what to do instead.
//!
//! Two weights are read from the words, sentence by sentence: how much they *object*, and how much they *direct*. "no, it still
//! crashes" objects and directs nothing; "use 12 columns" directs and objects to nothing; a correction does both. Words count
//! as words: "know" and "another" hold neither "no" nor "not". The numbers are chosen, on real sessions.

use unicode_segmentation::UnicodeSegmentation;

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
/// From here on they say what to do.
const MIN_DIRECTION: f64 = 0.5;
/// Both together; one alone may be weak.
const MIN_SUM: f64 = 1.1;
/// From here on they reject what was done, whether or not they say what to do.
const MIN_REJECTION: f64 = 0.8;

/// An objection after a "yes" counts for this much.
const AGREEMENT: f64 = 0.5;

impl Objection {
    /// True when it says that something was wrong and what is right.
    pub(super) fn corrects(&self) -> bool {
        self.weight >= MIN_WEIGHT && self.direction >= MIN_DIRECTION && self.weight + self.direction >= MIN_SUM
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
        let is_telling = weigh(sentence.text).direction >= MIN_DIRECTION;
        if is_telling && words.chars().count() + sentence.text.chars().count() < max_chars {
            words.push(' ');
            words.push_str(sentence.text);
        }
    }
    words
}

/// The weights of one sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Weights {
    objection: f64,
    direction: f64,
}

/// True when a sentence asks for something to be done.
pub(super) fn requests(sentence: &str) -> bool {
    let weights = weigh(sentence);
    weights.direction >= MIN_DIRECTION && weights.objection < MIN_REJECTION
}

/// Reads a user's turn. None when nothing in it objects, and for slash commands.
pub(super) fn read(text: &str) -> Option<Objection> {
    if text.trim_start().starts_with(['/', '<']) {
        return None;
    }
    let sentences = sentences(text);
    let share = if sentences.first().is_some_and(|first| agrees(first.text)) { AGREEMENT } else { 1.0 };
    let weigh_here = |sentence: &Sentence<'_>| {
        let weights = weigh(sentence.text);
        Weights { objection: weights.objection * share, ..weights }
    };
    let weights: Vec<Weights> = sentences.iter().map(weigh_here).collect();
    let (place, strongest) =
        weights.iter().enumerate().filter(|(_, w)| w.objection > 0.0).max_by(|(i, a), (j, b)| {
            let sum = |weights: &Weights| weights.objection + weights.direction;
            // Of equals the first.
            sum(a).total_cmp(&sum(b)).then(j.cmp(i))
        })?;
    let sentence = sentences.get(place)?;
    // "No. Use bun!": what to do may stand in the next sentence, or in the one before.
    let neighbour = |other: Option<usize>| {
        let other = other?;
        let (weights, sentence) = (weights.get(other)?, sentences.get(other)?);
        Some((weights.direction, weights.objection, *sentence))
    };
    let mut found = Objection {
        weight: strongest.objection,
        direction: strongest.direction,
        start: sentence.start,
        end: sentence.end(),
    };
    if strongest.direction < MIN_DIRECTION {
        let near = [neighbour(place.checked_add(1)), neighbour(place.checked_sub(1))];
        let best = near.into_iter().flatten().find(|(direction, ..)| *direction >= MIN_DIRECTION);
        if let Some((direction, objection, other)) = best {
            found = found.with(direction, objection, other);
        }
    }
    Some(found)
}

impl Objection {
    fn with(self, direction: f64, objection: f64, other: Sentence<'_>) -> Self {
        Self {
            weight: self.weight.max(objection),
            direction: self.direction.max(direction),
            start: self.start.min(other.start),
            end: self.end.max(other.end()),
        }
    }
}

/// Words that may stand before what is meant.
const LEAD: [&str; 26] = [
    "hmm", "hm", "hmmm", "uh", "uhh", "uhhh", "um", "ok", "okay", "k", "mmmk", "oh", "ah", "well", "wait", "sorry",
    "but", "yeah", "hey", "dude", "man", "and", "so", "please", "just", "then",
];

/// Verbs that open a request.
const VERBS: [&str; 62] = [
    "use", "put", "make", "move", "keep", "add", "remove", "drop", "delete", "rename", "change", "try", "run", "do",
    "read", "reread", "look", "check", "write", "revert", "undo", "redo", "follow", "take", "go", "set", "leave",
    "start", "stop", "propose", "call", "name", "fix", "update", "replace", "switch", "show", "give", "ask", "return",
    "create", "push", "commit", "merge", "have", "let", "pass", "only", "always", "never", "skip", "build", "test",
    "install", "open", "edit", "turn", "split", "place", "copy", "find", "convert",
];

/// After a "no" these make it none: "no problem", "no need".
const HARMLESS_AFTER_NO: [&str; 24] = [
    "problem", "problems", "worries", "worry", "need", "rush", "longer", "one", "idea", "issue", "issues", "matter",
    "thanks", "thank", "doubt", "changes", "more", "such", "errors", "error", "other", "way", "concern", "concerns",
];

/// After a "no" without a comma these show that it is an answer, not a determiner.
const OPENING_AFTER_NO: [&str; 40] = [
    "i", "i'm", "i'd", "you", "we", "we're", "it", "it's", "that", "that's", "this", "the", "don't", "do", "not",
    "use", "wait", "please", "man", "dude", "just", "let's", "he", "they", "its", "my", "make", "try", "put", "leave",
    "keep", "revert", "instead", "actually", "no", "your", "only", "go", "there", "sorry",
];

/// "Yes, we don't need that": agrees with what was said, whatever else it turns down.
fn agrees(sentence: &str) -> bool {
    const WORDS: [&str; 8] = ["yes", "yep", "yup", "y", "exactly", "agreed", "correct", "sure"];
    sentence.unicode_words().next().is_some_and(|word| WORDS.contains(&word.to_lowercase().as_str()))
}

fn weigh(sentence: &str) -> Weights {
    let typed = sentence.to_lowercase().replace('\u{2019}', "'");
    let words: Vec<&str> = typed.unicode_words().collect();
    let n_lead = words.iter().take_while(|word| LEAD.contains(word)).count();
    let head = words.get(n_lead..).unwrap_or_default();
    let is_question = typed.ends_with('?');
    // "We don't want this:" points at something that is not in the words.
    let points = typed.ends_with(':') || matches!(words.last(), Some(&("this" | "these"))) && words.len() > 4;
    let mut weights = Weights { objection: 0.0, direction: directs(head, &words, is_question) };
    for cue in [opening_no, wish, blame, instead, attempt, wrongness, undoing] {
        let found = cue(&Reading { typed: &typed, words: &words, head, is_question });
        weights.objection = weights.objection.max(found.objection);
        weights.direction = weights.direction.max(found.direction);
    }
    if points {
        weights.direction = 0.0;
    }
    weights
}

/// One sentence, in lower case.
struct Reading<'a> {
    typed: &'a str,
    words: &'a [&'a str],
    /// The words without the interjections before them.
    head: &'a [&'a str],
    is_question: bool,
}

impl Reading<'_> {
    fn has(&self, phrase: &str) -> bool {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        self.words.windows(phrase.len()).any(|window| window == phrase)
    }

    fn has_any(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.has(phrase))
    }

    fn opens(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| {
            let phrase: Vec<&str> = phrase.split(' ').collect();
            self.head.starts_with(&phrase)
        })
    }
}

const fn weights(objection: f64, direction: f64) -> Weights {
    Weights { objection, direction }
}

/// How much a sentence says what to do.
fn directs(head: &[&str], words: &[&str], is_question: bool) -> f64 {
    let starts = |phrase: &[&str]| head.starts_with(phrase);
    let has = |phrase: &[&str]| words.windows(phrase.len()).any(|window| window == phrase);
    if is_question {
        return if starts(&["can", "you"]) || starts(&["could", "you"]) || starts(&["shouldn't"]) { 0.5 } else { 0.2 };
    }
    if head.first().is_some_and(|word| VERBS.contains(word)) && head.len() > 1 {
        return 0.6;
    }
    if starts(&["let's"]) || starts(&["lets"]) {
        return 0.6;
    }
    let wishes = [
        &["we", "want"][..],
        &["i", "want"],
        &["we", "need"],
        &["i", "need"],
        &["i'd", "like"],
        &["should"],
        &["must"],
        &["needs", "to"],
        &["needs", "be"],
        &["supposed", "to"],
        &["has", "to"],
    ];
    if wishes.iter().any(|wish| has(wish)) { 0.5 } else { 0.0 }
}

/// "No, …" at the head.
fn opening_no(reading: &Reading<'_>) -> Weights {
    let [no @ ("no" | "nope" | "nah"), after @ ..] = reading.head else { return Weights::default() };
    if after.first().is_some_and(|word| HARMLESS_AFTER_NO.contains(word)) {
        return Weights::default();
    }
    let is_set_off = reading.typed.split_once(no).is_some_and(|(_, rest)| {
        rest.trim_start().is_empty() || !rest.starts_with(' ') || rest.trim_start().starts_with(['-', '—', '–', '…'])
    });
    let is_answer = is_set_off || after.first().is_some_and(|word| OPENING_AFTER_NO.contains(word));
    if !is_answer {
        return Weights::default();
    }
    let complains = reading.has_any(&[
        "still",
        "doesn't",
        "didn't",
        "isn't",
        "did nothing",
        "same",
        "not working",
        "won't",
        "you sure",
        "it's not",
        "i got",
    ]);
    let n_left = after.iter().filter(|word| !LEAD.contains(word) && **word != "no").count();
    weights(1.0, if complains || reading.is_question || n_left < 2 { 0.0 } else { 0.5 })
}

/// "I don't want …", "you don't need to …", "don't use …".
fn wish(reading: &Reading<'_>) -> Weights {
    if reading.is_question {
        return Weights::default();
    }
    let is_idle = reading.has_any(&[
        "don't think",
        "don't know",
        "don't worry",
        "don't forget",
        "don't mind",
        "don't see",
        "don't have",
        "don't understand",
        "don't care",
    ]);
    if is_idle {
        return Weights::default();
    }
    if reading.has_any(&["don't want", "do not want", "don't need", "do not need", "no desire"]) {
        return weights(0.8, 0.6);
    }
    if reading.has_any(&["don't like", "don't love", "do not like", "not a fan"]) {
        return weights(0.8, 0.3);
    }
    if reading.opens(&["don't", "do not", "stop", "never"]) && reading.head.len() > 2 {
        return weights(0.6, 0.6);
    }
    Weights::default()
}

/// "I said …", "you forgot …", "why did you …".
fn blame(reading: &Reading<'_>) -> Weights {
    if reading.has_any(&["not what i", "not what we", "not what you", "not what was"]) {
        return weights(1.0, 0.5);
    }
    if reading.has_any(&[
        "i meant",
        "i said",
        "i told you",
        "i asked you",
        "i asked for",
        "we just said",
        "i already said",
    ]) {
        return weights(0.9, 0.5);
    }
    if reading.has_any(&[
        "you forgot",
        "you missed",
        "you misunderstood",
        "you ignored",
        "you broke",
        "you didn't",
        "you should have",
    ]) {
        return weights(0.9, 0.5);
    }
    if reading.has_any(&["why did you", "why are you", "why would you", "why do we", "why are we"])
        && reading.is_question
    {
        return weights(0.6, 0.2);
    }
    if reading.has_any(&[
        "shouldn't have",
        "should not have",
        "you shouldn't",
        "we shouldn't",
        "it shouldn't",
        "should not be",
        "shouldn't be",
    ]) {
        return weights(0.6, if reading.is_question { 0.3 } else { 0.6 });
    }
    Weights::default()
}

/// "… instead", "rather than …".
fn instead(reading: &Reading<'_>) -> Weights {
    if !reading.has_any(&["instead", "rather than"]) {
        return Weights::default();
    }
    let asks = reading.is_question && !reading.opens(&["can you", "could you", "why not", "shouldn't"]);
    let tells = directs(reading.head, reading.words, reading.is_question) >= MIN_DIRECTION;
    if asks { weights(0.3, 0.0) } else { weights(0.6, if tells || reading.words.len() <= 15 { 0.6 } else { 0.4 }) }
}

/// "Try …", "use a different …", "Actually, …".
fn attempt(reading: &Reading<'_>) -> Weights {
    let tells = directs(reading.head, reading.words, reading.is_question) >= MIN_DIRECTION;
    let tries = reading.opens(&["try", "let's try", "lets try"]);
    // "Try it now" asks for a second attempt, not for another way.
    let is_retry = reading.has_any(&["try again", "try now", "try it", "try the", "try that", "try this"])
        && reading.words.len() < 8;
    if tries && !is_retry && !reading.is_question {
        return weights(0.5, 0.6);
    }
    let differs = reading.has_any(&["a different", "different approach", "different way", "something different"]);
    if differs && tells {
        return weights(0.5, 0.6);
    }
    let corrects_course = reading.head.first() == Some(&"actually");
    let after = reading.head.get(1..).unwrap_or_default();
    if corrects_course && directs(after, after, reading.is_question) >= MIN_DIRECTION {
        return weights(0.5, 0.6);
    }
    Weights::default()
}

/// "That's wrong", "not right".
fn wrongness(reading: &Reading<'_>) -> Weights {
    let is_open = reading.has_any(&[
        "what is wrong",
        "what's wrong",
        "anything wrong",
        "something wrong",
        "went wrong",
        "go wrong",
        "goes wrong",
        "if wrong",
        "nothing wrong",
        "not wrong",
        "things that are wrong",
        "gone wrong",
        "is wrong with",
    ]);
    let says = reading.has_any(&[
        "wrong",
        "wrongly",
        "incorrect",
        "not right",
        "isn't right",
        "not correct",
        "not good",
        "no good",
    ]);
    if says && !is_open {
        return weights(0.8, if reading.has("should") && !reading.is_question { 0.6 } else { 0.0 });
    }
    // "each message that isn't mine" describes; at the head of a sentence it is a verdict.
    let is_verdict = reading.opens(&["that's not", "this isn't", "that isn't", "this is not", "that is not"])
        || reading.has_any(&["doesn't seem right", "not the best"]);
    if is_verdict {
        return weights(0.6, 0.0);
    }
    Weights::default()
}

/// "Revert that", "put it back".
fn undoing(reading: &Reading<'_>) -> Weights {
    let undoes = reading.opens(&[
        "revert",
        "undo",
        "redo",
        "roll back",
        "put it back",
        "take that out",
        "let's revert",
        "let's undo",
    ]);
    if undoes && !reading.is_question { weights(0.8, 0.6) } else { Weights::default() }
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
