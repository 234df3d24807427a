//! Which usage is read for a state, and from where on.

use std::sync::Arc;

use super::{Mark, Snapshot, Store, UsageLog};
use crate::error::folder::Result;

/// Where reading the usage of a state begins.
#[derive(Clone, Copy)]
pub(super) enum UsageFrom<'a> {
    /// At the first segment.
    Start,
    /// At the segment that was open at the last commit: earlier ones only have receipts, which a recall does not need.
    Open,
    /// At the end of an earlier state's usage.
    End(&'a Snapshot),
}

impl Store {
    /// A state with the usage after it.
    pub(super) fn with_usage(&self, snapshot: Snapshot, from: UsageFrom<'_>) -> Result<Snapshot> {
        let folded = snapshot.file.usage;
        let start = Mark { segment: folded.segment, offset: 0 };
        let goes_on = |known: &Snapshot| {
            let is_behind = !known.is_provisional && known.log.end <= folded;
            if is_behind { self.usage_files().goes_on_from(&known.log) } else { Ok(false) }
        };
        let log = match from {
            UsageFrom::Open => UsageLog::from_segment(folded.segment),
            UsageFrom::End(known) if goes_on(known)? => known.log.clone(),
            UsageFrom::Start | UsageFrom::End(_) => UsageLog::default(),
        };
        let from = log.end;
        let mut with_usage = Snapshot { log, ..snapshot.clone() };
        for segment in self.usage_files().segments()? {
            if (from.segment..folded.segment).contains(&segment) {
                let offset = if segment == from.segment { from.offset } else { 0 };
                self.read_segment(&mut with_usage, Mark { segment, offset })?;
            }
        }
        with_usage.log.end = from.max(start);
        self.read_usage(&mut with_usage)?;
        if with_usage.log.needs_earlier { self.with_usage(snapshot, UsageFrom::Start) } else { Ok(with_usage) }
    }

    /// The same state with the receipts of all segments.
    pub(super) fn with_all_usage(&self, snapshot: Snapshot) -> Result<Snapshot> {
        if !snapshot.log.is_partial {
            return Ok(snapshot);
        }
        let file = Arc::clone(&snapshot.committed);
        self.with_usage(Snapshot { file, ..snapshot }, UsageFrom::Start)
    }

    /// Reads the events after the last one that was read.
    pub(super) fn read_usage(&self, snapshot: &mut Snapshot) -> Result<()> {
        loop {
            let end = snapshot.log.end;
            self.read_segment(snapshot, end)?;
            let next = Mark { segment: snapshot.log.end.segment.saturating_add(1), offset: 0 };
            if !self.usage_files().exists(next.segment)? {
                return Ok(());
            }
            snapshot.log.end = next;
        }
    }

    fn read_segment(&self, snapshot: &mut Snapshot, at: Mark) -> Result<()> {
        let bytes = self.usage_files().read(at)?;
        snapshot.log.end = at;
        if bytes.is_empty() && at.offset == 0 {
            snapshot.log.note_empty(at.segment);
        } else if !bytes.is_empty() {
            let file = Arc::make_mut(&mut snapshot.file);
            snapshot.log.read(at, &bytes, file.usage, Arc::make_mut(&mut file.book), &self.feedback);
        }
        // A file shorter than the usage that was folded in was lost and created again. It is not appended to any more.
        let folded = snapshot.file.usage;
        if at.segment == folded.segment {
            snapshot.log.end = snapshot.log.end.max(folded);
        }
        Ok(())
    }
}
