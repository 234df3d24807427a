//! The file that runs this program, for processes and agents that are to call it.

use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

static HOST: OnceLock<PathBuf> = OnceLock::new();

/// Names the file, for a program whose process is another one's, such as an interpreter's. The first call counts.
pub(crate) fn set(program: PathBuf) {
    HOST.get_or_init(|| program);
}

/// The file that runs this program.
///
/// # Errors
/// The operating system's, if nothing was set.
pub(crate) fn path() -> io::Result<PathBuf> {
    HOST.get().map_or_else(std::env::current_exe, |program| Ok(program.clone()))
}
