//! Records about past sessions: which were read, the runs, and the queue. One small JSON file.
//!
//! If the file is lost, sessions are read once more; nothing else is lost. Therefore an unreadable file goes to quarantine and
//! is replaced by an empty one. The file is replaced as a whole under the folder's lock. During a run, the process holds
//! `mining.lock`, which the kernel frees when the process dies.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::index::{ReadState, SessionEntry};
use crate::record_rows::{SeenFile, SessionOutcome, SessionResult};
use adage::Result;
use adage::extend::{Extension, Lock, Record, forget_oldest};

/// Number of attempts to read a version of a session before it is abandoned; chosen.
const MAX_ATTEMPTS: u32 = 3;
/// Maximum number of recorded runs; the oldest are dropped; chosen.
const MAX_RUNS: usize = 50;

/// The content of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Mining {
    schema: u64,
    /// The owner of the active run, or of a run that died.
    pub(crate) running: Option<RunOwner>,
    /// The results of that run so far, in order.
    tried: Vec<SessionOutcome>,
    /// When the last run began.
    pub(crate) last_run: Option<DateTime<FixedOffset>>,
    /// Sessions that a run was asked to read and has not read, oldest first.
    #[serde(with = "adage::extend::path_text::exact_list")]
    pub(crate) queued: Vec<PathBuf>,
    /// Runs that ended, oldest first.
    pub(crate) runs: Vec<RunRecord>,
    /// The progress of each session, by its id.
    pub(crate) sessions: BTreeMap<String, Progress>,
    /// The findings of each file, by its path.
    #[serde(with = "adage::extend::path_text::exact_keys")]
    pub(crate) files: BTreeMap<PathBuf, SeenFile>,
    /// Keys of a later version.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The owner of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunOwner {
    /// The id of its process.
    pub pid: u32,
    /// When the run began.
    pub started: DateTime<FixedOffset>,
}

/// A run that ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunRecord {
    /// The owner.
    #[serde(flatten)]
    pub owner: RunOwner,
    /// When it ended, or was found dead.
    pub ended: DateTime<FixedOffset>,
    /// How it ended.
    pub end: RunEnd,
    /// The results of its sessions, in order.
    pub sessions: Vec<SessionOutcome>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunEnd {
    /// It tried every session.
    Finished,
    /// It was cancelled between two sessions.
    Cancelled,
    /// Its process died. Its remaining sessions are queued.
    Died,
}

/// How far a session was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// When the version that was read was last written.
    pub(crate) updated: DateTime<FixedOffset>,
    pub(crate) n_attempts: u32,
    pub(crate) is_read: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last_error: Option<String>,
}

impl Mining {
    /// Whether this version of a session was read.
    pub(crate) fn read_state(&self, entry: &SessionEntry) -> ReadState {
        match self.sessions.get(&entry.id).filter(|known| known.updated == entry.updated) {
            None => ReadState::New { n_attempts: 0 },
            Some(known) if known.is_read => ReadState::Read,
            Some(Progress { n_attempts, .. }) if *n_attempts >= MAX_ATTEMPTS => {
                ReadState::GivenUp { n_attempts: *n_attempts }
            }
            Some(Progress { n_attempts, .. }) => ReadState::New { n_attempts: *n_attempts },
        }
    }

    /// Counts an attempt before it is made, so that one that kills the process counts too.
    pub(crate) fn attempt(&mut self, id: &str, updated: DateTime<FixedOffset>) {
        let fresh = Progress { updated, n_attempts: 0, is_read: false, last_error: None };
        let known = self.sessions.entry(id.to_owned()).or_insert_with(|| fresh.clone());
        if known.updated != updated {
            *known = fresh;
        }
        known.n_attempts = known.n_attempts.saturating_add(1);
        let result = SessionResult::Failed { error: "the attempt did not end".to_owned() };
        self.tried.retain(|tried| tried.id != id);
        self.tried.push(SessionOutcome { id: id.to_owned(), updated, result });
    }

    /// Records the result of an attempt.
    pub(crate) fn record_result(&mut self, outcome: &SessionOutcome) {
        let SessionOutcome { id, updated, result } = outcome;
        if self.sessions.get(id).is_none_or(|known| known.updated != *updated) {
            self.attempt(id, *updated);
        }
        if let Some(known) = self.sessions.get_mut(id) {
            (known.is_read, known.last_error) = match result {
                SessionResult::Read { .. } => (true, None),
                SessionResult::Failed { error } => (false, Some(error.clone())),
            };
        }
        if let Some(tried) = self.tried.iter_mut().find(|tried| tried.id == *id) {
            tried.clone_from(outcome);
        }
    }

    /// Begins a run. The caller holds the lock, so a run that is still recorded has died.
    pub(crate) fn begin(&mut self, owner: RunOwner) {
        self.close(owner.started, RunEnd::Died);
        self.tried.clear();
        self.last_run = Some(owner.started);
        self.running = Some(owner);
    }

    /// Ends the active run and adds it to the history.
    pub(crate) fn close(&mut self, ended: DateTime<FixedOffset>, end: RunEnd) -> Option<RunRecord> {
        let sessions = std::mem::take(&mut self.tried);
        let record = RunRecord { owner: self.running.take()?, ended, end, sessions };
        self.runs.push(record.clone());
        Some(record)
    }

