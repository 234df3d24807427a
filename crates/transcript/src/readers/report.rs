//! What became of a source: the transcript and an account of everything that is not in it.

use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Format;
use crate::Transcript;

/// A session that was read, and how that went.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Reading {
    /// The session.
    pub transcript: Transcript,
    /// What was counted, left out and found broken.
    pub report: ReadReport,
}

/// An account of a reading. Nothing that was left out is left out silently.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReadReport {
    /// The format that was read, found or named.
    pub format: Format,
    /// Whose session it is.
    pub owner: Owner,
    /// The latest time that a record names: when the session was last written to, as far as it says.
    pub last_record: Option<DateTime<FixedOffset>>,
    /// Records read: lines, or messages of a document, broken ones not counted.
    pub n_records: u64,
    /// Records and parts that are in no turn, by kind: an unknown type, a mirrored event, a duplicate.
    pub skipped: BTreeMap<String, u64>,
    /// Records that could not be read, all of them.
    pub n_broken: u64,
    /// The first 20 of them.
    pub broken: Vec<Broken>,
    /// Tool results, inputs and texts that were cut to their head and tail.
    pub n_cut: u64,
    /// Calls without a result.
    pub n_unanswered: u64,
    /// Bytes read.
    pub n_bytes: u64,
}

/// Whose words the user turns of a session are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Owner {
    /// A person's.
    #[default]
    Person,
    /// Another agent's: the session is a sub-agent's. It has no user turns; what it was asked is in system turns.
    Agent,
}

/// A record that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Broken {
    /// The line it begins on, from 1.
    pub line: u64,
    /// Why.
    pub reason: BrokenReason,
}

/// Why a record could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BrokenReason {
    /// It is no JSON.
    #[error("not JSON: {0}")]
    NotJson(String),
    /// It is JSON and no object.
    #[error("not a JSON object")]
    NotAnObject,
    /// It is longer than the limit.
    #[error("longer than {max} bytes")]
    TooLong {
        /// The limit.
        max: usize,
    },
    /// The document ends or breaks here; what came before it is read.
    #[error("the document breaks off: {0}")]
    BreaksOff(String),
    /// The source is longer than the limit; what came before it is read.
    #[error("the source is longer than {max} bytes")]
    SourceTooLong {
        /// The limit.
        max: u64,
    },
}

/// How many broken records are listed.
const MAX_LISTED: usize = 20;
/// How many kinds of skipped records are counted separately; the rest are counted as `other`.
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
