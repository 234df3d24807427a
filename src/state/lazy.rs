//! A value that is built when it is first needed, and updated from state to state afterwards.

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

/// Readers wait only while a pointer is copied, except for those that need a value that is not built yet.
#[derive(Debug)]
pub(crate) struct Lazy<T> {
    made: RwLock<Option<Arc<T>>>,
    /// One thread builds at a time; the others would build the same value.
    maker: Mutex<()>,
}

impl<T> Default for Lazy<T> {
    fn default() -> Self {
        Self { made: RwLock::new(None), maker: Mutex::new(()) }
    }
}

impl<T> From<T> for Lazy<T> {
    fn from(made: T) -> Self {
        Self { made: RwLock::new(Some(Arc::new(made))), maker: Mutex::new(()) }
    }
}

impl<T> Lazy<T> {
    pub(crate) fn get(&self) -> Option<Arc<T>> {
        self.made.read().clone()
    }

    /// The value if it is built; otherwise `make` builds it.
    ///
    /// # Errors
    /// The errors of `make`; the value is unchanged then.
    pub(crate) fn get_or_make<E>(
        &self,
        is_ready: impl Fn(&T) -> bool,
        make: impl FnOnce(Option<Arc<T>>) -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        if let Some(ready) = self.get().filter(|made| is_ready(made)) {
            return Ok(ready);
        }
        let _one_at_a_time = self.maker.lock();
        let known = self.get();
        if let Some(ready) = known.as_ref().filter(|made| is_ready(made)) {
            return Ok(Arc::clone(ready));
        }
        let ready = Arc::new(make(known)?);
        *self.made.write() = Some(Arc::clone(&ready));
        Ok(ready)
    }

    /// The value for another state, derived from this one if it is built.
    pub(crate) fn carried(&self, follow: impl FnOnce(&mut T)) -> Self
    where
        T: Clone,
    {
        let made = self.get().map(|known| {
            let mut next = T::clone(&known);
            follow(&mut next);
            Arc::new(next)
        });
        Self { made: RwLock::new(made), maker: Mutex::new(()) }
    }
}
