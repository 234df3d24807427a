//! Past sessions: those in a folder, and those that are due to be read (docs/spec/capture.md, 4).

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use adage::config::SessionsConfig;
use adage::extend::Extension;
use adage::{Error, FolderError, Playbook, Result};
use adage_transcript::Format;
use chrono::{DateTime, FixedOffset, TimeDelta};
use serde::Serialize;

use crate::files::{LeftOut, LeftOutReason, MAX_FILE_BYTES, SessionFile, SessionFiles, files};
use crate::index::{ReadState, SessionEntry, SessionSummary, index};
use crate::place;
use crate::record::{Mining, MiningLog, RunOwner, RunRecord};
use crate::record_rows::{FileFindings, SeenFile};

/// The number of files that are read before the findings are written.
const BATCH: usize = 200;
/// Maximum number of lines of an index; specified.
const MAX_LINES: usize = 50;
/// The maximum length of the queue; beyond it, the oldest sessions are dropped.
const MAX_QUEUED: usize = 100;

/// The past sessions of an agent, with what the playbook's folder records about them; and what a session teaches.
///
/// ```
/// use adage::Playbook;
/// use adage::model::CancelToken;
/// use adage_sessions::{NotDue, RunOutcome, Sessions};
///
/// # let (folder, recorded) = (tempfile::tempdir()?, tempfile::tempdir()?);
/// let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
/// let sessions = Sessions::of(&playbook);
/// for entry in sessions.scan(recorded.path())?.shown() {
///     println!("{entry}");
/// }
/// let ran = sessions.learn(recorded.path(), None, &CancelToken::default())?;
/// assert!(matches!(ran, RunOutcome::NotDue(NotDue::NothingEligible)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Sessions {
    pub(crate) playbook: Playbook,
}

/// The sessions found in a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SessionScan {
    /// Every session, in the order of the index: the newest copy of each, including those not worth reading.
    pub entries: Vec<SessionEntry>,
    /// Entries that are not sessions, by path: other files, links, files that are too large or nested too deeply.
    pub left_out: Vec<LeftOut>,
}

impl SessionScan {
    /// The index: the sessions that are worth reading, at most 50 of them.
    #[must_use]
    pub fn shown(&self) -> Vec<&SessionEntry> {
        self.entries.iter().filter(|entry| entry.ineligible.is_none()).take(MAX_LINES).collect()
    }
}

/// The sessions that are due, or why none is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DueSessions {
    /// The sessions to read, in this order.
    Sessions(Vec<SessionEntry>),
    /// No session is due.
    NotDue(NotDue),
}

/// Why no session is due. It is a result of a run, never an error of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NotDue {
    /// The last run was too recent.
    #[error("nothing is due before {}", until.format("%F %T"))]
    Throttled {
        /// The earliest time of the next run.
        until: DateTime<FixedOffset>,
    },
    /// Another run is active, in this process or another.
    #[error("{} is reading sessions", owner.as_ref().map_or("another process".to_owned(), |owner| format!("process {}", owner.pid)))]
    Locked {
        /// The owner of the run, if known; for messages only. What counts is the lock, which the kernel frees when the owner
        /// dies.
        owner: Option<RunOwner>,
    },
    /// Every session that is worth reading was read or abandoned.
    #[error("no session is due")]
    NothingEligible,
}

impl Sessions {
    /// The past sessions of an agent, for this playbook.
    #[must_use]
    pub fn of(playbook: &Playbook) -> Self {
        Self { playbook: playbook.clone() }
    }