    fn trim(&mut self) {
        self.schema = Self::SCHEMA;
        // An earlier version kept fingerprints of sessions here.
        self.rest.remove("taught");
        let n_surplus = self.runs.len().saturating_sub(MAX_RUNS);
        self.runs.drain(..n_surplus);
        forget_oldest(&mut self.sessions, |known| known.updated);
        forget_oldest(&mut self.files, |seen| seen.modified);
    }
}

/// The file `mining.json` of a folder, and the lock of a run.
///
/// Its queue names sessions whose user counts as the user, so it is believed only if the user's own program wrote it.
#[derive(Clone, Copy)]
pub(crate) struct MiningLog<'p>(pub(crate) Extension<'p>);

impl MiningLog<'_> {
    pub(crate) fn read(self) -> Result<Mining> {
        self.0.read()
    }

    /// Changes the newest version of the file.
    pub(crate) fn change<T>(self, change: impl FnOnce(&mut Mining) -> T) -> Result<T> {
        self.0.change(|mining| {
            let value = change(mining);
            mining.trim();
            value
        })
    }

    /// The lock of a run; none while another process or handle holds it.
    pub(crate) fn lock(self) -> Result<Option<Lock>> {
        self.0.try_lock("mining.lock")
    }
}

impl Record for Mining {
    const NAME: &'static str = "mining";
    const SCHEMA: u64 = 1;
    const LOST: &'static str = "the record of read sessions could not be used and starts empty";

    fn schema(&self) -> u64 {
        self.schema
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests break files by themselves")]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use adage::{Error, FolderError, Playbook};

    use crate::index::SessionSummary;
    use crate::testing::at;

    fn open(folder: &Path) -> Playbook {
        Playbook::builder(folder).without_embedder().open().unwrap()
    }

    fn outcome(seconds: i64, result: SessionResult) -> SessionOutcome {
        SessionOutcome { id: "s".into(), updated: at(seconds), result }
    }

    #[test]
    fn a_version_is_abandoned_after_three_attempts_and_a_new_version_is_due() {
        let mut mining = Mining::default();
        let summary = SessionSummary {
            session: "s".into(),
            last_record: None,
            n_user_turns: 10,
            n_tool_calls: 0,
            n_failed_calls: 0,
            n_turns: 20,
            owner: adage_transcript::Owner::Person,
            intent: String::new(),
            workflow: String::new(),
        };
        let entry =
            |seconds| SessionEntry::new("p".into(), at(seconds), summary.clone(), at(99_999), Duration::from_hours(3));
        for n_attempts in 0..3 {
            assert_eq!(mining.read_state(&entry(0)), ReadState::New { n_attempts });
            mining.attempt("s", at(0));
            mining.record_result(&outcome(0, SessionResult::Failed { error: "no".to_owned() }));
        }
        assert_eq!(mining.read_state(&entry(0)), ReadState::GivenUp { n_attempts: 3 });
        assert_eq!(mining.read_state(&entry(1)), ReadState::New { n_attempts: 0 });
        // The session grew between the scan and the reading: the later version was read.
        mining.record_result(&outcome(1, SessionResult::Read { n_candidates: 2 }));
        assert_eq!(mining.read_state(&entry(1)), ReadState::Read);
        assert_eq!(mining.read_state(&entry(2)), ReadState::New { n_attempts: 0 });
    }

    #[test]
    fn the_record_is_bounded_and_survives() {
        let folder = tempfile::tempdir().unwrap();
        let playbook = open(folder.path());
        let log = MiningLog(Extension::of(&playbook));
        for n in 0..52 {
            let run = |mining: &mut Mining| {
                mining.begin(RunOwner { pid: 1, started: at(n) });
                mining.attempt("s", at(n));
                mining.close(at(n + 1), RunEnd::Finished);
            };
            log.change(run).unwrap();
        }
        let mining = log.read().unwrap();
        assert_eq!((mining.runs.len(), mining.runs[0].owner.started), (50, at(2)));
    }

    #[test]
    fn a_broken_file_goes_to_quarantine_and_a_newer_one_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mining.json");
        std::fs::write(&path, b"{\"runs\": 3").unwrap();
        let reader = Playbook::builder(folder.path()).without_embedder().read_only().open().unwrap();
        let reader = MiningLog(Extension::of(&reader));
        assert_eq!(reader.read().unwrap(), Mining::default());
        assert!(matches!(reader.change(|_| ()), Err(Error::Folder(FolderError::ReadOnly { .. }))));
        let writer = open(folder.path());
        let writer = MiningLog(Extension::of(&writer));
        writer.change(|mining| mining.queued.push("a".into())).unwrap();
        assert_eq!(writer.read().unwrap().queued, [PathBuf::from("a")]);
        assert_eq!(std::fs::read_dir(folder.path().join("quarantine")).unwrap().count(), 1);

        let newer = b"{\"schema\": 2, \"more\": [1], \"queued\": [\"b\"]}";
        std::fs::write(&path, newer).unwrap();
        assert_eq!(writer.read().unwrap().queued, [PathBuf::from("b")]);
        let refused = writer.change(|_| ());
        assert!(matches!(refused, Err(Error::Folder(FolderError::NewerSchema { found: 2, supported: 1, .. }))));
        assert_eq!(std::fs::read(&path).unwrap(), newer);
    }

    #[test]
    fn one_handle_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (open(folder.path()), open(folder.path()));
        let (one, two) = (MiningLog(Extension::of(&one)), MiningLog(Extension::of(&two)));
        let lock = one.lock().unwrap();
        assert!(lock.is_some());
        assert!(two.lock().unwrap().is_none());
        drop(lock);
        assert!(two.lock().unwrap().is_some());
    }
}
