//! The utility of a lesson: which lessons stay when a playbook is full (docs/spec/playbook.md, 4).
//!
//! ```text
//! hit_rate      = (helpful + 1) / (retrievals + 2)
//! base          = 0.5·confidence + 0.8·hit_rate + (0.3 if verified) + min(0.1·ln(1 + frequency), 0.3)
//! stale_penalty = −base/2  if retrievals ≥ 5 and hit_rate < 0.35, else 0
//! utility       = base + stale_penalty
//! ```
//!
//! The terms and their weights are documented by the earlier system; smoothing, logarithm and penalty are the values it
//! executed. The smoothing is Laplace's rule of succession: a lesson never shown has a hit rate of one half.

use crate::config::UtilityPolicy;
use crate::lesson::Lesson;

/// Weight of the confidence.
pub const CONFIDENCE_WEIGHT: f64 = 0.5;
/// Weight of the hit rate.
pub const HIT_RATE_WEIGHT: f64 = 0.8;
/// Added for a verified lesson.
pub const VERIFIED_BONUS: f64 = 0.3;
/// Weight of `ln(1 + frequency)`.
pub const FREQUENCY_WEIGHT: f64 = 0.1;
/// The frequency term is at most this, reached at 20 learnings.
pub const FREQUENCY_CAP: f64 = 0.3;
/// A lesson shown at least this often …
pub const STALE_MIN_RETRIEVALS: u64 = 5;
/// … with a smaller hit rate than this is stale: its utility is halved.
pub const STALE_HIT_RATE: f64 = 0.35;

/// The share of showings that helped, smoothed: `(helpful + 1) / (retrievals + 2)`.
#[must_use]
pub fn hit_rate(lesson: &Lesson) -> f64 {
    (lesson.helpful_retrievals as f64 + 1.0) / (lesson.retrievals as f64 + 2.0)
}

/// The formula above. In [0, 1.9] as long as no more retrievals helped than were made.
#[must_use]
pub fn standard(lesson: &Lesson) -> f64 {
    let hit_rate = hit_rate(lesson);
    let verified = if lesson.verified { VERIFIED_BONUS } else { 0.0 };
    let frequency = (FREQUENCY_WEIGHT * (lesson.frequency as f64).ln_1p()).min(FREQUENCY_CAP);
    let base = CONFIDENCE_WEIGHT * lesson.confidence + HIT_RATE_WEIGHT * hit_rate + verified + frequency;
    let is_stale = lesson.retrievals >= STALE_MIN_RETRIEVALS && hit_rate < STALE_HIT_RATE;
    if is_stale { base - base / 2.0 } else { base }
}

/// The utility under a policy. NaN counts as the lowest utility.
pub(crate) fn under(policy: UtilityPolicy, lesson: &Lesson) -> f64 {
    let utility = match policy {
        UtilityPolicy::Standard => standard(lesson),
        UtilityPolicy::Custom(utility) => utility(lesson),
    };
    if utility.is_nan() { f64::NEG_INFINITY } else { utility }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::lesson;

    fn check(confidence: f64, is_verified: bool, retrievals: u64, helpful: u64, frequency: u64, expected: f64) {
        let lesson = Lesson {
            confidence,
            verified: is_verified,
            retrievals,
            helpful_retrievals: helpful,
            frequency,
            ..lesson("t", "s")
        };
        let utility = standard(&lesson);
        assert!((utility - expected).abs() < 5e-5, "{utility} is not {expected}");
    }

    /// The values that the earlier system computed, to its four decimals.
    #[test]
    fn utilities_are_those_the_earlier_system_computed() {
        check(0.5, false, 0, 0, 1, 0.7193);
        check(0.5, true, 0, 0, 1, 1.0193);
        check(0.5, false, 4, 0, 1, 0.4526);
        check(0.5, false, 5, 0, 1, 0.2168);
        check(0.5, false, 5, 1, 1, 0.2739);
        check(0.5, false, 5, 2, 1, 0.6622);
        check(0.9, true, 10, 9, 1, 1.4860);
        check(0.2, false, 10, 1, 1, 0.1513);
    }

    #[test]
    fn frequency_is_capped_at_three_tenths() {
        // 0.25 + 0.4 + 0.1·ln 20 = 0.94957 just below the cap, 0.95 above it (e³ − 1 = 19.09).
        check(0.5, false, 0, 0, 19, 0.949_57);
        check(0.5, false, 0, 0, 20, 0.95);
        check(0.5, false, 0, 0, 1000, 0.95);
    }

    #[test]
    fn a_hit_rate_of_exactly_the_limit_is_not_stale() {
        // (6 + 1) / (18 + 2) = 0.35: 0.25 + 0.8·0.35 + 0.06931.
        check(0.5, false, 18, 6, 1, 0.599_31);
    }

    #[test]
    fn a_policy_that_returns_nan_makes_a_lesson_worthless() {
        assert!(under(UtilityPolicy::Custom(|_| f64::NAN), &lesson("t", "s")) < -1e300);
    }
}
