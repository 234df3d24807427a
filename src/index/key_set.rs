//! interim
/// A set of keys.
#[derive(Clone, Debug, Default)]
pub struct KeySet(std::collections::BTreeSet<u32>);
impl KeySet {
    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// Whether the key is one of them.
    #[must_use]
    pub fn contains(&self, key: u32) -> bool {
        self.0.contains(&key)
    }
    /// In order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().copied()
    }
}
impl FromIterator<u32> for KeySet {
    fn from_iter<I: IntoIterator<Item = u32>>(keys: I) -> Self {
        Self(keys.into_iter().collect())
    }
}
