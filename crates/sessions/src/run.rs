//! A run over the sessions that are due: each step is on disk before the next one begins.

use std::collections::VecDeque;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use adage_redact::{Redactor, one_line};
use adage_transcript::{Format, Reading};
use serde::Serialize;

use adage::extend::Lock;
use adage::model::{CancelToken, LanguageModel};
use adage::{FolderError, Result};

use crate::extract::Extraction;
use crate::files::SessionFile;
use crate::index::{SessionEntry, SessionSummary};
use crate::record::{RunEnd, RunOwner, RunRecord};
use crate::record_rows::{SessionOutcome, SessionResult};
use crate::sessions::{DueSessions, NotDue, SessionScan, Sessions};

/// Maximum characters of an error in the history.
const MAX_ERROR_CHARS: usize = 300;

/// The result of [`Sessions::run`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// The run ended; this is its entry in the history.
    Ended(RunRecord),
    /// No session was due.
    NotDue(NotDue),
}

/// An active run. While it exists, no other run can begin.
///
/// If it is dropped without [`finish`](Self::finish), or its process is killed, the next run records it as died and reads its
/// remaining sessions first. The attempt to read a session is counted before the session is read, so that a session that kills
/// its reader is abandoned after the usual number of attempts.
pub struct SessionRun {
    sessions: Sessions,
    to_read: VecDeque<SessionEntry>,
    /// The sessions that this run queued itself.
    own: Vec<PathBuf>,
    _lock: Lock,
}

impl Sessions {
    /// Begins a run, for a host that performs the steps itself; [`run`](Self::run) performs all of them.
    ///
    /// # Errors
    /// The errors of a write.
    pub fn begin_run(&self, scan: &SessionScan) -> Result<Result<SessionRun, NotDue>> {
        self.playbook.check_writable()?;
        let log = self.log();
        let Some(lock) = log.lock()? else {
            return Ok(Err(NotDue::Locked { owner: log.read()?.running }));
        };
        let known = log.read()?;
        let to_read = match self.choose(scan, &known) {
            DueSessions::Sessions(sessions) => VecDeque::from(sessions),
            DueSessions::NotDue(waiting) => return Ok(Err(waiting)),
        };
        let owner = RunOwner { pid: std::process::id(), started: self.extension().now() };
        let is_chosen = |path: &PathBuf| to_read.iter().any(|entry| entry.path == *path);
        let own = log.change(|mining| {
            mining.begin(owner);
            // Sessions that can no longer be read were left out of the choice, unless it was cut at the limit.
            let n_chosen = to_read.len();
            let is_full = n_chosen >= self.config().max_per_run;
            mining.queued.retain(|path| is_chosen(path) || is_full || !known.queued.contains(path));
            let paths = to_read.iter().map(|entry| entry.path.clone());
            let own: Vec<PathBuf> = paths.filter(|path| !mining.queued.contains(path)).collect();
            mining.queued.extend(own.iter().cloned());
            own
        })?;
        Ok(Ok(SessionRun { sessions: self.clone(), to_read, own, _lock: lock }))
    }

    /// Reads the due sessions of a folder and passes each to `mine`, which returns the number of candidates that it found. A
    /// session is tried again by later runs if it cannot be read or `mine` fails; it is tried three times in all by default.
    /// `cancel` is checked between sessions: results so far are kept, and the remaining sessions stay due.
    ///
    /// # Errors
    /// [`FolderError::Io`] when the folder cannot be read; the errors of a write. An error of `mine` is recorded in the
    /// history.
    pub fn run<E: Display>(
        &self,
        folder: &Path,
        cancel: &CancelToken,
        mut mine: impl FnMut(&Reading) -> Result<usize, E>,
    ) -> Result<RunOutcome> {
        let mut run = match self.begin_run(&self.scan(folder)?)? {
            Ok(run) => run,
            Err(waiting) => return Ok(RunOutcome::NotDue(waiting)),
        };
        while !run.to_read.is_empty() {
            if cancel.is_cancelled() {
                return run.finish(RunEnd::Cancelled).map(RunOutcome::Ended);
            }
            run.read_next(&mut mine)?;
        }
        run.finish(RunEnd::Finished).map(RunOutcome::Ended)
    }

