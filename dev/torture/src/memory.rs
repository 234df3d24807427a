//! A memory as the program shows it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Why the campaign cannot continue.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// The path of the program under test.
pub(crate) struct Program(pub(crate) PathBuf);

/// The state of a memory that a user can see.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    lessons: Vec<Value>,
    /// The numbers of removed lessons and of those that await review.
    counts: [Value; 2],
}

impl Program {
    pub(crate) fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.0);
        command.args(["--json", "--embedder", "none", "--dir"]).arg(folder).args(arguments);
        command.env("ADAGE_TRUST", "all").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, folder: &Path, arguments: &[&str]) -> Result<Output, Failure> {
        Ok(self.command(folder, arguments).output()?)
    }

    /// The first object that a command prints. The command must succeed.
    pub(crate) fn object(&self, folder: &Path, arguments: &[&str]) -> Result<Value, Failure> {
        let output = self.run(folder, arguments)?;
        if !output.status.success() {
            return Err(format!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        Ok(rows(&output)?.into_iter().next().unwrap_or_default())
    }

    /// The state, and whether the program reports damage.
    pub(crate) fn state(&self, folder: &Path) -> Result<(State, bool), Failure> {
        let list = self.run(folder, &["list", "--limit", "100000"])?;
        let stats = self.run(folder, &["list", "--stats"])?;
        let check = self.run(folder, &["doctor", "--check"])?;
        let is_reported = !list.stderr.is_empty() || !check.stderr.is_empty() || !check.status.success();
        let mut lessons = rows(&list)?;
        lessons.sort_by_key(|row| row.get("id").map(ToString::to_string));
        for row in &mut lessons {
            // It changes with time.
            row.as_object_mut().map(|row| row.remove("utility"));
        }
        let stats = rows(&stats)?.into_iter().next().unwrap_or_default();
        let counts = ["n_removed", "n_waiting"].map(|key| stats.get(key).cloned().unwrap_or_default());
        Ok((State { lessons, counts }, is_reported))
    }

    /// Fills a memory with lessons, counts, a removal, and retrievals since the last commit.
    pub(crate) fn fill(&self, folder: &Path) -> Result<(), Failure> {
        for number in 0..6 {
            let trigger = format!("task number {number} of the campaign");
            self.object(folder, &["learn", "--trigger", &trigger, "--solution", &format!("do what {number} says")])?;
        }
        let context = self.object(folder, &["context", "task number 3 of the campaign"])?;
        if let Some(receipt) = context.get("receipt").and_then(Value::as_str) {
            self.object(folder, &["outcome", receipt, "helpful"])?;
        }
        self.object(folder, &["remove", "task number 5 of the campaign"])?;
        self.object(folder, &["context", "task number 1 of the campaign"])?;
        Ok(())
    }
}

impl State {
    pub(crate) fn has(&self, trigger: &str) -> bool {
        self.lessons.iter().any(|row| row.get("trigger").and_then(Value::as_str) == Some(trigger))
    }

    /// Every lesson as text, except those with a trigger.
    fn texts_except(&self, trigger: &str) -> Vec<String> {
        let others = self.lessons.iter().filter(|row| row.get("trigger").and_then(Value::as_str) != Some(trigger));
        others.map(ToString::to_string).collect()
    }

    /// Whether both have the same lessons, not counting those with a trigger.
    pub(crate) fn equals_except(&self, other: &Self, trigger: &str) -> bool {
        self.texts_except(trigger) == other.texts_except(trigger)
    }

    /// Whether the other state has every lesson of this one.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        let others = other.texts_except("");
        self.texts_except("").iter().all(|text| others.contains(text))
    }

    /// The state as text, without what differs between runs: ids, times, the folder.
    pub(crate) fn without_names(&self) -> Vec<String> {
        let strip = |row: &Value| {
            let mut row = row.clone();
            for key in ["id", "folder", "timestamp", "last_retrieved_at", "last_credited_at", "near"] {
                row.as_object_mut().map(|row| row.remove(key));
            }
            row.to_string()
        };
        let mut texts: Vec<String> = self.lessons.iter().map(strip).collect();
        texts.push(format!("removed and waiting: {:?}", self.counts));
        texts.sort();
        texts
    }
}

pub(crate) fn rows(output: &Output) -> Result<Vec<Value>, Failure> {
    String::from_utf8(output.stdout.clone())?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}
