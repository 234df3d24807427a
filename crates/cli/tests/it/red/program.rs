//! The program on a folder of its own. A call that does not end is killed and reported.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// A call that takes longer counts as hanging.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a call printed.
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
}

impl Ended {
    /// Both streams.
    pub(super) fn all(&self) -> String {
        format!("{}\n{}", self.out, self.err)
    }
}

pub(super) struct World(tempfile::TempDir);

impl World {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(super) fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    pub(super) fn memory(&self) -> PathBuf {
        self.path().join("memory")
    }

    /// Writes a file below the world's folder, with the folders above it.
    pub(super) fn put(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// A playbook file with these lessons, and these that wait.
    pub(super) fn put_playbook(&self, lessons: &[Value], waiting: &[(&str, Value)]) {
        let waiting: Vec<Value> =
            waiting.iter().map(|(reason, lesson)| json!({ "reason": reason, "lesson": lesson })).collect();
        let file = json!({
            "schema_version": 2, "generation": 1, "archive_len": 0, "usage": {"segment": 0, "offset": 0},
            "removed": [], "lessons": lessons, "waiting": waiting,
        });
        self.put("memory/skills_playbook.json", file.to_string());
    }

    pub(super) fn playbook(&self) -> Value {
        serde_json::from_slice(&fs::read(self.memory().join("skills_playbook.json")).unwrap()).unwrap()
    }

    pub(super) fn command<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_adage"));
        let arguments: Vec<OsString> = arguments.iter().map(|one| one.as_ref().to_owned()).collect();
        command.arg("--dir").arg(self.memory()).args(["--now", "2026-03-01T12:00:00Z"]);
        if !arguments.iter().any(|one| one == "--embedder") {
            command.args(["--embedder", "none"]);
        }
        command.args(arguments).current_dir(self.path()).env_remove("ORT_DYLIB_PATH").env("NO_COLOR", "1");
        command.env("ADAGE_TRUST", "all");
        command
    }

    pub(super) fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Ended {
        run(self.command(arguments))
    }

    /// A call that has to succeed, and what it printed.
    pub(super) fn must<A: AsRef<OsStr> + std::fmt::Debug>(&self, arguments: &[A]) -> String {
        let ended = self.run(arguments);
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.all());
        ended.all()
    }
}

pub(super) fn run(mut command: Command) -> Ended {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (out, err) = (reader(child.stdout.take().unwrap()), reader(child.stderr.take().unwrap()));
    let both = (out.recv_timeout(PATIENCE), err.recv_timeout(PATIENCE));
    let (Ok(out), Ok(err)) = both else {
        child.kill().unwrap();
        child.wait().unwrap();
        return Ended { code: None, out: String::new(), err: "it did not end".to_owned() };
    };
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ended { code: child.wait().unwrap().code(), out: text(out), err: text(err) }
}

fn reader(mut stream: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

/// Fails with every attack that succeeded.
pub(super) fn report(succeeded: &[String], n_attacks: usize) {
    assert!(succeeded.is_empty(), "{} of {n_attacks} attacks succeed:\n  {}", succeeded.len(), succeeded.join("\n  "));
}
