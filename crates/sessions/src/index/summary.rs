//! The summary of a session for an index.

use adage_redact::as_shown;
use adage_transcript::{Owner, Reading, Status, Turn};
use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use super::{intent, workflow};
use adage::TextHash;

/// A summary of a session without its text: enough to decide whether it is worth reading.
///
/// ```
/// use adage::transcript::{Format, TranscriptReader};
/// use adage_sessions::SessionSummary;
/// let source = r#"[{"role": "user", "content": "Please make the parser faster."}]"#;
/// let reading = TranscriptReader::new().read(source.as_bytes(), Format::Auto)?;
/// let summary = SessionSummary::of(&reading);
/// assert_eq!((summary.intent.as_str(), summary.n_user_turns), ("Please make the parser faster.", 1));
/// # Ok::<(), adage::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionSummary {
    /// The agent's name of it; empty when the source has none.
    pub session: String,
    /// The latest time that a record names; none where the records name none.
    pub last_record: Option<DateTime<FixedOffset>>,
    /// Turns that a person typed.
    pub n_user_turns: usize,
    /// Tool calls.
    #[serde(default)]
    pub n_tool_calls: usize,
    /// Of these, those that failed.
    #[serde(default)]
    pub n_failed_calls: usize,
    /// The number of turns of every kind; 0 for a file that is not a session.
    pub n_turns: usize,
    /// Whose session it is.
    pub owner: Owner,
    /// What a person asked for first: one line of at most 80 characters, cut at a word, without secrets and URLs.
    pub intent: String,
    /// What was done, such as `Read -> Bash: cargo | paths src/lib.rs | validated`: one line of at most 160 characters, with
    /// the names of tools, programs and files, never arguments, URLs or secrets. Empty when no tool was called.
    pub workflow: String,
}

impl SessionSummary {
    /// The version of the summary; a stored one of another version is computed again. Raise it with any change of a summary's
    /// content.
    pub(crate) const VERSION: u32 = 2;

    /// Summarises a session. The result depends only on the session.
    #[must_use]
    pub fn of(reading: &Reading) -> Self {
        let transcript = &reading.transcript;
        let calls = || transcript.turns.iter().filter_map(Turn::as_call);
        Self {
            session: stored_id(&transcript.session),
            last_record: reading.report.last_record,
            n_user_turns: transcript.user_turns().count(),
            n_tool_calls: calls().count(),
            n_failed_calls: calls().filter(|call| call.status == Status::Failed).count(),
            n_turns: transcript.turns.len(),
            owner: reading.report.owner,
            intent: intent::intent(transcript),
            workflow: workflow::hint(transcript),
        }
    }
}

/// The id as it is written down: one with a secret in it by its hash, since two of them are two sessions.
fn stored_id(session: &str) -> String {
    if as_shown(session) == session { session.to_owned() } else { TextHash::of(&[session]).to_string() }
}
