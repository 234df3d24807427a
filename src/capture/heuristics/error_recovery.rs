//! `error-recovery`: a command failed, and a related one succeeded soon after.

mod ended;
mod told;

use adage_transcript::command::Purpose;
use adage_transcript::{CommandLine, Relation, ToolCall, WordChange, outcome};
use unicode_segmentation::UnicodeSegmentation;

use super::error_line::{absent_program, blames_the_command, error_line, is_finding, unmatched};
use super::session::{MAX_COMMAND_CHARS, Session, TerminalCall, is_script};
use super::{FiredBecause, RejectedBecause, Trial};
use crate::config::CaptureConfig;
use ended::{End, Ending, end_of, is_settings};
use told::within;

/// More changes than these are another command.
const MAX_CHANGES: usize = 4;
/// Where more was done between failure and success, nobody knows which of it helped.
const MAX_BETWEEN: usize = 2;
/// A failure and the success that ended it.
struct Recovery<'s, 't> {
    failed: &'s TerminalCall<'t>,
    fixed: &'s TerminalCall<'t>,
    /// The two as a lesson shows them: only the command that the error blames, where nothing else was done.
    before: CommandLine,
    after: CommandLine,
    relation: Relation,
    distance: usize,
    /// What differs between the two commands, as they are shown.
    changes: Vec<WordChange>,
    /// What the failure said.
    error: Option<&'s str>,
    /// The user's turn between the two.
    said_between: Option<usize>,
    edits: Vec<&'t ToolCall>,
    edited: Vec<String>,
    /// Commands between the two that may have mended it.
    remedies: Vec<&'s TerminalCall<'t>>,
    ending: Ending,
    project: &'t str,
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
            trial.result = Err(RejectedBecause::Outdone { score: candidate.score, best: candidate.score });
        }
    }
}

fn judge(session: &Session<'_>, place: usize, failed: &TerminalCall<'_>, window: usize) -> Trial {
    let next = next_calls(session, place, window);
    let error = error_line(failed.output());
    let Some(end) = end_of(session, failed, error, &next) else {
        return Trial::refused(failed.turn, RejectedBecause::NothingRelated { n_looked_at: next.len(), window });
    };
    let recovery = Recovery::new(session, failed, error, &next, end);
    if let Some(hurdle) = recovery.hurdle() {
        return Trial::refused(failed.turn, hurdle);
    }
    let ground = FiredBecause::Recovered {
        relation: recovery.relation,
        distance: recovery.distance,
        n_edited: recovery.edited.len(),
    };
    Trial::fired(failed.turn, recovery.candidate(session), ground)
}

