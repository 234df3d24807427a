//! Lessons in and out: learn, import, export.

use std::fs;
use std::io::{self, BufRead, IsTerminal, Read};
use std::path::Path;
use std::process::ExitCode;

use adage::{Learned, LessonDraft, Listing, Playbook, Refusal};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};

use super::args::{Global, Learn};
use super::{Done, Output, Usage, say, short};

/// Lessons a commit of an import: their texts are embedded together.
const IMPORT_BATCH: usize = 64;

pub(super) fn learn(global: &Global, flags: &Learn, out: &mut Output) -> Done {
    if let Some(draft) = flags.draft() {
        let playbook = global.open()?;
        let learned = playbook.learn_lesson(draft.project(&global.project).role(&global.role))?;
        tell(&learned, out)?;
        return Ok(code(!matches!(learned, Learned::Refused { .. })));
    }
    let input = io::stdin();
    if input.is_terminal() {
        return Err(Usage(
            "give the lesson as flags (see learn --help), or one JSON lesson a line on standard input".into(),
        )
        .into());
    }
    let playbook = global.open()?;
    let mut is_done = true;
    for (number, line) in input.lock().split(b'\n').enumerate() {
        let line = line?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Map<String, Value>>(&line) {
            Ok(row) => {
                let learned = playbook.learn_lesson(LessonDraft::from_json(in_realm(row, global)))?;
                tell(&learned, out)?;
                is_done &= !matches!(learned, Learned::Refused { .. });
            }
            Err(error) => {
                say(&format!("line {}: {error}", number + 1));
                is_done = false;
            }
        }
    }
    Ok(code(is_done))
}

/// The row in the realm of the command line, unless it names its own.
fn in_realm(mut row: Map<String, Value>, global: &Global) -> Map<String, Value> {
    for (key, value) in [("project", &global.project), ("role", &global.role)] {
        if !value.is_empty() && !row.contains_key(key) {
            row.insert(key.to_owned(), Value::from(value.as_str()));
        }
    }
    row
}

/// What became of a lesson, for both readers.
fn tell(learned: &Learned, out: &mut Output) -> io::Result<()> {
    out.object(&object(learned))?;
    if let Learned::Refused { .. } = learned {
        say(&learned.to_string());
        return Ok(());
    }
    let undo = learned.change().map(|change| format!(" (undo {change})")).unwrap_or_default();
    out.line(&format!("{learned}{undo}"))?;
    for evicted in learned.evicted() {
        out.line(&format!("  evicted {evicted}"))?;
    }
    out.flush()
}

fn object(learned: &Learned) -> Value {
    let (outcome, into, near, distance, why) = match learned {
        Learned::Inserted { .. } => ("inserted", None, None, None, None),
        Learned::Merged { into, distance, .. } => ("merged", Some(*into), None, *distance, None),
        Learned::KeptApart { near, distance, why, .. } => {
            ("kept_apart", None, Some(*near), *distance, Some(why.to_string()))
        }
        Learned::Review { reason, near, .. } => ("review", None, *near, None, Some(reason.to_string())),
        Learned::Refused { reason } => ("refused", None, None, None, Some(reason.to_string())),
        other => ("other", None, None, None, Some(format!("{other:?}"))),
    };
    json!({
        "outcome": outcome, "id": learned.id(), "into": into, "near": near, "distance": distance, "why": why,
        "evicted": learned.evicted(), "change": learned.change(),
    })
}

/// Counts of what became of many lessons.
#[derive(Default)]
struct Tally {
    inserted: usize,
    merged: usize,
    kept_apart: usize,
    review: usize,
    refused: usize,
    evicted: usize,
    unreadable: usize,
}

impl Tally {
    fn add(&mut self, learned: &Learned) {
        let count = match learned {
            Learned::Merged { .. } => &mut self.merged,
            Learned::KeptApart { .. } => &mut self.kept_apart,
            Learned::Review { .. } => &mut self.review,
            Learned::Refused { .. } => &mut self.refused,
            _ => &mut self.inserted,
        };
        *count += 1;
        self.evicted += learned.evicted().len();
    }
}

