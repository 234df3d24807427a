//! `error-recovery`: a command failed, and a related command succeeded soon after.

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
pub(super) mod user_report;

use std::collections::HashSet;

use adage_transcript::command::Purpose;
use adage_transcript::{Relation, ToolCall, outcome};
use unicode_segmentation::UnicodeSegmentation;

use super::error_line::{error_line, has_many_causes};
use super::session::{Session, TerminalCall};
use super::{FiredBecause, RejectedBecause, Trial};
pub(super) use attempts::is_same_error_text;
use diagnosis::{Diagnosis, diagnosis};
use edits::edit_text;
pub(super) use edits::names_in;
use ending::{End, find_end, find_far_end};
pub(super) use failures::{is_failure, says_missing};
pub(super) use intended_failure::is_intended;
use recovery::Recovery;

/// The maximum number of edits and commands between failure and success. With more, the one that helped is unknown.
const MAX_BETWEEN: usize = 2;
/// The search distance for the end of a repair that the agent explains, in multiples of the recovery window.
const MAX_WINDOWS: usize = 3;
/// The maximum number of changed files. A sentence of the agent rarely describes changes in more.
const MAX_FILES: usize = 3;

/// Number of terminal calls after a failure that are searched for its recovery; the earlier system counted calls of every tool.
const WINDOW: usize = 5;

/// A trial for each failed call, then for each failure that the user reported. Empty for a session without failures.
pub(super) fn find(session: &Session<'_>) -> Vec<Trial> {
    let failures = session.calls.iter().enumerate().filter(|(_, call)| is_failure(session, call));
    let trials = failures.map(|(place, failed)| judge(session, place, failed, WINDOW));
    let mut trials: Vec<Trial> = trials.collect();
    keep_last_of_each_success(&mut trials);
    trials.extend(user_report::find(session));
    trials
}

/// Rejects every recovery but the last of those that end with the same success, or that tell the same.
fn keep_last_of_each_success(trials: &mut [Trial]) {
    let ends: Vec<Option<(usize, String)>> = trials.iter().map(end_and_opening).collect();
    for (place, trial) in trials.iter_mut().enumerate() {
        let later = ends.get(place + 1..).unwrap_or_default().iter().flatten();
        let mine = ends.get(place).and_then(Option::as_ref);
        let is_answered_later =
            mine.is_some_and(|mine| later.into_iter().any(|other| mine.0 == other.0 || mine.1 == other.1));
        if let Ok((candidate, _)) = &trial.result
            && is_answered_later
        {
            trial.result = Err(RejectedBecause::Outdone { score: candidate.score, best: candidate.score });
        }
    }
}

/// The last turn of a recovery, and how its solution begins: the command, or the first sentence of the agent's account.
fn end_and_opening(trial: &Trial) -> Option<(usize, String)> {
    const MAX_CHARS: usize = 120;
    let (candidate, _) = trial.result.as_ref().ok()?;
    let solution = candidate.draft.row().get("correct_pattern").and_then(|text| text.as_str()).unwrap_or_default();
    let opening = solution.chars().take(MAX_CHARS).collect();
    Some((candidate.turns.last().copied()?, opening))
}

/// The lesson of one failed call, or why there is none. `place` is the index of the call among the session's terminal calls.
fn judge(session: &Session<'_>, place: usize, failed: &TerminalCall<'_>, window: usize) -> Trial {
    let next = next_calls(session, place, window.saturating_mul(MAX_WINDOWS));
    let near = next_calls(session, place, window);
    let error = error_line(failed.output());
    let end = find_end(session, failed, error, &near);
    // A later success of the same command says more than an earlier one that only shares the program.
    let is_same = |end: &End<'_, '_>| end.relation != Relation::SameProgram;
    let Some(end) = end.filter(is_same).or_else(|| find_far_end(session, failed, error, &next)).or(end) else {
        return Trial::refused(failed.turn, RejectedBecause::NothingRelated { n_looked_at: near.len(), window });
    };
    if is_intended(session, failed, end.call) {
        return Trial::refused(failed.turn, RejectedBecause::MeantToFail);
    }
    if let Some(turn) = other_failure(failed, error, &next, end.call) {
        return Trial::refused(failed.turn, RejectedBecause::FailedAgain { turn });
    }
    let recovery = Recovery::new(session, failed, error, &next, end);
    if let Some(rejection) = recovery.rejection() {
        return Trial::refused(failed.turn, rejection);
    }
    let because = FiredBecause::Recovered {
        relation: recovery.relation,
        distance: recovery.distance,
        n_edited: recovery.edited.len(),
    };
    Trial::fired(failed.turn, recovery.candidate(session), because)
}

