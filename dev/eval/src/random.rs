//! Pseudo-random numbers.

/// Pseudo-random numbers (`SplitMix64`; Steele, Lea and Flood, OOPSLA 2014): the same seed gives the same numbers on every machine.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// A uniform number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// An integer in [0, n); 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.bits() % n.max(1) as u64).unwrap_or_default()
    }

    /// An approximately standard normal number: the sum of twelve uniform ones, less 6.
    #[must_use]
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// `n` of the items without replacement, in the order in which they are drawn; all of them if there are fewer.
    pub fn sample<T: Clone>(&mut self, items: &[T], n: usize) -> Vec<T> {
        let mut items = items.to_vec();
        for at in 0..n.min(items.len()) {
            let other = at + self.below(items.len() - at);
            items.swap(at, other);
        }
        items.truncate(n);
        items
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn sample_with_the_same_seed_draws_the_same_items() {
        let items: Vec<u32> = (0..100).collect();
        let drawn = Random(7).sample(&items, 10);
        assert_eq!(drawn, Random(7).sample(&items, 10));
        assert_ne!(drawn, Random(8).sample(&items, 10));
        let mut all = Random(7).sample(&items, 1_000);
        all.sort_unstable();
        assert_eq!(all, items);
    }
}
