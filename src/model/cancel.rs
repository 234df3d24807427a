//! Cancelling a call that another thread waits for.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// Cancels a long call. Clones share the state; a new token is not cancelled.
///
/// ```
/// let token = adage::model::CancelToken::default();
/// let theirs = token.clone();
/// assert!(!theirs.is_cancelled());
/// token.cancel();
/// assert!(theirs.is_cancelled());
/// ```
#[derive(Clone, Default)]
pub struct CancelToken(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_cancelled: bool,
    n_hooks: u64,
    hooks: BTreeMap<u64, Box<dyn FnOnce() + Send>>,
}

/// A registered hook; dropping it removes the hook.
#[must_use = "the hook goes when this is dropped"]
pub struct CancelHook {
    token: CancelToken,
    number: u64,
}

impl CancelToken {
    /// Cancels the token: hooks run now, on this thread, and waits end. Further calls have no effect.
    pub fn cancel(&self) {
        let hooks = {
            let mut state = self.0.state.lock();
            state.is_cancelled = true;
            self.0.changed.notify_all();
            std::mem::take(&mut state.hooks)
        };
        // Outside the lock, because a hook may use this token.
        for hook in hooks.into_values() {
            hook();
        }
    }

    /// True after the first `cancel`.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.state.lock().is_cancelled
    }

    /// Runs `hook` when the token is cancelled, at once if it is already. Use it to close the resource that the call is blocked
    /// on.
    pub fn on_cancel(&self, hook: impl FnOnce() + Send + 'static) -> CancelHook {
        let mut state = self.0.state.lock();
        let number = state.n_hooks;
        state.n_hooks += 1;
        if state.is_cancelled {
            drop(state);
            hook();
        } else {
            state.hooks.insert(number, Box::new(hook));
        }
        CancelHook { token: self.clone(), number }
    }

    /// Waits for `time`, or until the token is cancelled. Returns whether it is cancelled.
    #[must_use]
    pub fn wait(&self, time: Duration) -> bool {
        let mut state = self.0.state.lock();
        self.0.changed.wait_while_for(&mut state, |state| !state.is_cancelled, time);
        state.is_cancelled
    }
}

impl Drop for CancelHook {
    fn drop(&mut self) {
        self.token.0.state.lock().hooks.remove(&self.number);
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CancelToken").field(&self.is_cancelled()).finish()
    }
}

impl fmt::Debug for CancelHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelHook").field("number", &self.number).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn hooks_run_once_unless_they_were_taken_away() {
        let (token, count) = (CancelToken::default(), Arc::new(AtomicUsize::new(0)));
        let hook = || {
            let (token, count) = (token.clone(), Arc::clone(&count));
            move || {
                assert!(token.is_cancelled());
                count.fetch_add(1, Ordering::Relaxed);
            }
        };
        let kept = token.on_cancel(hook());
        drop(token.on_cancel(hook()));
        token.cancel();
        token.cancel();
        assert_eq!(count.load(Ordering::Relaxed), 1);
        let late = token.on_cancel(hook());
        assert_eq!(count.load(Ordering::Relaxed), 2);
        drop((kept, late));
    }

    #[test]
    fn a_wait_ends_with_the_time_or_with_the_token() {
        let token = CancelToken::default();
        assert!(!token.wait(Duration::from_millis(1)));
        let theirs = token.clone();
        let waiting = std::thread::spawn(move || theirs.wait(Duration::from_hours(1)));
        token.cancel();
        assert!(waiting.join().unwrap());
    }
}
