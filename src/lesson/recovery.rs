//! The record's evidence of a recovery: where something failed, what was done, and where it passed.

use serde::{Deserialize, Serialize};

/// A passage of one turn of a session, verbatim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// The turn of the session, counted from 0.
    pub turn: usize,
    /// What the turn is: the command of a call in backticks, the file that it changed, its tool, or who spoke.
    pub source: String,
    /// The words; empty for a success that printed nothing.
    pub quote: String,
}

/// The passages of a session that prove a recovery. They are checked when the lesson is proposed, and shown to the reviewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryEvidence {
    /// What failed: the output of a call, or the user's report.
    pub failure: Passage,
    /// What was done or found out after that, rising by turn; at least one.
    pub remedies: Vec<Passage>,
    /// What passed after that: a call, or the user's word.
    pub success: Passage,
}

impl RecoveryEvidence {
    /// All passages, in the order of the session.
    pub fn passages(&self) -> impl Iterator<Item = &Passage> {
        std::iter::once(&self.failure).chain(&self.remedies).chain([&self.success])
    }

    /// Changes each text.
    pub(crate) fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        let passages = std::iter::once(&mut self.failure).chain(&mut self.remedies).chain([&mut self.success]);
        passages.flat_map(|passage| [&mut passage.source, &mut passage.quote])
    }
}