    pub(crate) fn extension(&self) -> Extension<'_> {
        Extension::of(&self.playbook)
    }

    /// Finds the sessions in a folder and the folders below it, in every known format; [`files`](crate::files()) lists
    /// the files. A file is read again only if its length or time has changed.
    ///
    /// # Errors
    /// [`FolderError::Io`] when the folder cannot be read, or the playbook's own folder cannot be written.
    pub fn scan(&self, folder: &Path) -> Result<SessionScan> {
        let folder = self.extension().resolve(folder).map_err(FolderError::io("look into", folder))?;
        let SessionFiles { files, mut left_out } = files(&folder)?;
        let mut mining = self.log().read()?;
        for batch in files.chunks(BATCH) {
            let mut fresh = Vec::new();
            for file in batch.iter().filter(|file| cached_file(&mining, file).is_none()) {
                match read_file(file) {
                    Ok(seen) => fresh.push((file.path.clone(), seen)),
                    Err(error) => left_out.push(left_out_file(file, LeftOutReason::Unreadable(error.to_string()))),
                }
            }
            if !fresh.is_empty() && self.extension().may_write() {
                self.log().change(|mining| mining.files.extend(fresh.iter().cloned()))?;
            }
            mining.files.extend(fresh);
        }
        let mut entries = Vec::new();
        for file in &files {
            match cached_file(&mining, file).map(|seen| &seen.findings) {
                Some(FileFindings::Session(summary)) => entries.push(self.entry(file, summary.clone(), &mining)),
                Some(FileFindings::TooLarge { max, .. }) => {
                    left_out.push(left_out_file(file, LeftOutReason::TooLargeDecompressed { max: *max }));
                }
                Some(FileFindings::NotASession { error }) => {
                    let reason = LeftOutReason::NoSession(error.clone().unwrap_or_default());
                    left_out.push(left_out_file(file, reason));
                }
                None => {}
            }
        }
        left_out.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(SessionScan { entries: index(entries), left_out })
    }

    /// An empty scan: a run over it reads only the queued sessions.
    #[must_use]
    pub fn only_queued(&self) -> SessionScan {
        SessionScan { entries: Vec::new(), left_out: Vec::new() }
    }

    /// The sessions that a run would read now: the queued ones, which are always due; then, if the last run is half an hour
    /// ago, the unread sessions of the scan. At most 10 in all by default.
    ///
    /// # Errors
    /// [`FolderError::Io`].
    pub fn due(&self, scan: &SessionScan) -> Result<DueSessions> {
        let mining = self.log().read()?;
        // The lock is tried only if a run is recorded: trying it could fail another process that begins a run.
        if mining.running.is_some() && self.extension().may_write() && self.log().lock()?.is_none() {
            return Ok(DueSessions::NotDue(NotDue::Locked { owner: mining.running }));
        }
        Ok(self.choose(scan, &mining))
    }

    /// Queues a session for the next run, wherever its file is and however recent. A host that mines a session on a thread
    /// queues it first, so that it is not lost if the process ends before the thread.
    ///
    /// # Errors
    /// [`FolderError::Io`] when the file does not exist, or is behind a link: below an agent's folder of sessions no part of its path
    /// may be one, elsewhere the file itself; the errors of a write.
    pub fn queue(&self, path: &Path) -> Result<()> {
        let found = place::unlinked(path, |path| self.extension().resolve(path));
        let path = found.map_err(FolderError::io("find", path))?;
        self.log().change(|mining| {
            mining.queued.retain(|queued| *queued != path);
            mining.queued.push(path);
            let n_surplus = mining.queued.len().saturating_sub(MAX_QUEUED);
            mining.queued.drain(..n_surplus);
        })?;
        Ok(())
    }

    /// The recorded runs, oldest first, including failed ones; the last 50 by default.
    ///
    /// # Errors
    /// [`FolderError::Io`].
    pub fn history(&self) -> Result<Vec<RunRecord>> {
        Ok(self.log().read()?.runs)
    }

    pub(super) fn log(&self) -> MiningLog<'_> {
        MiningLog(self.extension())
    }

    pub(super) fn config(&self) -> &SessionsConfig {
        &self.playbook.config().sessions
    }

    /// Chooses the sessions to read, from what is recorded.
    pub(super) fn choose(&self, scan: &SessionScan, mining: &Mining) -> DueSessions {
        let (config, now) = (self.config(), self.extension().now());
        let mut chosen: Vec<SessionEntry> = mining.queued.iter().filter_map(|path| self.queued(path, mining)).collect();
        let gap = TimeDelta::from_std(config.min_gap).unwrap_or(TimeDelta::MAX);
        let until = mining.last_run.and_then(|last| last.checked_add_signed(gap));
        // If the last run is in the future, the clock was set back.
        let throttled = until.filter(|until| now < *until && mining.last_run.is_some_and(|last| last <= now));
        if throttled.is_none() {
            let refreshed = scan.entries.iter().map(|entry| {
                let read_state = mining.read_state(entry);
                SessionEntry { read_state, ..entry.clone() }
            });
            for entry in index(refreshed.collect()).into_iter().filter(SessionEntry::is_due) {
                if chosen.iter().all(|known| known.id != entry.id) {
                    chosen.push(entry);
                }
            }
        }
        chosen.truncate(config.max_per_run);
        match (chosen.is_empty(), throttled) {
            (false, _) => DueSessions::Sessions(chosen),
            (true, Some(until)) => DueSessions::NotDue(NotDue::Throttled { until }),
            (true, None) => DueSessions::NotDue(NotDue::NothingEligible),
        }
    }

    /// A queued session, unless its file is missing or it was read or abandoned. Age and length are not checked, because it was
    /// requested.
    fn queued(&self, path: &Path, mining: &Mining) -> Option<SessionEntry> {
        let file = SessionFile::look(path).ok()?;
        let seen = match cached_file(mining, &file) {
            Some(seen) => seen.clone(),
            None => read_file(&file).ok()?,
        };
        let FileFindings::Session(summary) = seen.findings else { return None };
        let entry = self.entry(&file, summary, mining);
        matches!(entry.read_state, ReadState::New { .. }).then_some(entry)
    }

    pub(super) fn entry(&self, file: &SessionFile, summary: SessionSummary, mining: &Mining) -> SessionEntry {
        let now = self.extension().now();
        let entry = SessionEntry::new(file.path.clone(), file.modified, summary, now, self.config().min_idle);
        let read_state = mining.read_state(&entry);
        SessionEntry { read_state, ..entry }
    }
}

