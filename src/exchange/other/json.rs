//! Memories as JSON: a list of rows, or an object that contains one.

use serde_json::{Map, Value};

use super::{Note, OtherMemory, rules};
use crate::exchange::{NotRead, NotReadReason};
use crate::lesson::LessonDraft;

type Row = Map<String, Value>;
type Read = Vec<Result<LessonDraft, NotRead>>;

/// The keys under which an object has its rows; `data` may be another such object.
const LISTS: [&str; 4] = ["records", "results", "memories", "data"];
/// The keys of the texts of a Claude account.
const CLAUDE: [&str; 3] = ["conversations_memory", "project_memories", "memory_files"];
/// The keys of lessons and of chat messages, which are read elsewhere.
const OTHERS: [&str; 6] = ["trigger", "task", "correct_pattern", "solution", "role", "lessons"];

pub(super) fn detect(value: &Value) -> Option<OtherMemory> {
    if rows(value).iter().filter_map(Value::as_object).any(|row| CLAUDE.iter().any(|key| row.contains_key(*key))) {
        return Some(OtherMemory::Claude);
    }
    if value.get("export_metadata").is_some() && value.get("memories").is_some_and(Value::is_array) {
        return Some(OtherMemory::McpMemoryService);
    }
    let row = rows(value).iter().find_map(Value::as_object)?;
    if OTHERS.iter().any(|key| row.contains_key(*key)) {
        return None;
    }
    match (row.contains_key("memory"), row.contains_key("content")) {
        (true, _) => Some(OtherMemory::Mem0),
        (false, true) => Some(OtherMemory::ChatGpt),
        (false, false) => None,
    }
}

/// The rows of a text that [`detect`] has read.
fn rows(value: &Value) -> &[Value] {
    match value {
        Value::Array(rows) => rows,
        Value::Object(object) => match LISTS.iter().find_map(|key| object.get(*key)) {
            Some(inner) => rows(inner),
            None => std::slice::from_ref(value),
        },
        _ => &[],
    }
}

fn read(text: &str, notes: impl Fn(&Row) -> Vec<Note>) -> Read {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let mut read = Vec::new();
    for (place, row) in rows(&value).iter().enumerate() {
        let not_read = |reason| NotRead { line: place + 1, reason };
        match row.as_object() {
            None => read.push(Err(not_read(NotReadReason::NotAnObject))),
            Some(row) => read.extend(notes(row).into_iter().map(|note| note.into_draft().map_err(not_read))),
        }
    }
    read
}

/// The first of these texts that is not blank; an empty one if there is none.
fn first_text<'a>(row: &'a Row, keys: &[&str]) -> &'a str {
    let texts = keys.iter().filter_map(|key| row.get(*key)?.as_str());
    texts.map(str::trim).find(|text| !text.is_empty()).unwrap_or_default()
}

fn words(row: &Row, key: &str) -> Vec<String> {
    let list = row.get(key).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

pub(super) fn mem0(text: &str) -> Read {
    read(text, |row| {
        vec![Note { topics: words(row, "categories"), ..Note::of(first_text(row, &["memory", "content"])) }]
    })
}

/// Rows with `content`, without those that are switched off.
pub(super) fn contents(text: &str) -> Read {
    read(text, |row| {
        if row.get("enabled") == Some(&Value::Bool(false)) {
            return Vec::new();
        }
        vec![Note { topics: words(row, "tags"), ..Note::of(first_text(row, &["content"])) }]
    })
}

/// Each text of an account is Markdown.
pub(super) fn claude(text: &str) -> Read {
    read(text, |row| {
        let projects = row.get("project_memories").and_then(Value::as_object);
        let projects = projects.into_iter().flat_map(Map::values).filter_map(Value::as_str);
        let files = row.get("memory_files").and_then(Value::as_array).into_iter().flatten();
        let files = files.filter_map(|file| file.get("content")?.as_str());
        let texts = [first_text(row, &["conversations_memory"])].into_iter().chain(projects).chain(files);
        texts.flat_map(rules).map(without_source).collect()
    })
}

/// The note without the mark that says how Claude knows it.
fn without_source(note: Note) -> Note {
    let marks = ["[stated] ", "[inferred] "];
    let bare = marks.iter().find_map(|mark| note.solution.strip_prefix(mark)).map(str::to_owned);
    bare.map(|bare| Note { topics: note.topics.clone(), ..Note::of(&bare) }).unwrap_or(note)
}
