//! Simulates eviction policies on streams of tasks, and compares them with a policy that knows the future.
//!
//! ```text
//! cargo run --release --example retention -- [--seeds N] [--from SEED] [--tasks N] [--json]
//! ```
//!
//! `adage_eval::retention` describes streams, feedback and policies. Prints hits as a share of the clairvoyant policy's, with 95%
//! intervals over the seeds; with `--json` one row per policy and scenario.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program, not a library")]

use std::collections::BTreeMap;
use std::error::Error;

use adage_eval::retention::{FeedbackModel, Policy, RetentionRow, Scenario, Stream, Wording, simulate};
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut n_seeds, mut from, mut n_tasks, mut is_json) = (3, 0, 12_000, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().ok_or(format!("{argument} needs a number"));
        match argument.as_str() {
            "--seeds" => n_seeds = number()?.parse()?,
            "--from" => from = number()?.parse()?,
            "--tasks" => n_tasks = number()?.parse()?,
            "--json" => is_json = true,
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    let seeds: Vec<u64> = (from..from + n_seeds).collect();
    let rows = simulate(&Scenario::all(), &seeds, n_tasks);
    if is_json {
        for row in &rows {
            println!("{}", json!(row));
        }
        return Ok(());
    }
    println!(
        "| policy | 20 lessons | 50 | 200 | still | drift | bursts | one-off | clean | noisy | confounded | a quarter observed | same text | new text | first in |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let firsts = firsts(&rows);
    for policy in Policy::ALL {
        let first = firsts.get(policy.name()).copied().unwrap_or_default();
        let cells = cells(&rows, policy).join(" | ");
        println!("| {} | {cells} | {first} of {} |", policy.name(), Scenario::all().len());
    }
    Ok(())
}

/// The means of a policy by capacity, stream, feedback and wording.
fn cells(rows: &[RetentionRow], policy: Policy) -> Vec<String> {
    let mean = |is_included: &dyn Fn(&RetentionRow) -> bool| {
        let of: Vec<&RetentionRow> =
            rows.iter().filter(|row| row.policy == policy.name() && is_included(row)).collect();
        let n = of.len().max(1) as f64;
        let half = of.iter().map(|row| row.half_width.powi(2)).sum::<f64>().sqrt() / n;
        (of.iter().map(|row| row.mean).sum::<f64>() / n, half)
    };
    let sizes = [20, 50, 200].map(|size| mean(&|row| row.capacity == size));
    let streams = Stream::ALL.map(|stream| mean(&|row| row.capacity == 50 && row.stream == stream.name()));
    let feedback =
        FeedbackModel::ALL.map(|feedback| mean(&|row| row.capacity == 50 && row.outcomes == feedback.name()));
    let wordings = Wording::ALL.map(|wording| mean(&|row| row.capacity == 50 && row.wording == wording.name()));
    let sizes = sizes.map(|(mean, half)| format!("{mean:.3} ± {half:.3}"));
    let others = streams.into_iter().chain(feedback).chain(wordings).map(|(mean, _)| format!("{mean:.3}"));
    sizes.into_iter().chain(others).collect()
}

/// The number of scenarios in which each policy but the clairvoyant is first.
fn firsts(rows: &[RetentionRow]) -> BTreeMap<&'static str, usize> {
    let mut firsts = BTreeMap::new();
    for scenario in rows.chunks(Policy::ALL.len()) {
        let rivals = scenario.iter().filter(|row| row.policy != Policy::Clairvoyant.name());
        if let Some(first) = rivals.max_by(|a, b| a.mean.total_cmp(&b.mean)) {
            *firsts.entry(first.policy).or_default() += 1;
        }
    }
    firsts
}
