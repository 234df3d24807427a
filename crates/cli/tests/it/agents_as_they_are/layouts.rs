//! Repositories as people lay them out: which folders share a memory.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{cases, check, text};
use crate::home::Home;

const TRIGGER: &str = "installing the HTTP library";

fn run(script: &str, folder: &Path) {
    let mut command = Command::new("bash");
    command.args(["-c", &format!("set -e\n{script}")]).current_dir(folder);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", folder);
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "a").env(format!("GIT_{role}_EMAIL"), "a@example.com");
    }
    let done = command.output().unwrap();
    assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
}

fn fault(case: &Value) -> Option<String> {
    let home = Home::new();
    let ground = home.folder("ground");
    run(text(case, "setup"), &ground);
    let learned = home.call(
        &ground.join(text(case, "run_in")),
        &["learn", "--trigger", TRIGGER, "--solution", "The package is called requests."],
    );
    if learned.code != 0 {
        return Some(format!("nothing is learned: {}", learned.err));
    }
    let is_in = |folder: &str| home.call(&ground.join(folder), &["list"]).out.contains(TRIGGER);
    let folders = |key: &str| case[key].as_array().into_iter().flatten().map(|folder| folder.as_str().unwrap());
    let missing = folders("read_in").find(|folder| !is_in(folder)).map(|folder| format!("it is not found in {folder}"));
    let missing = missing
        .or_else(|| folders("not_in").find(|folder| is_in(folder)).map(|folder| format!("it is found in {folder}")));
    if missing.is_some() || text(case, "after").is_empty() {
        return missing;
    }
    run(text(case, "after"), &ground);
    folders("read_after").find(|folder| !is_in(folder)).map(|folder| format!("it is not found in {folder} afterwards"))
}

#[test]
fn all_worktrees_of_a_repository_share_its_memory() {
    check("layouts", &cases("layouts"), fault);
}
