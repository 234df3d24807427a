//! The effect of showing a lesson on the outcome (docs/spec/playbook.md, 6.7).

use serde::Serialize;

use super::ReceiptLog;
use super::interval::{Estimate, Weighted, Z_95, Z_999, difference};
use crate::lesson::{LessonId, TextHash};

/// The minimum effective number of outcomes on each side.
const MIN_OUTCOMES: usize = 10;

/// Figures of one side: the receipts in which a lesson was shown, or those in which it was withheld.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Side {
    /// All of them.
    pub n_receipts: usize,
    /// The number of receipts with an outcome.
    pub n_outcomes: usize,
    /// The number of receipts with a helpful outcome.
    pub n_helpful: usize,
    /// The fraction of helpful outcomes, weighted by inverse propensity; none without an outcome.
    pub rate: Option<f64>,
}

/// The conclusion about a lesson's uplift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// Outcomes are better with it.
    Helps,
    /// Outcomes are worse with it.
    Harms,
    /// The data do not decide.
    Undecided,
}

/// The effect of showing a lesson on the outcomes of the tasks for which it was found.
///
/// Whether it was shown was decided at random, so that all other causes are equally distributed on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "effect")]
#[non_exhaustive]
pub enum Effect {
    /// There are too few outcomes on a side.
    NotEnoughData {
        /// Receipts in which it was shown and could have been withheld.
        shown: Side,
        /// Receipts in which it was withheld.
        withheld: Side,
        /// The minimum number of outcomes on each side.
        needed: usize,
    },
    /// There are enough outcomes for an interval.
    Measured {
        /// The rate of helpful outcomes with the lesson minus that without, in [-1, 1], with its 95% interval.
        uplift: Estimate,
        /// The conclusion by the 99.9% interval.
        claim: Claim,
        /// Receipts in which it was shown and could have been withheld.
        shown: Side,
        /// Receipts in which it was withheld.
        withheld: Side,
    },
}

#[derive(Default)]
struct Tally {
    side: Side,
    outcomes: Weighted,
}

impl Tally {
    fn add(&mut self, propensity: f64, is_helpful: Option<bool>) {
        self.side.n_receipts += 1;
        let Some(is_helpful) = is_helpful else { return };
        self.side.n_outcomes += 1;
        self.side.n_helpful += usize::from(is_helpful);
        self.outcomes.add(1.0 / propensity, is_helpful);
        self.side.rate = self.outcomes.rate();
    }

    fn is_enough(&self) -> bool {
        // With equal weights, rounding may give a little less than their number.
        self.outcomes.effective_size() + 1e-6 >= MIN_OUTCOMES as f64
    }
}

impl ReceiptLog {
    /// The uplift of a lesson with this text, from the receipts in which it could have been shown or withheld.
    #[must_use]
    pub fn effect(&self, lesson: LessonId, text: TextHash) -> Effect {
        let (mut shown, mut withheld) = (Tally::default(), Tally::default());
        for receipt in self.receipts() {
            let Some(logged) = receipt.lessons.iter().find(|logged| logged.id == lesson && logged.text == text) else {
                continue;
            };
            if !is_by_chance(logged.propensity) {
                continue;
            }
            if logged.shown {
                shown.add(logged.propensity, receipt.is_helpful());
            } else {
                withheld.add(1.0 - logged.propensity, receipt.is_helpful());
            }
        }
        let is_enough = shown.is_enough() && withheld.is_enough();
        let at = |z| difference(&shown.outcomes, &withheld.outcomes, z).filter(|_| is_enough);
        let (shown, withheld) = (shown.side, withheld.side);
        match (at(Z_95), at(Z_999)) {
            (Some(uplift), Some(strict)) => Effect::Measured { uplift, claim: Claim::of(&strict), shown, withheld },
            _ => Effect::NotEnoughData { shown, withheld, needed: MIN_OUTCOMES },
        }
    }
}

impl Claim {
    fn of(interval: &Estimate) -> Self {
        if interval.low > 0.0 {
            Self::Helps
        } else if interval.high < 0.0 {
            Self::Harms
        } else {
            Self::Undecided
        }
    }
}

