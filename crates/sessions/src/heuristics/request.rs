//! Requests that can be understood outside their session, so that they may become a lesson's trigger.
//!
//! "Add a `--json` flag to the watch command" can. "Address 2 and 10", "1. your way is fine", "what are you doing?" and "put it
//! there" cannot.

use std::sync::LazyLock;

use regex::Regex;
use unicode_segmentation::UnicodeSegmentation;

use super::cues;
use super::wording::{folded, pattern, sentences};

/// The minimum number of content words. A sentence with fewer is a remark.
const MIN_CONTENT_WORDS: usize = 3;

/// Words that refer to something outside the sentence, or to the person addressed.
const POINTING: [&str; 31] = [
    "this", "these", "those", "that", "it", "its", "it's", "them", "they", "their", "he", "she", "him", "her", "one",
    "ones", "here", "there", "above", "below", "you", "you're", "your", "yours", "again", "same", "other", "others",
    "too", "so", "still",
];

/// Words without content of their own; the rest are content words.
const FUNCTION_WORDS: [&str; 85] = [
    "a", "an", "the", "and", "or", "but", "of", "to", "in", "on", "at", "for", "with", "from", "by", "as", "into",
    "if", "then", "than", "is", "are", "was", "were", "be", "been", "do", "does", "did", "done", "have", "has", "had",
    "will", "would", "can", "could", "should", "must", "may", "i", "we", "us", "me", "my", "our", "let's", "lets",
    "let", "please", "ok", "okay", "now", "just", "also", "all", "any", "some", "no", "not", "yes", "want", "need",
    "like", "make", "get", "go", "look", "take", "put", "address", "fix", "thing", "things", "stuff", "way", "better",
    "good", "fine", "up", "out", "about", "more", "we're", "first",
];

/// Verbs of tasks, in addition to those of [`cues`].
const TASK_VERBS: [&str; 32] = [
    "implement",
    "refactor",
    "release",
    "deploy",
    "publish",
    "investigate",
    "review",
    "debug",
    "document",
    "design",
    "plan",
    "improve",
    "extend",
    "support",
    "migrate",
    "upgrade",
    "bump",
    "port",
    "clean",
    "handle",
    "allow",
    "ensure",
    "integrate",
    "introduce",
    "optimize",
    "configure",
    "generate",
    "reduce",
    "prepare",
    "draft",
    "analyze",
    "rewrite",
];
/// Openings that say how to work, not what to do.
const MANNERS: [&str; 12] =
    ["use", "keep", "don't", "do not", "never", "always", "only", "make sure", "be ", "remember", "note", "no"];

/// The first request of a turn that can be understood outside the session. None for slash commands and turns without one.
pub(super) fn lasting(text: &str) -> Option<&str> {
    if text.trim_start().starts_with(['/', '<']) {
        return None;
    }
    let sentences = sentences(text);
    let lasting = |text: &&str| opens_request(text) && holds_outside(text) && !is_manner(text);
    sentences.iter().map(|sentence| sentence.text.trim_matches(['#', '*', ' '])).find(lasting)
}

/// True for a sentence that begins with a request.
fn opens_request(sentence: &str) -> bool {
    let lower = folded(sentence);
    let words: Vec<&str> = cues::without_interjections(lower.unicode_words().collect());
    let opens = |phrase: &str| words.starts_with(&phrase.split(' ').collect::<Vec<_>>());
    let first = words.first().copied().unwrap_or_default();
    cues::is_verb(first)
        || TASK_VERBS.contains(&first)
        || ["let's", "lets", "i want", "we want", "i need", "we need", "i'd like"].into_iter().any(opens)
}

/// True for a sentence that says how to work, not what to do.
fn is_manner(sentence: &str) -> bool {
    let lower = folded(sentence);
    MANNERS
        .iter()
        .any(|opening| lower.strip_prefix(opening).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)))
        || lower.starts_with("be ")
}

/// True for a sentence that can be understood without the sentences before it.
pub(super) fn holds_outside(sentence: &str) -> bool {
    let is_item = sentence.starts_with(['-', '*', '+', '"', '\'', '(', '[', '•'])
        || sentence.starts_with(|c: char| c.is_ascii_digit());
    let is_open = sentence.ends_with(['?', ':', ',']) || sentence.ends_with("...") || sentence.ends_with('…');
    !is_item
        && !is_open
        && !sentence.contains("**")
        && !refers(sentence)
        && !points(sentence)
        && n_content_words(sentence) >= MIN_CONTENT_WORDS
}

