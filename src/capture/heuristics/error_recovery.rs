//! `error-recovery`: a command failed, and a related one succeeded soon after.

mod attempts;
mod diagnosis;
mod edits;
mod ending;
mod failures;
mod intended_failure;
mod lesson_text;
mod patterns;
mod recovery;
mod rejection;
mod user_report;

use std::collections::HashSet;

use adage_transcript::command::Purpose;
use adage_transcript::{Relation, ToolCall, outcome};
use unicode_segmentation::UnicodeSegmentation;

use super::error_line::{error_line, has_many_causes};
use super::session::{Session, TerminalCall};
use super::{FiredBecause, RejectedBecause, Trial};
use crate::config::CaptureConfig;
use diagnosis::{Diagnosis, diagnosis};
use edits::edit_text;
use ending::{End, find_end, find_far_end};
use failures::is_failure;
use intended_failure::is_intended;
use recovery::Recovery;

/// Where more was done between failure and success, nobody knows which of it helped.
const MAX_BETWEEN: usize = 2;
/// How many windows a repair may take of which the agent says why it was needed.
const MAX_WINDOWS: usize = 3;
/// Where more files were changed, no sentence says what was done in all of them.
const MAX_FILES: usize = 3;

pub(super) fn find(session: &Session<'_>, config: &CaptureConfig) -> Vec<Trial> {
    let failures = session.calls.iter().enumerate().filter(|(_, call)| is_failure(session, call));
    let trials = failures.map(|(place, failed)| judge(session, place, failed, config.recovery_window));
    let mut trials: Vec<Trial> = trials.collect();
    keep_last_of_each_success(&mut trials);
    trials.extend(user_report::find(session));
    trials
}

/// Two failures before one success are one recovery: the last failure is the one that the success answers.
fn keep_last_of_each_success(trials: &mut [Trial]) {
    let success = |trial: &Trial| trial.result.as_ref().ok().and_then(|(candidate, _)| candidate.turns.last().copied());
    let successes: Vec<Option<usize>> = trials.iter().map(success).collect();
    for (place, trial) in trials.iter_mut().enumerate() {
        let mine = successes.get(place).copied().flatten();
        let is_answered_later = mine.is_some() && successes.iter().skip(place + 1).any(|other| *other == mine);
        if let Ok((candidate, _)) = &trial.result
            && is_answered_later
        {
            trial.result = Err(RejectedBecause::Outdone { score: candidate.score, best: candidate.score });
        }
    }
}

fn judge(session: &Session<'_>, place: usize, failed: &TerminalCall<'_>, window: usize) -> Trial {
    let next = next_calls(session, place, window.saturating_mul(MAX_WINDOWS));
    let near = next_calls(session, place, window);
    let error = error_line(failed.output());
    let end = find_end(session, failed, error, &near);
    // What only shares the program says less than the same command, later.
    let is_same = |end: &End<'_, '_>| end.relation != Relation::SameProgram;
    let Some(end) = end.filter(is_same).or_else(|| find_far_end(session, failed, error, &next)).or(end) else {
        return Trial::refused(failed.turn, RejectedBecause::NothingRelated { n_looked_at: near.len(), window });
    };
    if is_intended(session, failed, end.call) {
        return Trial::refused(failed.turn, RejectedBecause::MeantToFail);
    }
    let recovery = Recovery::new(session, failed, error, &next, end);
    if let Some(rejection) = recovery.rejection() {
        return Trial::refused(failed.turn, rejection);
    }
    let ground = FiredBecause::Recovered {
        relation: recovery.relation,
        distance: recovery.distance,
        n_edited: recovery.edited.len(),
    };
    Trial::fired(failed.turn, recovery.candidate(session), ground)
}

