//! Numbers in memory, or in a section of a file until they are changed.

use std::ops::Deref;
use std::sync::Arc;

use bytemuck::AnyBitPattern;

/// The bytes of a section, in memory or in a mapped file; aligned to 64.
pub type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A list of numbers. Clones of a stored one share it.
#[derive(Clone)]
pub(crate) struct Shared<T> {
    stored: Option<Bytes>,
    /// Empty while it is stored.
    own: Vec<T>,
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self { stored: None, own: Vec::new() }
    }
}

impl<T: AnyBitPattern> Shared<T> {
    /// `None` where the section is not made of whole numbers.
    pub(crate) fn stored(section: &Bytes) -> Option<Self> {
        bytemuck::try_cast_slice::<u8, T>(section.as_ref().as_ref()).ok()?;
        Some(Self { stored: Some(Arc::clone(section)), own: Vec::new() })
    }

    /// The list to be changed: a stored one is copied into memory first.
    pub(crate) fn to_mut(&mut self) -> &mut Vec<T> {
        if self.stored.is_some() {
            self.own = self.to_vec();
            self.stored = None;
        }
        &mut self.own
    }
}

impl<T: AnyBitPattern> Deref for Shared<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.stored {
            None => &self.own,
            // Whole numbers, as was found when it was made.
            Some(section) => bytemuck::try_cast_slice(section.as_ref().as_ref()).unwrap_or_default(),
        }
    }
}

impl<T: AnyBitPattern + std::fmt::Debug> std::fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
