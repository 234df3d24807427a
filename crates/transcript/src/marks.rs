//! What a copy or a fork of a session has in common with it (docs/spec/capture.md, 1.8).

use std::collections::BTreeSet;

use chrono::{DateTime, FixedOffset};
use serde_json::Value;

/// The most ids of sessions, and the most marks of records, in one session.
const MAX_IDS: usize = 16;
const MAX_RECORDS: usize = 16;
/// Shorter ids of records and calls are numbers, which every session has.
const LEAST_ID: usize = 16;

/// The marks of a session: hashes of its id and of those that it names as its origin, of when it began, and of what was typed and
/// run, with the ids and times of the records. A fork repeats some of them, whatever id it got and whatever was added or cut; another
/// session in which a person types the same words has none of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionMarks {
    ids: BTreeSet<u64>,
    /// The first of what was typed.
    first: BTreeSet<u64>,
    /// Of all else the smallest, a sample that two sessions take from the same records.
    sample: BTreeSet<u64>,
}

/// When a record was written and what it is called.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecordMark<'r> {
    pub(crate) id: &'r str,
    pub(crate) time: Option<i64>,
}

impl SessionMarks {
    /// The marks of a session of which only id and start are known.
    #[must_use]
    pub fn new(session: &str, started: Option<DateTime<FixedOffset>>) -> Self {
        let mut marks = Self::default();
        marks.add_session(session);
        marks.add_start(started);
        marks
    }

    /// The marks, as numbers that stay the same from version to version.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.ids.iter().chain(&self.first).chain(&self.sample).copied()
    }

    /// Adds what a caller knows of the session.
    pub fn add_start(&mut self, started: Option<DateTime<FixedOffset>>) {
        self.ids.extend(started.map(|time| mark(&["began", &time.timestamp_millis().to_string()])));
    }

    /// Adds the id of the session, or of one that it came from.
    pub fn add_session(&mut self, id: &str) {
        if !id.trim().is_empty() && self.ids.len() < MAX_IDS {
            self.ids.insert(mark(&["session", id.trim()]));
        }
    }

    /// Adds what a person typed in a record.
    pub(crate) fn add_typed(&mut self, text: &str, record: RecordMark<'_>) {
        let marks = marks_of("typed", text.trim(), record);
        if self.first.is_empty() {
            self.first.extend(&marks);
        }
        self.add_sample(&marks);
    }

    /// Adds a call, by its id and in its record.
    pub(crate) fn add_call(&mut self, id: &str, input: &str, record: RecordMark<'_>) {
        self.add_sample(&marks_of("call", input, record));
        self.add_sample(&marks_of("call", input, RecordMark { id, time: None }));
    }

    fn add_sample(&mut self, marks: &[u64]) {
        self.sample.extend(marks);
        while self.sample.len() > MAX_RECORDS {
            self.sample.pop_last();
        }
    }
}

/// What identifies a record: an id that no other session has, or its text at its time.
fn marks_of(kind: &str, text: &str, record: RecordMark<'_>) -> Vec<u64> {
    let by_id = Some(mark(&["record", record.id])).filter(|_| record.id.len() >= LEAST_ID);
    let by_time = record.time.map(|time| mark(&[kind, text, &time.to_string()]));
    by_id.into_iter().chain(by_time).collect()
}

/// A time in milliseconds since 1970, written as text or as a number.
pub(crate) fn millis(time: Option<&Value>) -> Option<i64> {
    match time? {
        Value::String(text) => Some(DateTime::parse_from_rfc3339(text).ok()?.timestamp_millis()),
        other => other.as_i64(),
    }
}

/// FNV-1a of the parts: stored, so it may not change.
fn mark(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests;
