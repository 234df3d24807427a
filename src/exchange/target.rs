//! The new content of a file into which lessons are written.

use serde_json::Value;

use super::{Format, ace, seal, section};
use crate::error::exchange::ExportRefused;
use crate::lesson::LessonId;

/// How a new `MEMORY.md` begins.
const MEMORY_TITLE: &str = "# Project Memory\n\n";

/// The file with the result of [`write_lessons`](super::write_lessons): it replaces the section, or the whole file if an export
/// wrote it.
pub(crate) fn into_file(format: Format, known: &[u8], written: &str) -> Result<Vec<u8>, ExportRefused> {
    use super::BadSection::{Second, Unclosed, Unopened};
    match format {
        Format::Memory if known.trim_ascii().is_empty() => Ok(format!("{MEMORY_TITLE}{written}").into_bytes()),
        Format::Memory | Format::Agents => section::put_section(known, written).map_err(|error| {
            let (Unclosed { line } | Unopened { line } | Second { line }) = error;
            ExportRefused::Section { line }
        }),
        Format::JsonLines => taken(known, written, is_our_row),
        Format::Ace => taken(known, written, |line| ace::is_our_heading(line) || ace::is_ours(line)),
    }
}

fn taken(known: &[u8], written: &str, is_ours: impl Fn(&str) -> bool) -> Result<Vec<u8>, ExportRefused> {
    let known = std::str::from_utf8(known).map_err(|_| ExportRefused::NotText)?;
    let foreign = known.lines().position(|line| !line.trim().is_empty() && !is_ours(line));
    foreign.map_or_else(|| Ok(written.as_bytes().to_vec()), |place| Err(ExportRefused::Foreign { line: place + 1 }))
}

fn is_our_row(line: &str) -> bool {
    let row: Option<Value> = serde_json::from_str(line).ok();
    row.is_some_and(|row| {
        seal::is_header(&row) || row.get("id").and_then(Value::as_str).is_some_and(|id| id.parse::<LessonId>().is_ok())
    })
}
