//! Redaction of a session.

use adage::extend::{clean, clean_value};
use adage_transcript::{ToolCall, Transcript, Turn};

/// The transcript with secrets redacted. Candidates, quotes and their positions are taken from this version.
pub(crate) fn clean_transcript(transcript: &Transcript) -> Transcript {
    let clean_turn = |turn: &Turn| match turn {
        Turn::User(text) => Turn::User(clean(text)),
        Turn::Assistant(text) => Turn::Assistant(clean(text)),
        Turn::System(text) => Turn::System(clean(text)),
        Turn::ToolCall(call) => {
            let mut input = call.input.clone();
            clean_value(&mut input);
            let result = call.result.as_deref().map(clean);
            Turn::ToolCall(ToolCall { tool: clean(&call.tool), input, result, status: call.status })
        }
    };
    Transcript {
        session: clean(&transcript.session),
        project: clean(&transcript.project),
        started: transcript.started,
        turns: transcript.turns.iter().map(clean_turn).collect(),
        source: transcript.source,
    }
}
