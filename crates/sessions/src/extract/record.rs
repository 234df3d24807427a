//! A session in the form for a model: redacted, one JSON object per line, within a budget.

use adage_redact::{Redactor, strip_invisible};
use adage_transcript::{Status, ToolCall, Transcript, Turn};
use serde::Serialize;

use super::clip::{clip, clip_output, has_cue};
use super::recovery::Record;
use crate::evidence::UserTurns;
use adage::config::ExtractConfig;

/// One line: the speaker and the content. `by` marks what a person typed; no text can forge that, because it is inside a JSON
/// string.
#[derive(Serialize)]
#[serde(rename_all = "snake_case", tag = "by")]
enum Line<'a> {
    User { turn: usize, text: &'a str },
    Assistant { turn: usize, text: &'a str },
    Tool(Call<'a>),
    LeftOut { n_turns: usize },
}

/// A call. What it did is shown as text, not as JSON within JSON: a quote of it is copied as it stands.
#[derive(Serialize)]
struct Call<'a> {
    turn: usize,
    tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    added: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<String>,
    result: Option<String>,
    status: &'static str,
}

/// The priority of a line if the budget is short.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// It may contain a correction by a person.
    Correction,
    User,
    /// A call that failed.
    Failure,
    /// It comes soon after a call that failed.
    AfterAFailure,
    /// It is next to a user turn.
    BesideAUser,
    Other,
}

/// How many turns after a failed call are kept before others.
const MAX_AFTER_FAILURE: usize = 12;

/// Maximum length of a user turn; a longer one is cut to its head, its tail and its corrections; in characters, chosen.
const MAX_USER_TURN_CHARS: usize = 2_000;
/// Maximum length of any other text (of the assistant, a call's input or result); in characters, chosen.
const MAX_OTHER_TURN_CHARS: usize = 500;
/// Maximum length of the result of a call that failed, with the lines that tell of an error; in characters, chosen.
const MAX_FAILURE_CHARS: usize = 1_500;

struct Entry {
    turn: usize,
    rank: Rank,
    line: String,
}

/// The session's lines. What the harness said is not among them; turns that exceed the budget of the whole are left out by
/// rank, then by age, and a line says how many.
pub(super) fn record(
    transcript: &Transcript,
    said: &UserTurns<'_>,
    calls: &Record<'_>,
    config: &ExtractConfig,
) -> String {
    let mut entries = entries(transcript, said, calls, config);
    let mut by_rank: Vec<&Entry> = entries.iter().collect();
    by_rank.sort_by_key(|entry| (entry.rank, std::cmp::Reverse(entry.turn)));
    let mut left = config.max_session_chars;
    let mut kept = Vec::new();
    for entry in by_rank {
        if let Some(rest) = left.checked_sub(entry.line.chars().count() + 1) {
            left = rest;
            kept.push(entry.turn);
        }
    }
    kept.sort_unstable();
    let mut lines = Vec::new();
    let mut n_turns = 0;
    let tell = |n_turns: &mut usize, lines: &mut Vec<String>| {
        if *n_turns > 0 {
            lines.push(json(&Line::LeftOut { n_turns: *n_turns }));
            *n_turns = 0;
        }
    };
    for entry in entries.drain(..) {
        if kept.binary_search(&entry.turn).is_ok() {
            tell(&mut n_turns, &mut lines);
            lines.push(entry.line);
        } else {
            n_turns += 1;
        }
    }
    tell(&mut n_turns, &mut lines);
    lines.join("\n")
}

fn entries(transcript: &Transcript, said: &UserTurns<'_>, calls: &Record<'_>, config: &ExtractConfig) -> Vec<Entry> {
    let is_typed = |turn: Option<usize>| {
        turn.and_then(|turn| transcript.turns.get(turn)).is_some_and(|turn| matches!(turn, Turn::User(_)))
    };
    let mut typed = said.texts();
    let mut entries = Vec::new();
    let mut failed = None;
    for (turn, what) in transcript.turns.iter().enumerate() {
        let beside = is_typed(turn.checked_sub(1)) || is_typed(Some(turn + 1));
        let is_after = failed.is_some_and(|failed| turn - failed <= MAX_AFTER_FAILURE);
        let rank = match (is_after, beside) {
            (true, _) => Rank::AfterAFailure,
            (false, true) => Rank::BesideAUser,
            (false, false) => Rank::Other,
        };
        let (rank, line) = match what {
            Turn::User(_) => {
                let Some((_, text)) = typed.next() else { continue };
                let rank = if has_cue(text) { Rank::Correction } else { Rank::User };
                let text = clip(text, MAX_USER_TURN_CHARS, config.max_session_chars / 4);
                (rank, json(&Line::User { turn, text: &text }))
            }
            Turn::Assistant(text) => (rank, json(&Line::Assistant { turn, text: &shorten(text) })),
            Turn::ToolCall(call) => {
                let status = calls.status(turn);
                let has_failed = status == Status::Failed;
                failed = if has_failed { Some(turn) } else { failed };
                (if has_failed { Rank::Failure } else { rank }, json_of_call(turn, call, status))
            }
            Turn::System(_) => continue,
        };
        entries.push(Entry { turn, rank, line });
    }
    entries
}

fn json_of_call(turn: usize, call: &ToolCall, status: Status) -> String {
    let (word, max_result) = match status {
        Status::Succeeded => ("succeeded", MAX_OTHER_TURN_CHARS),
        Status::Failed => ("failed", MAX_FAILURE_CHARS),
        Status::Unknown => ("unknown", MAX_FAILURE_CHARS),
    };
    let result =
        call.result.as_deref().map(|result| clip_output(&clean(result), MAX_OTHER_TURN_CHARS, max_result).into_owned());
    let command = call.command().as_deref().map(shorten);
    let file = call.changed_path().filter(|_| call.changes_files()).map(shorten);
    let replaced = call.replaced().filter(|_| file.is_some());
    let is_shown = command.is_some() || replaced.is_some();
    json(&Line::Tool(Call {
        turn,
        tool: &shorten(&call.tool),
        removed: replaced.map(|(old, _)| shorten(old)),
        added: replaced.map(|(_, new)| shorten(new)),
        input: if is_shown { None } else { Some(shorten(&call.input.to_string())) },
        command,
        file,
        result,
        status: word,
    }))
}

/// Redacted first: a secret cut in two is not recognised.
fn shorten(text: &str) -> String {
    clip(&clean(text), MAX_OTHER_TURN_CHARS, MAX_OTHER_TURN_CHARS).into_owned()
}

fn clean(text: &str) -> String {
    Redactor::shared().redact(&strip_invisible(text)).into_owned()
}

fn json(line: &Line<'_>) -> String {
    // Strings and numbers always have a form in JSON.
    serde_json::to_string(line).unwrap_or_default()
}
