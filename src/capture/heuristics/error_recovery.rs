//! `error-recovery`: a command failed, and a related one succeeded soon after.

use adage_redact::one_line;
use adage_transcript::command::{Purpose, slug};
use adage_transcript::{CommandLine, Relation, ToolCall, WordChange, outcome};
use similar::{Algorithm, DiffTag, capture_diff_slices};
use unicode_segmentation::UnicodeSegmentation;

use super::error_line::{absent_program, blames_the_command, error_line, is_finding, place};
use super::session::{MAX_COMMAND_CHARS, Session, TerminalCall, is_script};
use super::wording::listed;
use super::{Author, Candidate, FiredBecause, Heuristic, RejectedBecause, Trial, mined};
use crate::config::CaptureConfig;
use crate::lesson::build_lesson;

const MAX_ERROR_CHARS: usize = 160;
/// More changes than these are another command.
const MAX_CHANGES: usize = 4;
/// Where more was done between failure and success, nobody knows which of it helped.
const MAX_BETWEEN: usize = 2;
/// What a lesson has in place of the file that an error names.
const FILE: &str = "<file>";
/// And of its folder.
const FOLDER: &str = "<its-folder>";
/// Mined lessons start below the 0.5 of a lesson that someone wrote.
const CONFIDENCE: f64 = 0.45;

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
    let succeeded =
        next.iter().enumerate().filter(|(_, later)| later.succeeded() && !hides_failure(&later.line, &failed.line));
    let related = succeeded.filter_map(|(before, later)| {
        let relation = failed.line.relation_to(&later.line)?;
        // What acts is not mended by looking, unless looking is what was meant.
        let is_same_kind = later.acts() || !failed.acts() || relation == Relation::Respelled;
        is_same_kind.then_some((relation == Relation::SameProgram, before, relation, *later))
    });
    // The nearest; one that only shares the program gives way to any that does the same.
    let error = error_line(failed.output());
    let replaced = || {
        let is_absent = error.and_then(absent_program).is_some_and(|program| failed.line.program() == Some(program));
        let others = next.iter().enumerate().filter(|(_, later)| is_absent && later.succeeded());
        let mut others = others.filter(|(_, later)| failed.line.is_replaced_by(&later.line));
        others.next().map(|(before, later)| (true, before, Relation::Replaced, *later))
    };
    let nearest = related.min_by_key(|(is_loose, before, ..)| (*is_loose, *before)).or_else(replaced);
    let Some((_, before, relation, fixed)) = nearest else {
        return Trial::refused(failed.turn, RejectedBecause::NothingRelated { n_looked_at: next.len(), window });
    };
    let between = next.iter().take(before).copied();
    let said = session.user_turns().filter(|(turn, text)| *turn > failed.turn && !is_go_ahead(text));
    let said_between = said.map(|(turn, _)| turn).next().filter(|turn| *turn < fixed.turn);
    let edits = session.edits(failed.turn, fixed.turn);
    let remedies: Vec<&TerminalCall<'_>> = between.filter(|call| may_mend(call, failed)).collect();
    let blamed = error.filter(|_| edits.is_empty() && remedies.is_empty());
    let shown = |error| called_by_path(error, failed, fixed).or_else(|| failed.line.blamed_by(error, &fixed.line));
    let (shown_before, shown_after) =
        blamed.and_then(shown).unwrap_or_else(|| (failed.line.clone(), fixed.line.clone()));
    let recovery = Recovery {
        failed,
        fixed,
        relation,
        distance: before + 1,
        changes: changes(&shown_before, &shown_after, error),
        before: shown_before,
        after: shown_after,
        error,
        said_between,
        edits,
        edited: session.edited_files(failed.turn, fixed.turn),
        remedies,
    };
    if let Some(hurdle) = recovery.hurdle() {
        return Trial::refused(failed.turn, hurdle);
    }
    let ground = FiredBecause::Recovered { relation, distance: recovery.distance, n_edited: recovery.edited.len() };
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

