//! Measures which pairs of lessons merge, and what a request then shows of them.
//!
//! ```text
//! cargo run --release --example merging -- [--pairs FILE]... [--dups FILE]... [--classic] [--show]
//! ```
//!
//! FILE of `--pairs` holds `id`, `kind` and two lessons, `a` and `b`, of which `b` is learned later: `exchanged` (they differ in a
//! word or two), `reworded` (duplicates), `correction` (`b` revokes `a`), `adds` (another mistake in the same situation),
//! `unrelated-near`. FILE of `--dups` holds two texts, `a` and `b`, and `dup`, 0 or 1. Each pair is learned in its own project.
//! `--classic` measures `Config::classic()`; `--show` prints the result for each pair.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program, not a library")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use adage::embed::{Engine, Model};
use adage::{Config, Embedder, OnnxEmbedder};
use adage_eval::{PairOutcome, measure_duplicates, measure_pairs, read_rows};

type Failure = Box<dyn Error>;

#[derive(Default)]
struct Options {
    pairs: Vec<String>,
    dups: Vec<String>,
    is_classic: bool,
    shows: bool,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            let mut file = || arguments.next().ok_or(format!("{argument} needs a file"));
            match argument.as_str() {
                "--pairs" => options.pairs.push(file()?),
                "--dups" => options.dups.push(file()?),
                "--classic" => options.is_classic = true,
                "--show" => options.shows = true,
                other => return Err(format!("unknown option {other}").into()),
            }
        }
        if options.pairs.is_empty() && options.dups.is_empty() {
            return Err("NOTHING MEASURED: give a file with --pairs or --dups".into());
        }
        Ok(options)
    }
}

fn main() -> Result<(), Failure> {
    let options = Options::parse(std::env::args().skip(1))?;
    let config = if options.is_classic { Config::classic() } else { Config::default() };
    let embedder: Arc<dyn Embedder> = Arc::new(OnnxEmbedder::new(Model::bundled(), Engine::BuiltIn));
    for file in &options.pairs {
        let (reports, outcomes) = measure_pairs(&read_rows(Path::new(file))?, &config, &embedder)?;
        show(&outcomes, options.shows);
        println!(
            "| kind | pairs | merged | merged or asked | both shown | newer first | … and the older marked | … or not shown |\n|---|---|---|---|---|---|---|---|"
        );
        for report in reports {
            let shares = [
                report.merged,
                report.merged_or_asked,
                report.both_shown,
                report.newer_first,
                report.older_marked,
                report.older_marked_or_not_shown,
            ];
            let shares = shares.map(|share| format!(" {:.1}% |", 100.0 * share)).concat();
            println!("| {} | {} |{shares}", report.kind, report.pairs);
        }
    }
    for file in &options.dups {
        let (report, outcomes) = measure_duplicates(&read_rows(Path::new(file))?, &config, &embedder)?;
        show(&outcomes, options.shows);
        println!("{} pairs, {} duplicates", report.pairs, report.duplicates);
        println!("merged: precision {:.3}, recall {:.3}", report.precision, report.recall);
        println!("merged or asked: precision {:.3}, recall {:.3}", report.asked_precision, report.asked_recall);
    }
    Ok(())
}

fn show(outcomes: &[PairOutcome], shows: bool) {
    for outcome in outcomes.iter().filter(|_| shows) {
        let mark = if outcome.is_right { "right" } else { "WRONG" };
        println!("{mark} {} {}: {}", outcome.kind, outcome.id, outcome.outcome);
    }
}
