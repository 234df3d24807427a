//! `error-recovery`: a command failed, and the same program and subcommand passed soon after. What lies between is the remedy.

use adage_redact::one_line;
use adage_transcript::command::{Purpose, slug};
use adage_transcript::{CommandLine, Relation, ToolCall, WordChange, outcome};

use super::edits::{describe_edits, is_settings, names_same, within};
use super::error_line::{blames_the_command, error_line, place, said_below, unknown_flag};
use super::failure::{is_failure, patterns};
use super::intended_failure::is_intended;
use super::session::{MAX_COMMAND_CHARS, Session, TerminalCall, is_script};
use super::{Author, Candidate, FiredBecause, Heuristic, RejectedBecause, Trial, mined};
use adage::lesson::{CommandRecovery, RecoveryStep};

/// Number of terminal calls after a failure that are searched for its recovery; the earlier system counted calls of every tool.
const WINDOW: usize = 5;
/// The maximum number of edits and commands between failure and success. With more, the one that helped is unknown; chosen.
const MAX_BETWEEN: usize = 3;
/// The maximum number of words that differ between the two commands; chosen.
const MAX_CHANGES: usize = 4;
/// The maximum length of an error in a lesson, in characters.
const MAX_ERROR_CHARS: usize = 160;

/// A trial for each failed call. Empty for a session without failures.
pub(super) fn find(session: &Session<'_>) -> Vec<Trial> {
    let failures = session.calls.iter().enumerate().filter(|(_, call)| is_failure(session, call));
    let mut trials: Vec<Trial> = failures.map(|(place, failed)| judge(session, place, failed)).collect();
    keep_last_of_each_success(&mut trials);
    trials
}

/// Rejects every recovery but the last of those that end with the same success: what came before that mended another failure.
fn keep_last_of_each_success(trials: &mut [Trial]) {
    let end = |trial: &Trial| trial.result.as_ref().ok().and_then(|(candidate, _)| candidate.turns.last().copied());
    let ends: Vec<Option<usize>> = trials.iter().map(end).collect();
    for (place, trial) in trials.iter_mut().enumerate() {
        let mut later = ends.iter().skip(place + 1).flatten();
        let Ok((candidate, _)) = &trial.result else { continue };
        if later.any(|other| candidate.turns.last() == Some(other)) {
            trial.result = Err(RejectedBecause::Outdone { score: candidate.score, best: candidate.score });
        }
    }
}

fn judge(session: &Session<'_>, place: usize, failed: &TerminalCall<'_>) -> Trial {
    match Recovery::of(session, place, failed) {
        Err(reason) => Trial::refused(failed.turn, reason),
        Ok(recovery) => {
            let because = FiredBecause::Recovered {
                relation: recovery.relation,
                distance: recovery.distance,
                n_edited: recovery.edits.len(),
            };
            Trial::fired(failed.turn, recovery.candidate(session), because)
        }
    }
}

/// A failure, the call that ended it, and what was done in between.
struct Recovery<'s, 't> {
    failed: &'s TerminalCall<'t>,
    passed: &'s TerminalCall<'t>,
    relation: Relation,
    /// The number of terminal calls from the failure to its end, at least 1.
    distance: usize,
    error: &'s str,
    /// The words that differ between the two commands.
    changes: Vec<WordChange>,
    edits: Vec<&'t ToolCall>,
    remedies: Vec<&'s TerminalCall<'t>>,
    /// The project's folder. Empty if it is unknown.
    project: &'t str,
}

impl<'s, 't> Recovery<'s, 't> {
    fn of(session: &'s Session<'t>, place: usize, failed: &'s TerminalCall<'t>) -> Result<Self, RejectedBecause> {
        let next = next_calls(session, place);
        let Some((n_before, passed, relation)) = first_success(failed, &next) else {
            return Err(RejectedBecause::NothingRelated { n_looked_at: next.len(), window: WINDOW });
        };
        let error = error_line(failed.output()).ok_or(RejectedBecause::NoError)?;
        let texts = [&failed.line, &passed.line].map(CommandLine::plain_text);
        if let Some(script) = texts.iter().find(|text| is_script(text)) {
            return Err(RejectedBecause::Script { n_chars: script.chars().count(), max: MAX_COMMAND_CHARS });
        }
        if is_intended(session, failed, passed) {
            return Err(RejectedBecause::MeantToFail);
        }
        let said = session.user_turn_before(passed.turn).filter(|turn| *turn > failed.turn);
        if let Some(turn) = said {
            return Err(RejectedBecause::SaidBetween { turn });
        }
        let between = next.iter().take(n_before).copied();
        let recovery = Self {
            failed,
            passed,
            relation,
            distance: n_before + 1,
            error,
            changes: failed.line.word_changes(&passed.line),
            edits: session.edits(failed.turn, passed.turn),
            remedies: between.filter(|call| may_fix(call, failed)).collect(),
            project: session.transcript.project.as_str(),
        };
        recovery.check(session)?;
        Ok(recovery)
    }

