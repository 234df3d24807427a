//! The compiled part of the Python package `adage`.
//!
//! Structured arguments and results cross the border as JSON, with the names that the command line prints: the classes of
//! `python/adage/_types.py` are made of them. Vectors cross it as arrays. No call holds Python's lock while it works.

mod documents;
mod embedder;
mod errors;
mod filter;
mod handle;
mod learned;
mod logging;
mod playbook;
mod program;
mod request;
mod review;
mod sessions;
mod settings;
mod skills;

use pyo3::prelude::*;

/// The compiled part of the package `adage`. Use the classes of `adage`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::documents::NativeDocuments;
    #[pymodule_export]
    use crate::embedder::embed;
    #[pymodule_export]
    use crate::playbook::NativePlaybook;
    #[pymodule_export]
    use crate::program::run;
    #[pymodule_export]
    use crate::review::NativeReview;
    #[pymodule_export]
    use crate::sessions::NativeSessions;
    #[pymodule_export]
    use crate::skills::NativeSkills;
}
