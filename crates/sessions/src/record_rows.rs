//! Two kinds of rows of the record of sessions: the result of a session in a run, and the findings of a file. In JSON, the cases
//! of each are optional fields.

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use crate::SessionSummary;

/// The result of a session in a run. In JSON: `id`, `updated`, `n_candidates` and `error`, one of the last two is null.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "OutcomeFields", into = "OutcomeFields")]
pub struct SessionOutcome {
    /// The session's id.
    pub id: String,
    /// When the version that was read was last written.
    pub updated: DateTime<FixedOffset>,
    /// Whether it was read.
    pub result: SessionResult,
}

/// Whether a session was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionResult {
    /// It was read to its end.
    Read {
        /// The number of candidates found.
        n_candidates: usize,
    },
    /// It could not be read.
    Failed {
        /// The error, shortened and without secrets.
        error: String,
    },
}

#[derive(Serialize, Deserialize)]
struct OutcomeFields {
    id: String,
    updated: DateTime<FixedOffset>,
    n_candidates: Option<usize>,
    error: Option<String>,
}

impl From<OutcomeFields> for SessionOutcome {
    fn from(fields: OutcomeFields) -> Self {
        let OutcomeFields { id, updated, n_candidates, error } = fields;
        let failed = || SessionResult::Failed { error: error.unwrap_or_default() };
        let result = n_candidates.map_or_else(failed, |n_candidates| SessionResult::Read { n_candidates });
        Self { id, updated, result }
    }
}

impl From<SessionOutcome> for OutcomeFields {
    fn from(outcome: SessionOutcome) -> Self {
        let SessionOutcome { id, updated, result } = outcome;
        let (n_candidates, error) = match result {
            SessionResult::Read { n_candidates } => (Some(n_candidates), None),
            SessionResult::Failed { error } => (None, Some(error)),
        };
        Self { id, updated, n_candidates, error }
    }
}

/// The findings of a file while it had this length and time. In JSON, the cases are `summary`, `error` and `cut_at`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "SeenFields", into = "SeenFields")]
pub(crate) struct SeenFile {
    /// The version of the summary's format.
    pub(crate) version: u32,
    pub(crate) n_bytes: u64,
    pub(crate) modified: DateTime<FixedOffset>,
    pub(crate) findings: FileFindings,
}

/// What a file turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FileFindings {
    Session(SessionSummary),
    /// Why it is not a session; none in files of earlier versions.
    NotASession {
        error: Option<String>,
    },
    /// The decompressed file exceeded this size limit, in bytes.
    TooLarge {
        max: u64,
        error: Option<String>,
    },
}

#[derive(Serialize, Deserialize)]
struct SeenFields {
    #[serde(default)]
    version: u32,
    n_bytes: u64,
    modified: DateTime<FixedOffset>,
    summary: Option<SessionSummary>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cut_at: Option<u64>,
}

impl From<SeenFields> for SeenFile {
    fn from(fields: SeenFields) -> Self {
        let SeenFields { version, n_bytes, modified, summary, error, cut_at } = fields;
        let findings = match (summary, cut_at) {
            (Some(summary), _) => FileFindings::Session(summary),
            (None, Some(max)) => FileFindings::TooLarge { max, error },
            (None, None) => FileFindings::NotASession { error },
        };
        Self { version, n_bytes, modified, findings }
    }
}

impl From<SeenFile> for SeenFields {
    fn from(seen: SeenFile) -> Self {
        let SeenFile { version, n_bytes, modified, findings } = seen;
        let (summary, error, cut_at) = match findings {
            FileFindings::Session(summary) => (Some(summary), None, None),
            FileFindings::NotASession { error } => (None, error, None),
            FileFindings::TooLarge { max, error } => (None, error, Some(max)),
        };
        Self { version, n_bytes, modified, summary, error, cut_at }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check<T: Serialize + for<'a> Deserialize<'a>>(row: &Value) {
        let read: T = serde_json::from_value(row.clone()).unwrap();
        assert_eq!(&serde_json::to_value(read).unwrap(), row);
    }

    #[test]
    fn rows_keep_their_fields() {
        let time = "2026-01-01T00:00:00Z";
        check::<SessionOutcome>(&json!({"id": "s", "updated": time, "n_candidates": 2, "error": null}));
        check::<SessionOutcome>(&json!({"id": "s", "updated": time, "n_candidates": null, "error": "no"}));
        let summary = json!({
            "session": "s", "last_record": null, "n_user_turns": 10, "n_tool_calls": 0, "n_failed_calls": 0, "n_turns": 20,
            "owner": "person", "intent": "", "workflow": ""
        });
        let seen = |fields: Value| {
            let mut row = json!({"version": 1, "n_bytes": 5, "modified": time, "summary": null});
            row.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            check::<SeenFile>(&row);
        };
        seen(json!({}));
        seen(json!({"summary": summary}));
        seen(json!({"error": "it has no turns"}));
        seen(json!({"error": "too large", "cut_at": 100}));
    }
}
