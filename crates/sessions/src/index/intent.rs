//! What a session was about, in a line.

use adage_redact::one_line;
use adage_transcript::Transcript;

use super::harmless;
use crate::heuristics::first_request;

/// Characters of an intent.
pub(super) const MAX_CHARS: usize = 80;

/// The first request of a person; if there is none, their first text. Empty without a user turn. One line of at most 80
/// characters, cut at a word, without secrets and URLs.
pub(super) fn intent(transcript: &Transcript) -> String {
    let said = || transcript.user_turns().map(|(_, text)| text);
    // Whole turns: a secret can be longer than a sentence.
    let request = said().find_map(|text| first_request(&harmless(text)).map(str::to_owned));
    let words = request.or_else(|| said().map(harmless).find(|text| !text.trim().is_empty()));
    let line = words.unwrap_or_default().replace(char::is_control, " ");
    one_line(&line, MAX_CHARS)
}
