//! Which sessions are worth reading.

use std::time::Duration;

use adage_transcript::Owner;
use chrono::{DateTime, FixedOffset};
use serde::Serialize;

use super::SessionSummary;

/// Why a session is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ineligible {
    /// It belongs to a sub-agent: no person typed anything.
    #[error("a sub-agent's session")]
    SubAgent,
    /// Too little happened in it.
    #[error("{n_user_turns} user messages and {n_tool_calls} tool calls, none of which failed: too little happened")]
    FewTurns {
        /// User turns.
        n_user_turns: usize,
        /// Tool calls.
        n_tool_calls: usize,
    },
    /// It may still be active.
    #[error("written to {} minutes ago, {} must have passed", idle.as_secs() / 60, min.as_secs() / 60)]
    Active {
        /// The time since it was last written; zero if that is in the future.
        #[serde(serialize_with = "adage::extend::seconds::serialize")]
        idle: Duration,
        /// The minimum time.
        #[serde(serialize_with = "adage::extend::seconds::serialize")]
        min: Duration,
    },
}

/// Minimum number of user turns of a session worth reading, unless a call of it failed; specified.
const MIN_USER_TURNS: usize = 10;
/// Alternatively, the minimum number of tool calls: autonomous agents have few user turns; chosen.
const MIN_TOOL_CALLS: usize = 10;

/// Why a session that was last written at `updated` is not read at `now`; none if it can be read.
pub(super) fn ineligible(
    summary: &SessionSummary,
    updated: DateTime<FixedOffset>,
    now: DateTime<FixedOffset>,
    min_idle: Duration,
) -> Option<Ineligible> {
    let idle = (now - updated).to_std().unwrap_or_default();
    if summary.owner == Owner::Agent {
        Some(Ineligible::SubAgent)
    } else if is_short(summary) {
        let SessionSummary { n_user_turns, n_tool_calls, .. } = *summary;
        Some(Ineligible::FewTurns { n_user_turns, n_tool_calls })
    } else if idle < min_idle {
        Some(Ineligible::Active { idle, min: min_idle })
    } else {
        None
    }
}

/// True if there are few user turns and tool calls, and no call failed.
fn is_short(summary: &SessionSummary) -> bool {
    summary.n_user_turns < MIN_USER_TURNS && summary.n_tool_calls < MIN_TOOL_CALLS && summary.n_failed_calls == 0
}
