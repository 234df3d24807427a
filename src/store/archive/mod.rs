//! The archive: evicted, pruned and merged lessons, one change per line, append-only. `undo` reads it.

pub(in crate::store) mod file;

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::Clock;
use crate::lesson::{ChangeId, Lesson, LessonId, RemovedText, TextHash};
use crate::state::{Action, Change, Edit, Why};
use crate::store::checksum::{self, Seal};
use crate::store::marks;

#[derive(Serialize, Deserialize)]
struct Line {
    change: ChangeId,
    at: DateTime<FixedOffset>,
    action: Action,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undoes: Option<ChangeId>,
    /// The generation of the playbook file that the commit wrote; lines of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    generation: Option<u64>,
    /// True if the lesson was deleted from every file: no state, however it came about, has it again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    forgotten: bool,
    edits: Vec<Row>,
}

/// The line after a commit: all lines before it were committed.
#[derive(Serialize, Deserialize)]
struct Committed {
    committed: u64,
}

#[derive(Serialize, Deserialize)]
struct Row {
    id: LessonId,
    why: Why,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<TextHash>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    incoming: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    removed_text: Option<TextHash>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    removed_wording: Option<TextHash>,
}

/// The lines of these changes, of the commit that writes this generation.
pub(crate) fn render(changes: &[Change], generation: u64) -> Vec<u8> {
    changes.iter().flat_map(|change| sealed(&Line::of(change, generation))).collect()
}

/// The lines of changes that delete lessons from every file.
pub(crate) fn render_forgotten(changes: &[Change], generation: u64) -> Vec<u8> {
    changes.iter().flat_map(|change| sealed(&Line { forgotten: true, ..Line::of(change, generation) })).collect()
}

impl Line {
    fn of(change: &Change, generation: u64) -> Self {
        let image = |lesson: &Option<Arc<Lesson>>| lesson.as_ref().map(|lesson| serde_json::json!(**lesson));
        let edits = change.edits.iter().map(|edit| Row {
            id: edit.id,
            why: edit.why,
            before: image(&edit.before),
            after: edit.after,
            incoming: image(&edit.incoming),
            removed_text: edit.removed_text.map(|text| text.exact),
            removed_wording: edit.removed_text.and_then(|text| text.wording),
        });
        Self {
            change: change.id,
            at: change.at,
            action: change.action,
            undoes: change.undoes,
            generation: Some(generation),
            forgotten: false,
            edits: edits.collect(),
        }
    }
}

/// The line that says that everything before it was committed.
pub(crate) fn committed(generation: u64) -> Vec<u8> {
    sealed(&Committed { committed: generation })
}

fn sealed(line: &impl Serialize) -> Vec<u8> {
    let mut bytes = checksum::seal_line(&serde_json::json!(line).to_string()).into_bytes();
    bytes.push(b'\n');
    bytes
}

/// The length of the lines that were certainly committed. A commit cuts off what an unfinished one left and then appends its own
/// lines, so only the lines of the last commit are uncertain, unless the line after it is there.
pub(crate) fn committed_length(bytes: &[u8]) -> u64 {
    let (mut at, mut length, mut last) = (0, 0, None);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let begins = at;
        at += line.len() as u64;
        let text = line.strip_suffix(b"\n").unwrap_or_default();
        match lines(text).next() {
            Some(Some(read)) if last != Some(read.generation) => {
                length = if last.is_some() { begins } else { length };
                last = Some(read.generation);
            }
            Some(None) if is_mark(text) => length = at,
            _ => {}
        }
    }
    length
}

/// True for the line after a commit, without its end.
pub(crate) fn is_mark(line: &[u8]) -> bool {
    checksum::check_line(line) == Seal::Whole && serde_json::from_slice::<Committed>(line).is_ok()
}

/// The recorded changes, oldest first. Lines that cannot be read or have a wrong checksum are skipped.
pub(crate) fn parse(bytes: &[u8], clock: &dyn Clock) -> Vec<Change> {
    lines(bytes).flatten().map(|line| read(line, clock)).collect()
}

