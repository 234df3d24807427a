//! The quote of a turn: whole sentences, verbatim.

use unicode_segmentation::UnicodeSegmentation;

use super::neighbours;
use crate::heuristics::Sentence;
use crate::heuristics::request;
use crate::heuristics::statement::{StatedSentence, cues_of};
use crate::heuristics::wording::capitalised;

/// The maximum bytes of a quote.
pub(super) const MAX_CHARS: usize = 400;
/// A sentence of fewer words is quoted together with the one before it.
pub(super) const MIN_WORDS: usize = 8;

/// Cues of words that state a rule, a fact or a preference.
const RULES: [&str; 17] = [
    "standing_order",
    "always_never",
    "from_now_on",
    "make_sure",
    "must",
    "dont_opening",
    "dislike",
    "prefer",
    "we_fact",
    "is_fact",
    "convention",
    "instead",
    "remember_opening",
    "not_need",
    "use_opening",
    "in_project",
    "only",
];
/// Cues that make a rule alone; of the other rule cues two are needed.
const STRONG: [&str; 8] = [
    "standing_order",
    "always_never",
    "from_now_on",
    "make_sure",
    "dont_opening",
    "prefer",
    "remember_opening",
    "convention",
];

/// Whole sentences of a turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quote<'t> {
    pub(super) text: &'t str,
    /// Where it begins, in bytes of the turn.
    pub(super) start: usize,
    /// The most telling sentence; the others explain it.
    pub(super) core: &'t str,
}

impl<'t> Quote<'t> {
    /// The most informative sentence of a turn, with the neighbours that it needs; none if there is no such sentence, if it is a slash
    /// command, and if it is too long.
    pub(super) fn of(text: &'t str, stated: &[StatedSentence]) -> Option<Self> {
        if text.trim_start().starts_with(['/', '<']) {
            return None;
        }
        let sentence =
            |of: &StatedSentence| Some(Sentence { text: text.get(of.range.clone())?, start: of.range.start });
        let sentences: Vec<Sentence<'t>> = stated.iter().filter_map(sentence).collect();
        let weighed = sentences.iter().zip(stated).map(|(sentence, stated)| {
            // An exclamation ("NO!") only if there is no other sentence.
            (!neighbours::is_exclamation(sentence.text), weight(sentence.text, stated.says))
        });
        // Of equal ones the first.
        let (place, _) =
            weighed.enumerate().max_by(|(i, a), (j, b)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(j.cmp(i)))?;
        let core = neighbours::unwrapped(text, &sentences, place);
        let range = neighbours::around(text, &sentences, &core);
        let core = text.get(neighbours::span(&sentences, &core)?)?;
        let quote = Self { text: text.get(range.clone())?, start: range.start, core };
        Some(quote).filter(|quote| quote.text.len() <= MAX_CHARS && quote.text.contains(char::is_alphanumeric))
    }

    /// True for a rule, a fact of the project or a preference; false for a question and for what is wanted only once.
    pub(super) fn is_rule(&self) -> bool {
        let mut cues = self.cues();
        if cues.contains(&"dislike") {
            // "Don't like X" states a dislike, not a prohibition.
            cues.retain(|cue| *cue != "dont_opening");
        }
        let n_rules = cues.iter().filter(|cue| RULES.contains(cue)).count();
        let is_strong = cues.iter().any(|cue| STRONG.contains(cue));
        (is_strong || n_rules >= 2) && self.may_last()
    }

    /// False for a question, for what is wanted only once, and for a text with a secret.
    pub(super) fn may_last(&self) -> bool {
        !is_of_now(self.core) && !self.text.contains(['?', '？']) && !self.has_secret()
    }

    /// True if a secret was typed: the redacted rest is not useful.
    pub(super) fn has_secret(&self) -> bool {
        self.text.contains("[REDACTED")
    }

    fn cues(&self) -> Vec<&'static str> {
        cues_of(self.text).collect()
    }

    /// True if someone who was not there understands it.
    pub(super) fn stands_alone(&self) -> bool {
        stands_alone(self.text)
    }
}

