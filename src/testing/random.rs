//! Numbers for cases that are drawn.

#![allow(clippy::disallowed_methods, reason = "the environment says how many cases a test looks at")]

/// Numbers with a fixed seed (`SplitMix64`, Steele et al., OOPSLA 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Below `n`, or 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % n.max(1) as u64).unwrap()
    }

    pub(crate) fn of<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.below(list.len()))
    }
}

/// How many cases of a kind: what the environment says, for the long form of a test, or its short form.
pub(crate) fn n_cases(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}
