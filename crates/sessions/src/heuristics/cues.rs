//! How strongly a sentence objects and how strongly it says what to do, by its words. The weights were chosen on real sessions.

use unicode_segmentation::UnicodeSegmentation;

use super::wording::folded;

/// The minimum direction of a sentence that says what to do.
const DIRECTS: f64 = 0.5;

/// The weights of one sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Weights {
    /// How much it objects; from 0.
    objection: f64,
    /// How much it directs; from 0.
    direction: f64,
}

/// Interjections at the head of a sentence, which are skipped.
const INTERJECTIONS: [&str; 26] = [
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

/// Words after a "no" that does not object: "no problem", "no need".
const HARMLESS_AFTER_NO: [&str; 24] = [
    "problem", "problems", "worries", "worry", "need", "rush", "longer", "one", "idea", "issue", "issues", "matter",
    "thanks", "thank", "doubt", "changes", "more", "such", "errors", "error", "other", "way", "concern", "concerns",
];

/// Words after a "no" without a comma that show that it is an answer, not a determiner.
const OPENING_AFTER_NO: [&str; 40] = [
    "i", "i'm", "i'd", "you", "we", "we're", "it", "it's", "that", "that's", "this", "the", "don't", "do", "not",
    "use", "wait", "please", "man", "dude", "just", "let's", "he", "they", "its", "my", "make", "try", "put", "leave",
    "keep", "revert", "instead", "actually", "no", "your", "only", "go", "there", "sorry",
];

/// Phrases that remind of an earlier instruction.
const REMINDERS: [&str; 7] =
    ["i meant", "i said", "i told you", "i asked you", "i asked for", "we just said", "i already said"];

/// Phrases that say what the agent failed to do.
const OMISSIONS: [&str; 7] =
    ["you forgot", "you missed", "you misunderstood", "you ignored", "you broke", "you didn't", "you should have"];

/// Phrases that demand a reason, in a question.
const REASON_QUESTIONS: [&str; 5] = ["why did you", "why are you", "why would you", "why do we", "why are we"];

/// Phrases that say what should not be as it is.
const REGRETS: [&str; 7] = [
    "shouldn't have",
    "should not have",
    "you shouldn't",
    "we shouldn't",
    "it shouldn't",
    "should not be",
    "shouldn't be",
];

/// The minimum objection of a sentence that rejects something.
const REJECTS: f64 = 0.8;

/// True for a sentence that asks for something to be done and rejects nothing.
pub(super) fn requests(sentence: &str) -> bool {
    let weights = weigh(sentence);
    weights.direction >= DIRECTS && weights.objection < REJECTS
}

/// The words of a sentence without leading interjections.
pub(super) fn without_interjections(words: Vec<&str>) -> Vec<&str> {
    words.into_iter().skip_while(|word| INTERJECTIONS.contains(word) || *word == "thanks").collect()
}

/// True for a verb that opens a request, in lower case.
pub(super) fn is_verb(word: &str) -> bool {
    VERBS.contains(&word)
}

fn weigh(sentence: &str) -> Weights {
    let typed = folded(sentence);
    let words: Vec<&str> = typed.unicode_words().collect();
    let n_lead = words.iter().take_while(|word| INTERJECTIONS.contains(word)).count();
    let head = words.get(n_lead..).unwrap_or_default();
    let is_question = typed.ends_with('?');
    // "We don't want this:" points at something that is not in the words.
    let points = typed.ends_with(':') || matches!(words.last(), Some(&("this" | "these"))) && words.len() > 4;
    let mut weights = Weights { objection: 0.0, direction: directs(head, &words, is_question) };
    // "That's not the one, try the other": a request may open with a later clause.
    for clause in typed.split([',', ';', '\u{2014}']).skip(1).filter(|_| !is_question) {
        let words: Vec<&str> = clause.unicode_words().skip_while(|word| INTERJECTIONS.contains(word)).collect();
        weights.direction = weights.direction.max(directs(&words, &[], is_question));
    }
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
        &["you", "are", "to"],
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
    if reading.is_question && after.is_empty() {
        // "…, no?" asks for a yes.
        return Weights::default();
    }
    let n_left = after.iter().filter(|word| !INTERJECTIONS.contains(word) && **word != "no").count();
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
    if reading.has_any(&REMINDERS) || reading.has_any(&OMISSIONS) {
        return weights(0.9, 0.5);
    }
    if reading.has_any(&REASON_QUESTIONS) && reading.is_question {
        return weights(0.6, 0.2);
    }
    if reading.has_any(&REGRETS) {
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
    let tells = directs(reading.head, reading.words, reading.is_question) >= DIRECTS;
    if asks { weights(0.3, 0.0) } else { weights(0.6, if tells || reading.words.len() <= 15 { 0.6 } else { 0.4 }) }
}

/// "Try …", "use a different …", "Actually, …".
fn attempt(reading: &Reading<'_>) -> Weights {
    let tells = directs(reading.head, reading.words, reading.is_question) >= DIRECTS;
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
    if corrects_course && directs(after, after, reading.is_question) >= DIRECTS {
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
