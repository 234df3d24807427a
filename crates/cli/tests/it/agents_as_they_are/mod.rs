//! What agents and their clients really send, and the folders that people really have: cases that were written from the documents and the
//! bug reports of the agents, without knowledge of this program (tests/cases/agents).

mod hooks;
mod layouts;
mod mcp;
mod small;

use std::path::PathBuf;
use std::sync::Mutex;

use serde_json::Value;

/// The cases of a file.
fn cases(name: &str) -> Vec<Value> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/cases/agents/{name}.jsonl"));
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().filter(|line| !line.trim().is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case[key].as_str().unwrap_or_default()
}

/// Runs every case, several at a time. `fault` says what is wrong with the program's answer, if anything is.
#[track_caller]
#[expect(clippy::print_stdout, clippy::disallowed_macros, reason = "figures for a person, under --nocapture")]
fn check(name: &str, cases: &[Value], fault: impl Fn(&Value) -> Option<String> + Sync) {
    const WORKERS: usize = 4;
    let faults = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for first in 0..WORKERS {
            let (fault, faults) = (&fault, &faults);
            scope.spawn(move || {
                for case in cases.iter().skip(first).step_by(WORKERS) {
                    if let Some(fault) = fault(case) {
                        faults.lock().unwrap().push(format!("{}: {fault}", text(case, "name")));
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    println!("{name}: {} of {} right", cases.len() - faults.len(), cases.len());
    assert!(faults.is_empty() && !cases.is_empty(), "{name}:\n{}", faults.join("\n"));
}