pub(super) fn stands_alone(quote: &str) -> bool {
    // "Hmm" has no content.
    let text = &without_opening(quote);
    let is_short = text.is_ascii() && text.unicode_words().count() < MIN_WORDS - 3;
    let lower = text.to_lowercase();
    let is_vague = lower.unicode_words().any(|word| matches!(word, "thing" | "things" | "stuff" | "whatever" | "wth"));
    let ends_with_pronoun =
        lower.unicode_words().next_back().is_some_and(|word| matches!(word, "this" | "that" | "it" | "these"));
    !is_short && !ends_with_pronoun && !is_vague && !request::refers(text) && !request::points_back(text)
}

/// A quote without the words with which a person begins an answer, "No man... " or "hmm, ok so, "; unchanged if fewer than three
/// words would be left.
pub(super) fn without_opening(quote: &str) -> String {
    /// Words without content at the beginning of any text.
    const FILLERS: [&str; 9] = ["ok", "okay", "yeah", "yep", "nope", "oh", "ah", "also", "um"];
    /// Words that answer if a pause or another such word follows.
    const ANSWERS: [&str; 13] =
        ["no", "yes", "well", "so", "actually", "wait", "right", "hey", "and", "but", "sorry", "man", "plus"];
    const PAUSES: [char; 9] = [',', '.', '!', '…', ';', ':', '-', '—', '。'];
    /// A text of fewer words has too little content.
    const MIN_WORDS: usize = 3;
    let first_word = |text: &str| {
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '\'').unwrap_or(text.len());
        text.get(..end).unwrap_or_default().to_lowercase()
    };
    let is_filler = |word: &str| {
        FILLERS.contains(&word)
            || (word.len() > 1 && word.chars().all(|c| "hmu".contains(c)) && word.contains(['h', 'm']))
    };
    let mut rest = quote.trim_start();
    loop {
        let word = first_word(rest);
        let after = rest.get(word.len()..).unwrap_or_default();
        let next = first_word(after.trim_start());
        let is_compound = after.strip_prefix('-').is_some_and(|part| part.starts_with(char::is_alphanumeric));
        let is_pause = (after.starts_with(PAUSES) && !is_compound) || is_filler(&next) || next == "man";
        if word.is_empty() || !(is_filler(&word) || (ANSWERS.contains(&word.as_str()) && is_pause)) {
            break;
        }
        rest = after.trim_start_matches(|c: char| c.is_whitespace() || PAUSES.contains(&c));
    }
    if rest.len() == quote.len() || rest.unicode_words().count() < MIN_WORDS {
        return quote.to_owned();
    }
    capitalised(rest)
}

/// How likely a sentence states something that can be understood alone and is meant to last, in log-odds.
fn weight(sentence: &str, says: f64) -> f64 {
    /// For each of these two that it is not; chosen.
    const PENALTY: f64 = 0.5;
    let n_against =
        u8::from(is_of_now(sentence) || sentence.ends_with(['?', '？'])) + u8::from(!stands_alone(sentence));
    (says / (1.0 - says)).ln() - PENALTY * f64::from(n_against)
}

/// True for a sentence about what is wanted only once.
fn is_of_now(sentence: &str) -> bool {
    let of_now = ["task_opening", "undo", "why_did_you", "still", "just"];
    let cues: Vec<&str> = cues_of(sentence).collect();
    // "Drop the second column", not "never drop a column".
    let removes = cues.contains(&"remove") && !cues.iter().any(|cue| STRONG.contains(cue) || *cue == "dont");
    removes || cues.iter().any(|cue| of_now.contains(cue))
}

#[cfg(test)]
mod tests {
    use adage_transcript::{Transcript, Turn};

    use super::*;
    use crate::heuristics::statements;

