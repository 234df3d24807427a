//! A failure and the call that ended it, as a lesson shows them.

use adage_transcript::command::{Purpose, Step};
use adage_transcript::{CommandLine, Relation, ToolCall, WordChange};

use super::attempts::{Attempts, attempts};
use super::diagnosis::Diagnosis;
use super::ending::{End, Ending};
use super::lesson_text::within;
use super::user_report::{command_run_by_user, user_action};
use super::{diagnosis_of, is_go_ahead, may_fix};
use crate::capture::heuristics::error_line::{absent_program, blames_the_command, unknown_flag, unmatched};
use crate::capture::heuristics::session::{Session, TerminalCall, is_script};

/// A failure, the call that ended it, and everything that may have fixed it in between.
pub(super) struct Recovery<'s, 't> {
    pub(super) failed: &'s TerminalCall<'t>,
    pub(super) fixed: &'s TerminalCall<'t>,
    /// The failed command as the lesson shows it: only the part that the error blames, if nothing else was done.
    pub(super) before: CommandLine,
    /// The command that ended the failure, as the lesson shows it.
    pub(super) after: CommandLine,
    pub(super) relation: Relation,
    /// The number of terminal calls from the failure to its end, at least 1.
    pub(super) distance: usize,
    /// The words that differ between `before` and `after`.
    pub(super) changes: Vec<WordChange>,
    /// The error line of the failure. None if its output names no error.
    pub(super) error: Option<&'s str>,
    pub(super) user: UserIntervention<'t>,
    pub(super) edits: Vec<&'t ToolCall>,
    /// The names of the edited files, each once.
    pub(super) edited: Vec<String>,
    /// Commands between failure and end that may have fixed it.
    pub(super) remedies: Vec<&'s TerminalCall<'t>>,
    pub(super) ending: Ending,
    /// The agent's words about cause and remedy. None if it said nothing, and without edits: the commands show it then.
    pub(super) diagnosis: Option<Diagnosis>,
    /// Earlier attempts that did not help.
    pub(super) tried: Vec<CommandLine>,
    /// True if only files were edited that the session wrote itself before the failure.
    pub(super) edits_own_files: bool,
    /// The project's folder. Empty if it is unknown.
    pub(super) project: &'t str,
}

/// What the user said and did between a failure and its end. All fields are empty if they only told the agent to continue.
#[derive(Default)]
pub(super) struct UserIntervention<'t> {
    /// The turn and the text of their first message, unless the message says how they fixed the failure.
    pub(super) said: Option<(usize, &'t str)>,
    /// The command that they ran, if the agent did nothing after it.
    pub(super) ran: Option<CommandLine>,
    /// The action that they report, if the agent did nothing at all.
    pub(super) done: Option<String>,
}

impl<'t> UserIntervention<'t> {
    fn between(session: &Session<'t>, failed: &TerminalCall<'_>, end: &End<'_, '_>) -> Self {
        let until = end.call.turn;
        let said = session.user_turns().filter(|(turn, text)| *turn > failed.turn && !is_go_ahead(text));
        let mut said = said.take_while(|(turn, _)| *turn < until);
        let Some((turn, text)) = said.next() else { return Self::default() };
        let is_last = said.next().is_none() && session.acts(turn, until).iter().all(|act| act.turn <= turn);
        let ran = if is_last { command_run_by_user(session, turn, text) } else { None };
        let is_alone = ran.is_none() && session.acts(failed.turn + 1, until).is_empty();
        let done = user_action(session, turn, text).filter(|_| is_alone && end.relation <= Relation::SameAction);
        let has_acted = ran.is_some() || done.is_some();
        Self { said: Some((turn, text)).filter(|_| !has_acted), ran, done }
    }

    /// True if the user ran a command or reports an action.
    pub(super) fn has_acted(&self) -> bool {
        self.ran.is_some() || self.done.is_some()
    }
}

impl<'s, 't> Recovery<'s, 't> {
    pub(super) fn new(
        session: &Session<'t>,
        failed: &'s TerminalCall<'t>,
        error: Option<&'s str>,
        next: &[&'s TerminalCall<'t>],
        end: End<'s, 't>,
    ) -> Self {
        let fixed = end.call;
        let project = session.transcript.project.as_str();
        let user = UserIntervention::between(session, failed, &end);
        let is_in_doubt = !user.has_acted();
        // If the user fixed it, nothing that the agent did before helped.
        let edits = if is_in_doubt { session.edits(failed.turn, fixed.turn) } else { Vec::new() };
        let edited = if is_in_doubt { session.edited_files(failed.turn, fixed.turn) } else { Vec::new() };
        let remedies = if is_in_doubt { remedies(failed, next, &end, !edits.is_empty()) } else { Vec::new() };
        let blamed = error.filter(|_| edits.is_empty() && remedies.is_empty() && is_in_doubt);
        let ShownCommands { before, after, tried } = shown_commands(session, failed, fixed, error, blamed);
        Self {
            failed,
            fixed,
            relation: end.relation,
            distance: end.n_before + 1,
            changes: changes(&before, &after, error, project),
            before,
            after,
            error,
            edits_own_files: !edits.is_empty() && edits.iter().all(|edit| session.wrote(edit, failed.turn)),
            edited,
            edits,
            remedies,
            ending: end.ending,
            diagnosis: diagnosis_of(session, failed, fixed).filter(|_| is_in_doubt),
            user,
            tried,
            project,
        }
    }
}

