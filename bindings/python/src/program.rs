//! The command line, as the package brings it.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Runs the program `adage` on a command line, the program's own name first, and returns its exit code. `program` is the file that
/// runs it again.
#[pyfunction]
pub(crate) fn run(py: Python<'_>, words: Vec<OsString>, program: Option<PathBuf>) -> u8 {
    py.detach(move || {
        let code = match program {
            Some(program) => adage_cli::run_as(program, &words),
            None => adage_cli::run(&words),
        };
        // The interpreter does not flush this library's buffer. A closed pipe is not a failure.
        let _ = io::stdout().flush();
        number(code)
    })
}

/// The number of an exit code, which the standard library only compares.
fn number(code: ExitCode) -> u8 {
    (0..=u8::MAX).find(|number| ExitCode::from(*number) == code).unwrap_or(1)
}
