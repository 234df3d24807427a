//! The journals of a folder: `edits/ID.STAGE`, one per transaction.

use std::ffi::OsString;

use chrono::{DateTime, FixedOffset, TimeDelta};

use super::journal::{Journal, parse};
use crate::error::folder::Result;
use crate::folder::{Directory, Entry, Name};
use crate::id::ChangeId;

/// The directory of the journals.
pub(crate) const JOURNALS: &str = "edits";
/// Maximum number of transactions that can be undone.
const MAX_DONE: usize = 32;
/// How long a journal is kept: it may contain texts that a person has removed.
const MAX_AGE: TimeDelta = TimeDelta::days(30);

/// The stage of a transaction, given by the extension of its journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Staging,
    Pending,
    /// An earlier version was rolling it back.
    Undoing,
    Done,
    /// The journal cannot be followed; it is kept for a person to look at.
    Broken,
}

impl Stage {
    const ALL: [Self; 5] = [Self::Staging, Self::Pending, Self::Undoing, Self::Done, Self::Broken];

    fn ending(self) -> &'static str {
        match self {
            Self::Staging => "staging",
            Self::Pending => "pending",
            Self::Undoing => "undoing",
            Self::Done => "done",
            Self::Broken => "broken",
        }
    }

    /// True if nothing is left to do.
    pub(super) fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Broken)
    }
}

/// The journals, by id and stage.
#[derive(Clone, Copy)]
pub(super) struct Journals<'a>(pub(super) &'a Directory);

impl Journals<'_> {
    pub(super) fn name(id: ChangeId, stage: Stage) -> Name {
        Name::from(JOURNALS).join(format!("{id}.{}", stage.ending()))
    }

    /// Every journal, oldest first.
    pub(super) fn list(self) -> Result<Vec<(ChangeId, Stage)>> {
        let journal = |name: &OsString| {
            let (id, ending) = name.to_str()?.split_once('.')?;
            let stage = Stage::ALL.into_iter().find(|stage| stage.ending() == ending)?;
            Some((id.parse().ok()?, stage))
        };
        let mut journals: Vec<(ChangeId, Stage)> = self.0.list(JOURNALS)?.iter().filter_map(journal).collect();
        journals.sort_by_key(|(id, _)| *id);
        Ok(journals)
    }

    pub(super) fn read(self, id: ChangeId, stage: Stage) -> Result<Option<Journal>> {
        if !matches!(self.0.entry(Self::name(id, stage))?, Entry::File { .. }) {
            return Ok(None);
        }
        Ok(parse(&self.bytes(id, stage)?, self.0.path()).filter(|journal| journal.id == id))
    }

    pub(super) fn bytes(self, id: ChangeId, stage: Stage) -> Result<Vec<u8>> {
        self.0.read_or_empty(Self::name(id, stage), 0)
    }

    /// Writes a journal as `.staging`.
    pub(super) fn stage(self, id: ChangeId, bytes: &[u8]) -> Result<()> {
        let name = Self::name(id, Stage::Staging);
        self.0.create_directory(JOURNALS)?;
        self.0.create(&name, bytes)?;
        self.0.sync(&name)?;
        self.0.sync_directory(JOURNALS)?;
        self.0.sync_directory(Name::TOP)
    }

    pub(super) fn advance(self, id: ChangeId, from: Stage, to: Stage) -> Result<()> {
        self.0.rename(Self::name(id, from), Self::name(id, to))?;
        self.0.sync_directory(JOURNALS)
    }

    pub(super) fn remove(self, id: ChangeId, stage: Stage) -> Result<()> {
        self.0.remove_if_exists(Self::name(id, stage))
    }

    /// The journals with nothing left to do that are old, or that have many newer ones.
    pub(super) fn outdated(self, now: DateTime<FixedOffset>) -> Result<Vec<(ChangeId, Stage)>> {
        let oldest = (now - MAX_AGE).timestamp_millis();
        let mut over: Vec<(ChangeId, Stage)> = self.list()?.into_iter().filter(|(_, stage)| stage.is_over()).collect();
        let n_excess = over.iter().filter(|(_, stage)| *stage == Stage::Done).count().saturating_sub(MAX_DONE);
        let mut n_done = 0;
        over.retain(|(id, stage)| {
            n_done += usize::from(*stage == Stage::Done);
            id.millis() < oldest || (*stage == Stage::Done && n_done <= n_excess)
        });
        Ok(over)
    }

    pub(super) fn remove_outdated(self, now: DateTime<FixedOffset>) -> Result<()> {
        self.outdated(now)?.into_iter().try_for_each(|(id, stage)| self.remove(id, stage))
    }
}
