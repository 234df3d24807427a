//! The checks of a project: the commands that build, lint, format and test it, together in one lesson.

use std::collections::BTreeMap;

use adage_transcript::command::{Purpose, Step};

use super::repeated_action::{MIN_CALLS, MIN_REPEATS};
use super::session::Session;
use super::usual::{UsualForm, usual_form};
use super::{Author, Candidate, FiredBecause, Heuristic, RejectedBecause, Trial, mined};
use adage::lesson::build_lesson;

/// The name of the suggestion. It is the same in every session.
pub(crate) const NAME: &str = "project-checks";
/// The trigger of the lesson. It is the same in every session, so that a project has only one such lesson.
pub(crate) const TRIGGER: &str =
    "checking a change before it is committed: how this project is formatted, built, linted and tested";
/// Worded as tasks are, so that the lesson is near the tasks that end with a check.
const MISTAKE: &str = "Adding a feature, fixing a bug or refactoring code, and committing, pushing or opening a pull request without \
                       checking it.";
/// The commands that a check has to come before.
const BEFORE: [&str; 2] = ["git commit*", "git push*"];
/// The number of different checks that make a lesson even if each was run only once.
const MIN_CHECKS: usize = 3;
/// The initial confidence, below the 0.5 of a lesson that someone wrote.
const CONFIDENCE: f64 = 0.4;

/// True for a step that checks or formats the code.
pub(super) fn is_check(step: &Step) -> bool {
    matches!(step.purpose, Purpose::Checks | Purpose::Formats)
}

/// The successful uses of one check.
struct Check<'s> {
    /// Program and subcommand.
    form: &'s str,
    steps: Vec<&'s Step>,
    turns: Vec<usize>,
}

/// The trial of the project's checks. None for a session without a successful check.
pub(super) fn find(session: &Session<'_>) -> Option<Trial> {
    let mut checks: Vec<Check<'_>> = Vec::new();
    for call in session.calls.iter().filter(|call| call.succeeded()) {
        for step in call.steps.iter().filter(|step| is_check(step)) {
            match checks.iter_mut().find(|check| check.form == step.form) {
                Some(check) => {
                    check.steps.push(step);
                    check.turns.push(call.turn);
                }
                None => checks.push(Check { form: &step.form, steps: vec![step], turns: vec![call.turn] }),
            }
        }
    }
    let turn = *checks.first()?.turns.first()?;
    let (n_calls, min) = (session.calls.len(), MIN_REPEATS);
    let shown: Vec<(&Check<'_>, UsualForm)> =
        checks.iter().filter_map(|check| Some((check, usual_check(session, check, min)?))).collect();
    let is_repeated = n_calls >= MIN_CALLS && shown.iter().any(|(_, usual)| usual.times >= min);
    if !is_repeated && shown.len() < MIN_CHECKS {
        let times = checks.iter().map(|check| check.steps.len()).max().unwrap_or(0);
        return Some(Trial::refused(turn, RejectedBecause::NotRepeated { times, min }));
    }
    Some(lesson(session, turn, shown))
}

/// Rejects the lesson of checks if all of them ran within one procedure, as before a release.
pub(super) fn leave_to_procedures(trials: &mut [Trial], procedures: &[&Candidate]) {
    for trial in trials {
        let Ok((candidate, _)) = &trial.result else { continue };
        let is_within = |procedure: &Candidate| candidate.turns.iter().all(|turn| procedure.turns.contains(turn));
        if candidate.name == NAME
            && let Some(procedure) = procedures.iter().find(|procedure| is_within(procedure))
        {
            trial.result = Err(RejectedBecause::Outdone { score: candidate.score, best: procedure.score });
        }
    }
}

/// The usual form of a check. None if no form was repeated and none checks the whole project or the changed files, and for a
/// check of another folder than the project's, such as a temporary worktree.
fn usual_check(session: &Session<'_>, check: &Check<'_>, min: usize) -> Option<UsualForm> {
    let whole: Vec<&Step> = check.steps.iter().copied().filter(|step| step.takes_all()).collect();
    let usual = usual_form(session, if whole.is_empty() { &check.steps } else { &whole })?;
    let is_of_the_change = usual.text.contains("<changed-");
    let is_outside = usual.folder.as_deref().is_some_and(|folder| folder.starts_with(['/', '~']));
    let is_elsewhere = is_outside && !session.transcript.project.is_empty();
    (!is_elsewhere && (usual.times >= min || !whole.is_empty() || is_of_the_change)).then_some(usual)
}

fn lesson(session: &Session<'_>, turn: usize, mut shown: Vec<(&Check<'_>, UsualForm)>) -> Trial {
    shown.sort_by_key(|(check, _)| rank(check));
    let numbered = shown.iter().zip(1..).map(|((_, usual), number)| format!("{number}. `{}`", usual.whole()));
    let solution = format!("Check with:\n{}", numbered.collect::<Vec<_>>().join("\n"));
    let mut turns: Vec<usize> = shown.iter().flat_map(|(check, _)| &check.turns).copied().collect();
    turns.sort_unstable();
    turns.dedup();
    let times = shown.iter().map(|(_, usual)| usual.times).max().unwrap_or(0);
    let candidate = Candidate {
        heuristic: Heuristic::RepeatedAction,
        name: NAME.to_owned(),
        draft: mined(
            build_lesson(TRIGGER, solution).mistake(MISTAKE).commands(commands(&shown)).paths(kinds_of_code(session)),
            session,
            CONFIDENCE,
            Vec::new(),
        ),
        score: turns.len() as f64,
        turns,
        author: Author::Agent,
    };
    Trial::fired(turn, candidate, FiredBecause::Repeated { times })
}

