//! `error-recovery`: a command failed, and a related one succeeded soon after.

mod account;
mod attempts;
mod ended;
mod patterns;
mod reported;
mod told;

use std::collections::HashSet;
use std::sync::LazyLock;

use adage_transcript::command::{Purpose, Step};
use adage_transcript::{CommandLine, Relation, ToolCall, Turn, WordChange, outcome};
use regex::Regex;
use unicode_segmentation::UnicodeSegmentation;

use super::error_line::{
    absent_program, blames_the_command, error_line, has_many_causes, is_finding, unknown_flag, unmatched,
};
use super::session::{MAX_COMMAND_CHARS, Session, TerminalCall, is_script};
use super::{FiredBecause, RejectedBecause, Trial};
use crate::config::CaptureConfig;
use account::{Account, account};
use attempts::{Attempts, attempts};
use ended::{End, Ending, end_of, is_settings};
use reported::ran_by_person;
use told::within;

/// More changes than these are another command.
const MAX_CHANGES: usize = 4;
/// Where more was done between failure and success, nobody knows which of it helped.
const MAX_BETWEEN: usize = 2;
/// Where more files were changed, no sentence says what was done in all of them.
const MAX_FILES: usize = 3;

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
    /// What the user did between the two, and nobody else anything after it.
    ran_by_person: Option<CommandLine>,
    edits: Vec<&'t ToolCall>,
    edited: Vec<String>,
    /// Commands between the two that may have mended it.
    remedies: Vec<&'s TerminalCall<'t>>,
    ending: Ending,
    /// Why it failed and what was done about it, as the agent says.
    account: Option<Account>,
    /// Commands that were tried before and did not help.
    tried: Vec<CommandLine>,
    project: &'t str,
}

pub(super) fn find(session: &Session<'_>, config: &CaptureConfig) -> Vec<Trial> {
    let failures = session.calls.iter().enumerate().filter(|(_, call)| call.failed());
    let trials = failures.map(|(place, failed)| judge(session, place, failed, config.recovery_window));
    let mut trials: Vec<Trial> = trials.collect();
    keep_last_of_each_success(&mut trials);
    trials.extend(reported::find(session));
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
    let edits = session.edits(failed.turn, end.call.turn);
    if is_meant_to_fail(session, failed.turn) || take_back(&edits, session, failed.turn) {
        return Trial::refused(failed.turn, RejectedBecause::MeantToFail);
    }
    let recovery = Recovery::new(session, failed, error, &next, end, edits);
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

/// True for a command that the agent ran to see it fail, as it said before.
fn is_meant_to_fail(session: &Session<'_>, turn: usize) -> bool {
    static MEANT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:should|must|will|verify|confirm|ensure|expect\w*|prove|watch|make sure)\b(?: \w+){0,4} fails?\b|\binvert|\b(?:error|failure) (?:path|case)s?\b|\bwithout the (?:fix|change)\b").ok()
    });
    let before = session.transcript.turns.get(turn.saturating_sub(2)..turn).unwrap_or_default();
    let said = before.iter().rev().find_map(|turn| match turn {
        Turn::Assistant(text) => Some(text.as_str()),
        _ => None,
    });
    MEANT.as_ref().zip(said).is_some_and(|(meant, said)| meant.is_match(said))
}

/// True where edits only take back what was changed before a turn: it was broken to see a check fail.
fn take_back(edits: &[&ToolCall], session: &Session<'_>, turn: usize) -> bool {
    let takes_back = |edit: &&ToolCall| {
        edit.replaced().is_some_and(|(old, new)| {
            let is_its_opposite =
                |other: &ToolCall| other.replaced() == Some((new, old)) && other.changed_path() == edit.changed_path();
            session.edits_in(0, turn).any(|(_, other)| is_its_opposite(other))
        })
    };
    !edits.is_empty() && edits.iter().all(takes_back)
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

/// The checks that two lines have in common, where the lines are too long to be shown.
fn common_checks(failed: &TerminalCall<'_>, fixed: &TerminalCall<'_>) -> Option<CommandLine> {
    let checks = |call: &TerminalCall<'_>| -> Vec<String> {
        call.steps.iter().filter(|step| step.purpose == Purpose::Checks).map(Step::text).collect()
    };
    let others = checks(fixed);
    let common: Vec<String> = checks(failed).into_iter().filter(|step| others.contains(step)).collect();
    (!common.is_empty()).then(|| CommandLine::parse(&common.join(" && ")))
}

