//! What a Python object holds of an open memory.

use std::process;

use parking_lot::Mutex;
use pyo3::prelude::*;
use serde::Serialize;

use crate::embedder;
use crate::errors::{Failure, raise};

/// An open memory. It is refused after `close`, in another process than the one that opened it, and to an embedder that the memory
/// itself called.
pub(crate) struct Handle<T: Send> {
    open: Mutex<Option<T>>,
    process: u32,
}

impl<T: Clone + Send + Sync> Handle<T> {
    pub(crate) fn new(memory: T) -> Self {
        Self { open: Mutex::new(Some(memory)), process: process::id() }
    }

    /// Does the work without Python's lock. An interrupt that an embedder or a model received while it worked is raised afterwards.
    pub(crate) fn call<R: Send, E: Into<Failure>>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&T) -> Result<R, E> + Send,
    ) -> PyResult<R> {
        let memory = self.get(py)?;
        let result = py.detach(move || {
            let result = work(&memory).map_err(Into::into);
            // The last one to drop a memory writes its counts, which may wait for other processes.
            drop(memory);
            result
        });
        match embedder::take_interrupt() {
            Some(interrupt) => Err(interrupt),
            None => result.map_err(|failure| raise(py, &failure)),
        }
    }

    /// As [`Handle::call`], with the result as JSON.
    pub(crate) fn answer<R: Serialize, E: Into<Failure>>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&T) -> Result<R, E> + Send,
    ) -> PyResult<String> {
        self.call(py, |memory| {
            let result = work(memory).map_err(Into::into)?;
            serde_json::to_string(&result).map_err(Failure::from)
        })
    }

    pub(crate) fn close(&self, py: Python<'_>) {
        if let Some(memory) = self.take() {
            py.detach(|| drop(memory));
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        process::id() == self.process && self.open.lock().is_some()
    }

    fn get(&self, py: Python<'_>) -> PyResult<T> {
        let refusal = if process::id() != self.process {
            // The lock may be held by a thread that this process does not have.
            Failure::Forked
        } else if embedder::is_running() {
            Failure::WithinEmbedder
        } else {
            match self.open.lock().as_ref() {
                Some(memory) => return Ok(memory.clone()),
                None => Failure::Closed,
            }
        };
        Err(raise(py, &refusal))
    }

    fn take(&self) -> Option<T> {
        if process::id() == self.process { self.open.lock().take() } else { None }
    }
}

impl<T: Send> Drop for Handle<T> {
    fn drop(&mut self) {
        let memory = self.open.get_mut().take();
        if process::id() == self.process {
            Python::attach(|py| py.detach(|| drop(memory)));
        } else {
            // Its counts belong to the process that opened it, which writes them.
            std::mem::forget(memory);
        }
    }
}
