//! Maps log odds to probabilities by two numbers fitted to labelled queries (docs/spec/playbook.md, 5.2).
//!
//! This is Platt scaling with smoothed targets (J. Platt, Probabilistic outputs for support vector machines, 1999), fitted by
//! Newton's method (H.-T. Lin, C.-J. Lin, R. Weng, A note on Platt's probabilistic outputs, 2007), with two additions. Both
//! kinds of query have the same total weight, since their proportion in the file need not be that in use. A prior pulls the
//! numbers towards the shipped ones, the more the fewer pairs there are.

use crate::config::CalibrationFit;

/// Standard deviations of the prior of a user's numbers, around scale 1 and offset 0. Measured by `scripts/fit_prior.py`.
const SCALE_DEVIATION: f64 = 0.1;
const OFFSET_DEVIATION: f64 = 1.0;

/// Newton's method ends after this many steps, or when a step is smaller than `SMALL`. Both are more than needed.
const MAX_STEPS: usize = 50;
const SMALL: f64 = 1e-9;
/// The longest step: where the curve is flat, Newton's steps are too long.
const LONGEST_STEP: f64 = 2.0;

/// The log odds that any lesson answers a query, and whether one does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Labelled {
    pub(super) log_odds: f64,
    pub(super) wants_lesson: bool,
}

/// `scale·z + offset` for log odds `z`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scaling {
    pub(super) scale: f64,
    pub(super) offset: f64,
}

impl Scaling {
    /// Leaves the shipped numbers unchanged.
    pub(super) const SHIPPED: Self = Self { scale: 1.0, offset: 0.0 };

    pub(super) fn log_odds(self, shipped: f64) -> f64 {
        self.scale * shipped + self.offset
    }

    /// The fit as a setting.
    #[expect(clippy::cast_possible_truncation, reason = "seven digits are more than the queries tell")]
    pub(super) fn kept(self, n_pairs: usize) -> CalibrationFit {
        CalibrationFit { scale: self.scale as f32, offset: self.offset as f32, n_pairs }
    }

    /// The most likely scaling; the shipped one if there are no queries of one kind.
    pub(super) fn fit(labelled: &[Labelled]) -> Self {
        let wanting = labelled.iter().filter(|one| one.wants_lesson).count() as f64;
        let none = labelled.len() as f64 - wanting;
        if wanting < 1.0 || none < 1.0 {
            return Self::SHIPPED;
        }
        let points: Vec<Point> = labelled
            .iter()
            .map(|one| {
                let (target, of_its_kind) = if one.wants_lesson {
                    ((wanting + 1.0) / (wanting + 2.0), wanting)
                } else {
                    (1.0 / (none + 2.0), none)
                };
                Point { z: one.log_odds, target, weight: labelled.len() as f64 / (2.0 * of_its_kind) }
            })
            .collect();
        let mut scaling = Self::SHIPPED;
        for _ in 0..MAX_STEPS {
            let next = scaling.improved(&points);
            let moved = (next.scale - scaling.scale).abs() + (next.offset - scaling.offset).abs();
            scaling = next;
            if moved < SMALL {
                break;
            }
        }
        scaling
    }

    /// One step of Newton's method.
    fn improved(self, points: &[Point]) -> Self {
        let prior = [SCALE_DEVIATION, OFFSET_DEVIATION].map(|deviation| 1.0 / (deviation * deviation));
        let mut slope = [(self.scale - 1.0) * prior[0], self.offset * prior[1]];
        let (mut by_scale, mut by_both, mut by_offset) = (prior[0], 0.0, prior[1]);
        for point in points {
            let chance = probability(self.log_odds(point.z));
            let miss = point.weight * (chance - point.target);
            let curve = point.weight * chance * (1.0 - chance);
            slope[0] += miss * point.z;
            slope[1] += miss;
            by_scale += curve * point.z * point.z;
            by_both += curve * point.z;
            by_offset += curve;
        }
        let determinant = by_scale * by_offset - by_both * by_both;
        let step = |numerator: f64| (numerator / determinant).clamp(-LONGEST_STEP, LONGEST_STEP);
        let scale = self.scale - step(by_offset * slope[0] - by_both * slope[1]);
        let offset = self.offset - step(by_scale * slope[1] - by_both * slope[0]);
        let [scales, offsets] = [CalibrationFit::SCALES, CalibrationFit::OFFSETS];
        Self {
            scale: scale.clamp(f64::from(*scales.start()), f64::from(*scales.end())),
            offset: offset.clamp(f64::from(*offsets.start()), f64::from(*offsets.end())),
        }
    }
}