/// The words that differ. Where the error blames the command, the words that only cut the output may be the ones.
fn changes(failed: &CommandLine, fixed: &CommandLine, error: Option<&str>) -> Vec<WordChange> {
    if error.is_some_and(blames_the_command) {
        return failed.word_changes(fixed);
    }
    CommandLine::parse(&failed.plain_text()).word_changes(&CommandLine::parse(&fixed.plain_text()))
}

/// What the agent said of a failure after which files were changed: before the first change, else between it and the last.
fn account_of(session: &Session<'_>, failed: &TerminalCall<'_>, fixed: &TerminalCall<'_>) -> Option<Account> {
    if has_many_causes(failed.output()) {
        return None;
    }
    let (turns, edits): (Vec<usize>, Vec<&ToolCall>) = session.edits_in(failed.turn, fixed.turn).unzip();
    let mut evidence = format!("{}\n{}", failed.line.text(), failed.output());
    evidence.extend(edits.into_iter().map(edit_text));
    let until = |end: &usize| account(session, failed.turn, *end, &evidence);
    turns.first().and_then(until).or_else(|| turns.last().and_then(until))
}

/// The words of an edit.
fn edit_text(call: &ToolCall) -> String {
    let (old, new) = call.replaced().unwrap_or_default();
    format!("\n{}\n{old}\n{new}", call.changed_path().unwrap_or_default())
}

impl<'s, 't> Recovery<'s, 't> {
    fn new(
        session: &Session<'t>,
        failed: &'s TerminalCall<'t>,
        error: Option<&'s str>,
        next: &[&'s TerminalCall<'t>],
        end: End<'s, 't>,
        edits: Vec<&'t ToolCall>,
    ) -> Self {
        let fixed = end.call;
        let project = session.transcript.project.as_str();
        let within = |line: &CommandLine| CommandLine::parse(&within(line.text(), project));
        let said = session.user_turns().filter(|(turn, text)| *turn > failed.turn && !is_go_ahead(text));
        let mut said = said.take_while(|(turn, _)| *turn < fixed.turn);
        let said_between = said.next();
        let ran_by_person = said_between.filter(|_| said.next().is_none()).and_then(|(turn, text)| {
            let is_last = session.acts(turn, fixed.turn).iter().all(|act| act.turn <= turn);
            ran_by_person(session, turn, text).filter(|_| is_last)
        });
        // Whatever came before did not help.
        let edits = if ran_by_person.is_some() { Vec::new() } else { edits };
        let between = next.iter().take(end.n_before).copied();
        let is_in_doubt = ran_by_person.is_none();
        // Beside an edit, going somewhere is how the next command was typed.
        let is_aside = |call: &TerminalCall<'_>| !edits.is_empty() && call.line.sets_the_scene();
        let remedies: Vec<&TerminalCall<'_>> =
            between.filter(|call| is_in_doubt && may_mend(call, failed) && !is_aside(call)).collect();
        let shown = |error| {
            let blamed = called_by_path(error, failed, fixed).or_else(|| failed.line.blamed_by(error, &fixed.line));
            let quoted = || failed.line.quoted_in(&unmatched(error)?, &fixed.line);
            let flagged = || failed.line.flagged_by(unknown_flag(error)?, &fixed.line);
            let named = || failed.line.named_in(failed.output(), &fixed.line);
            let only = || failed.line.counterparts(&fixed.line).filter(|_| blames_the_command(error));
            blamed.or_else(quoted).or_else(flagged).or_else(named).or_else(only)
        };
        let blamed = error.filter(|_| edits.is_empty() && remedies.is_empty() && is_in_doubt);
        let (mut before, mut after) =
            blamed.and_then(shown).unwrap_or_else(|| (failed.line.clone(), fixed.line.clone()));
        if (is_script(&before.plain_text()) || is_script(&after.plain_text()))
            && let Some(checks) = common_checks(failed, fixed)
        {
            (before, after) = (checks.clone(), checks);
        }
        let Attempts { first, mut tried } = attempts(session, failed, error);
        if let Some(first) = first.filter(|_| blamed.is_some() && before == failed.line) {
            before = first;
        } else {
            // The lesson names what failed last anyway.
            tried.retain(|line| line.plain_text() != failed.line.plain_text());
        }
        tried.retain(|line| !is_script(&line.plain_text()));
        Self {
            failed,
            fixed,
            relation: end.relation,
            distance: end.n_before + 1,
            changes: changes(&within(&before), &within(&after), error),
            before,
            after,
            error,
            said_between: said_between.map(|(turn, _)| turn).filter(|_| is_in_doubt),
            edited: if is_in_doubt { session.edited_files(failed.turn, fixed.turn) } else { Vec::new() },
            edits,
            remedies,
            ending: end.ending,
            account: account_of(session, failed, end.call).filter(|_| is_in_doubt),
            ran_by_person,
            tried,
            project,
        }
    }

