//! A user with a home folder and working folders: what the program locates by itself.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::cli::Said;

pub(crate) struct Home {
    ground: tempfile::TempDir,
    pub(crate) now: &'static str,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { ground: tempfile::tempdir().unwrap(), now: "2026-03-01T12:00:00Z" }
    }

    /// A path in the test folder, without links.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.ground.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        let folder = self.path(name);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// A repository with one commit.
    pub(crate) fn repository(&self, name: &str) -> PathBuf {
        let root = self.folder(name);
        self.git(&root, &["init", "-q"]);
        self.git(&root, &["commit", "-q", "--allow-empty", "-m", "first"]);
        root
    }

    /// A linked worktree of a repository.
    pub(crate) fn worktree(&self, repository: &Path, name: &str) -> PathBuf {
        let root = self.path(name);
        self.git(repository, &["worktree", "add", "-q", root.to_str().unwrap()]);
        root
    }

    /// Runs git, which has to succeed.
    pub(crate) fn git(&self, folder: &Path, arguments: &[&str]) {
        assert!(self.try_git(folder, arguments), "{arguments:?}");
    }

    /// Runs git; false if it fails, as a merge with conflicts does.
    pub(crate) fn try_git(&self, folder: &Path, arguments: &[&str]) -> bool {
        self.git_command(folder, arguments).stdout(Stdio::null()).status().unwrap().success()
    }

    /// What git prints.
    pub(crate) fn git_says(&self, folder: &Path, arguments: &[&str]) -> String {
        String::from_utf8(self.git_command(folder, arguments).output().unwrap().stdout).unwrap()
    }

    fn git_command(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(folder).args(["-c", "user.name=a", "-c", "user.email=a@example.com"]);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("HOME", self.ground.path()).args(arguments);
        command
    }

    /// The program, as its user calls it in a folder.
    pub(crate) fn command<I: AsRef<OsStr>>(&self, folder: &Path, arguments: &[I]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_adage"));
        command.current_dir(folder).args(arguments).args(["--now", self.now]);
        for variable in [
            "ORT_DYLIB_PATH",
            "ADAGE_TRUST",
            "ADAGE_DIR",
            "ADAGE_STORE",
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "COPILOT_HOME",
        ] {
            command.env_remove(variable);
        }
        for (variable, name) in
            [("HOME", ""), ("XDG_STATE_HOME", "state"), ("XDG_CONFIG_HOME", "config"), ("XDG_DATA_HOME", "data")]
        {
            command.env(variable, self.path("home").join(name));
        }
        command
    }

    pub(crate) fn say(&self, folder: &Path, arguments: &[&str], input: &str) -> Said {
        let mut command = self.command(folder, arguments);
        if arguments.first() != Some(&"hook") {
            command.args(["--embedder", "hashing"]);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that does not read all of it is not a failure.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Said { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }

    pub(crate) fn call(&self, folder: &Path, arguments: &[&str]) -> Said {
        self.say(folder, arguments, "")
    }

    /// A call that has to succeed.
    pub(crate) fn done(&self, folder: &Path, arguments: &[&str]) -> Said {
        let said = self.call(folder, arguments);
        assert_eq!(said.code, 0, "{arguments:?}: {}{}", said.out, said.err);
        said
    }

    pub(crate) fn learn(&self, folder: &Path, trigger: &str, solution: &str, more: &[&str]) -> Said {
        self.done(folder, &[&["learn", "--trigger", trigger, "--solution", solution], more].concat())
    }
}

/// How many rounds a random test makes: `ADAGE_ROUNDS`, or this many.
pub(crate) fn rounds(default: u64) -> u64 {
    std::env::var("ADAGE_ROUNDS").map_or(default, |rounds| rounds.parse().unwrap())
}

/// A session of Claude Code in a folder: a package whose name is misspelt is not found, the right one is installed.
pub(crate) fn session_with_a_recovery(folder: &Path, misspelt: &str) -> String {
    let record = |kind: &str, content: Value| {
        let record = json!({"type": kind, "uuid": content.to_string(), "sessionId": "s1", "cwd": folder,
            "timestamp": "2026-02-01T10:00:00Z", "message": {"role": kind, "content": content}});
        format!("{record}\n")
    };
    let call = |id: &str, package: &str, result: &str, is_error: bool| {
        let input = json!({"command": format!("pip install {package}")});
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": is_error}]);
        record("assistant", json!([{"type": "tool_use", "id": id, "name": "Bash", "input": input}]))
            + &record("user", result)
    };
    record("user", json!("Please install what the web app needs."))
        + &call("a", misspelt, &format!("ERROR: No matching distribution found for {misspelt}"), true)
        + &call("b", "requests", "Successfully installed requests-2.32.3", false)
}
