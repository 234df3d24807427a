//! Related commands on recorded failures and their fixes, which are not part of the repository.
//!
//! `ADAGE_DATA` names the folder that holds `commands/failures.jsonl` (`rule`, `command`, `output`, `fixes`) and
//! `commands/nonmatches.jsonl` (`rule`, `command`, `output`: a command that the rule leaves alone, with no fix).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use adage::transcript::{CommandLine, Relation};
use serde_json::Value;

fn rows(folder: &Path, file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("commands").join(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn command(row: &Value) -> CommandLine {
    CommandLine::parse(row["command"].as_str().unwrap())
}

/// A number that looks random, the same on every machine: splitmix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[test]
fn fixes_are_related_to_their_failures_and_other_commands_are_not() {
    let Some(folder) = std::env::var_os("ADAGE_DATA").map(PathBuf::from) else {
        use std::io::Write;
        // Straight to standard error: the test runner keeps the output of tests that pass to itself.
        let text = "NOT MEASURED: related commands; set ADAGE_DATA to the folder with commands/failures.jsonl";
        writeln!(std::io::stderr(), "{text}").unwrap();
        return;
    };
    let failures: Vec<Value> = rows(&folder, "failures.jsonl")
        .into_iter()
        .filter(|row| row["output"].as_str().is_some_and(|text| !text.is_empty()) && row["fixes"].get(0).is_some())
        .collect();
    assert!(failures.len() >= 100, "only {} failures with output and fix", failures.len());

    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    let mut missed = Vec::new();
    for row in &failures {
        let fixes = row["fixes"].as_array().unwrap().iter();
        let relations = fixes.map(|fix| command(row).relation_to(&CommandLine::parse(fix.as_str().unwrap())));
        match relations.flatten().min() {
            Some(relation) => *found.entry(format!("{relation:?}")).or_default() += 1,
            None => missed.push(format!("{} → {}", row["command"], row["fixes"])),
        }
    }
    let recall = 1.0 - missed.len() as f64 / failures.len() as f64;

    // Unrelated pairs: the fix of another rule, drawn with a seed, for a failing command or one that needed no fix.
    let mut seed = 2_026;
    let (mut n_pairs, mut n_close, mut strangers, mut n_same_program) = (0, 0, Vec::new(), 0);
    for row in failures.iter().chain(&rows(&folder, "nonmatches.jsonl")) {
        for _ in 0..10 {
            let other = &failures[next(&mut seed) as usize % failures.len()];
            if other["rule"] == row["rule"] {
                continue;
            }
            let (line, fix) = (command(row), CommandLine::parse(other["fixes"][0].as_str().unwrap()));
            n_pairs += 1;
            match line.relation_to(&fix) {
                Some(Relation::SameProgram) => n_same_program += 1,
                Some(relation) => {
                    n_close += 1;
                    strangers.push(format!("{relation:?}: {} / {}", line.text(), fix.text()));
                }
                None => {}
            }
        }
    }
    let share = |count: usize| count as f64 / f64::from(n_pairs);
    let report = format!(
        "related {recall:.3} {found:?}\nmissed:\n{}\n{n_pairs} strangers: {:.4} closely related, {:.4} by the program alone\n{}",
        missed.join("\n"),
        share(n_close),
        share(n_same_program),
        strangers.join("\n")
    );
    assert!(recall >= 0.98, "{report}");
    // These are not unrelated: two rules on `git push`, two on `git branch`.
    assert!(share(n_close) <= 0.02, "{report}");
}
