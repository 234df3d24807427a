//! Reads session files, also those exported from `SpecStory`.

use std::path::Path;

use adage::transcript::{Format, Transcript, TranscriptReader};
use serde_json::{Value, json};

use super::Failure;
use super::session_files::{files, unpacked};

/// A session with a name that is fit for a file.
pub(super) struct Session {
    pub(super) name: String,
    pub(super) transcript: Transcript,
}

/// The sessions of files and folders, in the order of their paths.
pub(super) fn read_all(paths: &[String]) -> Result<Vec<Session>, Failure> {
    let mut sessions = Vec::new();
    for path in paths {
        for file in files(Path::new(path))? {
            sessions.extend(read(&file).map_err(|error| format!("{}: {error}", file.display()))?);
        }
    }
    Ok(sessions)
}

fn read(file: &Path) -> Result<Vec<Session>, Failure> {
    let bytes = unpacked(file)?;
    let text = String::from_utf8_lossy(&bytes);
    let exported: Vec<Value> = text
        .lines()
        .map_while(|line| serde_json::from_str(line).ok())
        .take_while(|row: &Value| row.get("turns").is_some())
        .collect();
    if !exported.is_empty() {
        return exported.iter().map(of_specstory).collect();
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name = [".gz", ".jsonl", ".json"].iter().fold(&*name, |name, end| name.strip_suffix(end).unwrap_or(name));
    let transcript = TranscriptReader::new().read(bytes.as_slice(), Format::Auto)?.transcript;
    Ok(vec![Session { name: name.to_owned(), transcript }])
}

/// An exported history, by way of Anthropic messages. Turns of sub-agents and thoughts are left out, as agents' own files have none.
fn of_specstory(row: &Value) -> Result<Session, Failure> {
    let name = row.get("id").and_then(Value::as_str).ok_or("a history without an id")?.to_owned();
    let turns = row.get("turns").and_then(Value::as_array).into_iter().flatten();
    let is_main = |turn: &&Value| turn.get("side") != Some(&Value::Bool(true));
    let messages: Vec<Value> = turns.filter(is_main).enumerate().flat_map(|(n, turn)| messages(n, turn)).collect();
    let source = Value::from(messages).to_string();
    let reading = TranscriptReader::new().read(source.as_bytes(), Format::Anthropic)?;
    Ok(Session { transcript: Transcript { session: name.clone(), ..reading.transcript }, name })
}

fn messages(number: usize, turn: &Value) -> Vec<Value> {
    let field = |key: &str| turn.get(key).cloned().unwrap_or_default();
    let text = || field("text").as_str().unwrap_or_default().to_owned();
    match turn.get("role").and_then(Value::as_str) {
        Some("tool") => {
            let id = number.to_string();
            let input = if field("command").is_string() { json!({ "command": field("command") }) } else { json!({}) };
            let output = turn.get("output").cloned().unwrap_or_else(|| text().into());
            let call = json!({ "type": "tool_use", "id": id, "name": field("name"), "input": input });
            let result = json!({ "type": "tool_result", "tool_use_id": id, "content": output });
            vec![json!({ "role": "assistant", "content": [call] }), json!({ "role": "user", "content": [result] })]
        }
        Some("user") => vec![json!({ "role": "user", "content": text() })],
        _ if text().starts_with("<think>") => Vec::new(),
        _ => vec![json!({ "role": "assistant", "content": text() })],
    }
}
