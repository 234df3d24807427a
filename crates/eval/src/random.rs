//! Pseudo-random numbers.

/// Pseudo-random numbers (splitmix64, by Sebastiano Vigna), so that a seed means the same draws everywhere.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// A number in [0, 1).
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.bits() % n.max(1) as u64).unwrap_or_default()
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// `n` of the items, in the order in which they are drawn; all if there are fewer.
    pub fn some<T: Clone>(&mut self, items: &[T], n: usize) -> Vec<T> {
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
    fn a_seed_means_the_same_draws() {
        let items: Vec<u32> = (0..100).collect();
        let drawn = Random(7).some(&items, 10);
        assert_eq!(drawn, Random(7).some(&items, 10));
        assert_ne!(drawn, Random(8).some(&items, 10));
        let mut all = Random(7).some(&items, 1_000);
        all.sort_unstable();
        assert_eq!(all, items);
    }
}
