//! The bytes of a playbook file.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use serde::Serialize;
use serde_json::{Map, Value};

use super::seals::head;
use super::written_rows::{Layout, WrittenRow, WrittenRows};
use super::{Folded, PlaybookFile, REMOVED, Recalls, WAITING, WRITTEN};
use crate::lesson::{ChangeId, Lesson, LessonId, SCHEMA_VERSION, TextHash};
use crate::state::{Book, Evicted, Removed, ReviewReason, SkippedSuggestion, Waiting};
use crate::store::checksum;

/// The file, in the order in which a person reads it.
#[derive(Serialize)]
struct File<'a> {
    #[serde(flatten)]
    first: First,
    removed: Vec<WrittenRow>,
    lessons: Vec<Arc<WrittenRow>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waiting: Vec<WrittenRow>,
    #[serde(flatten)]
    last: Last<'a>,
    crc: String,
}

#[derive(Serialize)]
struct First {
    schema_version: u64,
    generation: u64,
    archive_len: u64,
    usage: Folded,
}

#[derive(Serialize)]
struct Last<'a> {
    #[serde(skip_serializing_if = "<[Value]>::is_empty")]
    unread: &'a [Value],
    #[serde(skip_serializing_if = "<[TextHash]>::is_empty")]
    drawn: &'a [TextHash],
    #[serde(skip_serializing_if = "<[SkippedSuggestion]>::is_empty")]
    skips: &'a [SkippedSuggestion],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recalls: Vec<Recalls>,
    #[serde(skip_serializing_if = "<[Evicted]>::is_empty")]
    evicted: &'a [Evicted],
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    edited: &'a BTreeSet<LessonId>,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
    written: u64,
}

impl<'a> Last<'a> {
    fn of(file: &'a PlaybookFile, written: u64) -> Self {
        let Book { unread, mined_texts: drawn, skips, evicted, .. } = file.book.as_ref();
        let recalls = recalls_of(&file.book);
        Self { unread, drawn, skips, recalls, evicted, edited: &file.edited, extra: &file.extra, written }
    }
}

impl<'a> RemovedRow<'a> {
    fn of(removed: &'a Removed) -> Self {
        Self {
            id: removed.id,
            text_hash: removed.text.exact,
            wording_hash: removed.text.wording,
            at: removed.at,
            change: removed.change,
            lesson: removed.lesson.as_deref(),
        }
    }
}

impl<'a> WaitingRow<'a> {
    fn of(waiting: &'a Waiting) -> Self {
        Self { reason: waiting.reason, lesson: &waiting.lesson }
    }
}

impl File<'_> {
    fn head(&self) -> serde_json::Result<String> {
        let mut others = Map::new();
        for part in [serde_json::to_value(&self.first)?, serde_json::to_value(&self.last)?] {
            if let Value::Object(part) = part {
                others.extend(part);
            }
        }
        let lessons = self.lessons.iter().map(|row| Value::from(row.crc.as_str())).collect();
        Ok(head(&[lessons, crcs(&self.waiting), crcs(&self.removed)], &others))
    }
}

fn laid_out<T: Serialize>(rows: Vec<Sealed<T>>, layout: Layout) -> serde_json::Result<Vec<WrittenRow>> {
    rows.into_iter().map(|row| WrittenRow::new(row, layout)).collect()
}

fn crcs(rows: &[WrittenRow]) -> Value {
    rows.iter().map(|row| Value::from(row.crc.as_str())).collect()
}

/// A row with its checksum.
#[derive(Serialize)]
pub(crate) struct Sealed<T> {
    #[serde(flatten)]
    row: T,
    pub(crate) crc: String,
}

impl<T: Serialize> Sealed<T> {
    pub(crate) fn new(list: &str, row: T) -> serde_json::Result<Self> {
        let crc = match serde_json::to_value(&row)? {
            Value::Object(row) => checksum::of_row(list, &row),
            _ => String::new(),
        };
        Ok(Self { row, crc })
    }
}

#[derive(Serialize)]
struct RemovedRow<'a> {
    id: LessonId,
    text_hash: TextHash,
    #[serde(skip_serializing_if = "Option::is_none")]
    wording_hash: Option<TextHash>,
    at: DateTime<FixedOffset>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<ChangeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lesson: Option<&'a Lesson>,
}

#[derive(Serialize)]
struct WaitingRow<'a> {
    reason: ReviewReason,
    lesson: &'a Lesson,
}

/// The bytes of the file. `written` is the modification time that it will get, in nanoseconds since 1970. Every lesson is
/// written as schema v2.
///
/// # Errors
/// Errors of the JSON writer; none is known for a playbook.
pub(crate) fn render(file: &PlaybookFile, written: u64) -> serde_json::Result<Vec<u8>> {
    render_again(file, written, &mut WrittenRows::default())
}

/// As [`render`], reusing the rows written last.
pub(crate) fn render_again(file: &PlaybookFile, written: u64, known: &mut WrittenRows) -> serde_json::Result<Vec<u8>> {
    let Book { lessons, foreign, .. } = file.book.as_ref();
    let (archive_len, usage) = (file.archive_length, file.usage);
    let mut rows = File {
        first: First { schema_version: SCHEMA_VERSION, generation: file.generation, archive_len, usage },
        removed: laid_out(removed_rows(&file.book)?, known.layout())?,
        lessons: known.rows(lessons.iter().chain(foreign))?,
        waiting: laid_out(waiting_rows(&file.book)?, known.layout())?,
        last: Last::of(file, written),
        crc: String::new(),
    };
    rows.crc = rows.head()?;
    let mut bytes = serde_json::to_vec_pretty(&rows)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn removed_rows(book: &Book) -> serde_json::Result<Vec<Sealed<RemovedRow<'_>>>> {
    book.removed.iter().map(|removed| Sealed::new(REMOVED, RemovedRow::of(removed))).collect()
}

fn waiting_rows(book: &Book) -> serde_json::Result<Vec<Sealed<WaitingRow<'_>>>> {
    book.waiting.iter().map(|waiting| Sealed::new(WAITING, WaitingRow::of(waiting))).collect()
}

/// The row of a removal, without its checksum.
pub(in crate::store) fn removed_row(removed: &Removed) -> serde_json::Result<Value> {
    serde_json::to_value(RemovedRow::of(removed))
}

/// The row of a lesson that awaits review, without its checksum.
pub(in crate::store) fn waiting_row(waiting: &Waiting) -> serde_json::Result<Value> {
    serde_json::to_value(WaitingRow::of(waiting))
}

/// The keys of the file after its lists of lessons, without the time of writing.
pub(in crate::store) fn others(file: &PlaybookFile) -> serde_json::Result<Map<String, Value>> {
    let mut others = match serde_json::to_value(Last::of(file, 0))? {
        Value::Object(others) => others,
        _ => Map::new(),
    };
    others.remove(WRITTEN);
    Ok(others)
}

fn recalls_of(book: &Book) -> Vec<Recalls> {
    book.recalls.iter().map(|(realm, n)| Recalls { realm: realm.clone(), n: *n }).collect()
}
