//! `error-recovery`: a command failed, and a related one succeeded soon after.

use super::error_line::{blames_the_command, error_line};
use super::session::{MAX_COMMAND_CHARS, Session, TerminalCall};
use super::wording::{command_text, listed, shorten, shown};
use super::{Candidate, Ground, Heuristic, Hurdle, Trial, mined};
use crate::capture::command::{Relation, WordChange, slug};
use crate::config::CaptureConfig;
use crate::lesson::build_lesson;

const MAX_ERROR_CHARS: usize = 160;
/// More changes than these are another command.
const MAX_CHANGES: usize = 4;
/// Mined lessons start below the 0.5 of a lesson that someone wrote.
const CONFIDENCE: f64 = 0.45;

/// A failure and the success that ended it.
struct Recovery<'s, 't> {
    failed: &'s TerminalCall<'t>,
    fixed: &'s TerminalCall<'t>,
    relation: Relation,
    distance: usize,
    changes: Vec<WordChange>,
    edited: Vec<String>,
    /// Commands that acted between the two.
    remedies: Vec<&'s TerminalCall<'t>>,
}

pub(super) fn find(session: &Session<'_>, config: &CaptureConfig) -> Vec<Trial> {
    let failures = session.calls.iter().enumerate().filter(|(_, call)| call.failed());
    let trials = failures.map(|(place, failed)| judge(session, place, failed, config.recovery_window));
    let mut trials: Vec<Trial> = trials.collect();
    keep_last_of_each_success(&mut trials);
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
            trial.result = Err(Hurdle::Outdone { score: candidate.score, best: candidate.score });
        }
    }
}

fn judge(session: &Session<'_>, place: usize, failed: &TerminalCall<'_>, window: usize) -> Trial {
    let next: Vec<&TerminalCall<'_>> = session.calls.iter().skip(place + 1).take(window).collect();
    let succeeded = next.iter().enumerate().filter(|(_, later)| later.succeeded());
    let related = succeeded.filter_map(|(before, later)| {
        let relation = failed.line.relation_to(&later.line)?;
        // What acts is not mended by looking, unless looking is what was meant.
        let is_same_kind = later.acts() || !failed.acts() || relation == Relation::Respelled;
        is_same_kind.then_some((relation == Relation::SameProgram, before, relation, *later))
    });
    // The nearest; one that only shares the program gives way to any that does the same.
    let Some((_, before, relation, fixed)) = related.min_by_key(|(is_loose, before, ..)| (*is_loose, *before)) else {
        return Trial::refused(failed.turn, Hurdle::NothingRelated { n_looked_at: next.len(), window });
    };
    let recovery = Recovery {
        failed,
        fixed,
        relation,
        distance: before + 1,
        changes: failed.line.word_changes(&fixed.line),
        edited: session.edited_files(failed.turn, fixed.turn),
        remedies: next.iter().take(before).copied().filter(|call| call.succeeded() && call.acts()).collect(),
    };
    if let Some(hurdle) = recovery.hurdle() {
        return Trial::refused(failed.turn, hurdle);
    }
    let ground = Ground::Recovered { relation, distance: recovery.distance, n_edited: recovery.edited.len() };
    Trial::fired(failed.turn, recovery.candidate(session), ground)
}

/// The name of a file of tests, as most languages name them.
fn is_test(file: &str) -> bool {
    let lower = file.to_lowercase();
    ["test", "spec"]
        .iter()
        .any(|word| lower.split(|c: char| !c.is_alphanumeric()).any(|part| part.trim_end_matches('s') == *word))
}

impl Recovery<'_, '_> {
    /// What speaks against it.
    fn hurdle(&self) -> Option<Hurdle> {
        if !self.failed.acts() {
            // That a file was not here but there teaches nothing; that a flag is not known here does.
            let is_blamed = error_line(self.failed.output()).is_some_and(blames_the_command);
            return (!is_blamed).then_some(Hurdle::OnlyLooked);
        }
        // How one script for one occasion differs from the next teaches nothing.
        if self.relation != Relation::Rerun && (self.failed.is_script() || self.fixed.is_script()) {
            let chars = |call: &TerminalCall<'_>| call.line.text().chars().count();
            let n_chars = chars(self.failed).max(chars(self.fixed));
            return Some(Hurdle::Script { n_chars, max: MAX_COMMAND_CHARS });
        }
        let only_tests = !self.edited.is_empty() && self.edited.iter().all(|file| is_test(file));
        (only_tests && self.remedies.is_empty()).then_some(Hurdle::OnlyTestsChanged { n_edited: self.edited.len() })
    }

    fn candidate(&self, session: &Session<'_>) -> Candidate {
        let topic = self.failed.line.topic();
        let error = error_line(self.failed.output()).map(|line| shorten(line, MAX_ERROR_CHARS));
        let failed = shown(self.failed);
        let trigger = match &error {
            Some(error) => format!("{failed} fails: {error}"),
            None => format!("{failed} fails"),
        };
        let draft = build_lesson(trigger, self.solution())
            .task(session.intent(self.failed.turn))
            .mistake(failed)
            .code_example(self.table(error.as_deref()))
            .domains([topic.clone()]);
        Candidate {
            heuristic: Heuristic::ErrorRecovery,
            name: format!("error-{}", slug(&topic)),
            draft: mined(draft, session, CONFIDENCE, Vec::new()),
            turns: vec![self.failed.turn, self.fixed.turn],
            score: self.score(error.is_some()),
        }
    }

    /// A command that had to be written otherwise teaches most, a second attempt least.
    fn score(&self, has_error: bool) -> f64 {
        let kind = match self.relation {
            Relation::Respelled | Relation::SameAction => 0.8,
            Relation::Prepared => 0.7,
            Relation::Rerun if !self.edited.is_empty() || !self.remedies.is_empty() => 0.6,
            Relation::Rerun => 0.3,
            Relation::SameProgram => 0.4,
        };
        kind + if has_error { 0.1 } else { 0.0 } - 0.02 * self.distance as f64
    }

    fn solution(&self) -> String {
        let mut steps = Vec::new();
        if !self.edited.is_empty() {
            steps.push(format!("change {}", listed(&self.edited)));
        }
        let remedies: Vec<String> = self.remedies.iter().map(|call| shown(call)).collect();
        if !remedies.is_empty() {
            steps.push(format!("run {}", listed(&remedies)));
        }
        let fixed = shown(self.fixed);
        match (self.relation, steps.is_empty()) {
            (Relation::Rerun, true) => {
                format!("Run {fixed} again: it passed at the second attempt, with nothing changed.")
            }
            (Relation::Rerun | Relation::Prepared, false) => {
                format!("First {}; then {fixed} passes.", steps.join(", "))
            }
            (_, true) => format!("Run {fixed}{}.", self.changes_shown()),
            (_, false) => format!("First {}; then run {fixed}{}.", steps.join(", "), self.changes_shown()),
        }
    }

    fn changes_shown(&self) -> String {
        let changes: Vec<String> = self.changes.iter().map(|change| shorten(&change.to_string(), 80)).collect();
        let is_telling = (1..=MAX_CHANGES).contains(&changes.len());
        if is_telling { format!(" ({})", changes.join(", ")) } else { String::new() }
    }

    fn table(&self, error: Option<&str>) -> String {
        let cell = |text: &str| text.replace('|', "\\|");
        let (before, after) = (cell(&command_text(self.failed)), cell(&command_text(self.fixed)));
        let table = format!("| before | after |\n|---|---|\n| `{before}` | `{after}` |");
        error.map_or_else(|| table.clone(), |error| format!("{table}\n\n{error}"))
    }
}
