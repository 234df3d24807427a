//! Detects the format of a source from its first records.

use std::io::Read;

use serde_json::Value;

use super::recorder::str_of;
use super::{Format, document, record};

/// How the records of a source are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// One per line.
    Lines,
    /// All in one JSON document.
    Document,
}

/// The detected properties of a source.
pub(super) struct Looks {
    /// The format; none if it was not given and could not be detected.
    pub(super) format: Option<Format>,
    pub(super) layout: Layout,
}

/// How many bytes are examined, step by step: most formats are detected in the first step.
const STEPS: [usize; 3] = [1 << 16, 1 << 20, usize::MAX];
/// The maximum number of records that are examined.
const N_RECORDS: usize = 64;

/// Examines at most `max` bytes of a source. Returns the bytes that were read, to be read again.
pub(super) fn looked_at(source: &mut impl Read, named: Format, max: usize) -> std::io::Result<(Vec<u8>, Looks)> {
    let mut peeked = Vec::new();
    for step in STEPS {
        let room = step.min(max).saturating_sub(peeked.len());
        source.take(room as u64).read_to_end(&mut peeked)?;
        let is_all = peeked.len() < step;
        let start = String::from_utf8_lossy(&peeked);
        let looks = look(start.trim_start_matches('\u{feff}').trim_start(), is_all, named);
        if let Some(looks) = looks {
            return Ok((peeked, looks));
        }
        if is_all {
            break;
        }
    }
    let format = (named != Format::Auto).then_some(named);
    Ok((peeked, Looks { format, layout: Layout::Lines }))
}

/// None if more bytes are needed.
fn look(start: &str, is_all: bool, named: Format) -> Option<Looks> {
    let looks = |found: Option<Format>, layout| {
        let format = if named == Format::Auto { found } else { Some(named) };
        format.map(|format| Looks { format: Some(format), layout })
    };
    let first_line = start.lines().next().unwrap_or_default();
    let is_line = is_all || first_line.len() < start.len();
    let values: Vec<Value> = start
        .lines()
        .take(N_RECORDS)
        .filter_map(|line| record::parse(line.trim()).ok())
        .map(|(value, _)| value)
        .collect();
    if !start.starts_with('[') && is_line && record::parse(first_line.trim()).is_ok() {
        return looks(vote(values.iter()), Layout::Lines);
    }
    let mut messages = Vec::new();
    let mut take = |value: Value, _, _| {
        if messages.len() < N_RECORDS {
            messages.push(value);
        }
    };
    // An error is expected: the beginning of a document is not a document.
    document::read(start.as_bytes(), usize::MAX, &mut take).ok()?;
    if start.starts_with('[') || messages.iter().any(|message| message.get("role").or(message.get("type")).is_some()) {
        return looks(vote(messages.iter()), Layout::Document);
    }
    // The first line may be malformed and later ones valid.
    if values.is_empty() { None } else { looks(vote(values.iter()), Layout::Lines) }
}

/// The first record that can belong to only one format decides; otherwise messages with a role are read as [`Format::OpenAi`],
/// the more general format.
fn vote<'v>(records: impl Iterator<Item = &'v Value>) -> Option<Format> {
    let mut has_role = false;
    for record in records {
        if let Some(format) = sure(record) {
            return Some(format);
        }
        let messages = record.get("messages").and_then(Value::as_array).or(record.as_array());
        if let Some(found) = messages.and_then(|messages| vote(messages.iter())) {
            if found != Format::OpenAi
                || messages.is_some_and(|messages| messages.iter().any(|one| sure(one).is_some()))
            {
                return Some(found);
            }
            has_role = true;
        }
        has_role |= matches!(str_of(record, "role"), "user" | "assistant" | "system");
    }
    has_role.then_some(Format::OpenAi)
}

fn sure(record: &Value) -> Option<Format> {
    let has = |key: &str| record.get(key).is_some();
    let part_is = |kinds: &[&str]| {
        let parts = record.get("content").and_then(Value::as_array);
        parts.is_some_and(|parts| parts.iter().any(|part| kinds.contains(&str_of(part, "type"))))
    };
    match str_of(record, "type") {
        "session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted" if has("payload") => {
            return Some(Format::Codex);
        }
        "message" if part_is(&["input_text", "output_text"]) => return Some(Format::Codex),
        "function_call" | "function_call_output" | "local_shell_call" | "reasoning" if !has("message") => {
            return Some(Format::Codex);
        }
        "session" if has("id") && has("timestamp") && has("cwd") => return Some(Format::Pi),
        "message" if has("message") && has("parentId") => return Some(Format::Pi),
        "gemini" => return Some(Format::Gemini),
        "user" | "info" | "warning" | "error" if has("content") && has("id") && !has("message") => {
            return Some(Format::Gemini);
        }
        "" => {}
        _ if ["sessionId", "uuid", "leafUuid", "messageId"].into_iter().any(has) => return Some(Format::ClaudeCode),
        _ => {}
    }
    let is_head = has("sessionId") && (has("projectHash") || has("startTime"));
    if is_head || has("$set") || has("$rewindTo") {
        return Some(Format::Gemini);
    }
    if has("record_type") || (has("id") && has("timestamp") && has("instructions")) {
        return Some(Format::Codex);
    }
    let is_messages = has("role") || has("messages");
    if part_is(&["tool_use", "tool_result", "thinking"]) && has("role") || is_messages && has("system") {
        return Some(Format::Anthropic);
    }
    let is_openai = matches!(str_of(record, "role"), "tool" | "function" | "developer");
    (is_openai || has("role") && (has("tool_calls") || has("tool_call_id"))).then_some(Format::OpenAi)
}
