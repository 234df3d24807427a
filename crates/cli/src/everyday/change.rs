//! Commands that change lessons: outcome, remove, undo, the marks of edit; and their history.

use std::process::ExitCode;
use std::time::Duration;

use adage::learn::{KeptBecause, Undone};
use adage::redact::{one_line, path_text};
use adage::{ChangeId, Credited, Error, Feedback, LessonId, LessonRef, Playbook, ReceiptId, Verification};
use clap::Args;
use serde_json::json;

use crate::choice::{choice, given, id, number};
use crate::global::{Access, Global};
use crate::output::{Output, counted, times};
use crate::result::{Done, Usage};
use crate::team::keeping;

pub(crate) const FEEDBACK: [(&str, Feedback); 3] =
    [("helpful", Feedback::Helpful), ("neutral", Feedback::Neutral), ("harmful", Feedback::Harmful)];
pub(crate) const VERIFICATION: [(&str, Verification); 2] =
    [("passed", Verification::Passed), ("failed", Verification::Failed)];
/// The same of a lesson: it is verified, it is not, or a check of it failed.
pub(crate) const VERIFIED: [(&str, Verification); 3] =
    [("yes", Verification::Passed), ("no", Verification::Failed), ("failed", Verification::Failed)];

#[derive(Args)]
pub(crate) struct Outcome {
    /// The receipt that `context` printed, and how the task went
    #[arg(value_parser = id::<ReceiptId>("a receipt"), requires = "went",
        required_unless_present_any = ["missed", "helpful", "harmful", "shown", "window"])]
    receipt: Option<ReceiptId>,
    #[arg(value_name = "OUTCOME", value_parser = choice(FEEDBACK))]
    went: Option<Feedback>,
    /// This lesson helped, whatever the receipt
    #[arg(long, value_name = "LESSON", group = "alone")]
    helpful: Option<String>,
    /// This lesson did harm
    #[arg(long, value_name = "LESSON", group = "alone")]
    harmful: Option<String>,
    /// You showed this lesson yourself; prints its receipt
    #[arg(long, value_name = "LESSON", group = "alone")]
    shown: Option<String>,
    /// All retrievals of the last SECONDS (300) that have no outcome yet were helpful
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "300", group = "alone")]
    window: Option<u64>,
    /// The lesson that should have been shown, by id or trigger
    #[arg(long, value_name = "LESSON", requires = "request", conflicts_with = "alone")]
    missed: Option<String>,
    /// What was asked: it becomes a situation of the lesson
    #[arg(long, value_name = "TEXT", requires = "missed", allow_hyphen_values = true)]
    request: Option<String>,
}

impl Outcome {
    pub(crate) fn printed(&self) -> Option<&'static str> {
        given([
            ("helpful", self.helpful.is_some()),
            ("harmful", self.harmful.is_some()),
            ("record", self.shown.is_some()),
            ("credit", self.window.is_some()),
        ])
    }
}

pub(crate) fn outcome(global: &Global, asked: &Outcome, out: &mut Output) -> Done {
    match asked {
        Outcome { helpful: Some(lesson), .. } => helped(global, lesson, Feedback::Helpful, out),
        Outcome { harmful: Some(lesson), .. } => helped(global, lesson, Feedback::Harmful, out),
        Outcome { shown: Some(lesson), .. } => record(global, lesson, out),
        Outcome { window: Some(seconds), .. } => credit(global, *seconds, out),
        Outcome { receipt, went, missed, request, .. } => {
            if let Some((lesson, request)) = missed.as_ref().zip(request.as_ref()) {
                let reference = global.lesson(lesson);
                let id = global.holder(&reference)?.record_missed(reference, request)?;
                out.both(&json!({ "missed": id }), &format!("{id} is found by this request from now on"))?;
            }
            receipt.zip(*went).map_or(Ok(ExitCode::SUCCESS), |known| of_task(global, known, out))
        }
    }
}

/// Records a task's outcome by its receipt.
fn of_task(global: &Global, (receipt, outcome): (ReceiptId, Feedback), out: &mut Output) -> Done {
    let credits = global.books(Access::Write)?.spoken()?.record_outcome(receipt, outcome)?;
    let (mut folders, mut lessons, mut before) = (Vec::new(), Vec::new(), None);
    for credit in credits {
        match credit.credited {
            Credited::Recorded { lessons: recorded } => {
                folders.push(json!({"folder": path_text(&credit.folder), "lessons": recorded}));
                lessons.extend(recorded);
            }
            Credited::AlreadyRecorded { outcome } => before = Some(outcome),
        }
    }
    if let Some(outcome) = before.filter(|_| folders.is_empty()) {
        let text = format!("was recorded before: {}", json!(outcome).as_str().unwrap_or_default());
        return out.both(&json!({"receipt": receipt, "settled": false, "before": outcome}), &text);
    }
    let object = json!({"receipt": receipt, "settled": true, "lessons": lessons, "folders": folders});
    out.both(&object, &format!("recorded for {}", counted(lessons.len(), "lesson")))
}

