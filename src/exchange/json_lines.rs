//! Lessons as JSON: one object per line, a list, or a whole playbook file.

use adage_redact::{json_error, printable_json};
use serde_json::{Map, Value, json};

use super::seal::{self, Seal};
use super::{NotRead, NotReadReason};
use crate::lesson::{Lesson, LessonDraft};

pub(super) fn write<'a>(lessons: impl Iterator<Item = &'a Lesson>) -> String {
    lessons.flat_map(|lesson| [printable_json(&json!(lesson).to_string()), "\n".to_owned()]).collect()
}

pub(super) fn read(text: &str, seal: Seal) -> Vec<Result<LessonDraft, NotRead>> {
    let not_read = |line, reason| Err(NotRead { line, reason });
    let is_lesson = |row: &serde_json::Result<Value>| !row.as_ref().is_ok_and(seal::is_header);
    let draft = |row: Map<String, Value>| match seal {
        Seal::Own => LessonDraft::from_own_export(row),
        Seal::None | Seal::Broken => LessonDraft::from_file(row),
    };
    let rows = rows(text).into_iter().filter(|(_, row)| is_lesson(row)).map(|(line, row)| match row {
        Ok(Value::Object(row)) => Ok(draft(row)),
        Ok(_) => not_read(line, NotReadReason::NotAnObject),
        Err(error) => not_read(line, NotReadReason::NotJson { reason: json_error(&error) }),
    });
    rows.collect()
}

/// The rows with their line numbers, or in a list with their positions.
fn rows(text: &str) -> Vec<(usize, serde_json::Result<Value>)> {
    let numbered = |rows: Vec<Value>| rows.into_iter().enumerate().map(|(place, row)| (place + 1, Ok(row))).collect();
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(rows)) => numbered(rows),
        Ok(Value::Object(mut file)) => match file.remove("lessons") {
            Some(Value::Array(rows)) => numbered(rows),
            lessons => {
                file.extend(lessons.map(|lessons| ("lessons".to_owned(), lessons)));
                vec![(1, Ok(Value::Object(file)))]
            }
        },
        _ => {
            let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
            lines.map(|(place, line)| (place + 1, serde_json::from_str(line))).collect()
        }
    }
}