/// The recorded findings of a file, if the file is unchanged. A file that was too large is read again if the limit has been
/// raised.
fn cached_file<'m>(mining: &'m Mining, file: &SessionFile) -> Option<&'m SeenFile> {
    let seen = mining.files.get(&file.path);
    let present = (SessionSummary::VERSION, file.n_bytes, file.modified);
    let seen = seen.filter(|seen| (seen.version, seen.n_bytes, seen.modified) == present);
    seen.filter(|seen| match seen.findings {
        FileFindings::TooLarge { max, .. } => max >= MAX_FILE_BYTES,
        FileFindings::Session(_) | FileFindings::NotASession { .. } => true,
    })
}

/// Reads a file. A file that is not a session is recorded as such; one that cannot be opened is tried again later.
fn read_file(file: &SessionFile) -> Result<SeenFile> {
    let not_a_session = |error: String| FileFindings::NotASession { error: Some(error) };
    let findings = match file.read(Format::Auto) {
        Ok(reading) if reading.transcript.turns.is_empty() => not_a_session("it has no turns".to_owned()),
        Ok(reading) => FileFindings::Session(SessionSummary::of(&reading)),
        Err(Error::Folder(FolderError::Io { source, .. })) if source.kind() == ErrorKind::FileTooLarge => {
            FileFindings::TooLarge { max: MAX_FILE_BYTES, error: Some(source.to_string()) }
        }
        Err(
            error @ (Error::Folder(FolderError::Io { .. }) | Error::Transcript(adage_transcript::Error::Source { .. })),
        ) => {
            return Err(error);
        }
        Err(error) => not_a_session(error.to_string()),
    };
    let (n_bytes, modified) = (file.n_bytes, file.modified);
    Ok(SeenFile { version: SessionSummary::VERSION, n_bytes, modified, findings })
}

fn left_out_file(file: &SessionFile, reason: LeftOutReason) -> LeftOut {
    LeftOut { path: PathBuf::from(&file.path), reason }
}