/// True when a line hides how the command ended, and the line that failed did not: its success says nothing.
fn hides_failure(fixed: &CommandLine, failed: &CommandLine) -> bool {
    const MARKS: [&str; 7] = ["|| ", "; true", "2>/dev/null", "2> /dev/null", "&>/dev/null", "| grep ", "grep -v"];
    MARKS.iter().any(|mark| fixed.text().contains(mark) && !failed.text().contains(mark))
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

impl Recovery<'_, '_> {
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
        let only_tests = !self.edited.is_empty() && self.edited.iter().all(|file| is_test(file));
        if only_tests && self.remedies.is_empty() {
            return Some(RejectedBecause::OnlyTestsChanged { n_edited: self.edited.len() });
        }
        let Some(error) = self.error else { return Some(RejectedBecause::NoError) };
        if self.is_other_run() {
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
        let is_mended = n_between > 0 || self.differs() || self.is_requoted() || self.relation == Relation::Replaced;
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

    /// What the edits changed, in words; none where the calls do not say, or it is too much for a lesson.
    fn edits_told(&self) -> Option<String> {
        let told: Option<Vec<String>> = self.edits.iter().map(|call| edit_told(call)).collect();
        told.filter(|told| !told.is_empty()).map(|told| told.join(" and "))
    }

    fn candidate(&self, session: &Session<'_>) -> Candidate {
        let topic = self.failed.line.topic();
        let error = self.error.map(|line| match place(line) {
            Some((_, said)) => one_line(&format!("{FILE}: {said}"), MAX_ERROR_CHARS),
            None => one_line(line, MAX_ERROR_CHARS),
        });
        let failed = self.shown(&self.before);
        let trigger = match &error {
            Some(error) => format!("{failed} fails: {error}"),
            None => format!("{failed} fails"),
        };
        let mut draft = build_lesson(trigger, self.solution())
            .mistake(failed)
            .code_example(self.table(error.as_deref()))
            .domains([topic.clone()]);
        let intent = session.intent(self.failed.turn);
        if !intent.is_empty() {
            draft = draft.task(intent);
        }
        Candidate {
            heuristic: Heuristic::ErrorRecovery,
            name: format!("error-{}", slug(&topic)),
            draft: mined(draft, session, CONFIDENCE, Vec::new()),
            turns: vec![self.failed.turn, self.fixed.turn],
            score: self.score(error.is_some()),
            author: Author::Agent,
        }
    }

    /// A command that had to be written otherwise teaches most, a second attempt least.
    fn score(&self, has_error: bool) -> f64 {
        let kind = match self.relation {
            Relation::Respelled | Relation::SameAction => 0.8,
            Relation::Prepared | Relation::Replaced => 0.7,
            Relation::Rerun => 0.6,
            Relation::SameProgram => 0.4,
        };
        kind + if has_error { 0.1 } else { 0.0 } - 0.02 * self.distance as f64
    }

    fn solution(&self) -> String {
        let remedies: Vec<String> = self.remedies.iter().map(|call| self.shown(&call.line)).collect();
        let run = (!remedies.is_empty()).then(|| format!("run {}", listed(&remedies)));
        let steps: Vec<String> = self.edits_told().into_iter().chain(run).collect();
        let fixed = self.shown(&self.after);
        let programs = self.failed.line.program().zip(self.fixed.line.program());
        if let Some((absent, other)) = programs.filter(|_| self.relation == Relation::Replaced) {
            return format!("`{absent}` is not installed here: use `{other}`, as in {fixed}.");
        }
        if self.before.program_path() != self.after.program_path() && self.before.program() == self.after.program() {
            return format!("{} is not found here: call it as {fixed}.", self.shown(&self.before));
        }
        if steps.is_empty() {
            format!("Run {fixed}{}.", self.changes_shown())
        } else {
            format!("First {}; then {fixed} passes.", steps.join(", "))
        }
    }

    /// A command in back-ticks; without what cuts its output, unless that may be what failed.
    fn shown(&self, line: &CommandLine) -> String {
        format!("`{}`", self.text(line))
    }

    fn text(&self, line: &CommandLine) -> String {
        if self.error.is_some_and(blames_the_command) {
            return line.text().to_owned();
        }
        let plain = line.plain_text();
        let Some((file, _)) = self.error.and_then(place) else { return plain };
        // The next time it is another file.
        let words = plain.split(' ').map(|word| placeholder(word, file).unwrap_or(word));
        words.collect::<Vec<_>>().join(" ")
    }

    fn changes_shown(&self) -> String {
        let changes: Vec<String> = self.changes.iter().map(|change| one_line(&change.to_string(), 80)).collect();
        if self.is_requoted() {
            " (other quotes)".to_owned()
        } else if self.differs() {
            format!(" ({})", changes.join(", "))
        } else {
            String::new()
        }
    }

    fn table(&self, error: Option<&str>) -> String {
        let cell = |text: &str| text.replace('|', "\\|");
        let (before, after) = (cell(&self.text(&self.before)), cell(&self.text(&self.after)));
        let table = format!("| before | after |\n|---|---|\n| `{before}` | `{after}` |");
        error.map_or_else(|| table.clone(), |error| format!("{table}\n\n{error}"))
    }
}

/// What a lesson has in place of the file that an error names, and of its folder.
fn placeholder(word: &str, file: &str) -> Option<&'static str> {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    if name(word) == name(file) {
        return Some(FILE);
    }
    let (folder, _) = file.trim_start_matches("./").rsplit_once('/')?;
    let path = word.trim_start_matches("./").trim_end_matches(['/', '.']).trim_end_matches('/');
    let is_it = path.strip_suffix(folder).is_some_and(|before| before.is_empty() || before.ends_with('/'));
    is_it.then_some(FOLDER)
}

/// What one edit changed: `in a.rs, replace ‹x› by ‹y›`.
fn edit_told(call: &ToolCall) -> Option<String> {
    /// More is a rewrite.
    const MAX_LINES: usize = 2;
    const MAX_LINE_CHARS: usize = 100;
    let file = call.changed_file()?;
    let (old, new) = call.replaced()?;
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    for change in capture_diff_slices(Algorithm::Myers, &old, &new).iter().filter(|op| op.tag() != DiffTag::Equal) {
        let lines = |text: &[&str], range: std::ops::Range<usize>| -> Vec<String> {
            let lines = text.get(range).unwrap_or_default().iter().map(|line| line.trim().to_owned());
            lines.filter(|line| !line.is_empty()).collect()
        };
        gone.extend(lines(&old, change.old_range()));
        come.extend(lines(&new, change.new_range()));
    }
    let is_short =
        |lines: &[String]| lines.len() <= MAX_LINES && lines.iter().all(|line| line.chars().count() <= MAX_LINE_CHARS);
    if !is_short(&gone) || !is_short(&come) {
        return None;
    }
    let shown = |lines: &[String]| lines.iter().map(|line| format!("`{line}`")).collect::<Vec<_>>().join(", ");
    match (gone.is_empty(), come.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("remove {} from {file}", shown(&gone))),
        (true, false) => Some(format!("add {} to {file}", shown(&come))),
        (false, false) => Some(format!("replace {} by {} in {file}", shown(&gone), shown(&come))),
    }
}
