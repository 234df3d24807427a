//! What the records of a session show without a turn that keeps it, as runs of words (docs/spec/capture.md, 1.3).
//!
//! A person can paste any text that they saw, and a record has texts in many places: parts of results, results written down a
//! second time, progress, events, citations, thoughts of the agent. So no list of places is kept. Every text of a record counts
//! as shown, unless it is what the person typed.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::author::may_be_by_program;
use super::recorder::str_of;
use crate::injected::{said_at_refusal, split};
use crate::words::{SaidWords, ShownWords, echoes, shown_runs, word_runs};

/// The most runs of words in one set, some 1.4 MB of text. Of what was shown there are two sets, the older of which is dropped: a
/// person pastes what they saw last.
const MAX_RUNS: usize = (1 << 18) / 8 * 7;

/// How many bytes of a text are taken into memory as words at a time.
const PIECE: usize = 1 << 14;

/// How many bytes before a piece are read with it again, so that a sentence is whole in one of them.
const OVERLAP: usize = 1 << 11;

/// The characters after which a text is split into sentences.
pub(super) const ENDS: [char; 4] = ['\n', '.', '!', '?'];

/// The length from which a text of letters without a blank is data, such as an image.
const LONG_DATA: usize = 1 << 10;

/// Kinds of records, events and rows with what the person typed, before or after the message itself.
const MIRRORS: [&str; 3] = ["queue-operation", "last-prompt", "user_message"];

/// Roles of messages with what a call gave.
const RESULT_ROLES: [&str; 4] = ["tool", "function", "toolResult", "bashExecution"];

/// Whose words a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// The result of a call. What it brings is not the person's, even if the person said it first.
    Result,
    /// Anybody's: it may repeat what the person said.
    Any,
}

/// Runs of words of a session, by who brought them first.
#[derive(Debug, Default)]
pub(super) struct Shown {
    recent: HashSet<u64>,
    older: HashSet<u64>,
    /// The same as one sequence, in which a sentence is found whatever stands between its words.
    words: ShownWords,
    /// What the person typed, compared with what comes later.
    typed: SaidWords,
    /// What the person typed.
    said: HashSet<u64>,
    /// What of it the agent wrote after that: it comes back in results.
    written: HashSet<u64>,
    /// What of it a result brought that the agent had not written.
    brought: HashSet<u64>,
    /// The lines of the record at hand that a turn keeps.
    kept: HashSet<u64>,
}

impl Shown {
    /// True for a sentence that was shown before.
    pub(super) fn has(&self, sentence: &str) -> bool {
        let is_nothing = self.recent.is_empty() && self.older.is_empty();
        let is_echo = || echoes(sentence, |run| self.recent.contains(run) || self.older.contains(run));
        // What others repeat of a person's words, with words of their own between them, does not make them theirs.
        let was_said = || echoes(sentence, |run| self.said.contains(run));
        !is_nothing && (is_echo() || (!was_said() && self.words.has(sentence)))
    }

    /// True for a sentence that a result brought after the person said it.
    pub(super) fn has_brought(&self, sentence: &str) -> bool {
        let is_echo = !self.brought.is_empty() && echoes(sentence, |run| self.brought.contains(run));
        is_echo || self.typed.was_brought(sentence)
    }

    /// Notes what the person typed.
    pub(super) fn said(&mut self, text: &str) {
        insert(&mut self.said, word_runs(text));
        text.split_inclusive(ENDS).for_each(|sentence| self.typed.push(sentence));
    }

    /// Notes what the agent wrote.
    pub(super) fn wrote(&mut self, text: &str) {
        if !self.said.is_empty() {
            let said = &self.said;
            let again = word_runs(text).into_iter().filter(|run| said.contains(run)).collect();
            insert(&mut self.written, again);
            self.typed.written(text);
        }
    }

    /// Notes that a turn keeps a text of the record at hand.
    pub(super) fn keeps(&mut self, text: &str) {
        self.kept.extend(lines(text));
    }

