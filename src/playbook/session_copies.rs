//! Copies and forks of sessions, which count as the session that they come from (docs/spec/capture.md, 1.8).

use std::collections::BTreeSet;

use adage_transcript::{SessionMarks, Transcript};

use super::Playbook;
use crate::error::Result;

impl Playbook {
    /// The session that one is a copy or fork of, as far as the sessions that taught something show it.
    pub(super) fn copied_session(&self, transcript: &Transcript) -> Result<Option<String>> {
        if transcript.session.is_empty() {
            return Ok(None);
        }
        let known = self.sessions().log().read()?;
        Ok(known.copy_of(&transcript.session, &marks(transcript), transcript.source).map(str::to_owned))
    }

    /// Records that a session taught something. This comes before what it taught: without it, a copy counts.
    pub(super) fn record_taught(&self, transcript: &Transcript) -> Result<()> {
        if transcript.session.is_empty() {
            return Ok(());
        }
        let (sessions, now) = (self.sessions(), self.shared.clock.now());
        sessions.log().change(sessions.config(), |known| {
            known.record_taught(&transcript.session, marks(transcript), transcript.source, now);
        })?;
        Ok(())
    }
}

/// The marks of the records, and those of a session that a host made.
fn marks(transcript: &Transcript) -> BTreeSet<u64> {
    let own = SessionMarks::new(&transcript.session, transcript.started);
    transcript.marks.iter().chain(own.iter()).collect()
}

#[cfg(test)]
mod tests;
