//! Import and export of lessons.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use adage::exchange::{Format, NotRead, OtherMemory, Seal, read_export};
use adage::learn::Imported;
use adage::lesson::Refusal;
use adage::redact::{mask, one_line, path_line, path_text};
use adage::{ChangeId, LearnOutcome, LessonDraft, Listing, Playbook, PlaybookBuilder, exchange};
use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};

use crate::global::{Access, Global};
use crate::input::{read_up_to, standard_input};
use crate::output::{Output, counted, say, say_failure, with};
use crate::result::{Done, Failure, chain, exit_code};
use crate::team::export_key;

#[derive(Args)]
pub(crate) struct Import {
    /// Files to read: lessons, or what another memory or a person noted; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// jsonl, memory, agents or ace; detected from the file if omitted, as other memories are
    #[arg(long)]
    format: Option<Format>,
    /// Only print the lessons that would come in
    #[arg(long)]
    dry_run: bool,
}

#[derive(Args)]
pub(crate) struct Export {
    /// jsonl, memory, agents or ace
    #[arg(long, default_value = "jsonl")]
    format: Format,
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
    let mut is_done = true;
    for file in &asked.files {
        match import_file(global, asked, file, out) {
            Ok(is_file_done) => is_done &= is_file_done,
            Err(error) if asked.files.len() > 1 => {
                say_failure(&Failure::of_item(chain(error.as_ref())));
                is_done = false;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(exit_code(is_done))
}

/// False if something of the file was refused or could not be read.
fn import_file(global: &Global, asked: &Import, file: &Path, out: &mut Output) -> Result<bool, Box<dyn Error>> {
    let mut tally = Tally::default();
    let drafts = drafts(global, asked, file, &mut tally)?;
    let texts: Vec<Value> = if asked.dry_run { drafts.iter().map(texts).collect() } else { Vec::new() };
    let Imported { outcomes, change, .. } =
        if asked.dry_run { global.preview()?.preview_import(drafts)? } else { global.create()?.import(drafts)? };
    let is_done = tell_refused(&outcomes) && tally.unreadable == 0;
    for learned in &outcomes {
        tally.add(learned);
    }
    let change = change.filter(|_| !asked.dry_run);
    let mut object = with(json!(tally), json!({ "file": path_text(file), "change": change, "dry_run": asked.dry_run }));
    if asked.dry_run {
        let come_in = texts.into_iter().zip(&outcomes);
        let come_in = come_in.filter(|(_, learned)| !matches!(learned, LearnOutcome::Refused { .. }));
        let lessons: Vec<Value> = come_in.map(|(text, _)| text).collect();
        tell_lessons(&lessons, out)?;
        object = with(object, json!({ "lessons": lessons }));
    }
    out.object(&object)?;
    tell(asked, &tally, change, out)?;
    Ok(is_done)
}

/// Reports what was refused. False if any of it is a failure: importing twice changes nothing, and what a person removed stays removed,
/// neither is one.
fn tell_refused(outcomes: &[LearnOutcome]) -> bool {
    let mut is_done = true;
    for (place, learned) in outcomes.iter().enumerate() {
        match learned {
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
    is_done
}

/// When a lesson holds and what it says, masked.
fn texts(draft: &LessonDraft) -> Value {
    let text = |key: &str| mask(draft.row().get(key).and_then(Value::as_str).unwrap_or_default()).text;
    json!({ "trigger": text("trigger"), "correct_pattern": text("correct_pattern") })
}

fn tell_lessons(lessons: &[Value], out: &mut Output) -> io::Result<()> {
    for lesson in lessons {
        let text = |key: &str| lesson.get(key).and_then(Value::as_str).unwrap_or_default();
        let (trigger, solution) = (text("trigger"), text("correct_pattern"));
        if trigger != solution {
            out.line(&format!("when  {}", one_line(trigger, 160)))?;
        }
        out.line(&format!("do    {}", one_line(solution, 400)))?;
    }
    Ok(())
}

/// Prints the outcomes, or on a dry run the expected ones.
fn tell(asked: &Import, tally: &Tally, change: Option<ChangeId>, out: &mut Output) -> io::Result<()> {
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

/// What a file contains.
enum Contents {
    Lessons(Format),
    Other(OtherMemory),
}

impl Contents {
    /// A section of adage in a file of rules is an export; JSON is one only if no other memory writes it so.
    fn of(asked: &Import, text: &str) -> Result<Self, exchange::Error> {
        if let Some(format) = asked.format {
            return Ok(Self::Lessons(format));
        }
        match (Format::detect(text), OtherMemory::detect(text)) {
            (None | Some(Format::JsonLines), Some(other)) => Ok(Self::Other(other)),
            (Some(format), _) => Ok(Self::Lessons(format)),
            (None, None) => Err(exchange::Error::UnknownFormat),
        }
    }
}

/// The file's lessons; those that cannot be read are reported and counted.
fn drafts(global: &Global, asked: &Import, file: &Path, tally: &mut Tally) -> Result<Vec<LessonDraft>, Box<dyn Error>> {
    let text = text_of(file)?;
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut drafts = Vec::new();
    for read in read(&Contents::of(asked, &text)?, file, &text) {
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

fn text_of(file: &Path) -> Result<String, String> {
    if file == Path::new("-") {
        return standard_input();
    }
    let mut text = String::new();
    let is_file =
        || if fs::metadata(file)?.is_file() { Ok(()) } else { Err(io::Error::other("it is not a regular file")) };
    let read = is_file().and_then(|()| fs::File::open(file)).and_then(|file| read_up_to(file, &mut text));
    read.map_err(|error| format!("could not read {}: {error}", path_line(file)))?;
    Ok(text)
}

fn read(contents: &Contents, file: &Path, text: &str) -> Vec<Result<LessonDraft, NotRead>> {
    match contents {
        Contents::Lessons(format) => {
            let read = read_export(*format, text, export_key::for_import().as_ref());
            if read.seal == Seal::Broken {
                say("the file is not an export of yours as it was written: its lessons await review");
            }
            read.lessons
        }
        Contents::Other(other) => {
            let name = if file == Path::new("-") { "standard input".to_owned() } else { path_text(file) };
            let notes = other.read(text);
            if notes.is_empty() {
                say(&format!("{} has no notes of its own; import the files that it names", path_line(file)));
            }
            notes.into_iter().map(|note| note.map(|draft| draft.of_file(&name))).collect()
        }
    }
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
        if asked.format == Format::JsonLines {
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
fn exporting(global: &Global, asked: &Export) -> Result<Playbook, Box<dyn Error>> {
    let access = if asked.into.is_some() { Access::Write } else { Access::Read };
    let builder = global.builder()?;
    let key = if asked.format == Format::JsonLines { export_key::for_export(global) } else { None };
    global.open_with(key.into_iter().fold(builder, PlaybookBuilder::with_export_key), access)
}
