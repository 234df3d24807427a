//! What became of a call, by the fields and the texts that agents document (docs/agents.md of adage). Nothing else counts: an answer with none
//! of them has no status, and what a program printed is not read for signs.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::outcome::{pattern, reported_exit_code};
use crate::transcript::Status;

/// The keys by which tools give the exit status.
const EXIT_CODES: [&str; 5] = ["exit_code", "exitCode", "returncode", "return_code", "exit"];
/// The keys by which tools say that a call was stopped.
const STOPPED: [&str; 6] = ["interrupted", "cancelled", "canceled", "aborted", "is_interrupt", "isCanceled"];
/// The keys of what a call ended as, and what the values of them mean.
const STATES: [&str; 5] = ["status", "resultType", "result_type", "state", "outcome"];
const PASSED: [&str; 4] = ["success", "succeeded", "completed", "ok"];
const FAILED: [&str; 4] = ["failure", "failed", "error", "errored"];
const OPEN: [&str; 9] =
    ["running", "in_progress", "pending", "async_launched", "cancelled", "canceled", "aborted", "declined", "denied"];
/// How a tool says that a command goes on running.
const RUNNING: [&str; 7] = [
    "running in background",
    "running in the background",
    "moved to background",
    "moved to the background",
    "backgrounded",
    "process running with session",
    "script running with",
];

/// The status that an answer gives, with the input of its call; none if nothing in it says.
#[must_use]
pub fn status_in(answer: &Value, input: &Value) -> Option<Status> {
    let is = |key: &str, value: bool| answer.get(key).and_then(Value::as_bool) == Some(value);
    if STOPPED.iter().any(|key| is(key, true)) || says_background(answer) || says_background(input) {
        return Some(Status::Unknown);
    }
    let state = STATES.iter().find_map(|key| answer.get(*key)?.as_str()).unwrap_or_default().to_ascii_lowercase();
    let has_error = answer.get("error").is_some_and(|error| !error.is_null() && error != "" && error != false);
    let has_failed = is("is_error", true) || is("isError", true) || is("success", false) || is("ok", false);
    if OPEN.contains(&state.as_str()) {
        return Some(Status::Unknown);
    }
    if has_failed || has_error || FAILED.contains(&state.as_str()) {
        return Some(Status::Failed);
    }
    let text = texts_in(answer).into_iter().find_map(status_in_text);
    let has_passed = is("is_error", false) || is("isError", false) || is("success", true);
    let has_passed = has_passed || PASSED.contains(&state.as_str());
    exit_status(answer).or(text).or(has_passed.then_some(Status::Succeeded))
}

/// The status by an exit code in a field.
fn exit_status(answer: &Value) -> Option<Status> {
    let places = [Some(answer), answer.get("metadata")];
    let codes = places.into_iter().flatten().flat_map(|place| EXIT_CODES.iter().filter_map(|key| place.get(*key)));
    let code = codes.into_iter().find_map(|code| code.as_f64().or_else(|| code.as_str()?.trim().parse().ok()))?;
    Some(if code == 0.0 { Status::Succeeded } else { Status::Failed })
}

/// The status that the beginning of a text gives, as agents write it above what a program printed.
#[must_use]
pub fn status_in_text(text: &str) -> Option<Status> {
    if let Some(code) = exit_code_above(text) {
        return Some(if code == 0 { Status::Succeeded } else { Status::Failed });
    }
    (is_stopped(text) || is_running(text)).then_some(Status::Unknown)
}

/// The exit code in a head that an agent writes above the output: in the first line, or above a line `Output:`.
fn exit_code_above(text: &str) -> Option<u64> {
    const MAX_HEAD: usize = 8;
    let has_head = text.lines().take(MAX_HEAD).any(|line| line.trim() == "Output:");
    let first = text.lines().next().unwrap_or_default();
    let first = first.trim_start_matches("Error: ").trim_start_matches("Command ");
    reported_exit_code(if has_head { text } else { first })
}

/// True for a text that begins with the sentence of an interrupt, of a cancelled call or of one that a person refused.
#[must_use]
pub fn is_stopped(text: &str) -> bool {
    static STOP: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^\W*(?:error: )?(?:(?:the |tool |exec )*(?:user|command|operation|call|execution|request|process|script)\b.{0,40})?\b(?:interrupted|cancell?ed|aborted|rejected|declined|denied|doesn't want)\b",
        )
    });
    let first = text.trim_start().lines().next().unwrap_or_default();
    STOP.is_match(first)
}

/// True if a text begins with a sentence that says that the command goes on running.
fn is_running(text: &str) -> bool {
    const MAX_SAID: usize = 200;
    let start: String = text.chars().take(MAX_SAID).collect::<String>().to_ascii_lowercase();
    RUNNING.iter().any(|said| start.contains(said))
}

/// True if a field says that a command is in the background: `run_in_background`, `is_background`, `backgroundTaskId`.
fn says_background(value: &Value) -> bool {
    let Value::Object(fields) = value else { return false };
    let is_said = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty() && !text.eq_ignore_ascii_case("false"),
        Value::Array(list) => !list.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::Object(_) => true,
    };
    fields.iter().any(|(key, value)| key.to_ascii_lowercase().contains("background") && is_said(value))
}

/// What an agent says in words of a call: not what a program printed, if that has a field of its own.
#[must_use]
pub fn texts_in(answer: &Value) -> Vec<&str> {
    const SAID: [&str; 6] = ["output", "content", "llmContent", "text", "textResultForLlm", "text_result_for_llm"];
    match answer {
        Value::String(text) => vec![text.as_str()],
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        Value::Object(fields) => SAID.iter().filter_map(|key| fields.get(*key)).flat_map(texts_in).collect(),
        _ => Vec::new(),
    }
}

/// True for a text that begins as the message of a tool that failed.
#[must_use]
pub fn is_error(text: &str) -> bool {
    let first = text.trim_start().to_ascii_lowercase();
    ["error:", "<tool_use_error>", "error while", "failed to "].iter().any(|start| first.starts_with(start))
}
