//! Earlier attempts that failed with the same error.

use adage_transcript::{CommandLine, Relation};

use super::{is_go_ahead, may_fix};
use crate::capture::heuristics::error_line::error_line;
use crate::capture::heuristics::session::{Session, TerminalCall};

/// The attempts before the last failure.
pub(super) struct Attempts {
    /// The command of the first attempt. None without earlier attempts.
    pub(super) first: Option<CommandLine>,
    /// Commands that were run after it and did not help: other forms of the command, and commands in between.
    pub(super) tried: Vec<CommandLine>,
}

/// The attempts before a failed call that ended with the same error. A request of the user ends the search.
pub(super) fn attempts(session: &Session<'_>, failed: &TerminalCall<'_>, error: Option<&str>) -> Attempts {
    /// The number of terminal calls that are searched.
    const MAX_CALLS: usize = 12;
    let said = session.user_turns().rfind(|(turn, text)| *turn < failed.turn && !is_go_ahead(text));
    let is_since = |call: &TerminalCall<'_>| said.is_none_or(|(turn, _)| call.turn > turn);
    let end = session.calls.partition_point(|call| call.turn < failed.turn);
    let before = session.calls.get(end.saturating_sub(MAX_CALLS)..end).unwrap_or_default();
    let is_attempt = |call: &TerminalCall<'_>| {
        let is_related = call.line.relation_to(&failed.line).is_some_and(|relation| relation != Relation::SameProgram);
        let is_same_error =
            || error.is_some_and(|error| error_line(call.output()).is_some_and(|own| is_same_error_text(own, error)));
        call.failed() && is_related && is_same_error()
    };
    let start = before.iter().position(|call| is_since(call) && is_attempt(call));
    let Some((first, rest)) = start.and_then(|start| before.get(start..)?.split_first()) else {
        return Attempts { first: None, tried: Vec::new() };
    };
    let mut tried: Vec<CommandLine> = Vec::new();
    for call in rest.iter().filter(|call| is_attempt(call) || may_fix(call, failed)).chain([failed]) {
        let is_known = |line: &CommandLine| line.plain_text() == call.line.plain_text();
        if !is_known(&first.line) && !tried.iter().any(is_known) {
            tried.push(call.line.clone());
        }
    }
    Attempts { first: Some(first.line.clone()), tried }
}

/// True for two errors that are equal except for their digits.
pub(in crate::capture::heuristics) fn is_same_error_text(one: &str, other: &str) -> bool {
    let plain = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    plain(one) == plain(other)
}