/// True if it could have been shown or withheld.
fn is_by_chance(propensity: f64) -> bool {
    propensity > 0.0 && propensity < 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credit::testing::logged;
    use crate::learn::Feedback;
    use crate::testing::lesson;

    /// Receipts of lesson `a`: helpful of all, shown and withheld.
    fn log(shown: [usize; 2], withheld: [usize; 2], propensity: f64) -> ReceiptLog {
        let side = |[helpful, all]: [usize; 2], is_shown| {
            (0..all).map(move |place| {
                let outcome = if place < helpful { Feedback::Helpful } else { Feedback::Neutral };
                logged(0, &[("a", propensity, is_shown)], Some(outcome))
            })
        };
        side(shown, true).chain(side(withheld, false)).collect()
    }

    fn effect(log: &ReceiptLog) -> Effect {
        let lesson = lesson("a", "s");
        log.effect(lesson.id, lesson.text_hash())
    }

    fn check(shown: [usize; 2], withheld: [usize; 2], expected: ([f64; 3], Claim)) {
        for propensity in [0.5, 0.9] {
            let Effect::Measured { uplift, claim, .. } = effect(&log(shown, withheld, propensity)) else {
                panic!("not enough data")
            };
            assert_eq!(claim, expected.1);
            for (found, expected) in [uplift.value, uplift.low, uplift.high].into_iter().zip(expected.0) {
                assert!((found - expected).abs() < 5e-5, "{uplift:?}");
            }
        }
    }

    #[test]
    fn the_uplift_is_the_difference_of_the_rates_with_newcombes_interval() {
        // The 95% interval excludes zero, the 99.9% interval does not: undecided.
        check([56, 70], [48, 80], ([0.2, 0.0524, 0.3339], Claim::Undecided));
        check([5, 56], [0, 29], ([0.0893, -0.0381, 0.1926], Claim::Undecided));
        check([10, 10], [0, 20], ([1.0, 0.6791, 1.0], Claim::Helps));
        check([0, 20], [10, 10], ([-1.0, -1.0, -0.6791], Claim::Harms));
    }

    #[test]
    fn too_few_outcomes_are_said_with_both_numbers() {
        let Effect::NotEnoughData { shown, withheld, needed } = effect(&log([40, 60], [3, 9], 0.9)) else {
            panic!("nine outcomes are enough")
        };
        assert_eq!((shown.n_outcomes, shown.n_helpful, withheld.n_outcomes, withheld.n_helpful), (60, 40, 9, 3));
        assert_eq!(needed, 10);
        assert!(matches!(effect(&ReceiptLog::default()), Effect::NotEnoughData { .. }));
    }

    #[test]
    fn what_was_not_left_to_chance_or_had_another_text_says_nothing() {
        for propensity in [0.0, 1.0] {
            assert!(matches!(
                effect(&log([40, 60], [3, 60], propensity)),
                Effect::NotEnoughData { shown: Side { n_receipts: 0, .. }, withheld: Side { n_receipts: 0, .. }, .. }
            ));
        }
        let other = lesson("a", "another text");
        let effect = log([40, 60], [3, 60], 0.5).effect(lesson("a", "s").id, other.text_hash());
        assert!(matches!(effect, Effect::NotEnoughData { shown: Side { n_receipts: 0, .. }, .. }));
    }

    #[test]
    fn receipts_without_an_outcome_are_counted_and_weigh_nothing() {
        let open = (0..7).map(|_| logged(0, &[("a", 0.5, true)], None));
        let all: ReceiptLog = log([10, 20], [5, 20], 0.5).receipts().iter().cloned().chain(open).collect();
        let Effect::Measured { uplift, shown, .. } = effect(&all) else { panic!("not enough data") };
        assert_eq!((shown.n_receipts, shown.n_outcomes), (27, 20));
        assert!((uplift.value - 0.25).abs() < 1e-12);
    }

    #[test]
    fn where_the_dropout_changed_each_outcome_weighs_by_its_propensity() {
        // Withheld from 1 in 10 of 200 easy tasks (80% helpful anyway) and from half of 40 hard ones (20%): it does nothing.
        let easy = log([144, 180], [16, 20], 0.9);
        let hard = log([4, 20], [4, 20], 0.5);
        let all: ReceiptLog = easy.receipts().iter().chain(hard.receipts()).cloned().collect();
        let Effect::Measured { uplift, .. } = effect(&all) else { panic!("not enough data") };
        // Unweighted: 148/200 − 20/40 = 0.24.
        assert!(uplift.value.abs() < 1e-9, "{uplift:?}");
    }
}
