//! What of a person's turn is their own: not what they pasted (docs/spec/capture.md, 5.2).
//!
//! A sentence is pasted when an earlier turn of the assistant, of a tool or of the harness says it, when a later result of a tool
//! brings it, and when it follows a mark behind which text of others comes. The shapes of what is copied are in [`shapes`]; those of code are left out where sentences
//! are split.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

mod announced;
mod quotations;
mod shapes;

use adage_transcript::{SaidWords, ShownWords, Transcript, Turn, is_echo, shown_runs, word_runs};
use regex::Regex;

use super::heuristics::{Sentence, sentences};

/// A line after which the rest of the turn is another author's text.
const MARKS: &str = r"(?ix)
    ^\W*( comment(ed)?\s+by\b | reply\s+(from|by)\b | (from|subject|sent|to|date|author|reporter|reviewer)\s*:\s*\S
        | begin\s+forwarded | forwarded\s+message | original\s+message | -----+\s*\w )
    | \b(wrote|writes|commented|replied|says|said|reads|reported|posted|states|suggests|schrieb|escribió|写道)\b [^.!?]{0,80} :\s*$
    | \b(output|log|logs|error|errors|trace|traceback|stacktrace|message|issue|ticket|comment|comments|review|feedback|e-?mail|thread|diff|patch|snippet|docs|documentation|page|article|response|transcript|paste|pasted|below|following|this)\b [^.!?]{0,40} :\s*$
    | \[pasted\ | ^\W*(paste|pasted|copied)\b
    | ^(copilot|coderabbit\w*|dependabot|reviewer|bugbot|user|assistant|human|system|chatgpt|claude|gemini|codex)\s*(\[bot\])?\s*:";

/// What somebody else says, with the saying on the same line: `the issue says: …`, `from the docs: …`.
const REPORTED: &str = r#"(?ix)
    (?P<who>[\w.'’\[\]-]+)\s+(says?|said|tells?|told(\ (me|us))?|wrote|writes|reads?|states?|commented|replied|answered|reported|posted|(e-?)?mailed|texted|messaged|pinged|announced|instructed|informed|explained|noted|warned|suggests?|suggested|schrieb|sagt|dice
        |wants?|proposes?|recommends?|demands?|insists?|advises?|claims?)
        \b[^.!?:"\n]{0,60}(:\s*(\S|$) | ,?\s*"\S)
    | ^\W*(from|per|quote|quoting|quoted\ from|according\s+to)\b[^.!?:\n]{1,60}:\s+\S"#;

/// Whose saying is the person's own.
const OWN: [&str; 12] = ["i", "we", "i've", "we've", "already", "just", "as", "to", "please", "also", "not", "i'd"];

/// The sentences of each turn that a person typed, without what they pasted.
#[derive(Debug, Default)]
pub(crate) struct Typed {
    /// Where the person's own sentences begin, by turn.
    own: BTreeMap<usize, HashSet<usize>>,
}

impl Typed {
    /// Reads a session.
    pub(crate) fn of(transcript: &Transcript) -> Self {
        let (brought, later) = (brought(transcript), said_before(transcript));
        let (mut seen, mut said, mut shown) = (HashSet::new(), HashSet::new(), ShownWords::default());
        let mut typed = Self::default();
        for (turn, told) in transcript.turns.iter().enumerate() {
            match told {
                Turn::User(text) => {
                    let is_own = |sentence: &Sentence<'_>| {
                        let text = sentence.text;
                        !is_echo(text, &seen)
                            && !is_echo(text, &brought)
                            && !later.was_brought(text)
                            && (is_echo(text, &said) || !shown.has(text))
                    };
                    let own: Vec<Sentence<'_>> = own_sentences(text).filter(is_own).collect();
                    seen.extend(between(text, &own).flat_map(word_runs));
                    between(text, &own).for_each(|pasted| shown.push(pasted));
                    said.extend(own.iter().flat_map(|sentence| word_runs(sentence.text)));
                    typed.own.insert(turn, own.iter().map(|sentence| sentence.start).collect());
                }
                other => note_shown(other, &mut seen, &mut shown),
            }
        }
        typed
    }

    /// The person's own sentences of a turn.
    pub(crate) fn sentences<'t>(&self, turn: usize, text: &'t str) -> Vec<Sentence<'t>> {
        let own = self.own.get(&turn);
        let is_own = |sentence: &Sentence<'_>| own.is_some_and(|own| own.contains(&sentence.start));
        sentences(text).into_iter().filter(is_own).collect()
    }

    /// True when a span of a turn touches nothing but the person's own sentences.
    pub(crate) fn is_own(&self, turn: usize, text: &str, span: Range<usize>) -> bool {
        let own = self.sentences(turn, text);
        let mut place = span.start;
        for sentence in own.iter().filter(|sentence| sentence.start < span.end && sentence.end() > span.start) {
            let gap = text.get(place..sentence.start.max(place));
            if gap.is_none_or(|gap| !gap.trim().is_empty()) {
                return false;
            }
            place = sentence.end();
        }
        text.get(place.min(span.end)..span.end).is_some_and(|rest| rest.trim().is_empty())
    }
}

