//! Something that is made of a state when it is first needed, and carried on to the next states from then on.

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

/// Nobody waits for it longer than a pointer takes to copy, but for those that need it where it is not there yet.
#[derive(Debug)]
pub(crate) struct Part<T> {
    made: RwLock<Option<Arc<T>>>,
    /// One maker at a time: the others would make the same.
    maker: Mutex<()>,
}

impl<T> Default for Part<T> {
    fn default() -> Self {
        Self { made: RwLock::new(None), maker: Mutex::new(()) }
    }
}

impl<T> From<T> for Part<T> {
    fn from(made: T) -> Self {
        Self { made: RwLock::new(Some(Arc::new(made))), maker: Mutex::new(()) }
    }
}

impl<T> Part<T> {
    pub(crate) fn get(&self) -> Option<Arc<T>> {
        self.made.read().clone()
    }

    /// As it is, if it is ready; otherwise what `make` makes of it.
    ///
    /// # Errors
    /// Those of `make`; it stays as it was.
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

    /// The part of another state, made of this one where there is one.
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
