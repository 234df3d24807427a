//! Measures the lesson memory adage: `eval` on data sets; `calibrate`, `effect` and `replay` on a playbook of your own.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods, reason = "a program, not a library")]

mod commands;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use commands::calibrate::Calibrate;
use commands::credit::{Effect, Replay};
use commands::eval::Eval;

/// Measurements of the lesson memory adage.
#[derive(Parser)]
#[command(name = "adage-eval", version)]
struct Program {
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure retrieval and merging on folders of data; prints a table, and can write a page with plots
    Eval(Eval),
    /// Tune when to show lessons and when to show none, from your own queries and the lesson that answers each
    Calibrate(Calibrate),
    /// Estimate how showing a lesson changed outcomes, from receipts with random withholding (settings: credit)
    Effect(Effect),
    /// Estimate the outcomes under another gate, from a log of receipts
    Replay(Replay),
}

fn main() -> ExitCode {
    let program = Program::parse();
    let answer = match &program.command {
        Command::Eval(asked) => asked.run(),
        Command::Calibrate(asked) => asked.run(),
        Command::Effect(asked) => asked.run(),
        Command::Replay(asked) => asked.run(),
    };
    match answer {
        Ok(answer) if program.json => println!("{}", answer.json),
        Ok(answer) => println!("{}", answer.text),
        Err(error) => {
            eprintln!("adage-eval: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
