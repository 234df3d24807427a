//! Import and export of lessons.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use adage::exchange::{Seal, read_export};
use adage::learn::Imported;
use adage::lesson::Refusal;
use adage::redact::{path_line, path_text};
use adage::{ChangeId, LearnOutcome, LessonDraft, Listing, Playbook, PlaybookBuilder, exchange};
use clap::Args;
use serde::Serialize;
use serde_json::json;

use crate::global::{Access, Global};
use crate::input::{read_up_to, standard_input};
use crate::output::{Output, counted, say, say_failure, with};
use crate::result::{Done, Failure, exit_code};
use crate::team::export_key;

#[derive(Args)]
pub(crate) struct Import {
    /// File to read; `-` is standard input
    file: PathBuf,
    /// jsonl, memory, agents or ace; detected from the file if omitted
    #[arg(long)]
    format: Option<exchange::Format>,
    /// Only print what would happen to the lessons
    #[arg(long)]
    dry_run: bool,
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
    #[arg(value_parser = crate::choice::id::<ChangeId>("a change"), long, value_name = "ID", requires = "into")]
    undo: Option<ChangeId>,
}

/// Counts of the outcomes of many lessons.
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
    let Imported { outcomes, change, .. } =
        if asked.dry_run { global.preview()?.preview_import(drafts)? } else { global.create()?.import(drafts)? };
    let mut is_done = tally.unreadable == 0;
    for (place, learned) in outcomes.iter().enumerate() {
        tally.add(learned);
        match learned {
            // Importing twice changes nothing, and what a person removed stays removed: neither is a failure.
            LearnOutcome::Refused { reason: Refusal::AlreadyHere { .. } } => {}
            LearnOutcome::Refused { reason: reason @ Refusal::Removed } => {
                say(&format!("lesson {}: {reason}", place + 1));
            }
            LearnOutcome::Refused { reason } => {
                say_failure(&Failure::of_item(format!("lesson {}: {reason}", place + 1)));
                is_done = false;
            }
            _ => {}
        }
    }
    tell(asked, &tally, change.filter(|_| !asked.dry_run), out)?;
    Ok(exit_code(is_done))
}

/// Prints the outcomes, or on a dry run the expected ones.
fn tell(asked: &Import, tally: &Tally, change: Option<ChangeId>, out: &mut Output) -> io::Result<()> {
    out.object(&with(json!(tally), json!({ "change": change, "dry_run": asked.dry_run })))?;
    let Tally { inserted, merged, kept_apart, review, refused, evicted, .. } = tally;
    out.line(&format!(
        "{inserted} inserted, {merged} merged, {kept_apart} distinct, {review} for review, {refused} refused, {evicted} evicted"
    ))?;
    match change {
        Some(change) => out.line(&format!("undo with: adage undo {change}")),
        None if asked.dry_run => out.line("nothing was changed"),
        None => Ok(()),
    }
}

/// The file's lessons; those that cannot be read are reported and counted.
fn drafts(global: &Global, asked: &Import, tally: &mut Tally) -> Result<Vec<LessonDraft>, Box<dyn std::error::Error>> {
    let mut text = String::new();
    if asked.file == Path::new("-") {
        text = standard_input()?;
    } else {
        let file = &asked.file;
        let is_file =
            || if fs::metadata(file)?.is_file() { Ok(()) } else { Err(io::Error::other("it is not a regular file")) };
        let read = is_file().and_then(|()| fs::File::open(file)).and_then(|file| read_up_to(file, &mut text));
        read.map_err(|error| format!("could not read {}: {error}", path_line(file)))?;
    }
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let format = asked.format.or_else(|| exchange::Format::detect(&text)).ok_or(exchange::Error::UnknownFormat)?;
    let mut drafts = Vec::new();
    let read = read_export(format, &text, export_key::for_import().as_ref());
    if read.seal == Seal::Broken {
        say("the file is not an export of yours as it was written: its lessons await review");
    }
    for read in read.lessons {
        match read {
            Ok(draft) => drafts.push(draft.in_realm(&global.realm())),
            Err(not_read) => {
                say_failure(&Failure::of_item(not_read.to_string()));
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
    let playbook = exporting(global, asked)?;
    let Some(file) = &asked.into else {
        // The same text in both output modes, as an import reads it.
        let text = playbook.export_text(asked.format, &listing)?;
        if asked.format == exchange::Format::JsonLines {
            out.json_lines(&text)?;
        } else {
            out.data(&text)?;
        }
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    };
    let exported = playbook.export_into(asked.format, &listing, file)?;
    let (n_lessons, shown) = (exported.n_lessons, path_line(file));
    let text = match exported.change {
        Some(change) => {
            format!(
                "{} written into {shown} (undo with: adage export --undo {change} --into {shown})",
                counted(n_lessons, "lesson")
            )
        }
        None => format!("{shown} has {} already, the same", counted(n_lessons, "lesson")),
    };
    out.both(&json!({ "lessons": n_lessons, "file": path_text(file), "change": exported.change }), &text)
}

/// The playbook with the user's key, if the format can contain a seal.
fn exporting(global: &Global, asked: &Export) -> Result<Playbook, Box<dyn std::error::Error>> {
    let access = if asked.into.is_some() { Access::Write } else { Access::Read };
    let builder = global.builder()?;
    let key = if asked.format == exchange::Format::JsonLines { export_key::for_export(global) } else { None };
    global.open_with(key.into_iter().fold(builder, PlaybookBuilder::with_export_key), access)
}
