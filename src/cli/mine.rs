//! Lessons out of sessions: mine, skip, and what waits for review.

use std::error::Error;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use adage::{
    Candidate, Learned, Mined, Playbook, ReadReport, Reading, Selection, Skips, TranscriptFormat, TranscriptReader,
};
use clap::Args;
use flate2::read::MultiGzDecoder;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use super::args::Global;
use super::{Done, Output, Usage, chain, say, short};

/// Folders below a folder of sessions that are looked into.
const MAX_DEPTH: usize = 8;

#[derive(Args)]
pub(crate) struct Mine {
    /// Files that agents wrote of their sessions, also gzipped
    files: Vec<PathBuf>,
    /// All .jsonl, .json and .gz files below this folder
    #[arg(long, value_name = "DIR")]
    sessions: Option<PathBuf>,
    /// auto, claude-code, codex, gemini, openai or anthropic
    #[arg(long, default_value = "auto")]
    format: TranscriptFormat,
    /// Everything that the rules find, not only the best of each
    #[arg(long)]
    all: bool,
    /// Only say what would be suggested
    #[arg(long)]
    dry_run: bool,
}

/// A candidate and what became of it; nothing on a dry run.
type Outcome = (Candidate, Option<Learned>);

pub(super) fn mine(global: &Global, asked: &Mine, out: &mut Output) -> Done {
    let mut files = asked.files.clone();
    if let Some(folder) = &asked.sessions {
        files.extend(sessions_below(folder)?);
    }
    if files.is_empty() {
        return Err(Usage("name files of sessions, or a folder of them with --sessions".into()).into());
    }
    let selection = if asked.all { Selection::All } else { Selection::Best };
    let is_dry = asked.dry_run || global.no_learn;
    let builder = global.builder_with(|config| config.capture.selection = selection)?;
    let playbook = if is_dry { builder.read_only().open()? } else { builder.open()? };
    let bar = ProgressBar::new(files.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} sessions, {eta} left") {
        bar.set_style(style);
    }
    let mut is_done = true;
    let (mut n_suggested, mut n_learned, mut n_review) = (0, 0, 0);
    for file in &files {
        match read(file, asked.format).and_then(|reading| Ok((mine_one(&playbook, &reading, is_dry)?, reading))) {
            Ok(((outcomes, mined), reading)) => {
                n_suggested += outcomes.len();
                for (_, learned) in &outcomes {
                    n_review += usize::from(matches!(learned, Some(Learned::Review { .. })));
                    n_learned += usize::from(matches!(
                        learned,
                        Some(Learned::Inserted { .. } | Learned::Merged { .. } | Learned::KeptApart { .. })
                    ));
                }
                bar.suspend(|| print(file, &reading, &outcomes, &mined, out))?;
            }
            Err(error) => {
                bar.suspend(|| say(&format!("{}: {}", file.display(), chain(error.as_ref()))));
                is_done = false;
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let outcome =
        if is_dry { "nothing was learned".to_owned() } else { format!("{n_learned} learned, {n_review} for review") };
    out.line(&format!("{} sessions, {n_suggested} suggestions, {outcome}", files.len()))?;
    Ok(ExitCode::from(u8::from(!is_done)))
}

fn mine_one(playbook: &Playbook, reading: &Reading, is_dry: bool) -> Result<(Vec<Outcome>, Mined), Box<dyn Error>> {
    let mut mined = playbook.mine(&reading.transcript)?;
    let candidates = std::mem::take(&mut mined.candidates);
    let learned: Vec<Option<Learned>> = if is_dry {
        vec![None; candidates.len()]
    } else {
        playbook.admit(candidates.iter().cloned())?.into_iter().map(Some).collect()
    };
    Ok((candidates.into_iter().zip(learned).collect(), mined))
}

fn read(file: &Path, format: TranscriptFormat) -> Result<Reading, Box<dyn Error>> {
    let source = File::open(file)?;
    let is_gzipped = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let source: Box<dyn Read> = if is_gzipped { Box::new(MultiGzDecoder::new(source)) } else { Box::new(source) };
    Ok(TranscriptReader::new().read(source, format)?)
}

/// Links are not followed.
fn sessions_below(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|error| format!("could not read {}: {error}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let (kind, path) = (entry.file_type()?, entry.path());
            let is_session = path.extension().is_some_and(|extension| {
                ["jsonl", "json", "gz"].iter().any(|known| extension.eq_ignore_ascii_case(known))
            });
            if kind.is_dir() && depth < MAX_DEPTH {
                folders.push((path, depth + 1));
            } else if kind.is_file() && is_session {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn print(
    file: &Path,
    reading: &Reading,
    outcomes: &[Outcome],
    mined: &Mined,
    out: &mut Output,
) -> Result<(), Box<dyn Error>> {
    for name in &mined.skipped {
        say(&format!("{}: {name} was skipped by a person; `reset-skips` lets it in again", file.display()));
    }
    tell_report(file, &reading.report);
    for (candidate, learned) in outcomes {
        let object = json!({
            "file": file, "session": reading.transcript.session, "heuristic": candidate.heuristic.name(),
            "name": candidate.name, "turns": candidate.turns, "score": candidate.score,
            "lesson": candidate.draft.to_json(), "learned": learned.as_ref().map(ToString::to_string),
        });
        out.object(&object)?;
        let text =
            |key: &str| candidate.draft.to_json().get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let turns: Vec<String> = candidate.turns.iter().map(ToString::to_string).collect();
        out.line(&format!(
            "{}  {}  (turns {})\n  when  {}\n  do    {}\n  {}",
            candidate.heuristic.name(),
            candidate.name,
            short(&turns.join(", "), 40),
            short(&text("trigger"), 160),
            short(&text("correct_pattern"), 400),
            learned.as_ref().map_or_else(|| "not learned: a dry run".to_owned(), ToString::to_string),
        ))?;
    }
    Ok(())
}

/// What of the file is not in the transcript, as far as it matters.
fn tell_report(file: &Path, report: &ReadReport) {
    if report.n_broken > 0 {
        let first =
            report.broken.first().map(|broken| format!("line {}, {}", broken.line, broken.reason)).unwrap_or_default();
        say(&format!("{}: {} broken records; the first: {first}", file.display(), report.n_broken));
    }
}

pub(super) fn skip(global: &Global, name: &str, out: &mut Output) -> Done {
    let times = global.open()?.skip(name)?;
    out.object(&json!({ "name": name, "times": times }))?;
    out.line(&format!("{name} is not suggested for 30 days"))?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn reset_skips(global: &Global, name: Option<&str>, out: &mut Output) -> Done {
    let n_forgotten = global.open()?.reset_skips(name.map_or(Skips::All, Skips::Of))?;
    out.object(&json!({ "forgotten": n_forgotten }))?;
    out.line(&format!("{n_forgotten} skips forgotten"))?;
    Ok(ExitCode::from(u8::from(name.is_some() && n_forgotten == 0)))
}