    /// Remembers every text of a record that no turn keeps, and forgets which ones are kept.
    pub(super) fn end_record(&mut self, record: &Value) {
        texts(record, "", Voice::Any, &mut |text, voice, row| {
            if is_prose(text) && lines(text).any(|line| !self.kept.contains(&line)) {
                self.mirror_or_show(text, voice, row);
            }
        });
        self.kept.clear();
    }

    /// Forgets which texts of a record are kept.
    pub(super) fn skip_record(&mut self) {
        self.kept.clear();
    }

    fn mirror_or_show(&mut self, text: &str, voice: Voice, row: &str) {
        if MIRRORS.contains(&row) {
            for injected in split(text).injected {
                self.show(&injected, voice);
            }
        } else if said_at_refusal(text).is_none() {
            self.show(text, voice);
        }
    }

    /// Remembers a text.
    pub(super) fn show(&mut self, text: &str, voice: Voice) {
        let mut start = 0;
        while start < text.len() {
            let end = text.ceil_char_boundary(start + PIECE);
            let piece = text.get(start..end).unwrap_or_default();
            if !is_data(piece) {
                for run in shown_runs(piece) {
                    self.show_run(run, voice);
                }
                let piece = text.get(text.floor_char_boundary(start.saturating_sub(OVERLAP))..end).unwrap_or_default();
                self.words.push(piece);
                if voice == Voice::Result {
                    self.typed.brought(piece);
                }
            }
            start = end;
        }
    }

    fn show_run(&mut self, run: u64, voice: Voice) {
        match voice {
            _ if !self.said.contains(&run) => {
                if self.recent.len() >= MAX_RUNS {
                    self.older = std::mem::take(&mut self.recent);
                }
                self.recent.insert(run);
            }
            Voice::Result if !self.written.contains(&run) => insert(&mut self.brought, vec![run]),
            Voice::Result | Voice::Any => {}
        }
    }
}

fn insert(set: &mut HashSet<u64>, runs: Vec<u64>) {
    if set.len() < MAX_RUNS {
        set.extend(runs);
    }
}

/// True for a piece of an image or the like.
fn is_data(piece: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    piece.len() > LONG_DATA && piece.bytes().all(is_letter)
}

/// True for a text that may be a sentence: paths, ids and names have no blanks, nor what stands for one.
fn is_prose(text: &str) -> bool {
    text.len() > LONG_DATA || !text.is_ascii() || text.contains([' ', '\t', '\n', '%', '+', '&'])
}

/// A hash for each line.
fn lines(text: &str) -> impl Iterator<Item = u64> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| {
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        hasher.finish()
    })
}

/// Gives every text of a record, with its voice and the kind of the row that it is in. Images are left out.
fn texts(value: &Value, row: &str, voice: Voice, take: &mut impl FnMut(&str, Voice, &str)) {
    match value {
        Value::String(text) => take(text, voice, row),
        Value::Array(list) => list.iter().for_each(|item| texts(item, row, voice, take)),
        Value::Object(fields) if fields.get("type").is_some_and(|kind| kind == "base64") => {}
        Value::Object(fields) => {
            let kind = Some(str_of(value, "type")).filter(|kind| !kind.is_empty() && !MIRRORS.contains(&row));
            let kind = kind.filter(|kind| !MIRRORS.contains(kind) || is_persons(value)).unwrap_or(row);
            let is_answer = is_result(kind) || RESULT_ROLES.contains(&str_of(value, "role"));
            for (field, item) in fields {
                let voice = if is_answer || is_result(field) { Voice::Result } else { voice };
                texts(item, kind, voice, take);
            }
        }
        _ => {}
    }
}

/// True for a row with a prompt, unless a field of it says that somebody else sent it.
fn is_persons(mirror: &Value) -> bool {
    let mode = str_of(mirror, "commandMode");
    let mut rest = mirror.clone();
    if let Some(row) = rest.as_object_mut() {
        row.remove("type");
    }
    matches!(mode, "" | "prompt") && !may_be_by_program(&rest)
}

/// True for the name of a field, and for the kind of a row, with what a call gave.
fn is_result(name: &str) -> bool {
    let name = name.to_lowercase();
    ["result", "results", "output", "_end", "response", "resultdisplay"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests;
