//! Intervals of proportions that hold for small counts.

use serde::Serialize;

/// A value with an interval that covers the true one with the stated confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// The estimate itself.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Estimate {
    pub(super) fn new(value: f64, low: f64, high: f64) -> Self {
        Self { value, low, high }
    }

    /// True when the interval has this value.
    #[must_use]
    pub fn covers(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// The quantile of the normal distribution for a two-sided confidence of 95%.
pub(super) const Z_95: f64 = 1.959_963_985;
/// For 99.9%.
pub(super) const Z_999: f64 = 3.290_526_731;

/// Sums over weighted outcomes: all weights, those of helpful ones, and the squares.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Weighted {
    all: f64,
    helpful: f64,
    squares: f64,
}

impl Weighted {
    pub(super) fn add(&mut self, weight: f64, is_helpful: bool) {
        self.all += weight;
        self.squares += weight * weight;
        if is_helpful {
            self.helpful += weight;
        }
    }

    /// The weighted fraction of helpful outcomes; none without a weight.
    pub(super) fn rate(&self) -> Option<f64> {
        (self.all > 0.0).then(|| self.helpful / self.all)
    }

    /// The effective sample size (Kish): the number of outcomes if all weights are equal.
    pub(super) fn effective_size(&self) -> f64 {
        if self.squares > 0.0 { self.all * self.all / self.squares } else { 0.0 }
    }

    /// Wilson's score interval (1927) of the fraction, with the effective sample size.
    pub(super) fn wilson(&self, z: f64) -> Option<Estimate> {
        let (rate, n) = (self.rate()?, self.effective_size());
        let z2 = z * z / n;
        let centre = (rate + z2 / 2.0) / (1.0 + z2);
        let half = z / (1.0 + z2) * (rate * (1.0 - rate) / n + z2 / (4.0 * n)).sqrt();
        Some(Estimate::new(rate, (centre - half).max(0.0), (centre + half).min(1.0)))
    }
}

/// The difference of two fractions with Newcombe's hybrid score interval (1998, method 10), computed from the two Wilson
/// intervals.
pub(super) fn difference(one: &Weighted, other: &Weighted, z: f64) -> Option<Estimate> {
    let (one, other) = (one.wilson(z)?, other.wilson(z)?);
    let value = one.value - other.value;
    let below = (one.value - one.low).hypot(other.high - other.value);
    let above = (one.high - one.value).hypot(other.value - other.low);
    Some(Estimate::new(value, value - below, value + above))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(helpful: usize, all: usize) -> Weighted {
        let mut counts = Weighted::default();
        (0..all).for_each(|place| counts.add(1.0, place < helpful));
        counts
    }

    fn check(helpful: [usize; 2], all: [usize; 2], expected: [f64; 3]) {
        let found = difference(&counts(helpful[0], all[0]), &counts(helpful[1], all[1]), Z_95).unwrap();
        for (found, expected) in [found.value, found.low, found.high].into_iter().zip(expected) {
            assert!((found - expected).abs() < 5e-5, "{found} is not {expected}");
        }
    }

    #[test]
    fn the_intervals_are_those_of_newcombes_table() {
        // Newcombe (1998), table II, method 10.
        check([56, 48], [70, 80], [0.2, 0.0524, 0.3339]);
        check([9, 3], [10, 10], [0.6, 0.1705, 0.8090]);
        check([5, 0], [56, 29], [0.0893, -0.0381, 0.1926]);
        check([10, 0], [10, 20], [1.0, 0.6791, 1.0]);
    }

    #[test]
    fn weights_count_by_their_effective_size() {
        let mut doubled = Weighted::default();
        (0..10).for_each(|place| doubled.add(2.0, place < 4));
        assert_eq!(doubled.wilson(Z_95), counts(4, 10).wilson(Z_95));
        // (1 + 1 + 4)² / (1 + 1 + 16) = 2.
        let mut uneven = Weighted::default();
        for (weight, is_helpful) in [(1.0, false), (1.0, false), (4.0, true)] {
            uneven.add(weight, is_helpful);
        }
        assert!((uneven.effective_size() - 2.0).abs() < 1e-12);
        assert!((uneven.rate().unwrap() - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(Weighted::default().wilson(Z_95), None);
    }
}
