//! A server that runs on while another process, or git, changes what its memory's path leads to.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::checks::{attack, check};
use super::ground::{Ground, HOSTILE, MEMORY, OWN, TASK, copy};
use super::rows::{plant, put_skill};

/// A client of a server that the person runs in a folder.
struct Client {
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Client {
    fn new(ground: &Ground, directory: &Path) -> Self {
        let mut command = ground.user.command(directory, &["mcp"]);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (to, from) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
        let mut client = Self { server, to, from };
        let about =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        client.ask("initialize", &about);
        writeln!(client.to, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
        client
    }

    fn ask(&mut self, method: &str, params: &Value) -> String {
        writeln!(self.to, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).unwrap();
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        line
    }

    /// What every reading tool answers about the task.
    fn recall(&mut self) -> String {
        let mut call = |tool: &str, arguments: Value| {
            self.ask("tools/call", &json!({"name": tool, "arguments": arguments})).to_lowercase()
        };
        call("recall", json!({"query": TASK})) + &call("list", json!({}))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A repository of somebody else, of which the user has a clone, with a private memory in it and a running server.
struct Served<'a> {
    ground: &'a Ground,
    ours: PathBuf,
    theirs: PathBuf,
    client: Client,
}

impl<'a> Served<'a> {
    fn new(ground: &'a Ground) -> Self {
        let theirs = ground.folder("theirs");
        fs::write(theirs.join("README.md"), "# Docs\n").unwrap();
        let git = |arguments: &[&str]| ground.other.git(&theirs, arguments);
        git(&["init", "-q"]);
        git(&["add", "-A"]);
        git(&["commit", "-qm", "first"]);
        let ours = ground.path("ours");
        ground.user.git(&ground.folder("."), &["clone", "-q", theirs.to_str().unwrap(), ours.to_str().unwrap()]);
        ground.learns(&ours);
        let mut client = Client::new(ground, &ours);
        let said = client.recall();
        ground.claim(said.contains(OWN), format!("the server does not speak at all: {said:.200}"));
        Self { ground, ours, theirs, client }
    }

    /// The stranger commits a memory with a hostile row and skill on a branch; the user fetches it.
    fn branch(&self, change: impl Fn(&Path)) {
        let git = |arguments: &[&str]| self.ground.other.git(&self.theirs, arguments);
        git(&["checkout", "-qb", "feature"]);
        plant(&self.ground.other, &self.theirs);
        change(&self.theirs.join(MEMORY));
        git(&["add", "-Af"]);
        git(&["commit", "-qm", "docs"]);
        self.ground.user.git(&self.ours, &["fetch", "-q"]);
    }

    /// Nothing hostile is answered, now and after the next write.
    fn stays_silent(mut self, case: &str) {
        for when in ["at once", "again"] {
            let said = self.client.recall();
            self.ground.claim(!said.contains(HOSTILE), format!("{case}, {when}: {said:.300}"));
            let learn = json!({"trigger": format!("wash {when}"), "solution": "okapi", "mistake": "none"});
            self.client.ask("tools/call", &json!({"name": "learn", "arguments": learn}));
        }
    }
}

#[test]
fn a_running_server_judges_what_its_path_leads_to_by_now() {
    let checkout = |change: fn(&Path)| {
        move |ground: &Ground| {
            let served = Served::new(ground);
            served.branch(change);
            served.ground.user.git(&served.ours, &["checkout", "-qf", "feature"]);
            served.stays_silent("checked out");
        }
    };
    check(&[
        attack("a branch brings a memory with an id of its own", checkout(|_| {})),
        attack(
            "a branch brings a memory without an id",
            checkout(|memory| fs::remove_file(memory.join("id")).unwrap()),
        ),
        attack(
            "a branch brings a skill and no lessons",
            checkout(|memory| {
                for file in ["id", "skills_playbook.json"] {
                    fs::remove_file(memory.join(file)).unwrap();
                }
            }),
        ),
        attack("the project's folder is another one by now", |ground| {
            let served = Served::new(ground);
            let other = ground.folder("other");
            ground.other.git(&other, &["init", "-q"]);
            plant(&ground.other, &other);
            fs::rename(&served.ours, ground.path("away")).unwrap();
            fs::rename(&other, &served.ours).unwrap();
            served.stays_silent("renamed");
        }),
        attack("the memory is a link by now", |ground| {
            let served = Served::new(ground);
            plant(&ground.other, &ground.folder("other"));
            let other = ground.path("other").join(MEMORY);
            fs::rename(served.ours.join(MEMORY), ground.path("away")).unwrap();
            symlink(&other, served.ours.join(MEMORY)).unwrap();
            served.stays_silent("linked");
        }),
        attack("the memory is removed, and an unknown one copied to its place", |ground| {
            let served = Served::new(ground);
            plant(&ground.other, &ground.folder("other"));
            let other = ground.path("other").join(MEMORY);
            fs::remove_dir_all(served.ours.join(MEMORY)).unwrap();
            copy(&other, &served.ours.join(MEMORY));
            served.stays_silent("copied");
        }),
        attack("the user shares the memory, and a pull adds a skill to it", |ground| {
            let served = Served::new(ground);
            fs::remove_file(served.ours.join(MEMORY).join(".gitignore")).unwrap();
            let git = |arguments: &[&str]| ground.user.git(&served.ours, arguments);
            git(&["add", "-f", ".adage/skills_playbook.json"]);
            git(&["commit", "-qm", "share"]);
            git(&["push", "-q", "origin", "HEAD:shared"]);
            ground.other.git(&served.theirs, &["checkout", "-q", "shared"]);
            put_skill(&served.theirs.join(MEMORY), "docs", HOSTILE);
            ground.other.git(&served.theirs, &["add", "-Af"]);
            ground.other.git(&served.theirs, &["commit", "-qm", "skill"]);
            git(&["pull", "-q", "origin", "shared"]);
            served.stays_silent("pulled");
        }),
    ]);
}

#[test]
fn a_folder_that_is_swapped_while_it_is_opened_is_not_read() {
    check(&[attack("two folders change places all the time", |ground| {
        let ours = ground.folder("ours");
        ground.learns(&ours);
        plant(&ground.other, &ground.folder("other"));
        let (other, aside) = (ground.path("other").join(MEMORY), ground.path("aside"));
        let (memory, done) = (ours.join(MEMORY), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    for (from, to) in [(&memory, &aside), (&other, &memory), (&memory, &other), (&aside, &memory)] {
                        // Between two renames nothing is there, and a recall makes nothing there.
                        fs::rename(from, to).unwrap();
                    }
                }
            });
            for _ in 0..60 {
                let said = ground.user.adage(&ours, &["context", TASK]);
                ground.claim(!said.says(HOSTILE), format!("it speaks: {}", said.brief()));
            }
            done.store(true, Ordering::Relaxed);
        });
    })]);
}
