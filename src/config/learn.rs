//! Learning, duplicates, what is kept, and feedback.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::seconds;
use crate::lesson::Lesson;

/// How duplicates are detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DedupPolicy {
    /// Near lessons, and those whose first sentences agree, merge unless they say different things; the newer text is kept, and
    /// lessons that contradict each other are linked (docs/spec/playbook.md, 3.2 to 3.4, 3.8).
    #[default]
    Guarded,
    /// Near lessons merge unless they say different things; the longer solution is kept.
    Classic,
    /// Near lessons merge, whatever else.
    Plain,
    /// Nothing merges; whole texts are not embedded. For measuring retrieval.
    Off,
}

/// Learning and duplicates (docs/spec/playbook.md, 3).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LearnConfig {
    /// Whole texts strictly below this cosine distance are duplicates. 0.15, in [0, 2]; the earlier system's number, which
    /// there was a squared L2 distance (cosine 0.075): hence the guard.
    pub duplicate_distance: f32,
    /// What happens to duplicates.
    pub dedup: DedupPolicy,
    /// A draft with a longer field is refused. 32 KiB, in bytes; chosen.
    pub max_field_bytes: usize,
    /// Added to the confidence of a lesson that becomes verified, up to 1. 0.2, in [0, 1]; the earlier system's.
    pub verified_bonus: f64,
    /// Whether a draft has to read as a lesson: not with a trigger such as "ok, try again", and without a mistake only as a rule.
    /// False; in English (docs/spec/playbook.md, 3.1).
    pub quality_gate: bool,
    /// Lessons that one session teaches by itself. 3; chosen (docs/spec/capture.md, 5.4).
    pub max_of_session: usize,
}

impl Default for LearnConfig {
    fn default() -> Self {
        Self {
            duplicate_distance: 0.15,
            dedup: DedupPolicy::Guarded,
            max_field_bytes: 32 * 1024,
            verified_bonus: 0.2,
            quality_gate: false,
            max_of_session: 3,
        }
    }
}

/// The default capacity of a realm, in lessons; the earlier system's.
pub const PLAYBOOK_MAX: usize = 50;

/// What a lesson is worth; of two, the one worth more stays.
///
/// The head of a trim, verified lessons and the capacity hold under every policy.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UtilityPolicy {
    /// Use over time times usefulness: [`utility::aging`](crate::utility::aging).
    #[default]
    Aging,
    /// The earlier system's formula: [`utility::standard`](crate::utility::standard).
    Standard,
    /// The host's own: a pure function; NaN counts as worthless. It cannot be written as JSON.
    #[serde(skip)]
    Custom(fn(&Lesson) -> f64),
}

/// What is kept (docs/spec/playbook.md, 3.6, 4, 6.6).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetentionConfig {
    /// Lessons a realm holds. 50, at least 1; the earlier system's.
    pub capacity: usize,
    /// What a lesson is worth.
    pub utility: UtilityPolicy,
    /// Pruning looks at lessons shown at least this often. 5; the earlier system's.
    pub prune_min_retrievals: u64,
    /// Pruning never takes a larger share of the lessons. 0.25, in [0, 1]; the earlier system's.
    pub prune_max_fraction: f64,
    /// Lessons that wait for review; of more, the oldest are archived. 200; chosen.
    pub max_waiting: usize,
}

impl Default for RetentionConfig {
    fn default() -> Self {
        Self {
            capacity: PLAYBOOK_MAX,
            utility: UtilityPolicy::Aging,
            prune_min_retrievals: 5,
            prune_max_fraction: 0.25,
            max_waiting: 200,
        }
    }
}

/// What feedback does (docs/spec/playbook.md, 6).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FeedbackConfig {
    /// Added to the confidence by a helpful retrieval, up to 1. 0.05; the earlier system's.
    pub helpful_step: f64,
    /// Taken from the confidence by a harmful retrieval, down to 0. 0.1; specified.
    pub harmful_step: f64,
    /// How far back `credit_recent_retrievals` looks by default. 300 s; the earlier system's.
    #[serde(with = "seconds")]
    pub credit_window: Duration,
}

impl Default for FeedbackConfig {
    fn default() -> Self {
        Self { helpful_step: 0.05, harmful_step: 0.1, credit_window: Duration::from_mins(5) }
    }
}