/// True for a sentence with a number from a list of the session, or with the ID of an issue or a commit: "issue 17", "phase 2",
/// "image #3", "A-C", "app-4te", "e45daa39".
pub(super) fn refers(sentence: &str) -> bool {
    static NUMBERED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)(?:\b(?:issues?|points?|items?|options?|comments?|findings?|numbers?|phases?|chunks?|steps?|tasks?|parts?|lines?|address|fix|do)|#) ?\d|\bimage #|\b(?:first|next|last|following|remaining|previous|ready) (?:\w+ )?(?:tasks?|issues?|items?|steps?|ones?|points?)\b|\b[A-Z]-[A-Z]\b|\b[a-z]+-(?:\d|[a-z]\d|\d[a-z])[a-z\d]*\b|\b(?:[a-f]+\d|\d+[a-f])[a-f\d]{5,}\b",
        )
    });
    NUMBERED.is_match(sentence)
}

/// True for a sentence with a word that refers to something outside it, or to the person addressed.
pub(super) fn points(sentence: &str) -> bool {
    points_by(sentence, |word| POINTING.contains(&word))
}

/// True for a sentence with a word that refers to something said or done before. "You" does not count.
pub(super) fn points_back(sentence: &str) -> bool {
    points_by(sentence, |word| POINTING.contains(&word) && !word.starts_with("you"))
}

fn points_by(sentence: &str, is_pointing: impl Fn(&str) -> bool) -> bool {
    /// The number of content words after which a pronoun refers to one of them.
    const NAMED_AFTER: usize = 3;
    /// "This project" is where the reader is.
    const PLACES: [&str; 8] =
        ["repo", "repository", "project", "codebase", "workspace", "crate", "package", "monorepo"];
    let lower = folded(sentence);
    let mut n_content = 0;
    let mut words = lower.unicode_words().peekable();
    while let Some(word) = words.next() {
        let is_place = matches!(word, "this" | "our") && words.peek().is_some_and(|next| PLACES.contains(next));
        if is_pointing(word) && !is_place && n_content < NAMED_AFTER {
            return true;
        }
        n_content += usize::from(is_content(word));
    }
    false
}

/// The number of content words in a sentence.
pub(super) fn n_content_words(sentence: &str) -> usize {
    let lower = folded(sentence);
    lower.unicode_words().filter(|word| is_content(word)).count()
}

/// True for a word with content of its own, in lower case. False for function words, numbers and pronouns.
pub(super) fn is_content(word: &str) -> bool {
    word.chars().count() > 1
        && word.chars().any(char::is_alphabetic)
        && !FUNCTION_WORDS.contains(&word)
        && !POINTING.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_can_be_understood_alone_are_found() {
        for text in [
            "Add a `--quiet` flag to the export command.",
            "Please release the new version.",
            "OK, let's write the migration for the audit table in SQL.",
            "Thanks. Rename the parser module and update its callers.",
            "We want a retry with backoff around the upload of attachments.",
        ] {
            assert!(lasting(text).is_some(), "{text}");
        }
    }

    #[test]
    fn remarks_and_references_are_not_requests() {
        for text in [
            "Address 3 and 12",
            "Let's address 4, 8, and 15",
            "1. your idea is fine",
            "2) do the other one first",
            "What are you changing there?",
            "why did the linter complain about the new module?",
            "Put it into the file where the others are.",
            "Propose 3-5 better ones.",
            "Complete phase 2 and 3.",
            "now do chunk 4 of the migration plan for the database",
            "Use line numbers and file names to reference the changes.",
            "Don't change the public interface of the parser module.",
            "continue until all are done",
            "Start with the first ready task of the list.",
            "The build is slow and the tests are flaky today.",
            "## Context\n- Current status: remove the stale lock file before running git again\n",
            "  (use \"git add <file>...\" to update what will be committed)",
            "Warning: set the token in the environment file before use.",
            "hmm, look at this: [Image #3]",
            "/release build the changelog for the next version",
            "",
        ] {
            assert_eq!(lasting(text), None, "{text}");
        }
    }
}