/// The changes that a file of this generation, to which `length` bytes of the archive belong, does not know: those after that
/// length, and, as the archive may have been rewritten since, those of later generations and those that forgot lessons.
pub(crate) fn later(bytes: &[u8], length: u64, generation: u64, clock: &dyn Clock) -> Vec<Change> {
    let mut at = 0;
    let mut changes = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let begins = at;
        at += line.len() as u64;
        let Some(Some(read_line)) = lines(line.strip_suffix(b"\n").unwrap_or_default()).next() else { continue };
        let is_newer = read_line.generation.is_some_and(|own| own > generation);
        if begins >= length || is_newer || read_line.forgotten {
            changes.push(read(read_line, clock));
        }
    }
    changes
}

/// The time of the first recorded change, from the first bytes of the archive.
pub(crate) fn first_at(start: &[u8]) -> Option<DateTime<FixedOffset>> {
    let text = String::from_utf8_lossy(start);
    let (_, rest) = text.split_once(r#""at":""#)?;
    DateTime::parse_from_rfc3339(rest.split('"').next()?).ok()
}

/// The newest lines that fit `max_bytes` and are not older than `oldest`, and all removals, which contain no texts.
pub(crate) fn shortened(bytes: &[u8], max_bytes: u64, oldest: DateTime<FixedOffset>) -> Vec<u8> {
    let from = usize::try_from(max_bytes).map_or(0, |max| bytes.len().saturating_sub(max));
    let mut at = 0;
    let mut kept = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let begins = at;
        at += line.len();
        let Some(Some(read)) = lines(line.strip_suffix(b"\n").unwrap_or(line)).next() else { continue };
        if read.action == Action::Remove || (begins >= from && read.at >= oldest) {
            kept.extend(line);
        }
    }
    kept
}

/// The lines without those of some lessons. Damaged lines are dropped too: they might contain one.
pub(crate) fn without(bytes: &[u8], lessons: &BTreeSet<LessonId>) -> Vec<u8> {
    let mut kept = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let Some(Some(mut read)) = lines(text).next() else { continue };
        let n_edits = read.edits.len();
        read.edits.retain(|row| !lessons.contains(&row.id));
        if read.edits.len() == n_edits {
            kept.extend(line);
        } else if !read.edits.is_empty() {
            kept.extend(sealed(&read));
        }
    }
    kept
}

/// The archive without the marks of a merge, and with each line of both versions once; none if it has no such marks.
pub(in crate::store) fn merged(bytes: &[u8]) -> Option<Vec<u8>> {
    if !marks::has_marks(bytes) {
        return None;
    }
    let all = marks::cut(&String::from_utf8_lossy(bytes)).all;
    let mut known = BTreeSet::new();
    Some(all.split_inclusive('\n').filter(|line| known.insert(*line)).collect::<String>().into_bytes())
}

/// The number of lines that are skipped.
pub(crate) fn count_broken(bytes: &[u8]) -> usize {
    let each = bytes.split(|byte| *byte == b'\n').filter(|line| !is_mark(line));
    each.flat_map(lines).filter(Option::is_none).count()
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = Option<Line>> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).ok().filter(|_| checksum::check_line(line) != Seal::Broken))
}

fn read(line: Line, clock: &dyn Clock) -> Change {
    let lesson = |row: Option<Value>| row.and_then(|row| Lesson::from_row(row, clock).ok()).map(Arc::new);
    let edits = line.edits.into_iter().map(|row| Edit {
        id: row.id,
        why: row.why,
        before: lesson(row.before),
        after: row.after,
        incoming: lesson(row.incoming),
        removed_text: row.removed_text.map(|exact| RemovedText { exact, wording: row.removed_wording }),
    });
    Change { id: line.change, at: line.at, action: line.action, undoes: line.undoes, edits: edits.collect() }
}

/// The length up to the end of the last complete line.
pub(crate) fn whole_length(bytes: &[u8]) -> u64 {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end as u64 + 1)
}