fn credit(global: &Global, window: u64, out: &mut Output) -> Done {
    let n_lessons = global.books(Access::Write)?.spoken()?.credit_recent_retrievals(Duration::from_secs(window))?;
    out.both(&json!({"credited": n_lessons}), &format!("credited {}", counted(n_lessons, "lesson")))
}

pub(crate) fn verify(global: &Global, lesson: &str, verification: Verification, out: &mut Output) -> Done {
    let playbook = global.holder(&global.lesson(lesson))?;
    let id = playbook.mark_verified(global.lesson(lesson), verification)?;
    let lesson = playbook.find(id)?;
    let verified = if lesson.verified { "verified" } else { "not verified" };
    let text = format!("{id} is {verified}, confidence {:.2}", lesson.confidence);
    out.both(&json!({"id": id, "verified": lesson.verified, "confidence": lesson.confidence}), &text)
}

pub(crate) fn graduate(global: &Global, lesson: &str, graduated: bool, out: &mut Output) -> Done {
    let (playbook, reference) = (global.holder(&global.lesson(lesson))?, global.lesson(lesson));
    let id = if graduated { playbook.mark_graduated(reference)? } else { playbook.unmark_graduated(reference)? };
    let is = if graduated { "is" } else { "is not" };
    out.both(&json!({"id": id, "graduated": graduated}), &format!("{id} {is} graduated"))
}

#[derive(Args)]
pub(crate) struct Remove {
    /// The lesson, by id or trigger
    #[arg(required_unless_present_any = ["session", "prune"])]
    lesson: Option<String>,
    /// Delete all its text, also from the backup, the history and quarantine; cannot be undone
    #[arg(long, requires = "lesson")]
    everywhere: bool,
    /// Remove every lesson that was mined from this session, including those that await review
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["lesson", "prune"])]
    session: Option<String>,
    /// Archive lessons that were judged often and did not help
    #[arg(long, conflicts_with = "lesson")]
    prune: bool,
    /// With --prune: only print them
    #[arg(long, requires = "prune")]
    dry_run: bool,
    /// With --prune: only lessons that were judged at least this often [default: as configured, 5]
    #[arg(long, value_name = "N", requires = "prune")]
    min_retrievals: Option<u64>,
    /// With --prune: at most this share of all lessons, from 0 to 1 [default: as configured, 0.25]
    #[arg(long, value_name = "SHARE", value_parser = number(0.0..=1.0), allow_negative_numbers = true, requires = "prune")]
    max_fraction: Option<f64>,
}

impl Remove {
    pub(crate) fn printed(&self) -> Option<&'static str> {
        given([("forget", self.everywhere), ("retract", self.session.is_some()), ("prune", self.prune)])
    }
}

pub(crate) fn remove(global: &Global, asked: &Remove, out: &mut Output) -> Done {
    match asked {
        Remove { session: Some(session), .. } => retract(global, session, out),
        Remove { lesson: Some(lesson), everywhere: true, .. } => keeping::forget(global, lesson, out),
        Remove { lesson: Some(lesson), .. } => remove_one(global, lesson, out),
        _ => prune(global, asked, out),
    }
}

fn record(global: &Global, lesson: &str, out: &mut Output) -> Done {
    let receipt = global.holder(&global.lesson(lesson))?.record_retrieval(global.lesson(lesson))?;
    out.both(&json!({"receipt": receipt}), &format!("receipt {receipt}"))
}

/// Records that a lesson helped or did harm.
fn helped(global: &Global, lesson: &str, feedback: Feedback, out: &mut Output) -> Done {
    let (playbook, reference) = (global.holder(&global.lesson(lesson))?, global.lesson(lesson));
    let id = match feedback {
        Feedback::Harmful => playbook.record_harmful_retrieval(reference)?,
        _ => playbook.record_helpful_retrieval(reference)?,
    };
    let lesson = playbook.find(id)?;
    let (helpful, harmful) = (lesson.helpful_retrievals, lesson.harmful_retrievals);
    let (helped, harmed) = (times(helpful), times(harmful));
    let text = format!("{id} helped {helped} and did harm {harmed}, confidence {:.2}", lesson.confidence);
    out.both(&json!({"id": id, "helpful": helpful, "harmful": harmful, "confidence": lesson.confidence}), &text)
}

