//! The campaign of faults against the real program: `adage-torture PROGRAM [SCALE [FAULT]]`. It prints one row per fault, and ends with 1 if
//! anything acknowledged was lost, doubled, revived or changed in silence.
//!
//! A scale of 1 is the short form for CI; the counts grow with it. FAULT is a part of the name of the faults that are wanted.
//! `adage-torture --growth [SIZE…]` measures instead what a memory costs as it grows.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program for the people who work on adage"
)]

mod contention;
mod faults;
mod growth;
mod memory;
mod points;
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;

use memory::Program;

/// What became of the cases of one fault.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) cases: usize,
    /// The state is the one that was acknowledged.
    pub(crate) same: usize,
    /// Something is not as it was, and the program says so.
    pub(crate) told: usize,
    /// Something is not as it was, and nobody is told.
    pub(crate) silent: usize,
}

/// The one fault that needs a program of the system.
const POINTS: &str = "kill before each call that writes, of 16 commands";

/// What the program does instead of the campaign, by its first argument.
type Other = fn(&[String]) -> Result<(), memory::Failure>;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    let others: [(&str, Other); 2] = [(worker::ARGUMENT, worker::work), (growth::ARGUMENT, growth::growth)];
    for (name, run) in others {
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

/// True when nothing was lost in silence.
fn campaign(program: &Program, scale: usize, wanted: &str) -> Result<bool, memory::Failure> {
    type Fault = fn(&Program, usize) -> Result<Tally, memory::Failure>;
    let all: [(&str, Fault); 8] = [
        ("kill at a random moment of a learn or a removal", faults::kills),
        (POINTS, points::points),
        ("a flipped bit, the file's times restored", faults::flips),
        ("a file that is cut, at the end of a line too, its times restored", faults::cuts),
        ("a write that fails: no space left", faults::full_disk),
        ("what editors, merges and sync tools leave", faults::edits),
        ("a stopped holder of the lock", faults::holders),
        ("8 processes of 64 threads, holders of the lock stopped now and then", contention::contention),
    ];
    println!("| fault | cases | as acknowledged | not, and told | **not, and silent** |\n|---|--:|--:|--:|--:|");
    let mut is_clean = true;
    for (name, fault) in all.into_iter().filter(|(name, _)| name.contains(wanted)) {
        if name == POINTS && !points::are_there() {
            println!("| {name} | NOT MEASURED: it needs the program strace | | | |");
            continue;
        }
        let Tally { cases, same, told, silent } = fault(program, scale)?;
        println!("| {name} | {cases} | {same} | {told} | {silent} |");
        is_clean &= silent == 0 && cases > 0;
    }
    Ok(is_clean)
}
