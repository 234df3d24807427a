//! While git writes, and after it was interrupted: its files are there, and its index does not list them yet.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::checks::{attack, check};
use super::ground::{Ground, HOSTILE, MEMORY, OWN, TASK, write};
use super::rows::{edit_rows, hostile_row, put_skill};

/// A repository with a commit, and a private memory in it with a lesson of the user.
fn private(ground: &Ground) -> PathBuf {
    let project = ground.folder("project");
    ground.user.git(&project, &["init", "-q"]);
    fs::write(project.join("README"), "one").unwrap();
    ground.user.git(&project, &["add", "README"]);
    ground.user.git(&project, &["commit", "-q", "-m", "first"]);
    ground.learns(&project);
    project
}

/// What git leaves in its data folder while it writes.
type Mark = (&'static str, fn(&Path));

const MARKS: [Mark; 8] = [
    ("index.lock", |git| write(&git.join("index.lock"), "")),
    ("no index beside a commit", |git| fs::remove_file(git.join("index")).unwrap()),
    ("no index, and a lock", |git| fs::rename(git.join("index"), git.join("index.lock")).unwrap()),
    ("MERGE_HEAD", |git| write(&git.join("MERGE_HEAD"), "0")),
    ("CHERRY_PICK_HEAD", |git| write(&git.join("CHERRY_PICK_HEAD"), "0")),
    ("REVERT_HEAD", |git| write(&git.join("REVERT_HEAD"), "0")),
    ("a rebase", |git| fs::create_dir_all(git.join("rebase-merge")).unwrap()),
    ("git am", |git| fs::create_dir_all(git.join("rebase-apply")).unwrap()),
];

fn brings(project: &Path) {
    edit_rows(&project.join(MEMORY), |rows| rows.insert(0, hostile_row()));
    put_skill(&project.join(MEMORY), "quagga-docs", HOSTILE);
}

#[test]
fn what_git_may_be_writing_awaits_admission() {
    let attacks = MARKS.map(|(name, leave)| {
        attack(name, move |ground| {
            let project = private(ground);
            brings(&project);
            let git = project.join(".git");
            leave(&git);
            ground.is_silent(&ground.user, &project, name);
            ground.speaks(&ground.user, &project, OWN, name);
            let check = ground.user.adage(&project, &["hook", "prompt"]);
            ground.claim(!check.says(HOSTILE), format!("{name}: a hook speaks: {}", check.brief()));
        })
    });
    check(&attacks);
}

#[test]
fn when_git_is_done_the_folder_is_as_before() {
    check(&[
        attack("the lock is gone and the index lists nothing of the memory: hand edits are the user's", |ground| {
            let project = private(ground);
            let lock = project.join(".git/index.lock");
            fs::write(&lock, "").unwrap();
            ground.does(&ground.user, &project, &["context", TASK]);
            fs::remove_file(&lock).unwrap();
            edit_rows(&project.join(MEMORY), |rows| {
                rows[0]["correct_pattern"] = json!("call okapi by hand");
                rows[0]["solution"] = json!("call okapi by hand");
            });
            ground.speaks(&ground.user, &project, "okapi by hand", "edited by hand");
        }),
        attack("what came in the window and is tracked by then waits for good", |ground| {
            let project = private(ground);
            let lock = project.join(".git/index.lock");
            fs::write(&lock, "").unwrap();
            brings(&project);
            ground.does(&ground.user, &project, &["learn", "--trigger", "another topic", "--solution", "okapi again"]);
            fs::remove_file(&lock).unwrap();
            ground.user.git(&project, &["add", "-f", MEMORY]);
            ground.is_silent(&ground.user, &project, "tracked");
            ground.user.git(&project, &["rm", "-q", "-r", "--cached", MEMORY]);
            ground.is_silent(&ground.user, &project, "tracked once");
        }),
        attack("a repository without a commit has no index, and its memory is the user's", |ground| {
            let project = ground.folder("new");
            ground.user.git(&project, &["init", "-q"]);
            ground.learns(&project);
            edit_rows(&project.join(MEMORY), |rows| {
                rows[0]["correct_pattern"] = json!("call okapi by hand");
                rows[0]["solution"] = json!("call okapi by hand");
            });
            ground.speaks(&ground.user, &project, "okapi by hand", "no commit yet");
        }),
    ]);
}

#[test]
fn a_shared_folder_is_tracked_from_its_first_hour() {
    check(&[attack("a pull before git lists the folder", |ground| {
        let project = ground.folder("project");
        ground.user.git(&project, &["init", "-q"]);
        ground.does(&ground.user, &project, &["init", "--shared"]);
        ground.learns(&project);
        brings(&project);
        ground.is_silent(&ground.user, &project, "shared");
        ground.speaks(&ground.user, &project, OWN, "shared");
    })]);
}

#[test]
fn the_work_tree_that_the_settings_name_counts() {
    for (name, value) in [("a parent", "../.."), ("itself", "..")] {
        check(&[attack(format!("core.worktree is {name}"), move |ground| {
            let project = private(ground);
            ground.user.git(&project, &["config", "core.worktree", value]);
            brings(&project);
            ground.user.git(&project, &["add", "-f", MEMORY]);
            ground.is_silent(&ground.user, &project, "tracked through core.worktree");
        })]);
    }
}

/// A server that runs on.
struct Server {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Server {
    fn start(ground: &Ground, project: &Path) -> Self {
        let mut command = ground.user.command(project, &["mcp"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut server = Self { child, lines };
        let client =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
        server.ask(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}));
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, message: &Value) -> String {
        self.send(message);
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }

    fn recall(&mut self) -> String {
        let call = json!({"name": "recall", "arguments": {"query": TASK}});
        self.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_open_server_judges_what_it_reads_by_the_index_of_that_time() {
    check(&[
        attack("the index lists the folder after the server read it, and a pull brings more", |ground| {
            let project = private(ground);
            let mut server = Server::start(ground, &project);
            ground.claim(server.recall().contains(OWN), "the user's lesson is not recalled");
            ground.user.git(&project, &["add", "-f", MEMORY]);
            brings(&project);
            let answer = server.recall();
            ground.claim(!answer.contains(HOSTILE), format!("the server speaks: {answer}"));
            ground.claim(answer.contains(OWN), format!("the user's lesson is gone: {answer}"));
        }),
        attack("git locks its index, then writes, then renames it", |ground| {
            let project = private(ground);
            let mut server = Server::start(ground, &project);
            ground.claim(server.recall().contains(OWN), "the user's lesson is not recalled");
            let lock = project.join(".git/index.lock");
            fs::write(&lock, "").unwrap();
            brings(&project);
            let during = server.recall();
            ground.claim(!during.contains(HOSTILE), format!("the server speaks meanwhile: {during}"));
            fs::remove_file(&lock).unwrap();
            ground.user.git(&project, &["add", "-f", MEMORY]);
            let after = server.recall();
            ground.claim(!after.contains(HOSTILE) && after.contains(OWN), format!("afterwards: {after}"));
        }),
    ]);
}
