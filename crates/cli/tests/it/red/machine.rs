//! One user's machine: a home folder with a state folder, and memories in it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::cli::Said;
use crate::schemas::object;

/// A command that takes longer counts as hanging.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) struct Machine {
    home: tempfile::TempDir,
    /// The memory's name in the home.
    memory: &'static str,
    /// What `XDG_STATE_HOME` is set to.
    state: PathBuf,
}

impl Machine {
    pub(super) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join("state");
        Self { home, memory: "memory", state }
    }

    /// The same user at the same state, on another machine.
    pub(super) fn copy(&self) -> Self {
        let copy = Self::new();
        copy_folder(self.home.path(), copy.home.path());
        copy
    }

    /// With another memory of the same user.
    pub(super) fn at_memory(self, memory: &'static str) -> Self {
        Self { memory, ..self }
    }

    pub(super) fn with_state(self, state: impl Into<PathBuf>) -> Self {
        Self { state: state.into(), ..self }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.path(self.memory)
    }

    pub(super) fn key(&self) -> PathBuf {
        self.state.join("adage").join("key")
    }

    pub(super) fn run(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Said {
        let mut command = Command::new(env!("CARGO_BIN_EXE_adage"));
        command.current_dir(self.home.path()).arg("--dir").arg(self.folder());
        for (flag, value) in [("--now", "2026-03-01T12:00:00Z"), ("--embedder", "hashing")] {
            if !arguments.contains(&flag) {
                command.args([flag, value]);
            }
        }
        command.env_remove("ORT_DYLIB_PATH").env("HOME", self.home.path()).env("XDG_STATE_HOME", &self.state);
        command.args(arguments).env("XDG_CONFIG_HOME", self.path("config")).env("ADAGE_TRUST", "all");
        finish(&mut command, input.as_ref().to_vec())
    }

    pub(super) fn call(&self, arguments: &[&str]) -> Said {
        self.run(arguments, "")
    }

    pub(super) fn json(&self, arguments: &[&str]) -> Value {
        let said = self.call(&[arguments, &["--json"]].concat());
        assert_eq!(said.code, 0, "{arguments:?}: {}{}", said.out, said.err);
        said.object()
    }

    /// What a person does: a lesson by flags. Its id.
    pub(super) fn learn(&self, trigger: &str, solution: &str) -> String {
        self.learn_in("", trigger, solution)
    }

    pub(super) fn learn_in(&self, project: &str, trigger: &str, solution: &str) -> String {
        let learned =
            self.json(&["learn", "--trigger", trigger, "--solution", solution, "--project", project, "--dedup", "off"]);
        learned["id"].as_str().unwrap_or_else(|| panic!("{learned}")).to_owned()
    }

    /// What `list` and `inbox list` print, all of it, in a fixed order.
    fn listed(&self, arguments: &[&str]) -> Vec<Value> {
        let said = self.call(&[arguments, &["--json"]].concat());
        let mut objects: Vec<Value> = said.out.lines().map(object).collect();
        objects.sort_by_key(|object| (object["id"].to_string(), object["name"].to_string()));
        objects
    }

    pub(super) fn lessons(&self) -> Vec<Value> {
        let mut lessons = self.listed(&["list", "--limit", "100000"]);
        for lesson in &mut lessons {
            lesson.as_object_mut().unwrap().remove("folder");
        }
        lessons
    }

    pub(super) fn waiting(&self) -> Vec<Value> {
        self.listed(&["review", "list"])
    }

    pub(super) fn triggers(&self) -> Vec<String> {
        self.lessons().iter().map(|lesson| lesson["trigger"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Every file of the memory with its bytes, and every folder.
    pub(super) fn bytes(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        read_folder(&self.folder(), &mut found);
        found
    }
}

fn finish(command: &mut Command, input: Vec<u8>) -> Said {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A program that does not read all of it closes its end.
    thread::spawn(move || drop(stdin.write_all(&input)));
    let (done, ended) = mpsc::channel();
    let out = read_all(child.stdout.take().unwrap(), done.clone());
    let err = read_all(child.stderr.take().unwrap(), done);
    let is_late = (0..2).any(|_| ended.recv_timeout(PATIENCE).is_err());
    if is_late {
        child.kill().unwrap();
    }
    let code = child.wait().unwrap().code().unwrap_or(-1);
    let (out, err) = (out.join().unwrap(), err.join().unwrap());
    let hung = if is_late { "killed: it hung" } else { "" };
    Said { code: if is_late { -1 } else { code }, out, err: err + hung }
}

fn read_all(mut source: impl Read + Send + 'static, done: mpsc::Sender<()>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        drop(source.read_to_end(&mut bytes));
        let _ = done.send(());
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn read_folder(folder: &Path, found: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            read_folder(&path, found);
            found.insert(path, None);
        } else {
            let bytes = fs::read(&path).ok();
            found.insert(path, bytes);
        }
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}