    /// What speaks against it.
    fn hurdle(&self) -> Option<RejectedBecause> {
        let is_blamed = self.error.is_some_and(blames_the_command);
        if !self.failed.acts() && !is_blamed && !self.is_elevated() {
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
        if only_tests && self.remedies.is_empty() && self.account.is_none() {
            return Some(RejectedBecause::OnlyTestsChanged { n_edited: self.edited.len() });
        }
        let Some(error) = self.error else { return Some(RejectedBecause::NoError) };
        if self.is_other_run() && self.ending == Ending::Passed {
            // What was wrong is in the code: that fewer tests pass says nothing of it. After a change, nobody knows which of
            // the two it was.
            let is_about_code = is_finding(error) || self.failed.output().lines().any(outcome::is_failed_test);
            let is_mended_between = !self.edits.is_empty() || !self.remedies.is_empty();
            // Another way to write the check is no other run.
            let is_same_check = || self.account.is_some() && covers(self.failed, self.fixed);
            let is_unsure =
                is_about_code || is_mended_between || (self.relation == Relation::SameProgram && !is_blamed);
            if is_unsure && !is_same_check() {
                return Some(RejectedBecause::OtherRun { n_edited: self.edits.len() });
            }
        }
        let n_between = self.n_between();
        let is_explained =
            self.account.is_some() && self.remedies.len() <= MAX_BETWEEN && self.edited.len() <= MAX_FILES;
        let is_told =
            is_explained || (n_between <= self.max_between() && (self.edits.is_empty() || self.edits_told().is_some()));
        let is_written_otherwise = self.differs() || self.is_requoted() || self.relation == Relation::Replaced;
        let is_mended = n_between > 0 || (is_written_otherwise && self.ending == Ending::Passed);
        (!is_told || !is_mended).then_some(RejectedBecause::NothingTold { n_between, n_changes: self.changes.len() })
    }

    /// What may have mended it.
    fn n_between(&self) -> usize {
        self.edits.len() + self.remedies.len() + usize::from(self.ran_by_person.is_some())
    }

    /// How much of it can be told. Settings belong together, and all of them are needed.
    fn max_between(&self) -> usize {
        const MAX_SETTINGS: usize = 4;
        let are_settings = self.edits.iter().all(|call| call.changed_path().is_some_and(is_settings));
        if are_settings && !self.edits.is_empty() { MAX_SETTINGS } else { MAX_BETWEEN }
    }

    /// True where nothing but the right to do it was missing.
    fn is_elevated(&self) -> bool {
        let has = |line: &CommandLine| ["sudo ", "doas "].iter().any(|word| line.text().contains(word));
        let is_denied =
            self.error.is_some_and(|error| ["denied", "not permitted", "root"].iter().any(|word| error.contains(word)));
        is_denied && has(&self.fixed.line) && !has(&self.failed.line)
    }

    /// True when the command that passed is not the one that failed.
    fn is_other_run(&self) -> bool {
        !matches!(self.relation, Relation::Rerun | Relation::Prepared)
    }

    /// True when only quotes were put around words, as for a pattern that the shell would not leave alone.
    fn is_requoted(&self) -> bool {
        let is_blamed = self.error.is_some_and(blames_the_command);
        let is_named = || self.error.and_then(unmatched).is_some_and(|word| self.after.text().contains(&word));
        is_blamed && (self.changes.is_empty() || is_named()) && self.before.text() != self.after.text()
    }

    /// True when the words that differ are few enough to be told.
    fn differs(&self) -> bool {
        (1..=MAX_CHANGES).contains(&self.changes.len())
    }
}
