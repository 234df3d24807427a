//! Injects faults into the real program and checks that no acknowledged write is lost, duplicated, restored or changed silently.
//!
//! ```text
//! adage-torture PROGRAM [SCALE [FAULT]]
//! adage-torture --growth [SIZE…]
//! ```
//!
//! PROGRAM is the binary `adage`. It prints one row per kind of fault; the exit code is 1 if there was any silent loss. SCALE multiplies
//! the number of cases: 1, the default, is the short form for CI. FAULT runs only the faults whose names contain it. `--growth`
//! measures times and memory by the number of lessons instead.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods, reason = "a program, not a library")]

mod contention;
mod edits;
mod faults;
mod growth;
mod memory;
mod system_calls;
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;

use memory::Program;

/// The results of the cases of one fault.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) cases: usize,
    /// The state is the acknowledged one.
    pub(crate) same: usize,
    /// The state differs, and the program reports it.
    pub(crate) reported: usize,
    /// The state differs, and nothing reports it.
    pub(crate) silent: usize,
}

impl Tally {
    /// Counts a case. A silent difference is printed.
    pub(crate) fn count(&mut self, case: &str, is_same: bool, is_reported: bool) {
        self.cases += 1;
        match (is_same, is_reported) {
            (true, _) => self.same += 1,
            (false, true) => self.reported += 1,
            (false, false) => {
                eprintln!("silent: {case}");
                self.silent += 1;
            }
        }
    }
}

/// The fault that needs `strace`.
const SYSTEM_CALLS: &str = "kill before each call that writes, of 16 commands";

/// A mode other than the campaign, chosen by the first argument.
type Mode = fn(&[String]) -> Result<(), memory::Failure>;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    let modes: [(&str, Mode); 2] = [(worker::ARGUMENT, worker::work), (growth::ARGUMENT, growth::growth)];
    for (name, run) in modes {
        if arguments.next_if(|argument| argument == name).is_some() {
            return match run(&arguments.collect::<Vec<_>>()) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("adage-torture: {error}");
                    ExitCode::from(2)
                }
            };
        }
    }
    let Some(program) = arguments.next().map(PathBuf::from) else {
        eprintln!("usage: adage-torture PROGRAM [SCALE [FAULT]]");
        return ExitCode::from(2);
    };
    let scale = arguments.next().and_then(|scale| scale.parse().ok()).unwrap_or(1);
    match campaign(&Program(program), scale, &arguments.next().unwrap_or_default()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("adage-torture: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs the faults whose names contain `wanted`; true if every one had cases and none a silent loss.
fn campaign(program: &Program, scale: usize, wanted: &str) -> Result<bool, memory::Failure> {
    type Fault = fn(&Program, usize) -> Result<Tally, memory::Failure>;
    let all: [(&str, Fault); 8] = [
        ("kill at a random moment of a learn or a removal", faults::kills),
        (SYSTEM_CALLS, system_calls::kills),
        ("a flipped bit, the file's times restored", faults::flips),
        ("a truncated file, at the end of a line too, its times restored", faults::cuts),
        ("a write that fails: no space left", faults::full_disk),
        ("edits as editors, merges and sync tools leave them", edits::edits),
        ("a stopped holder of the lock", faults::holders),
        ("8 processes of 64 threads, holders of the lock stopped now and then", contention::contention),
    ];
    println!(
        "| fault | cases | as acknowledged | different, reported | **different, silent** |\n|---|--:|--:|--:|--:|"
    );
    let mut is_clean = true;
    for (name, fault) in all.into_iter().filter(|(name, _)| name.contains(wanted)) {
        if name == SYSTEM_CALLS && !system_calls::has_strace() {
            println!("| {name} | NOT MEASURED: it needs the program strace | | | |");
            continue;
        }
        let Tally { cases, same, reported, silent } = fault(program, scale)?;
        println!("| {name} | {cases} | {same} | {reported} | {silent} |");
        is_clean &= silent == 0 && cases > 0;
    }
    Ok(is_clean)
}
