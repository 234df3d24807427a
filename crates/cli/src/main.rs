//! The program `adage`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    adage_cli::run(&words)
}
