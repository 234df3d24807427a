//! The fitted table: the weight of each level of each trait and of each bucket, and the surprise of each pair of letters.

use std::sync::LazyLock;

use super::Other;
use super::traits::OTHER;

const TABLE: &str = include_str!("weights.tsv");
/// The letters a to z, and the border of a word as the last.
const N_LETTERS: usize = 27;

/// The unit of bucket weights.
const STEP: f32 = 0.05;
/// The character that stands for a bucket weight of 0.
const MIDDLE: u8 = b'P';

/// An upper bound of the rounding error of a sum of weights.
const ROUNDING: f32 = 0.001;

fn step(written: u8) -> Option<i8> {
    i8::try_from(i16::from(written) - i16::from(MIDDLE)).ok()
}

/// The weights of a logistic regression over traits and buckets.
#[derive(Debug, Default)]
pub(super) struct Weights {
    /// The least sum of a secret.
    threshold: f32,
    bias: f32,
    /// How far below the threshold a rule's find may be.
    pub(super) ease: f32,
    /// The name of each trait, and the start of its weights in `levels`.
    traits: Vec<(&'static str, usize)>,
    /// The weights of all levels of all traits.
    levels: Vec<f32>,
    /// The greatest weight in the trait `other`, relative to its first level.
    most_for_other: f32,
    /// The weight of each bucket, in [`STEP`]s.
    grams: Vec<i8>,
    /// The surprise of each pair of letters in half bits, row by row.
    pairs: Vec<u8>,
}

impl Weights {
    pub(super) fn shared() -> &'static Self {
        static SHARED: LazyLock<Weights> = LazyLock::new(Weights::parse);
        &SHARED
    }

    fn parse() -> Self {
        let mut weights = Self::default();
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let mut columns = line.split('\t');
            let (Some(kind), Some(name)) = (columns.next(), columns.next()) else { continue };
            match kind {
                "threshold" => weights.threshold = name.parse().unwrap_or(f32::MAX),
                "ease" => weights.ease = name.parse().unwrap_or_default(),
                "bias" => weights.bias = name.parse().unwrap_or_default(),
                "grams" => weights.grams.extend(name.bytes().filter_map(step)),
                "pairs" => weights.pairs.extend(name.bytes().map(|b| b.saturating_sub(b'a'))),
                _ => {
                    weights.traits.push((name, weights.levels.len()));
                    weights.levels.extend(columns.filter_map(|it| it.parse::<f32>().ok()));
                }
            }
        }
        let (_, start) = weights.traits.get(OTHER).copied().unwrap_or_default();
        let of_other = weights.levels.get(start..).unwrap_or_default().iter().take(usize::from(Other::N));
        let first = of_other.clone().next().copied().unwrap_or_default();
        weights.most_for_other = of_other.fold(0.0, |most: f32, worth| most.max(worth - first)) + ROUNDING;
        weights
    }

    /// The sum of the weights of levels, minus the threshold.
    pub(super) fn of_levels(&self, levels: &[u16]) -> f32 {
        let worth = |(level, (_, start)): (&u16, &(&str, usize))| self.levels.get(start + usize::from(*level)).copied();
        self.bias - self.threshold + levels.iter().zip(&self.traits).filter_map(worth).sum::<f32>()
    }

    /// An upper bound of what the trait `other` can add to a sum.
    pub(super) fn most_for_other(&self) -> f32 {
        self.most_for_other
    }

    /// The sum of the weights of buckets.
    pub(super) fn of_buckets(&self, buckets: &[u16]) -> f32 {
        let steps = buckets.iter().filter_map(|at| self.grams.get(usize::from(*at))).map(|it| i32::from(*it));
        steps.sum::<i32>() as f32 * STEP
    }

    /// The mean surprise of the pairs of letters in runs of three letters or more, in bits; 0 without such a run.
    pub(super) fn oddness(&self, value: &str) -> f64 {
        let (mut half_bits, mut n_pairs) = (0_usize, 0_usize);
        for run in value.as_bytes().split(|b| !b.is_ascii_alphabetic()).filter(|run| run.len() >= 3) {
            let mut last = N_LETTERS - 1;
            let letters = run.iter().map(|b| usize::from(b.to_ascii_lowercase() - b'a'));
            for letter in letters.chain([N_LETTERS - 1]) {
                half_bits += usize::from(self.pairs.get(last * N_LETTERS + letter).copied().unwrap_or(0));
                n_pairs += 1;
                last = letter;
            }
        }
        if n_pairs == 0 { 0.0 } else { half_bits as f64 / 2.0 / n_pairs as f64 }
    }

    #[cfg(test)]
    pub(super) fn names(&self) -> Vec<(&'static str, usize)> {
        let ends = self.traits.iter().skip(1).map(|(_, start)| *start).chain([self.levels.len()]);
        self.traits.iter().zip(ends).map(|((name, start), end)| (*name, end - start)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::traits::TRAITS;
    use super::*;

    #[test]
    fn the_table_has_a_weight_for_each_level_of_each_trait() {
        let weights = Weights::shared();
        let names: Vec<(&str, usize)> = TRAITS.iter().map(|(name, n)| (*name, usize::from(*n))).collect();
        assert_eq!(weights.names(), names);
        assert_eq!(weights.pairs.len(), N_LETTERS * N_LETTERS);
    }

    #[test]
    fn random_letters_are_odder_than_words() {
        let weights = Weights::shared();
        for word in ["password", "configuration", "lantern", "retry_after_seconds"] {
            assert!(weights.oddness(word) < 4.5, "{word} {}", weights.oddness(word));
        }
        for letters in ["xkqjvzwb", "qhTzkWpv", "zgqxvkd"] {
            assert!(weights.oddness(letters) > 6.0, "{letters} {}", weights.oddness(letters));
        }
        assert!(weights.oddness("12-3a") < 0.1);
    }
}