/// The turn in which the failed command, or another form of it, failed with another error before the success. None if it did not.
fn other_failure(
    failed: &TerminalCall<'_>,
    error: Option<&str>,
    next: &[&TerminalCall<'_>],
    fixed: &TerminalCall<'_>,
) -> Option<usize> {
    let error = error?;
    let is_other = |call: &&TerminalCall<'_>| {
        call.failed()
            && call.line.relation_to(&failed.line).is_some_and(|relation| relation != Relation::SameProgram)
            && error_line(call.output()).is_none_or(|other| !is_same_error_text(other, error))
            && !call.output().contains(error)
    };
    let mut between = next.iter().copied().take_while(|call| call.turn < fixed.turn);
    between.find(is_other).map(|call| call.turn)
}

/// The terminal calls after a failure that may end it: up to `window` calls that act or check, with the calls that only look
/// between them. Looking serves to understand a failure and does not fix it.
fn next_calls<'s, 't>(session: &'s Session<'t>, place: usize, window: usize) -> Vec<&'s TerminalCall<'t>> {
    /// The maximum number of all calls, in multiples of the window.
    const MAX_CALLS: usize = 3;
    let mut n_acting = 0;
    let next = session.calls.iter().skip(place + 1).take(window.saturating_mul(MAX_CALLS));
    next.take_while(|call| {
        let is_within = n_acting < window;
        n_acting += usize::from(call.acts());
        is_within
    })
    .collect()
}

/// True for a user turn that only tells the agent to continue: "yes, go ahead".
fn is_go_ahead(text: &str) -> bool {
    const WORDS: [&str; 14] =
        ["yes", "y", "yep", "ok", "okay", "sure", "please", "proceed", "continue", "go", "on", "ahead", "do", "it"];
    let mut words = text.unicode_words().map(str::to_lowercase).peekable();
    words.peek().is_some() && words.all(|word| WORDS.contains(&word.as_str()))
}

/// True for the name of a test file in the conventions of most languages.
fn is_test_file(file: &str) -> bool {
    let lower = file.to_lowercase();
    ["test", "spec"]
        .iter()
        .any(|word| lower.split(|c: char| !c.is_alphanumeric()).any(|part| part.trim_end_matches('s') == *word))
}

/// True for a successful command that may have fixed a failure because it changed something. False for checks, and for commits
/// unless the failed command publishes.
fn may_fix(call: &TerminalCall<'_>, failed: &TerminalCall<'_>) -> bool {
    let is_unrelated = (call.line.commits() || call.line.closes() || call.line.publishes()) && !failed.line.publishes();
    let changes = call.acts() || call.line.sets_the_scene();
    call.succeeded() && changes && call.line.purpose() != Purpose::Checks && !is_unrelated
}

/// True for a check that covers everything that the failed check complained about: it takes at least the same operands, or it
/// names a test that failed.
fn covers(failed: &TerminalCall<'_>, later: &TerminalCall<'_>) -> bool {
    let plain = |word: &str| word.trim_start_matches("./").trim_end_matches(['/', '.']).to_owned();
    let operands = |call: &TerminalCall<'_>| call.line.operands().map(plain).collect::<HashSet<_>>();
    let (own, others) = (operands(failed), operands(later));
    let is_narrow = [" -run ", " -k ", " --test ", " -t ", "::"].iter().any(|mark| later.line.text().contains(mark));
    let is_whole = !is_narrow && (others.is_empty() || others.contains("") || own.is_subset(&others));
    let complaints: Vec<&str> = failed.output().lines().filter(|line| outcome::is_failed_test(line)).collect();
    let is_named = |word: &String| word.len() > 3 && complaints.iter().any(|line| line.contains(word.as_str()));
    // A check with a filter has to name the failed test in the filter.
    let words = later.line.text().split([' ', '\'', '"']).map(plain);
    let mut names = words.filter(|word| !is_narrow || !others.contains(word));
    later.line.purpose() == Purpose::Checks && (is_whole || names.any(|word| is_named(&word)))
}

/// The agent's diagnosis of a failure: stated before the first edit, else before the last one. None without edits, and for an output
/// with many causes.
fn diagnosis_of(session: &Session<'_>, failed: &TerminalCall<'_>, fixed: &TerminalCall<'_>) -> Option<Diagnosis> {
    if has_many_causes(failed.output()) {
        return None;
    }
    let (turns, edits): (Vec<usize>, Vec<&ToolCall>) = session.edits_in(failed.turn, fixed.turn).unzip();
    let mut evidence = failed.output().to_owned();
    evidence.extend(edits.into_iter().map(edit_text));
    let until = |end: &usize| diagnosis(session, failed.turn, *end, &evidence);
    turns.first().and_then(until).or_else(|| turns.last().and_then(until))
}
