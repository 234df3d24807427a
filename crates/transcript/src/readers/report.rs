//! The result of reading a source: the transcript, and a report on everything that is not in it.

use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Format;
use crate::Transcript;

/// The result of reading a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Reading {
    /// The session.
    pub transcript: Transcript,
    /// What was counted, skipped and malformed.
    pub report: ReadReport,
}

/// A report on a reading. Everything that was left out is counted here.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReadReport {
    /// The format, detected or given.
    pub format: Format,
    /// The author of the user turns.
    pub owner: Owner,
    /// The latest time in a record, as an estimate of when the session was last written.
    pub last_record: Option<DateTime<FixedOffset>>,
    /// The number of records read: lines, or messages of a document, without malformed ones.
    pub n_records: u64,
    /// The number of records and parts that are in no turn, by kind: an unknown type, a mirrored event, a duplicate.
    pub skipped: BTreeMap<String, u64>,
    /// The number of malformed records.
    pub n_broken: u64,
    /// The first 20 malformed records.
    pub broken: Vec<Broken>,
    /// The number of tool results, inputs and texts that were cut to their head and tail.
    pub n_cut: u64,
    /// The number of calls without a result.
    pub n_unanswered: u64,
    /// The number of bytes read.
    pub n_bytes: u64,
}

/// The author of the user turns of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Owner {
    /// A person.
    #[default]
    Person,
    /// Another agent: the session is a sub-agent's. It has no user turns; its task is in system turns.
    Agent,
}

/// A malformed record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Broken {
    /// The line that it begins on, counted from 1.
    pub line: u64,
    /// The reason.
    pub reason: BrokenReason,
}

/// Why a record could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BrokenReason {
    /// It is not JSON.
    #[error("{0}")]
    NotJson(String),
    /// It is JSON, but not an object.
    #[error("not a JSON object")]
    NotAnObject,
    /// It is longer than the limit.
    #[error("longer than {max} bytes")]
    TooLong {
        /// The maximum length in bytes.
        max: usize,
    },
    /// The document is invalid from here on; the part before it was read.
    #[error("the document ends early: {0}")]
    BreaksOff(String),
    /// The session has more than is kept of one; the part before it was read.
    #[error("the session has more than {max_turns} turns, or {max_bytes} bytes of them: the rest was not read")]
    TooMuchKept {
        /// The maximum number of turns.
        max_turns: usize,
        /// The maximum bytes of all turns.
        max_bytes: usize,
    },
    /// The source is longer than the limit; the part before it was read.
    #[error("the source is longer than {max} bytes")]
    SourceTooLong {
        /// The maximum length in bytes.
        max: u64,
    },
}

/// The maximum number of listed malformed records.
const MAX_LISTED: usize = 20;
/// The maximum number of kinds of skipped records that are counted separately; the rest are counted as `other`.
const MAX_KINDS: usize = 64;

impl ReadReport {
    pub(super) fn new(format: Format) -> Self {
        Self { format, ..Self::default() }
    }

    pub(super) fn skip(&mut self, kind: &str) {
        let kind: String = kind.chars().take(80).collect();
        let is_known = self.skipped.contains_key(&kind) || self.skipped.len() < MAX_KINDS;
        *self.skipped.entry(if is_known { kind } else { "other".to_owned() }).or_default() += 1;
    }

    pub(super) fn at(&mut self, time: Option<&Value>) {
        let time = time.and_then(Value::as_str).and_then(|time| DateTime::parse_from_rfc3339(time).ok());
        self.last_record = self.last_record.max(time);
    }

    pub(super) fn broken(&mut self, line: u64, reason: BrokenReason) {
        self.n_broken += 1;
        if self.broken.len() < MAX_LISTED {
            self.broken.push(Broken { line, reason });
        }
    }
}
