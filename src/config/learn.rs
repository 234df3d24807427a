//! Settings of learning, duplicates, retention and feedback.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::range::{at_least_one, distance, share};
use super::seconds;
use crate::error::config::Error;
use crate::lesson::Lesson;

/// How duplicates are detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DedupPolicy {
    /// Lessons that are near, or whose first sentences agree, are merged unless their advice differs. The newer text is kept,
    /// and lessons that contradict each other are linked (docs/spec/playbook.md, 3.2 to 3.4, 3.8).
    #[default]
    Guarded,
    /// Near lessons, and those with the same task and trigger, are merged whatever they advise; the longer solution is kept.
    Classic,
    /// Near lessons are always merged.
    Plain,
    /// Lessons are never merged; whole texts are not embedded. For measuring retrieval.
    Off,
}

/// Learning and duplicates (docs/spec/playbook.md, 3).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LearnConfig {
    /// Whole texts strictly below this cosine distance are near. 0.15, in [0, 2]; the earlier system's number, which there was
    /// a squared L2 distance (cosine 0.075): hence the guard.
    pub duplicate_distance: f32,
    /// The policy for duplicates.
    pub dedup: DedupPolicy,
    /// Maximum size of a field; a draft with a longer one is refused. 32 KiB, in bytes; chosen.
    pub max_field_bytes: usize,
    /// Added to the confidence of a lesson that becomes verified, up to 1. 0.2, in [0, 1]; the earlier system's.
    pub verified_bonus: f64,
    /// Whether drafts that do not read as a lesson are refused: those with a trigger such as "ok, try again", and those that
    /// have neither a mistake nor a rule. False; for English texts (docs/spec/playbook.md, 3.1).
    pub quality_gate: bool,
}

impl Default for LearnConfig {
    fn default() -> Self {
        Self {
            duplicate_distance: 0.15,
            dedup: DedupPolicy::Guarded,
            max_field_bytes: 32 * 1024,
            verified_bonus: 0.2,
            quality_gate: false,
        }
    }
}

impl LearnConfig {
    pub(super) fn validate(&self) -> Result<(), Error> {
        let Self { duplicate_distance, dedup: _, max_field_bytes, verified_bonus, quality_gate: _ } = self;
        distance("learn.duplicate_distance", *duplicate_distance)?;
        at_least_one("learn.max_field_bytes", *max_field_bytes)?;
        share("learn.verified_bonus", *verified_bonus)
    }
}

/// The default capacity of a realm, in lessons; the earlier system's.
pub const PLAYBOOK_MAX: usize = 50;

/// The utility of a lesson, by which lessons are kept or evicted.
///
/// Under every policy, the newest lesson and verified ones are kept first, and the capacity applies.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UtilityPolicy {
    /// Recency of use multiplied by usefulness: [`utility::aging`](crate::utility::aging).
    #[default]
    Aging,
    /// The earlier system's formula: [`utility::standard`](crate::utility::standard).
    Standard,
    /// The host's own pure function; NaN counts as the lowest utility. It cannot be written as JSON.
    #[serde(skip)]
    Custom(fn(&Lesson) -> f64),
}

/// Settings of retention (docs/spec/playbook.md, 3.6, 4, 6.6).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetentionConfig {
    /// Capacity of a realm, in lessons. 50, at least 1; the earlier system's.
    pub capacity: usize,
    /// The utility of a lesson.
    pub utility: UtilityPolicy,
    /// Minimum number of judged retrievals of a pruned lesson. 5; the earlier system's.
    pub prune_min_retrievals: u64,
    /// Maximum fraction of the lessons that a prune removes. 0.25, in [0, 1]; the earlier system's.
    pub prune_max_fraction: f64,
    /// Maximum number of lessons in review; the oldest are archived. 200; chosen.
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

impl RetentionConfig {
    pub(super) fn validate(&self) -> Result<(), Error> {
        let Self { capacity, utility: _, prune_min_retrievals: _, prune_max_fraction, max_waiting: _ } = self;
        at_least_one("retention.capacity", *capacity)?;
        share("retention.prune_max_fraction", *prune_max_fraction)
    }
}

/// Settings of feedback (docs/spec/playbook.md, 6).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FeedbackConfig {
    /// Added to the confidence by a helpful retrieval, up to 1. 0.05; the earlier system's.
    pub helpful_step: f64,
    /// Taken from the confidence by a harmful retrieval, down to 0. 0.1; specified.
    pub harmful_step: f64,
    /// The usual window for `credit_recent_retrievals`. 300 s; the earlier system's.
    #[serde(with = "seconds")]
    pub credit_window: Duration,
}

impl Default for FeedbackConfig {
    fn default() -> Self {
        Self { helpful_step: 0.05, harmful_step: 0.1, credit_window: Duration::from_mins(5) }
    }
}

impl FeedbackConfig {
    pub(super) fn validate(&self) -> Result<(), Error> {
        let Self { helpful_step, harmful_step, credit_window: _ } = self;
        share("feedback.helpful_step", *helpful_step)?;
        share("feedback.harmful_step", *harmful_step)
    }
}