/// A query in the fit.
struct Point {
    z: f64,
    /// The target probability.
    target: f64,
    weight: f64,
}

pub(super) fn probability(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `n` log odds from -8 to 8; the fraction that wants a lesson follows the given scaling.
    fn drawn(truth: Scaling, n: u32) -> Vec<Labelled> {
        (0..n)
            .map(|number| {
                let z = f64::from(number) / f64::from(n) * 16.0 - 8.0;
                // Multiples of the golden ratio are evenly spread, and the same on every machine.
                let chance = (f64::from(number) * 0.618_033_988_75).fract();
                Labelled { log_odds: z, wants_lesson: chance < probability(truth.log_odds(z)) }
            })
            .collect()
    }

    #[test]
    fn a_fit_to_many_pairs_recovers_their_numbers() {
        const N: u32 = 200_000;
        for (scale, offset) in [(1.0, 0.0), (0.5, 0.0), (2.0, 0.0), (0.7, 0.4)] {
            let found = Scaling::fit(&drawn(Scaling { scale, offset }, N));
            // Both kinds have the same weight: where one is rarer, the offset moves by the logarithm of their proportion.
            let n = drawn(Scaling { scale, offset }, N).iter().filter(|one| one.wants_lesson).count() as f64;
            let expected = offset - (n / (f64::from(N) - n)).ln();
            assert!((found.scale - scale).abs() < 0.04 * scale, "{found:?}, not {scale}");
            assert!((found.offset - expected).abs() < 0.05, "{found:?}, not {expected}");
        }
    }

    #[test]
    fn few_pairs_change_the_shipped_numbers_less() {
        let few = drawn(Scaling { scale: 0.4, offset: 0.0 }, 20);
        let moved = [1, 4, 16, 64].map(|times| 1.0 - Scaling::fit(&few.repeat(times)).scale);
        assert!(moved.is_sorted() && moved[0] > 0.0 && moved[0] < 0.9 * moved[3], "{moved:?}");
    }

    #[test]
    fn a_fit_is_where_its_likelihood_is_flat() {
        let labelled = drawn(Scaling { scale: 0.6, offset: 1.0 }, 60);
        let cost = |scaling: Scaling| {
            let n = labelled.iter().filter(|one| one.wants_lesson).count() as f64;
            let none = 60.0 - n;
            let of_pairs: f64 = labelled
                .iter()
                .map(|one| {
                    let (target, weight) = if one.wants_lesson {
                        ((n + 1.0) / (n + 2.0), 30.0 / n)
                    } else {
                        (1.0 / (none + 2.0), 30.0 / none)
                    };
                    let chance = probability(scaling.log_odds(one.log_odds));
                    -weight * (target * chance.ln() + (1.0 - target) * (1.0 - chance).ln())
                })
                .sum();
            of_pairs + (scaling.scale - 1.0).powi(2) / (2.0 * 0.01) + scaling.offset.powi(2) / 2.0
        };
        let found = Scaling::fit(&labelled);
        for (by_scale, by_offset) in [(0.01, 0.0), (-0.01, 0.0), (0.0, 0.01), (0.0, -0.01)] {
            let beside = Scaling { scale: found.scale + by_scale, offset: found.offset + by_offset };
            assert!(cost(beside) > cost(found), "{beside:?} is better than {found:?}");
        }
    }

    #[test]
    fn one_kind_alone_and_inverted_labels_stay_in_range() {
        let wrong = drawn(Scaling { scale: -3.0, offset: 0.0 }, 2_000);
        assert!((Scaling::fit(&wrong).scale - f64::from(*CalibrationFit::SCALES.start())).abs() < 1e-6);
        let one_kind: Vec<Labelled> = wrong.into_iter().filter(|one| one.wants_lesson).collect();
        assert_eq!(Scaling::fit(&one_kind), Scaling::SHIPPED);
        assert_eq!(Scaling::fit(&[]), Scaling::SHIPPED);
    }
}