/// The programs alone, where the shell did not find one and its whole path helped: an alias leads nowhere, or `PATH` lacks it.
fn called_by_path(
    error: &str,
    failed: &TerminalCall<'_>,
    fixed: &TerminalCall<'_>,
) -> Option<(CommandLine, CommandLine)> {
    let absent = absent_program(error)?;
    // An alias has a longer name: `python3` leads to `python3.12`.
    let bare = failed.line.programs().find(|bare| bare.len() > 1 && absent.starts_with(bare))?;
    let path = fixed.line.path_of(bare)?;
    let is_it = failed.line.path_of(bare)? == bare && path.strip_suffix(bare)?.ends_with('/');
    is_it.then(|| (CommandLine::parse(bare), CommandLine::parse(path)))
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
fn is_test(file: &str) -> bool {
    let lower = file.to_lowercase();
    ["test", "spec"]
        .iter()
        .any(|word| lower.split(|c: char| !c.is_alphanumeric()).any(|part| part.trim_end_matches('s') == *word))
}

/// True for a command that changed something which the failing one may have needed: no check, no commit beside a failing
/// build.
fn may_mend(call: &TerminalCall<'_>, failed: &TerminalCall<'_>) -> bool {
    let is_aside = (call.line.commits() || call.line.closes() || call.line.publishes()) && !failed.line.publishes();
    call.succeeded() && call.acts() && call.line.purpose() != Purpose::Checks && !is_aside
}

/// The words that differ. Where the error blames the command, the words that only cut the output may be the ones.
fn changes(failed: &CommandLine, fixed: &CommandLine, error: Option<&str>) -> Vec<WordChange> {
    if error.is_some_and(blames_the_command) {
        return failed.word_changes(fixed);
    }
    CommandLine::parse(&failed.plain_text()).word_changes(&CommandLine::parse(&fixed.plain_text()))
}

impl<'s, 't> Recovery<'s, 't> {
    fn new(
        session: &Session<'t>,
        failed: &'s TerminalCall<'t>,
        error: Option<&'s str>,
        next: &[&'s TerminalCall<'t>],
        end: End<'s, 't>,
    ) -> Self {
        let fixed = end.call;
        let project = session.transcript.project.as_str();
        let within = |line: &CommandLine| CommandLine::parse(&within(line.text(), project));
        let said = session.user_turns().filter(|(turn, text)| *turn > failed.turn && !is_go_ahead(text));
        let edits = session.edits(failed.turn, fixed.turn);
        let between = next.iter().take(end.n_before).copied();
        let remedies: Vec<&TerminalCall<'_>> = between.filter(|call| may_mend(call, failed)).collect();
        let shown = |error| {
            let blamed = called_by_path(error, failed, fixed).or_else(|| failed.line.blamed_by(error, &fixed.line));
            let quoted = || failed.line.quoted_in(unmatched(error)?, &fixed.line);
            blamed.or_else(quoted).or_else(|| failed.line.named_in(failed.output(), &fixed.line))
        };
        let blamed = error.filter(|_| edits.is_empty() && remedies.is_empty());
        let (before, after) = blamed.and_then(shown).unwrap_or_else(|| (failed.line.clone(), fixed.line.clone()));
        Self {
            failed,
            fixed,
            relation: end.relation,
            distance: end.n_before + 1,
            changes: changes(&within(&before), &within(&after), error),
            before,
            after,
            error,
            said_between: said.map(|(turn, _)| turn).next().filter(|turn| *turn < fixed.turn),
            edits,
            edited: session.edited_files(failed.turn, fixed.turn),
            remedies,
            ending: end.ending,
            project,
        }
    }

    /// What speaks against it.
    fn hurdle(&self) -> Option<RejectedBecause> {
        let is_blamed = self.error.is_some_and(blames_the_command);
        if !self.failed.acts() && !is_blamed {
            // That a file was not here but there teaches nothing; that a flag is not known here does.
            return Some(RejectedBecause::OnlyLooked);
        }
        if let Some(turn) = self.said_between {
            return Some(RejectedBecause::SaidBetween { turn });
        }
        // A script for one occasion cannot be shown whole.
        let remedies = self.remedies.iter().map(|call| &call.line);
        let mut shown = [&self.before, &self.after].into_iter().chain(remedies);
        if let Some(script) = shown.by_ref().map(|line| self.text(line)).find(|text| is_script(text)) {
            return Some(RejectedBecause::Script { n_chars: script.chars().count(), max: MAX_COMMAND_CHARS });
        }
        let are_settings = self.edits.iter().all(|call| call.changed_path().is_some_and(is_settings));
        let only_tests = !are_settings && !self.edited.is_empty() && self.edited.iter().all(|file| is_test(file));
        if only_tests && self.remedies.is_empty() {
            return Some(RejectedBecause::OnlyTestsChanged { n_edited: self.edited.len() });
        }
        let Some(error) = self.error else { return Some(RejectedBecause::NoError) };
        if self.is_other_run() && self.ending == Ending::Passed {
            // What was wrong is in the code: that fewer tests pass says nothing of it. After a change, nobody knows which of
            // the two it was.
            let is_about_code = is_finding(error) || self.failed.output().lines().any(outcome::is_failed_test);
            let is_mended_between = !self.edits.is_empty() || !self.remedies.is_empty();
            if is_about_code || is_mended_between || (self.relation == Relation::SameProgram && !is_blamed) {
                return Some(RejectedBecause::OtherRun { n_edited: self.edits.len() });
            }
        }
        let n_between = self.edits.len() + self.remedies.len();
        let is_told = n_between <= MAX_BETWEEN && (self.edits.is_empty() || self.edits_told().is_some());
        let is_written_otherwise = self.differs() || self.is_requoted() || self.relation == Relation::Replaced;
        let is_mended = n_between > 0 || (is_written_otherwise && self.ending == Ending::Passed);
        (!is_told || !is_mended).then_some(RejectedBecause::NothingTold { n_between, n_changes: self.changes.len() })
    }

    /// True when the command that passed is not the one that failed.
    fn is_other_run(&self) -> bool {
        !matches!(self.relation, Relation::Rerun | Relation::Prepared)
    }

    /// True when only quotes were put around words, as for a pattern that the shell would not leave alone.
    fn is_requoted(&self) -> bool {
        let is_blamed = self.error.is_some_and(blames_the_command);
        is_blamed && self.changes.is_empty() && self.before.text() != self.after.text()
    }

    /// True when the words that differ are few enough to be told.
    fn differs(&self) -> bool {
        (1..=MAX_CHANGES).contains(&self.changes.len())
    }
}
