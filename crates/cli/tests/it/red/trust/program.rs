//! A person at a computer of their own: the program with only their home and settings.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// After which a call counts as hanging.
const MAX_TIME: Duration = Duration::from_secs(10);

/// The result of one call.
#[derive(Clone, Debug)]
pub(super) struct Said {
    /// None if it was killed: by a signal, or because it hung.
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
}

impl Said {
    pub(super) fn is_done(&self) -> bool {
        self.code == Some(0)
    }

    /// True when either stream has the word, in whatever case.
    pub(super) fn says(&self, word: &str) -> bool {
        [&self.out, &self.err].into_iter().any(|text| text.to_lowercase().contains(word))
    }

    /// Both streams, shortened for a table.
    pub(super) fn brief(&self) -> String {
        let short = |text: &str| text.escape_debug().to_string().chars().take(160).collect::<String>();
        format!("exit {:?}, out \"{}\", err \"{}\"", self.code, short(&self.out), short(&self.err))
    }
}

/// A user account on a machine: two of them share nothing but the file system.
#[derive(Clone)]
pub(super) struct Person {
    pub(super) home: PathBuf,
    environment: BTreeMap<String, OsString>,
}

impl Person {
    pub(super) fn new(home: PathBuf) -> Self {
        std::fs::create_dir_all(&home).unwrap();
        let mut environment = BTreeMap::new();
        environment.insert("HOME".to_owned(), home.clone().into_os_string());
        for (variable, folder) in [
            ("XDG_STATE_HOME", "state"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_DATA_HOME", "data"),
        ] {
            environment.insert(variable.to_owned(), home.join(folder).into_os_string());
        }
        environment.insert("PATH".to_owned(), std::env::var_os("PATH").unwrap_or_default());
        environment.insert("GIT_CONFIG_GLOBAL".to_owned(), "/dev/null".into());
        environment.insert("GIT_CONFIG_NOSYSTEM".to_owned(), "1".into());
        Self { home, environment }
    }

    /// The same person with a variable of the environment set.
    pub(super) fn with(&self, variable: &str, value: impl AsRef<OsStr>) -> Self {
        let mut person = self.clone();
        person.environment.insert(variable.to_owned(), value.as_ref().to_owned());
        person
    }

    pub(super) fn without(&self, variable: &str) -> Self {
        let mut person = self.clone();
        person.environment.remove(variable);
        person
    }

    /// The folder of the program's state for this person.
    pub(super) fn state(&self) -> PathBuf {
        self.home.join("state/adage")
    }

    pub(super) fn adage(&self, directory: &Path, arguments: &[&str]) -> Said {
        self.adage_reads(directory, arguments, "")
    }

    pub(super) fn adage_reads(&self, directory: &Path, arguments: &[&str], input: &str) -> Said {
        let mut command = Command::new(env!("CARGO_BIN_EXE_adage"));
        command.args(["--now", "2026-03-01T12:00:00Z", "--embedder", "hashing"]).args(arguments);
        self.finish(command, directory, input)
    }

    /// A call that has not begun, for programs that run on.
    pub(super) fn command(&self, directory: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_adage"));
        self.prepare(command.args(["--embedder", "none"]).args(arguments), directory);
        command
    }

    /// Git under an identity of its own, with no configuration but that of the repository.
    pub(super) fn git(&self, directory: &Path, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        let identity =
            ["user.name=A", "user.email=a@example.org", "init.defaultBranch=main", "protocol.file.allow=always"];
        command
            .args(identity.iter().flat_map(|setting| ["-c", setting]))
            .args(["-c", "commit.gpgsign=false"])
            .args(arguments);
        let said = self.finish(command, directory, "");
        assert!(said.is_done(), "git {arguments:?}: {}", said.brief());
        said.out
    }

    fn prepare(&self, command: &mut Command, directory: &Path) {
        command.env_clear().envs(&self.environment).current_dir(directory);
        // The memory of a repository is found.
        if !directory.join(".git").exists() {
            command.env("ADAGE_DIR", ".adage");
        }
    }

    fn finish(&self, mut command: Command, directory: &Path, input: &str) -> Said {
        self.prepare(&mut command, directory);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that refuses does not read.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let (sender, ended) = mpsc::channel();
        let out = read(child.stdout.take().unwrap(), sender.clone());
        let err = read(child.stderr.take().unwrap(), sender);
        // One message for each stream that ended.
        let has_ended = (0..2).all(|_| ended.recv_timeout(MAX_TIME).is_ok());
        if !has_ended {
            let _ = child.kill();
        }
        let status = child.wait().unwrap();
        let text = |reader: thread::JoinHandle<Vec<u8>>| String::from_utf8_lossy(&reader.join().unwrap()).into_owned();
        let code = if has_ended { status.code() } else { None };
        Said { code, out: text(out), err: text(err) }
    }
}

fn read(mut stream: impl Read + Send + 'static, ended: mpsc::Sender<()>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let _ = ended.send(());
        bytes
    })
}