    /// Reads the due sessions of a folder and learns from each, as [`learn_from`](Self::learn_from) does. A session is tried again by later runs if the model's answer could not be parsed; what the rules found in it is
    /// kept.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn learn(&self, folder: &Path, model: Option<&dyn LanguageModel>, cancel: &CancelToken) -> Result<RunOutcome> {
        self.run(folder, cancel, |reading| {
            let learned = self.learn_from(&reading.transcript, model, cancel).map_err(|error| error.to_string())?;
            match learned.extraction.as_ref().and_then(Extraction::failure) {
                Some(failure) => Err(failure),
                None => Ok(learned.n_candidates()),
            }
        })
    }

    /// As [`learn`](Self::learn), on a new thread that can be joined, so that the host need not wait. If the process ends
    /// first, the next run reads the remaining sessions and those that were queued.
    ///
    /// # Errors
    /// [`FolderError::Io`] when the thread cannot be created.
    pub fn spawn(
        &self,
        folder: PathBuf,
        model: Option<Arc<dyn LanguageModel>>,
        cancel: CancelToken,
    ) -> Result<JoinHandle<Result<RunOutcome>>> {
        let sessions = self.clone();
        let run = move || sessions.learn(&folder, model.as_deref(), &cancel);
        let thread = std::thread::Builder::new().name("adage-sessions".to_owned()).spawn(run);
        Ok(thread.map_err(FolderError::io("begin a thread for", self.playbook.folder()))?)
    }

    /// A session, with the version of it that was read.
    pub(super) fn open(&self, path: &Path) -> Result<(SessionEntry, Reading), String> {
        let file = SessionFile::look(path).map_err(|error| error.to_string())?;
        let reading = file.read(Format::Auto).map_err(|error| error.to_string())?;
        let summary = SessionSummary::of(&reading);
        let version = SessionEntry::new(
            file.path.clone(),
            file.modified,
            summary,
            self.extension().now(),
            self.config().min_idle,
        );
        Ok((version, reading))
    }
}

impl SessionRun {
    /// The sessions still to be read, in order.
    pub fn to_read(&self) -> impl Iterator<Item = &SessionEntry> {
        self.to_read.iter()
    }

    /// Reads the next session and passes it to `mine`. None when no session remains.
    ///
    /// # Errors
    /// The errors of a write; the attempt is counted.
    pub fn read_next<E: Display>(
        &mut self,
        mine: impl FnOnce(&Reading) -> Result<usize, E>,
    ) -> Result<Option<SessionOutcome>> {
        let Some(entry) = self.to_read.pop_front() else { return Ok(None) };
        self.read(entry, mine).map(Some)
    }

    /// Reads one of the remaining sessions, in any order, and passes it to `mine`. None for a path that is not among them.
    ///
    /// # Errors
    /// The errors of a write; the attempt is counted.
    pub fn read_path<E: Display>(
        &mut self,
        path: &Path,
        mine: impl FnOnce(&Reading) -> Result<usize, E>,
    ) -> Result<Option<SessionOutcome>> {
        let place = self.to_read.iter().position(|entry| entry.path == path);
        let Some(entry) = place.and_then(|place| self.to_read.remove(place)) else { return Ok(None) };
        self.read(entry, mine).map(Some)
    }

    fn read<E: Display>(
        &self,
        entry: SessionEntry,
        mine: impl FnOnce(&Reading) -> Result<usize, E>,
    ) -> Result<SessionOutcome> {
        let log = self.sessions.log();
        let SessionEntry { id, mut updated, .. } = entry;
        log.change(|mining| mining.attempt(&id, updated))?;
        let found = match self.sessions.open(&entry.path) {
            Ok((version, reading)) => {
                // The session may have grown since the scan: the version that was read counts.
                updated = version.updated;
                mine(&reading).map_err(|error| error.to_string())
            }
            Err(error) => Err(error),
        };
        let result = match found {
            Ok(n_candidates) => SessionResult::Read { n_candidates },
            Err(error) => SessionResult::Failed { error: presentable(&error) },
        };
        let outcome = SessionOutcome { id, updated, result };
        log.change(|mining| {
            mining.record_result(&outcome);
            mining.queued.retain(|path| *path != entry.path);
        })?;
        Ok(outcome)
    }

    /// Counts a failed attempt for each remaining session, for this reason.
    pub(super) fn pass_over(&mut self, why: &str) -> Result<()> {
        let passed = std::mem::take(&mut self.to_read);
        self.sessions.log().change(|mining| {
            for SessionEntry { id, updated, .. } in &passed {
                mining.attempt(id, *updated);
                let result = SessionResult::Failed { error: why.to_owned() };
                mining.record_result(&SessionOutcome { id: id.clone(), updated: *updated, result });
            }
        })?;
        Ok(())
    }

    /// Ends the run and records it in the history. Sessions that it did not read stay due.
    ///
    /// # Errors
    /// The errors of a write.
    pub fn finish(self, end: RunEnd) -> Result<RunRecord> {
        let now = self.sessions.extension().now();
        let record = self.sessions.log().change(|mining| {
            mining.queued.retain(|path| !self.own.contains(path));
            mining.close(now, end)
        })?;
        // None only if another program has removed the file.
        let owner = || RunOwner { pid: std::process::id(), started: now };
        Ok(record.unwrap_or_else(|| RunRecord { owner: owner(), ended: now, end, sessions: Vec::new() }))
    }
}

/// An error as it is recorded: on one line, shortened, without secrets.
fn presentable(error: &str) -> String {
    one_line(&Redactor::shared().redact(error).replace(char::is_control, " "), MAX_ERROR_CHARS)
}