/// The commands between failure and end that may have fixed it. Empty for an end after a long repair.
fn remedies<'s, 't>(
    failed: &TerminalCall<'_>,
    next: &[&'s TerminalCall<'t>],
    end: &End<'_, '_>,
    has_edits: bool,
) -> Vec<&'s TerminalCall<'t>> {
    let between = next.iter().take(if end.is_far { 0 } else { end.n_before }).copied();
    // With edits, a change of folder belongs to the next command and fixed nothing.
    let is_scene = |call: &TerminalCall<'_>| has_edits && call.line.sets_the_scene();
    // Another form of the failed command that also succeeded is an attempt.
    let is_attempt = |call: &TerminalCall<'_>| {
        end.relation == Relation::SameAction && failed.line.relation_to(&call.line) == Some(Relation::SameAction)
    };
    between.filter(|call| may_fix(call, failed) && !is_scene(call) && !is_attempt(call)).collect()
}

/// The two commands as a lesson shows them, and the earlier attempts.
struct ShownCommands {
    before: CommandLine,
    after: CommandLine,
    tried: Vec<CommandLine>,
}

/// The commands that a lesson shows. `blamed` is the error, if only the command itself can be the cause.
fn shown_commands(
    session: &Session<'_>,
    failed: &TerminalCall<'_>,
    fixed: &TerminalCall<'_>,
    error: Option<&str>,
    blamed: Option<&str>,
) -> ShownCommands {
    let pair = blamed.and_then(|error| blamed_pair(error, failed, fixed));
    let (mut before, mut after) = pair.unwrap_or_else(|| (failed.line.clone(), fixed.line.clone()));
    if (is_script(&before.plain_text()) || is_script(&after.plain_text()))
        && let Some(checks) = common_checks(failed, fixed)
    {
        (before, after) = (checks.clone(), checks);
    }
    let Attempts { first, mut tried } = attempts(session, failed, error);
    if let Some(first) = first.filter(|_| blamed.is_some() && before == failed.line) {
        before = first;
    } else {
        // The lesson names the last failed command as its trigger.
        tried.retain(|line| line.plain_text() != failed.line.plain_text());
    }
    tried.retain(|line| !is_script(&line.plain_text()));
    ShownCommands { before, after, tried }
}

/// The commands that the error blames in the two lines. None if the error does not single out a pair.
fn blamed_pair(error: &str, failed: &TerminalCall<'_>, fixed: &TerminalCall<'_>) -> Option<(CommandLine, CommandLine)> {
    let blamed = called_by_path(error, failed, fixed).or_else(|| failed.line.blamed_by(error, &fixed.line));
    let quoted = || failed.line.quoted_in(&unmatched(error)?, &fixed.line);
    let flagged = || failed.line.flagged_by(unknown_flag(error)?, &fixed.line);
    let named = || failed.line.named_in(failed.output(), &fixed.line);
    let only = || failed.line.counterparts(&fixed.line).filter(|_| blames_the_command(error));
    let pair = blamed.or_else(quoted).or_else(flagged).or_else(named).or_else(only);
    pair.filter(|(before, after)| before.effect() == after.effect())
}

/// The program name and its full path, if the shell did not find the name and the path worked: a broken alias, or a gap in `PATH`.
fn called_by_path(
    error: &str,
    failed: &TerminalCall<'_>,
    fixed: &TerminalCall<'_>,
) -> Option<(CommandLine, CommandLine)> {
    let absent = absent_program(error)?;
    // The target of an alias may have a longer name: `python3.12` for `python3`.
    let bare = failed.line.programs().find(|bare| bare.len() > 1 && absent.starts_with(bare))?;
    let path = fixed.line.path_of(bare)?;
    let is_by_path = failed.line.path_of(bare)? == bare && path.strip_suffix(bare)?.ends_with('/');
    is_by_path.then(|| (CommandLine::parse(bare), CommandLine::parse(path)))
}

/// The checks that both lines contain, joined by `&&`. None if they share no check.
fn common_checks(failed: &TerminalCall<'_>, fixed: &TerminalCall<'_>) -> Option<CommandLine> {
    let checks = |call: &TerminalCall<'_>| -> Vec<String> {
        call.steps.iter().filter(|step| step.purpose == Purpose::Checks).map(Step::text).collect()
    };
    let others = checks(fixed);
    let common: Vec<String> = checks(failed).into_iter().filter(|step| others.contains(step)).collect();
    (!common.is_empty()).then(|| CommandLine::parse(&common.join(" && ")))
}

/// The words that differ between two commands, with paths relative to the project. Filters of the output count only if the error
/// blames the command.
fn changes(failed: &CommandLine, fixed: &CommandLine, error: Option<&str>, project: &str) -> Vec<WordChange> {
    let is_blamed = error.is_some_and(blames_the_command);
    let shown = |line: &CommandLine| {
        let line = CommandLine::parse(&within(line.text(), project));
        if is_blamed { line } else { CommandLine::parse(&line.plain_text()) }
    };
    shown(failed).word_changes(&shown(fixed))
}