/// Notes what a turn shows that is not the person's.
fn note_shown(turn: &Turn, seen: &mut HashSet<u64>, shown: &mut ShownWords) {
    match turn {
        Turn::User(_) => {}
        Turn::Assistant(text) => {
            seen.extend(word_runs(text));
            shown.push(text);
        }
        Turn::System(text) => {
            seen.extend(shown_runs(text));
            shown.push(text);
        }
        Turn::ToolCall(call) => {
            let (result, inputs) = (call.result.as_deref().unwrap_or_default(), call.input_texts());
            seen.extend(shown_runs(result).into_iter().chain(inputs.iter().flat_map(|text| word_runs(text))));
            std::iter::once(result).chain(inputs).for_each(|text| shown.push(text));
        }
    }
}

/// The sentences of the person's turns, with those marked that a result brings later in another form, such as the source of a page.
fn said_before(transcript: &Transcript) -> SaidWords {
    let mut said = SaidWords::default();
    for turn in &transcript.turns {
        match turn {
            Turn::User(text) => sentences(text).iter().for_each(|sentence| said.push(sentence.text)),
            Turn::Assistant(text) => said.written(text),
            Turn::ToolCall(call) => {
                call.input_texts().into_iter().for_each(|text| said.written(text));
                said.brought(call.result.as_deref().unwrap_or_default());
            }
            Turn::System(_) => {}
        }
    }
    said
}

/// What results of calls show that the agent had not written before, in the whole session: a page that is read only after a person
/// pasted from it has the text too. What the agent writes down of the person's words comes back in results as well.
fn brought(transcript: &Transcript) -> HashSet<u64> {
    let (mut written, mut brought) = (HashSet::new(), HashSet::new());
    for turn in &transcript.turns {
        match turn {
            Turn::Assistant(text) => written.extend(word_runs(text)),
            Turn::ToolCall(call) => {
                written.extend(call.input_texts().into_iter().flat_map(word_runs));
                let shown = call.result.as_deref().map(shown_runs).unwrap_or_default();
                brought.extend(shown.into_iter().filter(|run| !written.contains(run)));
            }
            Turn::User(_) | Turn::System(_) => {}
        }
    }
    brought
}

/// The sentences before the first mark that do not have the shape of something copied.
fn own_sentences(text: &str) -> impl Iterator<Item = Sentence<'_>> {
    static MARK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(MARKS).ok());
    let mut place = 0;
    let mut end = text.len();
    let said = text.trim_end().len();
    for line in text.split_inclusive('\n') {
        place += line.len();
        let has_rest = place < said;
        let is_mark = MARK.as_ref().is_none_or(|mark| mark.is_match(line.trim_end()))
            || is_reported(line.trim_end())
            || announced::is_announced(line.trim_end());
        // A line that ends with a colon introduces; of one that is a mark by itself the line is not the person's either.
        if is_mark && (has_rest || !line.trim_end().ends_with(':')) {
            end = if line.trim_end().ends_with(':') { place } else { place - line.len() };
            break;
        }
    }
    let foreign = disjoint(shapes::foreign(text, |word| OWN.contains(&word.to_lowercase().as_str())));
    let is_foreign = move |sentence: &Sentence<'_>| {
        let first = foreign.partition_point(|span| span.end <= sentence.start);
        let mut touching = foreign.iter().skip(first).take_while(|span| span.start < sentence.end());
        touching.any(|span| span.contains(&sentence.start) || is_half_in(sentence, span))
    };
    sentences(text).into_iter().filter(move |sentence| sentence.end() <= end && !is_foreign(sentence))
}

/// The spans in order, those that overlap as one: there can be as many as sentences.
fn disjoint(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.sort_by_key(|span| span.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for span in spans {
        match joined.last_mut().filter(|last| span.start < last.end) {
            Some(last) => last.end = last.end.max(span.end),
            None => joined.push(span),
        }
    }
    joined
}

/// True when a span covers half of a sentence or more: `commit it as "Always …"`.
fn is_half_in(sentence: &Sentence<'_>, span: &Range<usize>) -> bool {
    let covered = span.end.min(sentence.end()).saturating_sub(span.start.max(sentence.start));
    covered * 2 >= sentence.text.len()
}

/// True for a line that says what somebody else says.
fn is_reported(line: &str) -> bool {
    static REPORT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(REPORTED).ok());
    let Some(report) = REPORT.as_ref() else { return true };
    report.captures_iter(line).any(|found| {
        found.name("who").is_none_or(|who| !OWN.contains(&who.as_str().replace('’', "'").to_lowercase().as_str()))
    })
}

/// What a person pasted once they paste again: the text between their own sentences.
fn between<'t>(text: &'t str, own: &[Sentence<'t>]) -> impl Iterator<Item = &'t str> {
    let ends = own.iter().map(Sentence::end);
    let starts = own.iter().map(|sentence| sentence.start);
    let gaps = std::iter::once(0).chain(ends).zip(starts.chain([text.len()]));
    gaps.filter_map(|(start, end)| text.get(start..end)).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests;
