//! What unit tests share: instants, lessons, and disks that fail.

pub(crate) mod faults;
pub(crate) mod mutated;
pub(crate) mod random;

use chrono::{DateTime, FixedOffset};
use serde_json::json;

use crate::clock::ManualClock;
use crate::lesson::Lesson;

/// An instant, some seconds after the tests' epoch.
pub(crate) fn at(seconds: i64) -> DateTime<FixedOffset> {
    DateTime::parse_from_rfc3339("2026-01-01T00:00:00Z").unwrap() + chrono::TimeDelta::seconds(seconds)
}

/// A lesson without a mistake, named after its texts.
pub(crate) fn lesson(trigger: &str, solution: &str) -> Lesson {
    let row = json!({"trigger": trigger, "solution": solution, "timestamp": at(0).to_rfc3339()});
    Lesson::from_row(row, &ManualClock::new(at(0))).unwrap()
}
