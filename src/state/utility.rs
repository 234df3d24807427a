//! What a lesson is worth: which lessons stay when a playbook is full (docs/spec/playbook.md, 4).
//!
//! The default, [`aging`], is use over time times usefulness:
//!
//! ```text
//! aging = (1/√a + 2(n − 1)/(√a + √b)) · σ(2.0·helpful − 1.6·harmful)
//! n = 1 + showings, a = 1 + recalls since it was last shown or learned, b = 1 + recalls since it was learned
//! ```
//!
//! The first factor is the activation of ACT-R's declarative memory with decay ½ (J. R. Anderson and L. J. Schooler, 1991), in
//! A. A. Petrov's approximation (2006): the last use counts by itself, the others as spread over the lesson's life. The second one
//! is a logistic estimate that the lesson is useful; its weights were fitted on simulated streams (`--example retention`). A
//! showing without an outcome, or with a neutral one, is a use and says nothing on usefulness.
//!
//! [`standard`] is the formula of the earlier system, [`Config::classic`](crate::Config::classic)'s:
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

/// Weight of a showing that helped, in [`aging`]'s estimate of usefulness.
pub const HELPFUL_WEIGHT: f64 = 2.0;
/// Weight of a showing that did harm.
pub const HARMFUL_WEIGHT: f64 = 1.6;

/// What a value is made of.
///
/// ```
/// use adage::utility::{self, Counts};
///
/// let new = Counts::default();
/// let used = Counts { retrievals: 3, helpful: 2, since_learned: 8, since_shown: 3, ..new };
/// assert_eq!(utility::aging(&new), 0.5);
/// assert!(utility::aging(&used) > 1.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counts {
    /// In [0, 1].
    pub confidence: f64,
    /// Whether a check passed.
    pub verified: bool,
    /// How often it was learned, at least 1.
    pub frequency: u64,
    /// How often it was shown.
    pub retrievals: u64,
    /// Showings that helped.
    pub helpful: u64,
    /// Showings that did harm.
    pub harmful: u64,
    /// Recalls of its realm since it was learned.
    pub since_learned: u64,
    /// Recalls of its realm since it was last shown or learned.
    pub since_shown: u64,
}

impl Default for Counts {
    /// Those of a lesson that has just been learned, with a confidence of 0.5.
    fn default() -> Self {
        Self {
            confidence: 0.5,
            verified: false,
            frequency: 1,
            retrievals: 0,
            helpful: 0,
            harmful: 0,
            since_learned: 0,
            since_shown: 0,
        }
    }
}

impl Counts {
    /// Those of a lesson after so many recalls of its realm.
    #[must_use]
    pub fn of(lesson: &Lesson, recalls: u64) -> Self {
        Self {
            confidence: lesson.confidence,
            verified: lesson.verified,
            frequency: lesson.frequency,
            retrievals: lesson.retrievals,
            helpful: lesson.helpful_retrievals,
            harmful: lesson.harmful_retrievals,
            since_learned: recalls.saturating_sub(lesson.learned_at_recall),
            since_shown: recalls.saturating_sub(lesson.shown_at_recall),
        }
    }
}

/// Use over time times usefulness, as above. Positive, or 0 where harm outweighs all use.
#[must_use]
pub fn aging(counts: &Counts) -> f64 {
    let root = |recalls: u64| (1.0 + recalls as f64).sqrt();
    let (last, first) = (root(counts.since_shown), root(counts.since_learned));
    let activation = 1.0 / last + 2.0 * counts.retrievals as f64 / (last + first);
    let evidence = HELPFUL_WEIGHT * counts.helpful as f64 - HARMFUL_WEIGHT * counts.harmful as f64;
    activation / (1.0 + (-evidence).exp())
}

/// The share of showings that helped, smoothed: `(helpful + 1) / (retrievals + 2)`.
#[must_use]
pub fn hit_rate(lesson: &Lesson) -> f64 {
    (lesson.helpful_retrievals as f64 + 1.0) / (lesson.retrievals as f64 + 2.0)
}

/// The share of judged showings that helped, smoothed: `(helpful + 1) / (helpful + harmful + 2)`.
#[must_use]
pub fn judged_hit_rate(lesson: &Lesson) -> f64 {
    let judged = lesson.helpful_retrievals as f64 + lesson.harmful_retrievals as f64;
    (lesson.helpful_retrievals as f64 + 1.0) / (judged + 2.0)
}

/// The earlier system's formula, as above. In [0, 1.9] as long as no more retrievals helped than were made.
#[must_use]
pub fn standard(counts: &Counts) -> f64 {
    let hit_rate = (counts.helpful as f64 + 1.0) / (counts.retrievals as f64 + 2.0);
    let verified = if counts.verified { VERIFIED_BONUS } else { 0.0 };
    let frequency = (FREQUENCY_WEIGHT * (counts.frequency as f64).ln_1p()).min(FREQUENCY_CAP);
    let base = CONFIDENCE_WEIGHT * counts.confidence + HIT_RATE_WEIGHT * hit_rate + verified + frequency;
    let is_stale = counts.retrievals >= STALE_MIN_RETRIEVALS && hit_rate < STALE_HIT_RATE;
    if is_stale { base - base / 2.0 } else { base }
}

/// The utility under a policy, after so many recalls of the lesson's realm. NaN counts as the lowest utility.
pub(crate) fn under(policy: UtilityPolicy, lesson: &Lesson, recalls: u64) -> f64 {
    let utility = match policy {
        UtilityPolicy::Aging => aging(&Counts::of(lesson, recalls)),
        UtilityPolicy::Standard => standard(&Counts::of(lesson, recalls)),
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
        let utility = standard(&Counts::of(&lesson, 0));
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
        assert!(under(UtilityPolicy::Custom(|_| f64::NAN), &lesson("t", "s"), 0) < -1e300);
    }

    /// Worked by hand: with a = 4 and b = 9, 1/2 + 2·3/(2 + 3) = 1.7; σ(2·2 − 1.6) = σ(2.4) = 0.916827.
    #[test]
    fn the_value_is_the_one_worked_by_hand() {
        let shown = Counts { retrievals: 3, since_learned: 8, since_shown: 3, ..Counts::default() };
        assert!((aging(&shown) - 0.85).abs() < 1e-12);
        let judged = Counts { helpful: 2, harmful: 1, ..shown };
        assert!((aging(&judged) - 1.7 * 0.916_827).abs() < 1e-6, "{}", aging(&judged));
    }

    #[test]
    fn the_value_ages_with_recalls_and_follows_outcomes() {
        let shown = Counts { retrievals: 2, helpful: 1, since_learned: 9, since_shown: 4, ..Counts::default() };
        let check = |less: Counts, more: Counts| assert!(aging(&less) < aging(&more), "{less:?}, {more:?}");
        check(Counts { since_shown: 5, ..shown }, shown);
        check(Counts { since_learned: 10, ..shown }, shown);
        check(shown, Counts { retrievals: 3, ..shown });
        check(shown, Counts { helpful: 2, ..shown });
        check(Counts { harmful: 1, ..shown }, shown);
    }
}
