//! Measures what learning makes of pairs of lessons, through the playbook as a host uses it.
//!
//! ```text
//! cargo run --release --example merging -- [--pairs FILE]... [--dups FILE]... [--classic] [--show]
//! ```
//!
//! FILE of `--pairs` holds `id`, `kind` and two lessons, `a` and `b`, of which `b` is learned later: `exchanged` (they differ in a
//! word or two), `reworded` (they say the same), `correction` (`b` takes `a` back), `adds` (another mistake in the same situation),
//! `unrelated-near`. FILE of `--dups` holds two texts, `a` and `b`, and `dup`, 0 or 1. Each pair is in a project of its own.
//! `--classic` measures `Config::classic()`; `--show` prints what went wrong.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program of its own, whose input has the shape that its head describes"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use adage::{Config, Context, LearnOutcome, LessonDraft, ManualClock, Playbook, Request, build_lesson};
use chrono::{DateTime, TimeDelta};
use serde_json::Value;

type Failure = Box<dyn Error>;

#[derive(Default)]
struct Options {
    pairs: Vec<String>,
    dups: Vec<String>,
    is_classic: bool,
    shows: bool,
}

fn main() -> Result<(), Failure> {
    let mut options = Options::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut file = || arguments.next().ok_or(format!("{argument} needs a file"));
        match argument.as_str() {
            "--pairs" => options.pairs.push(file()?),
            "--dups" => options.dups.push(file()?),
            "--classic" => options.is_classic = true,
            "--show" => options.shows = true,
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    if options.pairs.is_empty() && options.dups.is_empty() {
        return Err("NOTHING MEASURED: give a file with --pairs or --dups".into());
    }
    for file in &options.pairs {
        lessons(&read(file)?, &options)?;
    }
    for file in &options.dups {
        texts(&read(file)?, &options)?;
    }
    Ok(())
}

fn read(file: &str) -> Result<Vec<Value>, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("NOT MEASURED: {file}: {error}"))?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

/// A playbook with every lesson of every pair, and what became of the second ones.
struct Learned {
    playbook: Playbook,
    outcomes: Vec<[LearnOutcome; 2]>,
    _folder: tempfile::TempDir,
}

fn learn(pairs: &[[LessonDraft; 2]], options: &Options) -> Result<Learned, Failure> {
    let folder = tempfile::tempdir()?;
    let config = if options.is_classic { Config::classic() } else { Config::default() };
    let clock = Arc::new(ManualClock::new(DateTime::parse_from_rfc3339("2026-03-01T09:00:00+00:00")?));
    let playbook =
        Playbook::builder(folder.path()).with_config(config).with_clock(Arc::<ManualClock>::clone(&clock)).open()?;
    let of_pair = |(number, draft): (usize, &LessonDraft)| draft.clone().project(project(number));
    let first = playbook.learn_lessons(pairs.iter().map(|[first, _]| first).enumerate().map(of_pair))?;
    clock.advance(TimeDelta::days(30));
    let second = playbook.learn_lessons(pairs.iter().map(|[_, second]| second).enumerate().map(of_pair))?;
    let outcomes = first.into_iter().zip(second).map(|(first, second)| [first, second]).collect();
    Ok(Learned { playbook, outcomes, _folder: folder })
}

fn project(number: usize) -> String {
    format!("pair {number}")
}

/// How often each thing happened to the pairs of a kind.
#[derive(Default)]
struct Tally {
    n_pairs: usize,
    merged: usize,
    merged_or_asked: usize,
    both_shown: usize,
    newer_first: usize,
    marked: usize,
    marked_or_absent: usize,
}