    fn quote(text: &str) -> Option<Quote<'_>> {
        let transcript = Transcript { turns: vec![Turn::User(text.to_owned())], ..Transcript::default() };
        Quote::of(text, &statements(&transcript).remove(0).sentences)
    }

    #[test]
    fn the_telling_sentence_is_quoted_with_its_reason() {
        for (text, expected) in [
            (
                "Looks fine. Never put secrets into the example files of this project. Otherwise the scan fails. Go on.",
                "Never put secrets into the example files of this project. Otherwise the scan fails.",
            ),
            ("The retry hides the timeout. I don't want that.", "The retry hides the timeout. I don't want that."),
            // What "this" is, and what is to be done instead; not what is asked or wanted next.
            (
                "We don't want a helpers.ts file in the web package. That is sprawl. Put this where the callers are. Why is it there? Fix it.",
                "We don't want a helpers.ts file in the web package. That is sprawl. Put this where the callers are.",
            ),
            (
                "The examples must match the schema exactly. Including the comments. Now run the tests.",
                "The examples must match the schema exactly. Including the comments.",
            ),
            // A terminal wrapped it; a list is not one sentence.
            (
                "Never start the server of the staging environment by hand, the\n  supervisor does it for all of its workers\nDone?",
                "Never start the server of the staging environment by hand, the\n  supervisor does it for all of its workers",
            ),
            ("always pin the versions of the images\nrun the build", "always pin the versions of the images"),
            // What is to be done in place of it.
            (
                "We don't want the retry in the client library. Use the backoff of the queue. Fix it now.",
                "We don't want the retry in the client library. Use the backoff of the queue.",
            ),
            // Not the sentences around it that nobody understands.
            (
                "NO! I'm reverting all that by hand. You must always ask before you revert! Not decide. Huh?",
                "You must always ask before you revert! Not decide.",
            ),
            (
                "👎 no, always sort the imports of the plugin by hand! 🎉",
                "👎 no, always sort the imports of the plugin by hand!",
            ),
            (
                "no, never call the shell from the parser module\n```\nerror: x\n```\nBecause it is slow.",
                "no, never call the shell from the parser module",
            ),
        ] {
            assert_eq!(quote(text).map(|found| found.text), Some(expected), "{text}");
        }
        assert!(!quote("the token is always [REDACTED:likely-secret] here").unwrap().may_last());
        assert_eq!(quote("/commit always"), None);
        assert_eq!(quote("🎉"), None);
        assert_eq!(quote("```\nnever do this\n```"), None);
    }

    #[test]
    fn a_lesson_begins_with_what_was_meant() {
        for (said, told) in [
            ("No man... the fix is to use .gitignore", "The fix is to use .gitignore"),
            ("no, never edit it by hand. No, really.", "Never edit it by hand. No, really."),
            ("hmm, ok so, the flags belong on sync", "The flags belong on sync"),
            ("Also I don't want that", "I don't want that"),
            ("No tests without a fixture", "No tests without a fixture"),
            ("man pages are generated by the build", "man pages are generated by the build"),
            ("plus signs are escaped in URLs", "plus signs are escaped in URLs"),
            ("Well-known names come first here", "Well-known names come first here"),
            ("no, wait", "no, wait"),
            ("nein, immer die Tests im Container laufen lassen", "nein, immer die Tests im Container laufen lassen"),
            ("不，用 pnpm", "不，用 pnpm"),
        ] {
            assert_eq!(without_opening(said), told, "{said}");
        }
    }

    #[test]
    fn rules_are_told_from_what_holds_once() {
        let is_rule = |text: &str| quote(text).is_some_and(|found| found.is_rule() && found.stands_alone());
        for rule in [
            "Never edit the files below src/generated by hand.",
            "From now on use the backoff of the client library for uploads.",
            "We don't use mocks in our integration tests, always start the real server.",
            "Bitte immer die Tests im Container laufen lassen, nie direkt.",
            "In this project we use tabs, not spaces.",
        ] {
            assert!(is_rule(rule), "{rule}");
        }
        for once in [
            "Just drop that part.",
            "no, revert that change, never mind",
            "When a row is empty, we don't want this",
            "Why do we always run it twice?",
            "Fix issue 17 and never mind the rest",
            "put it where all of the others are already",
            "Don't like the optional members of the provider.",
            "don't want a second cache for the session pages",
        ] {
            assert!(!is_rule(once), "{once}");
        }
        // "Hmm" names nothing that "that" could point at.
        assert!(!quote("Hmm, I don't love that file name.").unwrap().stands_alone());
    }
}
