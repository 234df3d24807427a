//! Cuts long turns to their head, their tail and what matters between: corrections, errors (docs/spec/capture.md, 3.6).

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::heuristics::tells_error;

/// Words that people use in corrections and rules. A false match takes a little space; a missed one loses the lesson.
const CUES: [&str; 27] = [
    "no",
    "nope",
    "not",
    "don't",
    "dont",
    "doesn't",
    "never",
    "always",
    "instead",
    "rather",
    "actually",
    "wrong",
    "incorrect",
    "mistake",
    "stop",
    "should",
    "shouldn't",
    "must",
    "mustn't",
    "try",
    "different",
    "prefer",
    "only",
    "remember",
    "undo",
    "revert",
    "again",
];

/// Of a longer sentence (a paste without punctuation), only the part around its first cue is kept.
const MAX_SENTENCE_CHARS: usize = 1_000;

/// How far a cut may move to be between words.
const SLACK_CHARS: usize = 40;

/// True if the text may contain a correction or a rule.
pub(super) fn has_cue(text: &str) -> bool {
    text.unicode_words().any(is_cue)
}

/// The text, or its head and tail of `max_chars` together and every sentence between them that [has a cue](has_cue), up to
/// `max_chars_in_all`; of more such sentences, the last ones. What is left out leaves a mark.
pub(super) fn clip(text: &str, max_chars: usize, max_chars_in_all: usize) -> Cow<'_, str> {
    cut(text, max_chars, max_chars_in_all, |text| corrections(text).collect::<Vec<_>>().into_iter().rev())
}

/// The output of a call, or its head and tail of `max_chars` together and the lines between them that tell of an error, up to
/// `max_chars_in_all`; of more such lines, the first ones.
pub(super) fn clip_output(text: &str, max_chars: usize, max_chars_in_all: usize) -> Cow<'_, str> {
    cut(text, max_chars, max_chars_in_all, errors)
}

/// `parts` gives what matters of a text, what matters most first.
fn cut<'t, I: Iterator<Item = Range<usize>>>(
    text: &'t str,
    max_chars: usize,
    max_chars_in_all: usize,
    parts: impl FnOnce(&'t str) -> I,
) -> Cow<'t, str> {
    // Byte offset of each character, and of the end.
    let places: Vec<usize> = text.char_indices().map(|(place, _)| place).chain([text.len()]).collect();
    let n_chars = places.len() - 1;
    if n_chars <= max_chars {
        return Cow::Borrowed(text);
    }
    let byte = |position: usize| places.get(position).copied().unwrap_or(text.len());
    let head = text.get(..byte(max_chars / 2)).unwrap_or_default();
    let tail = text.get(byte(n_chars - max_chars / 2)..).unwrap_or_default();
    let slack = |part: &str| part.chars().count().saturating_sub(SLACK_CHARS);
    let head_end = head
        .rfind(char::is_whitespace)
        .filter(|end| head.get(..*end).unwrap_or_default().chars().count() >= slack(head));
    let tail_start = tail
        .find(char::is_whitespace)
        .filter(|start| tail.get(*start..).unwrap_or_default().chars().count() >= slack(tail));
    let head_end = head_end.unwrap_or(head.len());
    let tail_start = text.len() - tail.len() + tail_start.unwrap_or(0);

    let mut kept = vec![0..head_end, tail_start..text.len()];
    let mut left = max_chars_in_all.saturating_sub(max_chars);
    for part in parts(text).filter(|at| at.end > head_end && at.start < tail_start) {
        let length = text.get(part.clone()).unwrap_or_default().chars().count();
        let Some(rest) = left.checked_sub(length) else { break };
        left = rest;
        kept.push(part);
    }
    kept.sort_by_key(|part| part.start);
    Cow::Owned(join(text, &kept))
}

fn is_cue(word: &str) -> bool {
    let plain = word.replace('’', "'").to_lowercase();
    CUES.contains(&plain.as_str())
}

/// The sentences with a cue, without the blanks behind them.
fn corrections(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.split_sentence_bound_indices().filter_map(|(start, sentence)| {
        let (cue, _) = sentence.unicode_word_indices().find(|(_, word)| is_cue(word))?;
        let sentence = sentence.trim_end();
        if sentence.chars().count() <= MAX_SENTENCE_CHARS {
            return Some(start..start + sentence.len());
        }
        let back = |part: &str| part.char_indices().rev().nth(MAX_SENTENCE_CHARS / 2 - 1).map_or(0, |(place, _)| place);
        let on = |part: &str| part.char_indices().nth(MAX_SENTENCE_CHARS / 2).map_or(part.len(), |(place, _)| place);
        let (before, after) = sentence.split_at_checked(cue)?;
        Some(start + back(before)..start + cue + on(after))
    })
}