fn retract(global: &Global, session: &str, out: &mut Output) -> Done {
    let mut removals = Vec::new();
    for playbook in global.books(Access::Write)?.spoken()?.as_slice() {
        removals.extend(playbook.retract_session(session)?);
    }
    if removals.is_empty() {
        return Err(format!("no lesson was mined from session {session}").into());
    }
    out.object(&json!({"session": session, "removed": removals}))?;
    for removed in &removals {
        out.line(&format!("removed {}; undo within 30 days with: adage undo {}", removed.id, removed.change))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn prune(global: &Global, asked: &Remove, out: &mut Output) -> Done {
    let (is_dry_run, min_retrievals, max_fraction) = (asked.dry_run, asked.min_retrievals, asked.max_fraction);
    let builder = global.builder_with(move |config| {
        let retention = &mut config.retention;
        retention.prune_min_retrievals = min_retrievals.unwrap_or(retention.prune_min_retrievals);
        retention.prune_max_fraction = max_fraction.unwrap_or(retention.prune_max_fraction);
    })?;
    let playbook = global.open_with(builder, if is_dry_run { Access::Read } else { Access::Write })?;
    let (lessons, change) = if is_dry_run {
        (playbook.prunable()?, None)
    } else {
        let pruned = playbook.prune_low_utility()?;
        (pruned.lessons, pruned.change)
    };
    let kept = playbook.kept_from_pruning()?;
    out.object(&json!({"pruned": lessons, "kept": kept, "change": change, "dry_run": is_dry_run}))?;
    for kept in &kept {
        let why = match kept.because {
            KeptBecause::ByHand => "it was written by hand; `adage remove` removes it",
            KeptBecause::Verified => "it is verified; `adage remove` removes it",
            _ => "a memory of fewer than 10 lessons is not pruned",
        };
        out.line(&format!("kept {}, which rarely helped: {why}", kept.id))?;
    }
    for id in &lessons {
        out.line(&format!("{} {id}", if is_dry_run { "would archive" } else { "archived" }))?;
    }
    match change {
        Some(change) => out.line(&format!("undo with: adage undo {change}"))?,
        None if lessons.is_empty() => out.message("nothing to prune"),
        None => {}
    }
    Ok(ExitCode::SUCCESS)
}

fn remove_one(global: &Global, lesson: &str, out: &mut Output) -> Done {
    let removed = global.holder(&global.lesson(lesson))?.remove(global.lesson(lesson))?;
    let (id, change) = (removed.id, removed.change);
    let text = format!("removed {id}; undo within 30 days with: adage undo {change}");
    out.both(&json!({"removed": id, "change": change}), &text)
}

pub(crate) fn undo(global: &Global, id: &str, out: &mut Output) -> Done {
    let change: ChangeId = id.parse().map_err(|_| Usage(format!("{id:?} is not the id of a change or a lesson")))?;
    let books = global.books(Access::Write)?.spoken()?;
    let undone = match undo_in(books.as_slice(), change, &global.lesson(id)) {
        Err(error @ (Error::NoSuchChange { .. } | Error::NoSuchMerge { .. })) => {
            let lesson: Option<LessonId> = id.parse().ok();
            let last = lesson.map_or(Ok(None), |lesson| last_change(books.as_slice(), lesson))?;
            return Err(last.map_or_else(|| error.into(), Into::into));
        }
        undone => undone?,
    };
    let Undone { change, restored, withdrawn, .. } = undone;
    out.object(&json!({"change": change, "restored": restored, "withdrawn": withdrawn}))?;
    for (what, lessons) in [("restored", restored), ("withdrawn", withdrawn)] {
        for id in lessons {
            out.line(&format!("{what} {id}"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Undoes a change, or the last merge into a lesson, in the first playbook that knows it.
pub(crate) fn undo_in(playbooks: &[Playbook], change: ChangeId, lesson: &LessonRef) -> Result<Undone, Error> {
    for playbook in playbooks {
        match playbook.undo(change) {
            Err(Error::NoSuchChange { .. }) => {}
            undone => return undone,
        }
    }
    for playbook in playbooks {
        match playbook.undo_merge(lesson.clone()) {
            Err(Error::NoSuchLesson { .. }) => {}
            undone => return undone,
        }
    }
    Err(Error::NoSuchChange { change })
}

/// A description of a lesson's newest change that is not undone, for a user who named a lesson where a change is required.
fn last_change(playbooks: &[Playbook], lesson: LessonId) -> Result<Option<String>, Error> {
    for playbook in playbooks {
        for record in playbook.changes()?.into_iter().rev().filter(|record| !record.is_undone) {
            if let Some(touched) = record.lessons.iter().find(|touched| touched.id == lesson) {
                let (what, change) = (touched.what, record.id);
                return Ok(Some(format!(
                    "{lesson} is a lesson; it was {what}, and adage undo {change} takes that back"
                )));
            }
        }
    }
    Ok(None)
}

pub(crate) fn history(global: &Global, limit: usize, out: &mut Output) -> Done {
    let playbook = global.read()?;
    let mut changes = playbook.changes()?;
    changes.reverse();
    changes.truncate(limit);
    for change in &changes {
        out.object(&json!(change))?;
    }
    if changes.is_empty() {
        out.message("there are no changes to undo");
        return Ok(ExitCode::SUCCESS);
    }
    let rows = changes.iter().map(|change| {
        let lessons: Vec<String> = change
            .lessons
            .iter()
            .map(|touched| format!("{} {}", touched.what, one_line(&touched.trigger, 40)))
            .collect();
        let undone = if change.is_undone { "undone" } else { "" };
        let at = change.at.format("%Y-%m-%d %H:%M").to_string();
        vec![change.id.to_string(), at, change.action.to_string(), undone.to_owned(), lessons.join("; ")]
    });
    out.table(&["change", "at", "by", "", "lessons"], rows)?;
    Ok(ExitCode::SUCCESS)
}
