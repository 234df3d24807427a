//! The random numbers that decide which lessons are withheld.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::lesson::{LessonId, TextHash};

/// The source of randomness: the system, or a seed.
#[derive(Debug, Default)]
pub(crate) struct Chance {
    seed: Option<u64>,
    n_draws: AtomicU64,
}

/// The random seed of one retrieval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw(TextHash);

impl Chance {
    pub(crate) fn new(seed: Option<u64>) -> Self {
        Self { seed, n_draws: AtomicU64::new(0) }
    }

    pub(crate) fn draw(&self) -> Draw {
        Draw(match self.seed {
            None => TextHash::of(&[uuid::Uuid::new_v4().as_bytes()]),
            Some(seed) => {
                let place = self.n_draws.fetch_add(1, Ordering::Relaxed);
                TextHash::of(&[seed.to_le_bytes(), place.to_le_bytes()])
            }
        })
    }
}

impl Draw {
    /// A uniformly distributed number in [0, 1), independent for each lesson.
    pub(crate) fn number_for(self, lesson: LessonId) -> f64 {
        const BITS: u32 = 53;
        let hash = TextHash::of(&[self.0.as_bytes().as_slice(), lesson.to_string().as_bytes()]);
        let high = hash.as_bytes().iter().take(8).fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
        (high >> (u64::BITS - BITS)) as f64 / (1_u64 << BITS) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::lesson;

    #[test]
    fn numbers_are_even_and_a_seed_repeats_them() {
        let (one, two) = (lesson("one", "s").id, lesson("two", "s").id);
        let numbers = |seed| {
            let chance = Chance::new(seed);
            (0..4_000).map(|_| chance.draw()).map(|draw| [one, two].map(|id| draw.number_for(id))).collect::<Vec<_>>()
        };
        let seeded = numbers(Some(7));
        assert_eq!(seeded, numbers(Some(7)));
        assert_ne!(seeded, numbers(Some(8)));
        assert_ne!(numbers(None), numbers(None));
        // Four standard deviations of a share of 4,000.
        let share =
            |is_in: &dyn Fn(&[f64; 2]) -> bool| seeded.iter().filter(|pair| is_in(pair)).count() as f64 / 4_000.0;
        assert!((share(&|pair| pair[0] < 0.2) - 0.2).abs() < 0.026);
        assert!((share(&|pair| pair[1] < 0.2) - 0.2).abs() < 0.026);
        assert!((share(&|pair| pair[0] < 0.2 && pair[1] < 0.2) - 0.04).abs() < 0.013);
    }
}
