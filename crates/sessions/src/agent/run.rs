//! A run of the host's agent over past sessions (docs/spec/skills.md, 5): the agent's job, the sessions that it may read, and
//! the check of the files that it wrote.

use std::path::{Path, PathBuf};

use adage_transcript::Reading;
use serde::Serialize;

use adage::FolderError;
use adage_review::{CheckedInbox, Inbox, Notice, Result};

use super::{AgentJob, AgentTool, Briefing, Denied, job};
use crate::cleaned::clean_transcript;
use crate::extract::redacted_record;
use crate::record::{RunEnd, RunRecord};
use crate::record_rows::SessionResult;
use crate::run::SessionRun;
use crate::sessions::{NotDue, Sessions};

/// A run of the host's agent over past sessions, started by [`Sessions::begin_agent`].
///
/// The host runs the agent, with its own model and tools. It passes the agent [`job`](Self::job), calls [`may`](Self::may)
/// before each tool call, provides sessions only through [`read_session`](Self::read_session), and ends the run with
/// [`finish`](Self::finish). While the run is active, no other run can begin. If the process dies, the next run starts with the
/// sessions that this one did not read.
pub struct AgentRun {
    sessions: Sessions,
    run: SessionRun,
    job: AgentJob,
    /// The sessions in the index.
    listed: Vec<PathBuf>,
}

/// A session's text for the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionText {
    /// One redacted JSON object per line: who said what, the tool calls, and how they ended.
    Text(String),
    /// The session cannot be read, with the reason.
    Unreadable(String),
    /// The path is not a session of the index.
    NotListed,
}

/// The result of an agent's run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AgentReport {
    /// The run's entry in the history.
    pub record: RunRecord,
    /// Files that the agent wrote and that were quarantined, with reasons.
    pub written: CheckedInbox,
    /// The proposals that await review now.
    pub notice: Option<Notice>,
}

impl Sessions {
    /// Begins a run of the host's agent over the sessions of a folder that are due: at most 10 by default.
    ///
    /// ```
    /// use adage::Playbook;
    /// use adage_sessions::{NotDue, Sessions};
    ///
    /// # let (folder, recorded) = (tempfile::tempdir()?, tempfile::tempdir()?);
    /// let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
    /// match Sessions::of(&playbook).begin_agent(recorded.path())? {
    ///     Ok(run) => println!("{}\n{}", run.job().system, run.job().query),
    ///     Err(waiting) => assert_eq!(waiting, NotDue::NothingEligible),
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FolderError::Io`] and the errors of a write. If no session is due, the inner `Err` gives the reason.
    pub fn begin_agent(&self, folder: &Path) -> Result<Result<AgentRun, NotDue>> {
        let scan = self.scan(folder)?;
        let run = match self.begin_run(&scan)? {
            Ok(run) => run,
            Err(waiting) => return Ok(Err(waiting)),
        };
        let (extension, folder) = (self.extension(), self.playbook.folder());
        let memory = extension.resolve(folder).map_err(FolderError::io("find", folder))?;
        let inbox = Inbox::of(&self.playbook);
        let pending = inbox.list()?.into_iter().filter(|proposal| !proposal.files.is_empty());
        let pending = pending.map(|proposal| Ok((proposal.name.to_string(), inbox.show(&proposal)?)));
        let skills = self.playbook.skills().list()?.skills.into_iter().map(|listed| {
            let skill = &listed.skill;
            // For a skill that awaits review, only its name is passed on.
            let description = if listed.needs_review { String::new() } else { skill.description.clone() };
            (listed.place.name().to_owned(), skill.name.to_string(), description)
        });
        let sessions = scan.shown();
        let briefing = Briefing {
            inbox: &memory.join(".inbox"),
            memory: &memory,
            global: extension.global_notes(),
            skills: skills.collect(),
            pending: pending.collect::<Result<_>>()?,
            sessions: &sessions,
        };
        let job = job(&briefing);
        let listed = sessions.iter().map(|entry| entry.path.clone()).collect();
        Ok(Ok(AgentRun { sessions: self.clone(), run, job, listed }))
    }
}

impl AgentRun {
    /// The job to pass to the agent.
    #[must_use]
    pub fn job(&self) -> &AgentJob {
        &self.job
    }

    /// Checks whether the agent may use a tool on a path. Links are resolved as far as the path exists.
    ///
    /// # Errors
    /// [`Denied`] with the reason.
    pub fn may(&self, tool: AgentTool, path: &Path) -> Result<(), Denied> {
        let policy = &self.job.policy;
        policy.check(tool, path)?;
        match self.sessions.extension().resolve_existing(path) {
            Some(resolved) => policy.check(tool, &resolved),
            None => Err(Denied::Elsewhere { tool, path: path.to_owned(), allowed: "where links end".to_owned() }),
        }
    }

    /// The text of a session of the index. A due session counts as read from this call on.
    ///
    /// # Errors
    /// The errors of a write.
    pub fn read_session(&mut self, path: &Path) -> adage::Result<SessionText> {
        let config = &self.sessions.playbook.config().extract;
        let shown = |reading: &Reading| redacted_record(&clean_transcript(&reading.transcript), config);
        let Some(path) = self.listed.iter().find(|listed| *listed == path) else { return Ok(SessionText::NotListed) };
        let mut text = String::new();
        let outcome = self.run.read_path(path, |reading| {
            text = shown(reading);
            Ok::<_, FolderError>(0)
        })?;
        match outcome {
            Some(outcome) => Ok(match outcome.result {
                SessionResult::Read { .. } => SessionText::Text(text),
                SessionResult::Failed { error } => SessionText::Unreadable(error),
            }),
            // It was read before, or is left to a later run.
            None => Ok(match self.sessions.open(path) {
                Ok((_, reading)) => SessionText::Text(shown(&reading)),
                Err(error) => SessionText::Unreadable(error),
            }),
        }
    }

    /// Ends the run: checks what the agent wrote, quarantines what cannot be applied, and records the run. A due session that
    /// the agent did not read counts as one attempt, unless the run was cancelled.
    ///
    /// # Errors
    /// [`FolderError::Io`] and the errors of a write.
    pub fn finish(mut self, end: RunEnd) -> Result<AgentReport> {
        if end == RunEnd::Finished {
            self.run.pass_over("the agent did not read it")?;
        }
        let inbox = Inbox::of(&self.sessions.playbook);
        let written = inbox.check_written()?;
        let record = self.run.finish(end)?;
        Ok(AgentReport { record, written, notice: inbox.notice()? })
    }
}