/// The terminal calls after a failure among which its end is looked for: so many that act or check, and what looks in between,
/// which is how the failure is understood and not how it is mended.
fn next_calls<'s, 't>(session: &'s Session<'t>, place: usize, window: usize) -> Vec<&'s TerminalCall<'t>> {
    /// Of all calls together.
    const MAX_LOOKS: usize = 3;
    let mut n_acting = 0;
    let next = session.calls.iter().skip(place + 1).take(window.saturating_mul(MAX_LOOKS));
    next.take_while(|call| {
        let is_within = n_acting < window;
        n_acting += usize::from(call.acts());
        is_within
    })
    .collect()
}

/// True for a turn by which a person lets the agent go on, and says nothing else.
fn is_go_ahead(text: &str) -> bool {
    const WORDS: [&str; 14] =
        ["yes", "y", "yep", "ok", "okay", "sure", "please", "proceed", "continue", "go", "on", "ahead", "do", "it"];
    let mut words = text.unicode_words().map(str::to_lowercase).peekable();
    words.peek().is_some() && words.all(|word| WORDS.contains(&word.as_str()))
}

/// The name of a file of tests, as most languages name them.
fn is_test_file(file: &str) -> bool {
    let lower = file.to_lowercase();
    ["test", "spec"]
        .iter()
        .any(|word| lower.split(|c: char| !c.is_alphanumeric()).any(|part| part.trim_end_matches('s') == *word))
}

/// True for a command that changed something which the failing one may have needed: no check, no commit beside a failing
/// build.
fn may_fix(call: &TerminalCall<'_>, failed: &TerminalCall<'_>) -> bool {
    let is_aside = (call.line.commits() || call.line.closes() || call.line.publishes()) && !failed.line.publishes();
    let changes = call.acts() || call.line.sets_the_scene();
    call.succeeded() && changes && call.line.purpose() != Purpose::Checks && !is_aside
}

/// True for a check of all that a failed check complained about: on all of its files or more, or on what its output says failed.
fn covers(failed: &TerminalCall<'_>, later: &TerminalCall<'_>) -> bool {
    let plain = |word: &str| word.trim_start_matches("./").trim_end_matches(['/', '.']).to_owned();
    let operands = |call: &TerminalCall<'_>| call.line.operands().map(plain).collect::<HashSet<_>>();
    let (own, others) = (operands(failed), operands(later));
    let is_narrow = [" -run ", " -k ", " --test ", " -t ", "::"].iter().any(|mark| later.line.text().contains(mark));
    let is_whole = !is_narrow && (others.is_empty() || others.contains("") || own.is_subset(&others));
    let complaints: Vec<&str> = failed.output().lines().filter(|line| outcome::is_failed_test(line)).collect();
    let is_named = |word: &String| word.len() > 3 && complaints.iter().any(|line| line.contains(word.as_str()));
    // Of a narrowed check the filter has to name it.
    let words = later.line.text().split([' ', '\'', '"']).map(plain);
    let mut names = words.filter(|word| !is_narrow || !others.contains(word));
    later.line.purpose() == Purpose::Checks && (is_whole || names.any(|word| is_named(&word)))
}

/// What the agent said of a failure: before the first change, else between it and the last. Where no file was changed, before
/// the command that passed.
fn diagnosis_of(session: &Session<'_>, failed: &TerminalCall<'_>, fixed: &TerminalCall<'_>) -> Option<Diagnosis> {
    if has_many_causes(failed.output()) {
        return None;
    }
    let (turns, edits): (Vec<usize>, Vec<&ToolCall>) = session.edits_in(failed.turn, fixed.turn).unzip();
    let mut evidence = format!("{}\n{}", failed.line.text(), failed.output());
    evidence.extend(edits.into_iter().map(edit_text));
    let Some(last) = turns.last() else {
        return diagnosis(session, failed.turn, fixed.turn, &(evidence + fixed.line.text()));
    };
    let until = |end: &usize| diagnosis(session, failed.turn, *end, &evidence);
    turns.first().and_then(until).or_else(|| until(last))
}