/// The command lines before which the checks come back: those of the checks, and what they have to be run before.
fn commands(shown: &[(&Check<'_>, UsualForm)]) -> Vec<String> {
    let pattern = |(check, usual): &(&Check<'_>, UsualForm)| {
        let is_written_so = usual.text.starts_with(check.form);
        if is_written_so { format!("{}*", check.form) } else { format!("{}*", check.form.replace(' ', " *")) }
    };
    BEFORE.into_iter().map(str::to_owned).chain(shown.iter().map(pattern)).collect()
}

/// Patterns of the files before whose change the checks come back: the kinds of files that the session changed at least half as
/// often as the one that it changed most. Prose is not checked.
fn kinds_of_code(session: &Session<'_>) -> Vec<String> {
    const PROSE: [&str; 5] = ["md", "mdx", "txt", "rst", "adoc"];
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for call in session.edits(0, session.transcript.turns.len()) {
        let Some(file) = call.changed_file() else { continue };
        let Some((_, kind)) = file.rsplit_once('.').filter(|(name, _)| !name.is_empty()) else { continue };
        if !PROSE.contains(&kind) && kind.chars().all(char::is_alphanumeric) {
            *kinds.entry(kind.to_owned()).or_default() += 1;
        }
    }
    let most = kinds.values().copied().max().unwrap_or_default();
    kinds.into_iter().filter(|(_, times)| times * 2 >= most).map(|(kind, _)| format!("*.{kind}")).collect()
}

/// The position of a check in the lesson: 0 for formatters, 1 for builds, 2 for linters and others, 3 for tests.
fn rank(check: &Check<'_>) -> u8 {
    let is_one_of = |words: &[&str]| check.form.split([' ', ':']).any(|word| words.contains(&word));
    if check.steps.first().is_some_and(|step| step.purpose == Purpose::Formats) {
        0
    } else if is_one_of(&["build", "compile", "tsc", "check", "typecheck", "type-check"]) {
        1
    } else if is_one_of(&["test", "tests", "pytest", "jest", "vitest", "rspec", "ctest", "nextest"]) {
        3
    } else {
        2
    }
}