    /// Whether what mended it is known, and worth telling.
    fn check(&self, session: &Session<'_>) -> Result<(), RejectedBecause> {
        let (n_between, n_changes) = (self.edits.len() + self.remedies.len(), self.changes.len());
        let n_edited = self.edits.len();
        if n_edited > 0 && self.edits.iter().all(|edit| session.wrote(edit, self.failed.turn)) {
            return Err(RejectedBecause::OwnFiles { n_edited });
        }
        let is_shown = |edit: &&ToolCall| edit.changed_path().is_some_and(is_settings) || names_same(edit, self.error);
        let is_told = match n_between {
            0 => (1..=MAX_CHANGES).contains(&n_changes),
            n => n <= MAX_BETWEEN && self.edits.iter().all(is_shown) && (n_edited == 0 || self.told_edits().is_some()),
        };
        if is_told { Ok(()) } else { Err(RejectedBecause::NothingTold { n_between, n_changes }) }
    }

    fn told_edits(&self) -> Option<String> {
        describe_edits(&self.edits, self.project)
    }

    fn candidate(&self, session: &Session<'_>) -> Candidate {
        let topic = self.failed.line.topic();
        let edits = self.told_edits().map(RecoveryStep::Edit);
        let run = self.remedies.iter().map(|call| RecoveryStep::Run(self.text(&call.line)));
        let passed = RecoveryStep::Passed(self.text(&self.passed.line));
        let recovery = CommandRecovery {
            failed: self.text(&self.failed.line),
            error: self.error_text(),
            steps: edits.into_iter().chain(run).chain([passed]).collect(),
        };
        let mut draft = recovery.draft().domains([topic.clone()]).commands(self.patterns());
        let intent = session.intent(self.failed.turn);
        if !intent.is_empty() {
            draft = draft.task(intent);
        }
        let score = self.score();
        Candidate {
            heuristic: Heuristic::ErrorRecovery,
            name: format!("error-{}", slug(&topic)),
            draft: mined(draft, session, score / 2.0, Vec::new()),
            turns: vec![self.failed.turn, self.passed.turn],
            score,
            author: Author::Agent,
        }
    }

    /// A command that had to be written differently teaches most, one that was only run again least.
    fn score(&self) -> f64 {
        let kind = match self.relation {
            Relation::Respelled | Relation::SameAction => 0.9,
            Relation::Prepared => 0.8,
            _ => 0.7,
        };
        kind - 0.02 * self.distance as f64
    }

    /// The error without the place of it, which is another one next time, and with the message of a failed test.
    fn error_text(&self) -> String {
        let below =
            if outcome::is_failed_test(self.error) { said_below(self.failed.output(), self.error) } else { None };
        let error = match (place(self.error), below) {
            (Some((_, said)), _) => format!("<file>: {said}"),
            (None, Some(below)) => format!("{}: {below}", self.error),
            (None, None) => self.error.to_owned(),
        };
        one_line(&within(&error, self.project), MAX_ERROR_CHARS)
    }

    /// The command lines before which it comes back: if nothing but the line was changed, those with the flag that was wrong.
    fn patterns(&self) -> Vec<String> {
        let removed = self.changes.iter().flat_map(|change| change.before.split_whitespace());
        let removed = removed.into_iter().find(|word| word.len() > 1 && word.starts_with('-'));
        let told = unknown_flag(self.error).filter(|flag| self.failed.line.text().contains(flag));
        patterns(&self.failed.line, self.error, removed.or(told))
    }

    /// The text of a command, without filters of its output unless the error blames the command.
    fn text(&self, line: &CommandLine) -> String {
        let text = if blames_the_command(self.error) { line.text().to_owned() } else { line.plain_text() };
        within(&text, self.project)
    }
}

/// The calls after a failure up to the fifth that acts. Looking serves to understand a failure and does not fix it.
fn next_calls<'s, 't>(session: &'s Session<'t>, place: usize) -> Vec<&'s TerminalCall<'t>> {
    /// The maximum number of all calls.
    const MAX_CALLS: usize = 15;
    let mut n_acting = 0;
    let next = session.calls.iter().skip(place + 1).take(MAX_CALLS);
    next.take_while(|call| {
        let is_within = n_acting < WINDOW;
        n_acting += usize::from(call.acts());
        is_within
    })
    .collect()
}

/// The nearest call that passes and does the same as the failed one, with the number of calls before it.
fn first_success<'s, 't>(
    failed: &TerminalCall<'_>,
    next: &[&'s TerminalCall<'t>],
) -> Option<(usize, &'s TerminalCall<'t>, Relation)> {
    let hides = |later: &TerminalCall<'_>| later.line.hides_status() && !failed.line.hides_status();
    next.iter().enumerate().filter(|(_, later)| later.succeeded() && !hides(later)).find_map(|(n_before, later)| {
        let relation = failed.line.relation_to(&later.line)?;
        (relation != Relation::SameProgram).then_some((n_before, *later, relation))
    })
}

/// True for a successful command that may have fixed a failure because it changed something. False for checks, and for commits
/// unless the failed command publishes.
fn may_fix(call: &TerminalCall<'_>, failed: &TerminalCall<'_>) -> bool {
    let is_unrelated = (call.line.commits() || call.line.closes() || call.line.publishes()) && !failed.line.publishes();
    let changes = call.acts() || call.line.sets_the_scene();
    call.succeeded() && changes && call.line.purpose() != Purpose::Checks && !is_unrelated
}