/// The distinct lines that tell of an error, each with the line below it, without the blanks behind them.
fn errors(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    let mut told = HashSet::new();
    text.split_inclusive('\n').filter_map(move |line| {
        let at = start;
        start += line.len();
        let below = text.get(start..).and_then(|rest| rest.split_inclusive('\n').next()).unwrap_or_default();
        let both = text.get(at..start + below.len()).unwrap_or_default();
        let is_short = both.chars().count() <= MAX_SENTENCE_CHARS;
        (is_short && tells_error(line) && told.insert(line)).then(|| at..at + both.trim_end().len())
    })
}

/// Joins the ranges, which may overlap, with marks between them.
fn join(text: &str, kept: &[Range<usize>]) -> String {
    let mut out = String::new();
    let mut end = 0;
    for part in kept {
        if part.end <= end {
            continue;
        }
        let gap = text.get(end..part.start.max(end)).unwrap_or_default();
        if gap.trim().is_empty() {
            out.push_str(gap);
        } else {
            let n_chars = gap.chars().count();
            // Writing to a string does not fail.
            let _ = write!(out, " [… {n_chars} characters left out …] ");
        }
        out.push_str(text.get(part.start.max(end)..part.end).unwrap_or_default());
        end = part.end;
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_texts_stay_as_they_are() {
        assert!(matches!(clip("no more", 7, 7), Cow::Borrowed("no more")));
        assert_eq!(clip("", 0, 0), "");
    }

    #[test]
    fn head_tail_and_corrections_stay() {
        let filler = "This line says what it says. ".repeat(20);
        let text = format!("Begin here. {filler}Please use the lock file instead. {filler}End there.");
        let cut = clip(&text, 100, 1_000);
        assert!(cut.starts_with("Begin here. This line"), "{cut}");
        assert!(cut.contains("left out …] Please use the lock file instead. [… "), "{cut}");
        assert!(cut.ends_with("what it says. End there."), "{cut}");
        assert_eq!(cut.matches("left out").count(), 2);
        // "another" and "know" are not cues.
        assert!(!has_cue("another one that I know; nothing noted"));
        assert!(has_cue("NO!") && has_cue("That isn’t it, don’t"));
    }

    #[test]
    fn the_errors_of_a_long_output_stay() {
        let text =
            format!("$ make\n{0}error: no such lock\n{0}a.c:3:1: error: late\n{0}done", "ok, not bad\n".repeat(90));
        let cut = clip_output(&text, 100, 200);
        assert!(cut.contains("left out …] error: no such lock\nok, not bad [… "), "{cut}");
        assert!(
            cut.starts_with("$ make\n") && cut.ends_with("\ndone") && cut.contains("a.c:3:1: error: late"),
            "{cut}"
        );
        assert_eq!(clip_output(&text, 100, 140).matches("error").count(), 1);
    }

    #[test]
    fn a_paste_full_of_cues_stays_within_the_limit() {
        let paste = "error: no such file or directory\n".repeat(5_000);
        let cut = clip(&paste, 2_000, 8_000);
        assert!((7_000..10_000).contains(&cut.chars().count()), "{}", cut.chars().count());
        let endless = format!("{} no {}", "x".repeat(50_000), "y".repeat(50_000));
        let cut = clip(&endless, 2_000, 8_000);
        assert!(cut.contains("x no y") && cut.chars().count() < 3_200, "{}", cut.chars().count());
    }

    proptest! {
        #[test]
        fn a_correction_is_never_lost(
            before in prop::collection::vec("[A-Z][a-z]{2,9}( [a-z]{4,9}){0,9}\\.", 0..60),
            after in prop::collection::vec("[A-Z][a-z]{2,9}( [a-z]{4,9}){0,9}\\.", 0..60),
            blank in prop::sample::select(vec![" ", "\n", "\n\n"]),
            max in 0..400_usize,
        ) {
            let correction = "That was wrong, use the größere v1.2 lock file.";
            let sentences = [before, vec![correction.to_owned()], after].concat();
            let text = sentences.join(blank);
            let cut = clip(&text, max, max + 100_000);
            prop_assert!(cut.contains(correction), "{}", cut);
            // Every kept part is a part of the text.
            for part in cut.split("left out …] ").map(|part| part.split(" [… ").next().unwrap_or_default()) {
                prop_assert!(text.contains(part), "{}", part);
            }
        }

        #[test]
        fn no_text_panics(text in "(.|\\n| no |\u{1f469}\u{200d}){0,200}", max in 0..60_usize, in_all in 0..120_usize) {
            let _ = clip(&text, max, in_all);
        }
    }
}
