//! A call of the program with limits of time and memory.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::schemas::object;

/// After which a call counts as hanging.
const MAX_TIME: Duration = Duration::from_secs(10);
pub(super) const NOW: &str = "2026-03-01T12:00:00Z";

/// The result of one call.
#[derive(Debug)]
pub(super) struct Run {
    /// None if it was killed: by a signal, or because it hung.
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
    pub(super) has_hung: bool,
}

impl Run {
    pub(super) fn is_done(&self) -> bool {
        self.code == Some(0)
    }

    pub(super) fn says(&self, text: &str) -> bool {
        self.out.contains(text) || self.err.contains(text)
    }

    pub(super) fn objects(&self) -> Vec<serde_json::Value> {
        self.out.lines().filter(|line| line.starts_with('{')).map(object).collect()
    }

    /// The value of a key in the last object of the output.
    pub(super) fn field(&self, key: &str) -> String {
        let objects = self.objects();
        let value = objects.last().and_then(|object| object[key].as_str());
        value.unwrap_or_else(|| panic!("no {key} in {self:?}")).to_owned()
    }
}

/// The program with the options of every test. A read without end meets the limit of its memory, not that of the machine; `$$`
/// in `prelude` is the id that the program will have.
pub(super) fn command(directory: &Path, prelude: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -v 3000000 2>/dev/null; {prelude}\nexec \"$0\" \"$@\""));
    command.arg(env!("CARGO_BIN_EXE_adage")).args(["--now", NOW]);
    if !arguments.contains(&"--embedder") {
        command.args(["--embedder", "hashing"]);
    }
    command.args(arguments).current_dir(directory).env_remove("ORT_DYLIB_PATH").env("PWD", directory);
    command.env("ADAGE_TRUST", "all").env("ADAGE_DIR", ".adage");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a command to its end, or kills it.
pub(super) fn finish(mut command: Command) -> Run {
    let mut child = command.spawn().unwrap();
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (sender, ended) = mpsc::channel();
    let errors = thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stderr.read_to_end(&mut bytes);
        bytes
    });
    let output = thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stdout.read_to_end(&mut bytes);
        let _ = sender.send(());
        bytes
    });
    let has_hung = ended.recv_timeout(MAX_TIME).is_err();
    if has_hung {
        child.kill().unwrap();
    }
    let status = child.wait().unwrap();
    let text = |thread: thread::JoinHandle<Vec<u8>>| String::from_utf8_lossy(&thread.join().unwrap()).into_owned();
    Run { code: status.code(), out: text(output), err: text(errors), has_hung }
}
