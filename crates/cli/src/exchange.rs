//! Lessons to and from files: import, export.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use adage::exchange::read_lessons;
use adage::lesson::Refusal;
use adage::{ChangeId, LearnOutcome, LessonDraft, Listing, exchange};
use clap::Args;
use serde::Serialize;
use serde_json::json;

use crate::global::Global;
use crate::output::{Output, progress, say};
use crate::result::{Done, exit_code};

/// Lessons per commit of an import: their texts are embedded together.
const IMPORT_BATCH: usize = 64;

#[derive(Args)]
pub(crate) struct Import {
    /// File to read; `-` is standard input
    file: PathBuf,
    /// jsonl, memory, agents or ace; detected from the file if omitted
    #[arg(long)]
    format: Option<exchange::Format>,
}

#[derive(Args)]
pub(crate) struct Export {
    /// jsonl, memory, agents or ace
    #[arg(long, default_value = "jsonl")]
    format: exchange::Format,
    /// Write into this file; in a Markdown file only the marked section changes
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
    /// Undo an earlier export to `--into FILE`, by the change's id
    #[arg(long, value_name = "ID", requires = "into")]
    undo: Option<ChangeId>,
}

/// Counts of what became of many lessons.
#[derive(Default, Serialize)]
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
    fn add(&mut self, learned: &LearnOutcome) {
        let count = match learned {
            LearnOutcome::Merged { .. } => &mut self.merged,
            LearnOutcome::Distinct { .. } => &mut self.kept_apart,
            LearnOutcome::Review { .. } => &mut self.review,
            LearnOutcome::Refused { .. } => &mut self.refused,
            _ => &mut self.inserted,
        };
        *count += 1;
        self.evicted += learned.evicted().len();
    }
}

pub(crate) fn import(global: &Global, asked: &Import, out: &mut Output) -> Done {
    let mut tally = Tally::default();
    let drafts = drafts(global, asked, &mut tally)?;
    let playbook = global.open()?;
    let bar = progress(drafts.len(), "lessons");
    let mut is_done = tally.unreadable == 0;
    for (number, batch) in drafts.chunks(IMPORT_BATCH).enumerate() {
        for (place, learned) in playbook.import(batch.iter().cloned())?.into_iter().enumerate() {
            tally.add(&learned);
            // A lesson that is here already is not a failure.
            if let LearnOutcome::Refused { reason } = &learned
                && !matches!(reason, Refusal::AlreadyHere { .. })
            {
                bar.suspend(|| say(&format!("lesson {}: {reason}", number * IMPORT_BATCH + place + 1)));
                is_done = false;
            }
        }
        bar.inc(batch.len() as u64);
    }
    bar.finish_and_clear();
    out.object(&json!(tally))?;
    let Tally { inserted, merged, kept_apart, review, refused, evicted, .. } = tally;
    out.line(&format!(
        "{inserted} inserted, {merged} merged, {kept_apart} kept apart, {review} for review, {refused} refused, {evicted} evicted"
    ))?;
    Ok(exit_code(is_done))
}

/// The file's lessons; those that cannot be read are reported and counted.
fn drafts(global: &Global, asked: &Import, tally: &mut Tally) -> Result<Vec<LessonDraft>, Box<dyn std::error::Error>> {
    let mut text = String::new();
    if asked.file == Path::new("-") {
        io::stdin().read_to_string(&mut text)?;
    } else {
        let file = &asked.file;
        text = fs::read_to_string(file).map_err(|error| format!("could not read {}: {error}", file.display()))?;
    }
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let format = asked.format.or_else(|| exchange::Format::detect(&text)).ok_or(exchange::Error::UnknownFormat)?;
    let mut drafts = Vec::new();
    for read in read_lessons(format, &text) {
        match read {
            Ok(draft) => drafts.push(draft.in_realm(&global.realm())),
            Err(not_read) => {
                say(&not_read.to_string());
                tally.unreadable += 1;
            }
        }
    }
    Ok(drafts)
}

pub(crate) fn export(global: &Global, asked: &Export, out: &mut Output) -> Done {
    if let (Some(change), Some(file)) = (asked.undo, &asked.into) {
        let undone = global.open()?.undo_export(change, file)?;
        return out.both(&json!({ "change": undone }), &format!("undone; change {undone}"));
    }
    let listing = Listing { realm: global.named_realm(), ..Listing::everything() };
    let Some(file) = &asked.into else {
        // The text itself in both modes, as an import reads it.
        write!(out.stream, "{}", global.read()?.export_text(asked.format, &listing)?)?;
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    };
    let exported = global.open()?.export_into(asked.format, &listing, file)?;
    let (n_lessons, shown) = (exported.n_lessons, file.display());
    let text = match exported.change {
        Some(change) => {
            format!("{n_lessons} lessons written into {shown} (undo with: adage export --undo {change} --into {shown})")
        }
        None => format!("{shown} had these {n_lessons} lessons already"),
    };
    out.both(&json!({ "lessons": n_lessons, "file": file, "change": exported.change }), &text)
}
