//! The neighbours that a sentence needs to be understood: what it refers to, its reason, and what is to be done instead.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::quote::{MAX_CHARS, MIN_WORDS, stands_alone};
use crate::heuristics::Sentence;
use crate::heuristics::request;
use crate::heuristics::statement::cues_of;
use crate::heuristics::wording::folded;

/// The most following sentences that are added.
const MAX_AFTER: usize = 3;
/// The most lines of one wrapped sentence, before and after a line.
const MAX_WRAPPED: usize = 4;

/// The lines that are one sentence, wrapped by a terminal, with the line at `place`.
pub(super) fn unwrapped(text: &str, sentences: &[Sentence<'_>], place: usize) -> Range<usize> {
    let goes_over = |place: usize| {
        let pair = sentences.get(place).zip(sentences.get(place + 1));
        pair.is_some_and(|(line, next)| is_wrapped(text, line, next))
    };
    let n_before = (0..place).rev().take(MAX_WRAPPED).take_while(|before| goes_over(*before)).count();
    let n_after = (place..).take(MAX_WRAPPED).take_while(|line| goes_over(*line)).count();
    let lines = place - n_before..place + n_after + 1;
    // If they are too long for a quote, the line alone.
    let is_short = span(sentences, &lines).is_some_and(|span| span.len() <= MAX_CHARS);
    if is_short { lines } else { place..place + 1 }
}

/// True if a sentence continues on the next line.
fn is_wrapped(text: &str, line: &Sentence<'_>, next: &Sentence<'_>) -> bool {
    /// A typed list has shorter lines than a wrapped text.
    const MIN_LINE: usize = 50;
    let gap = text.get(line.end()..next.start).unwrap_or("x");
    let is_open = !line.text.ends_with(['.', '!', '?', ':', ';', '…', '。', '！', '？']);
    let is_indented = gap.split('\n').nth(1).is_some_and(|blanks| blanks.len() > 1);
    let is_long = line.text.len() >= MIN_LINE || is_indented || line.text.ends_with(',');
    let goes_on = next.text.starts_with(|c: char| c.is_lowercase() || c == '(');
    gap.trim().is_empty() && gap.matches('\n').count() == 1 && is_open && is_long && goes_on
}

/// The range of these sentences in the text, in bytes.
pub(super) fn span(sentences: &[Sentence<'_>], places: &Range<usize>) -> Option<Range<usize>> {
    let last = sentences.get(places.end.checked_sub(1)?)?;
    Some(sentences.get(places.start)?.start..last.end())
}

/// The range of a sentence with its neighbours: the one before if it is short or refers back, and those after it that explain it.
pub(super) fn around(text: &str, sentences: &[Sentence<'_>], core: &Range<usize>) -> Range<usize> {
    let Some(own) = span(sentences, core) else { return 0..0 };
    let said = text.get(own.clone()).unwrap_or_default();
    let complains = cues_of(said).any(|cue| COMPLAINTS.contains(&cue));
    let goes_on = |next: &&Sentence<'_>| explains_previous(next.text) || (complains && remedies(next.text));
    let mut ends = Vec::new();
    let mut next = core.end;
    while let Some(sentence) = sentences.get(next).filter(goes_on).filter(|_| ends.len() < MAX_AFTER) {
        let lines = unwrapped(text, sentences, next);
        ends.push(span(sentences, &lines).map_or(sentence.end(), |span| span.end));
        next = lines.end;
    }
    let before = core.start.checked_sub(1).map(|before| unwrapped(text, sentences, before).start..core.start);
    let before = before.and_then(|before| span(sentences, &before));
    let is_short = said.unicode_words().count() < MIN_WORDS || request::points_back(said);
    let explains = |before: &Range<usize>| is_short && text.get(before.clone()).is_some_and(is_statement);
    let start = before.filter(explains).map_or(own.start, |before| before.start);
    // Text between two sentences may be pasted, which the person did not say.
    let is_typed = |range: &Range<usize>| gaps_are_blank(text, sentences, range);
    let with_reasons = ends.iter().rev().flat_map(|end| [start..*end, own.start..*end]);
    let ranges = with_reasons.chain(std::iter::once(start..own.end));
    let mut ranges: Vec<_> = ranges.filter(|range| is_typed(range) && range.len() <= MAX_CHARS).collect();
    // The widest range that can be understood alone, otherwise the widest.
    ranges.sort_by_key(|range| !text.get(range.clone()).is_some_and(stands_alone));
    ranges.into_iter().next().unwrap_or(own)
}

/// Cues of a sentence that says what is not wanted; the next one may say what is.
const COMPLAINTS: [&str; 6] = ["wrong", "not_that", "dislike", "not_need", "blame", "dont"];

/// True for a sentence that says what is to be done instead.
fn remedies(sentence: &str) -> bool {
    let mut cues = cues_of(sentence);
    cues.any(|cue| ["use_opening", "instead", "should", "must", "only"].contains(&cue))
        && !sentence.ends_with(['?', '？', ':'])
        && !request::refers(sentence)
}

/// True for a statement that can be understood: not "NO!", "Why not?" or "That again."
fn is_statement(sentence: &str) -> bool {
    !is_exclamation(sentence) && !sentence.ends_with(['?', '？']) && !request::points_back(sentence)
}

/// True for "NO!" and for a text without words, such as a smiley.
pub(super) fn is_exclamation(sentence: &str) -> bool {
    const MIN_WORDS: usize = 3;
    let n_words = sentence.unicode_words().count();
    n_words == 0 || (sentence.is_ascii() && n_words < MIN_WORDS)
}

/// True for a sentence that explains the one before it: its reason, its exceptions, what "this" and "that" are.
fn explains_previous(sentence: &str) -> bool {
    const OPENINGS: [&str; 15] = [
        "including",
        "not",
        "none",
        "nor",
        "even",
        "only",
        "especially",
        "unless",
        "except",
        "instead",
        "for",
        "like",
        "e",
        "i",
        "such",
    ];
    let lower = sentence.to_lowercase();
    let opens = lower.unicode_words().next().is_some_and(|word| OPENINGS.contains(&word));
    let is_new = cues_of(sentence).any(|cue| ["task_opening", "ask_opening", "yes_opening"].contains(&cue));
    let is_other_topic = sentence.ends_with(['?', '？', ':']) || request::refers(sentence) || is_new;
    gives_reason(sentence) || (!is_other_topic && (opens || request::points_back(sentence)))
}

fn gives_reason(sentence: &str) -> bool {
    const OPENINGS: [&str; 11] = [
        "because",
        "otherwise",
        "since",
        "so that",
        "that way",
        "it's ",
        "it is ",
        "that's ",
        "weil",
        "sonst",
        "porque",
    ];
    let lower = folded(sentence);
    OPENINGS.iter().any(|opening| lower.starts_with(opening)) && !lower.ends_with('?')
}

/// True if a range contains only sentences and white space.
fn gaps_are_blank(text: &str, sentences: &[Sentence<'_>], range: &Range<usize>) -> bool {
    let mut place = range.start;
    for sentence in sentences.iter().filter(|sentence| range.contains(&sentence.start)) {
        if text.get(place..sentence.start).is_none_or(|gap| !gap.trim().is_empty()) {
            return false;
        }
        place = sentence.end();
    }
    place == range.end
}