fn lessons(pairs: &[Value], options: &Options) -> Result<(), Failure> {
    let draft = |lesson: &Value| LessonDraft::from_json(lesson.as_object().cloned().unwrap_or_default());
    let drafts: Vec<[LessonDraft; 2]> = pairs.iter().map(|pair| [draft(&pair["a"]), draft(&pair["b"])]).collect();
    let learned = learn(&drafts, options)?;
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for (number, (pair, outcomes)) in pairs.iter().zip(&learned.outcomes).enumerate() {
        let kind = pair["kind"].as_str().unwrap_or_default();
        let tally = tallies.entry(kind).or_default();
        let trigger = pair.pointer("/b/trigger").and_then(Value::as_str).unwrap_or_default();
        let context = learned.playbook.get_playbook_context(Request::about(trigger).project(project(number)).peek())?;
        let line = tally.count(outcomes, &context);
        if options.shows {
            println!("{} {line}", pair["id"]);
        }
    }
    println!(
        "| kind | pairs | merged | merged or asked | both shown | newer first | … and the older marked | … or not shown |\n|---|---|---|---|---|---|---|---|"
    );
    for (kind, tally) in tallies {
        println!("| {kind} | {} |{}", tally.n_pairs, tally.shares());
    }
    Ok(())
}

impl Tally {
    /// Counts a pair; what happened to it.
    fn count(&mut self, [first, second]: &[LearnOutcome; 2], context: &Context) -> String {
        self.n_pairs += 1;
        let is_merged = matches!(second, LearnOutcome::Merged { .. } | LearnOutcome::Superseded { .. });
        let is_asked = match second {
            LearnOutcome::Inserted { near, .. } => !near.is_empty(),
            LearnOutcome::Distinct { .. } => true,
            _ => false,
        };
        let place = |outcome: &LearnOutcome| context.lessons.iter().position(|shown| Some(shown.id) == outcome.id());
        let (older, newer) = (place(first), place(second));
        self.merged += usize::from(is_merged);
        self.merged_or_asked += usize::from(is_merged || is_asked);
        self.both_shown += usize::from(!is_merged && older.is_some() && newer.is_some());
        self.newer_first += usize::from(newer == Some(0));
        let is_marked =
            older.and_then(|place| context.lessons.get(place)).is_some_and(|shown| shown.contradicted_by.is_some());
        self.marked += usize::from(is_marked && newer == Some(0));
        self.marked_or_absent += usize::from((is_marked || older.is_none()) && newer == Some(0));
        format!("{second}; places {older:?}, {newer:?}; marked {is_marked}")
    }

    fn shares(&self) -> String {
        let counts =
            [self.merged, self.merged_or_asked, self.both_shown, self.newer_first, self.marked, self.marked_or_absent];
        counts.map(|count| format!(" {count} ({:.1}%) |", 100.0 * share(count, self.n_pairs))).concat()
    }
}

fn texts(pairs: &[Value], options: &Options) -> Result<(), Failure> {
    let draft = |text: &Value| build_lesson(text.as_str().unwrap_or_default(), text.as_str().unwrap_or_default());
    let drafts: Vec<[LessonDraft; 2]> = pairs.iter().map(|pair| [draft(&pair["a"]), draft(&pair["b"])]).collect();
    let learned = learn(&drafts, options)?;
    let (mut merged, mut right, mut asked, mut right_asked, mut duplicates) = (0, 0, 0, 0, 0);
    for (pair, [_, second]) in pairs.iter().zip(&learned.outcomes) {
        let is_duplicate = pair["dup"] == 1;
        let is_merged = matches!(second, LearnOutcome::Merged { .. });
        let is_asked = is_merged || matches!(second, LearnOutcome::Inserted { near, .. } if !near.is_empty());
        let is_asked = is_asked || matches!(second, LearnOutcome::Distinct { .. });
        duplicates += usize::from(is_duplicate);
        merged += usize::from(is_merged);
        right += usize::from(is_merged && is_duplicate);
        asked += usize::from(is_asked);
        right_asked += usize::from(is_asked && is_duplicate);
        if options.shows && is_merged != is_duplicate {
            println!("{} dup {}: {second}", pair["id"], pair["dup"]);
        }
    }
    println!("{} pairs, {duplicates} duplicates", pairs.len());
    println!("merged: precision {:.3}, recall {:.3}", share(right, merged), share(right, duplicates));
    println!(
        "merged or asked: precision {:.3}, recall {:.3}",
        share(right_asked, asked),
        share(right_asked, duplicates)
    );
    Ok(())
}

fn share(count: usize, of: usize) -> f64 {
    count as f64 / of.max(1) as f64
}
