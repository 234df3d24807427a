//! The entries of an index and their order.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use adage_redact::{path_line, path_text};
use adage_transcript::Owner;
use chrono::{DateTime, FixedOffset};
use serde::Serialize;

use super::{Ineligible, SessionSummary, eligibility};

/// A session of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SessionEntry {
    /// Its id: the agent's id of the session, or the path if the source has none.
    pub id: String,
    /// Its path.
    #[serde(serialize_with = "adage::extend::path_text::shown")]
    pub path: PathBuf,
    /// When it was last written: the latest time in its records, otherwise the file's. A session with another time is another
    /// version.
    pub updated: DateTime<FixedOffset>,
    /// Its summary.
    pub summary: SessionSummary,
    /// Whether this version of it was read.
    #[serde(rename = "standing")]
    pub read_state: ReadState,
    /// Why it is not read; none if it is worth reading.
    #[serde(rename = "hurdle")]
    pub ineligible: Option<Ineligible>,
}

/// The state of reading a version of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadState {
    /// It was not read yet.
    New {
        /// The number of attempts.
        n_attempts: u32,
    },
    /// It failed in the maximum number of attempts.
    GivenUp {
        /// The number of attempts.
        n_attempts: u32,
    },
    /// It was read to its end.
    Read,
}

impl ReadState {
    /// `[NEW]` until it was read, then `[old]`.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            Self::New { .. } | Self::GivenUp { .. } => "[NEW]",
            Self::Read => "[old]",
        }
    }

    /// The sort key: sessions to be read first have the least rank.
    fn rank(self) -> (u8, u32) {
        match self {
            Self::New { n_attempts } => (0, n_attempts),
            Self::GivenUp { n_attempts } => (1, n_attempts),
            Self::Read => (2, 0),
        }
    }
}

impl SessionEntry {
    /// An entry as of `now`. A session that was written less than `min_idle` ago may still be active.
    #[must_use]
    pub fn new(
        path: PathBuf,
        modified: DateTime<FixedOffset>,
        summary: SessionSummary,
        now: DateTime<FixedOffset>,
        min_idle: Duration,
    ) -> Self {
        // A record with a future time would never be idle, so the file's time is an upper bound.
        let updated = summary.last_record.map_or(modified, |last| last.min(modified));
        let id = if summary.session.is_empty() { path_text(&path) } else { summary.session.clone() };
        let ineligible = eligibility::ineligible(&summary, updated, now, min_idle);
        Self { id, path, updated, summary, read_state: ReadState::New { n_attempts: 0 }, ineligible }
    }

    /// True if it is still to be read.
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.ineligible.is_none() && matches!(self.read_state, ReadState::New { .. })
    }
}

/// `[NEW] intent | workflow: hint (12 user msgs) — path`, on one line whatever the path is.
impl fmt::Display for SessionEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SessionSummary { intent, workflow, n_user_turns, .. } = &self.summary;
        let headline = if intent.is_empty() { "(no request)" } else { intent };
        write!(f, "{} {headline}", self.read_state.mark())?;
        if !workflow.is_empty() {
            write!(f, " | workflow: {workflow}")?;
        }
        let path = path_line(&self.path);
        write!(f, " ({n_user_turns} user msgs) — {path}")
    }
}

/// Puts sessions into the order of an index: of several copies of a session the newest alone; those to be read first, the
/// fewest attempts before more, the newest before older; then those given up, then those that were read. Ties by path.
///
/// A sub-agent's session has its parent's id, but is not a copy of it.
#[must_use]
pub fn index(entries: Vec<SessionEntry>) -> Vec<SessionEntry> {
    let mut entries = entries;
    entries.sort_by(|a, b| {
        let newest_first = |entry: &SessionEntry| (Reverse(entry.updated), Reverse(entry.summary.n_turns));
        newest_first(a).cmp(&newest_first(b)).then_with(|| a.path.cmp(&b.path))
    });
    let mut seen = HashSet::new();
    entries.retain(|entry| {
        let part = (entry.summary.owner == Owner::Agent).then(|| entry.path.clone());
        seen.insert((entry.id.clone(), part))
    });
    // The sort is stable: of equals the newest stays first.
    entries.sort_by_key(|entry| entry.read_state.rank());
    entries
}