/// A row that does not say where it comes from was imported.
fn imported(mut row: Map<String, Value>) -> Map<String, Value> {
    row.entry("provenance").or_insert_with(|| json!({"origin": "imported"}));
    row
}

pub(super) fn import(global: &Global, file: &Path, out: &mut Output) -> Done {
    let mut tally = Tally::default();
    let mut text = String::new();
    if file == Path::new("-") {
        io::stdin().read_to_string(&mut text)?;
    } else {
        text = fs::read_to_string(file).map_err(|error| format!("could not read {}: {error}", file.display()))?;
    }
    let mut drafts = Vec::new();
    for (place, row) in rows(&text).into_iter().enumerate() {
        match row {
            Ok(Value::Object(row)) => drafts.push(LessonDraft::from_row(imported(in_realm(row, global)))),
            Ok(_) => {
                say(&format!("entry {}: not an object", place + 1));
                tally.unreadable += 1;
            }
            Err(error) => {
                say(&format!("entry {}: {error}", place + 1));
                tally.unreadable += 1;
            }
        }
    }
    let playbook = global.open()?;
    let bar = ProgressBar::new(drafts.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} lessons, {eta} left") {
        bar.set_style(style);
    }
    let mut is_done = tally.unreadable == 0;
    for (number, batch) in drafts.chunks(IMPORT_BATCH).enumerate() {
        for (place, learned) in playbook.learn_lessons(batch.iter().cloned())?.into_iter().enumerate() {
            tally.add(&learned);
            // What is here already is as it should be.
            if let Learned::Refused { reason } = &learned
                && !matches!(reason, Refusal::AlreadyHere { .. })
            {
                bar.suspend(|| say(&format!("lesson {}: {reason}", number * IMPORT_BATCH + place + 1)));
                is_done = false;
            }
        }
        bar.inc(batch.len() as u64);
    }
    bar.finish_and_clear();
    let Tally { inserted, merged, kept_apart, review, refused, evicted, unreadable } = tally;
    out.object(&json!({
        "inserted": inserted, "merged": merged, "kept_apart": kept_apart, "review": review, "refused": refused,
        "evicted": evicted, "unreadable": unreadable,
    }))?;
    out.line(&format!(
        "{inserted} inserted, {merged} merged, {kept_apart} kept apart, {review} for review, {refused} refused, {evicted} evicted"
    ))?;
    Ok(code(is_done))
}

/// The rows of a playbook, of a bare list, or of JSON lines.
fn rows(text: &str) -> Vec<serde_json::Result<Value>> {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(rows)) => rows.into_iter().map(Ok).collect(),
        Ok(Value::Object(mut file)) if file.get("lessons").is_some_and(Value::is_array) => file
            .remove("lessons")
            .and_then(|rows| rows.as_array().cloned())
            .unwrap_or_default()
            .into_iter()
            .map(Ok)
            .collect(),
        Ok(row @ Value::Object(_)) => vec![Ok(row)],
        _ => text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str).collect(),
    }
}

pub(super) fn export(global: &Global, out: &mut Output) -> Done {
    let playbook = global.look()?;
    for lesson in visible(&playbook, global)? {
        // JSON lines in both modes: what an import reads.
        out.data(&serde_json::to_value(&*lesson)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn visible(playbook: &Playbook, global: &Global) -> adage::Result<Vec<std::sync::Arc<adage::Lesson>>> {
    let is_anywhere = global.project.is_empty() && global.role.is_empty();
    let realm = (!is_anywhere).then(|| global.realm());
    playbook.list_lessons(&Listing { realm, ..Listing::everything() })
}

fn code(is_done: bool) -> ExitCode {
    ExitCode::from(u8::from(!is_done))
}

/// The lesson in a line, for lists.
pub(super) fn headline(lesson: &adage::Lesson, width: usize) -> String {
    short(&lesson.trigger, width)
}
