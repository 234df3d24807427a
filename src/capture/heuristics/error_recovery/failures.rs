//! Detection of failed calls, also where their status does not report the failure, and the kinds of their errors.

use std::sync::LazyLock;

use adage_transcript::{Turn, outcome};
use regex::Regex;

use super::diagnosis::shares_a_name;
use crate::capture::heuristics::error_line::{error_line, never_ran};
use crate::capture::heuristics::session::{Session, TerminalCall};
use crate::capture::heuristics::wording::matches;

/// True for a call that failed by its status, by an exit code that its line printed, or because the agent's next message confirms
/// the error in its output.
pub(in crate::capture::heuristics) fn is_failure(session: &Session<'_>, call: &TerminalCall<'_>) -> bool {
    let output = call.output();
    if call.failed() || !call.acts() || never_ran(output) {
        return call.failed();
    }
    let Some(error) = error_line(output).filter(|_| outcome::reads_as_failed(output)) else { return false };
    if call.succeeded() { agent_confirms(session, call.turn, error) } else { outcome::tells_of_failure(output) }
}

/// True if the agent's message right after the call reports a failure and shares a name with the error.
fn agent_confirms(session: &Session<'_>, turn: usize, error: &str) -> bool {
    static FAILED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:fail(?:s|ed)|errors? (?:out|occurred|is|was)|errored|did(?:n['’]t| not) work|does(?:n['’]t| not) (?:work|exist|support)|could(?:n['’]t| not)|cannot|broke|got an? (?:\w+ )?error|(?:issue|problem) is)\b").ok()
    });
    /// The number of characters of the message that are read.
    const MAX_CHARS: usize = 300;
    let Some(Turn::Assistant(text)) = session.transcript.turns.get(turn + 1) else { return false };
    let text: String = text.chars().take(MAX_CHARS).collect();
    matches(&FAILED, &text) && shares_a_name(&text, &error.to_lowercase())
}

/// True for an error that reports something missing.
pub(in crate::capture::heuristics) fn says_missing(error: &str) -> bool {
    const MARKS: [&str; 10] = [
        "not found",
        "no module named",
        "cannot find",
        "could not find",
        "no such",
        "not installed",
        "missing",
        "unable to find",
        "could not resolve",
        "is not recognized",
    ];
    let lower = error.to_lowercase();
    MARKS.iter().any(|mark| lower.contains(mark))
}
