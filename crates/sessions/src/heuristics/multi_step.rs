//! `multi-step`: several successful commands in a row make a procedure.

mod recurring;

use std::collections::BTreeSet;

use adage_transcript::command::{Step, slug};

use super::project_checks::is_check;
use super::session::{Session, TerminalCall};
use super::usual::{UsualForm, occasion, usual_form};
use super::wording::listed;
use super::{Author, Candidate, FiredBecause, Heuristic, RejectedBecause, Trial, mined};
use adage::lesson::build_lesson;
use recurring::{Shared, lacks_formatter, recurring};

/// The maximum number of steps. A longer run is the work of a whole session.
const MAX_STEPS: usize = 8;
/// The minimum number of steps, unless the session repeats them in the same order.
const MIN_STEPS: usize = 3;
/// The initial confidence, below the 0.5 of a lesson that someone wrote.
const CONFIDENCE: f64 = 0.4;
/// Added to the score of a recurring procedure, so that it wins over every longer run.
const RECURRING_BONUS: f64 = 1_000.0;

/// How often the session went through a procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Times {
    Once,
    Again,
}

/// Minimum number of consecutive successful terminal calls in a procedure; the earlier system's.
const MIN_RUN: usize = 4;

/// A trial for each run of successful commands and each recurring procedure. Empty for a session without successful commands.
pub(super) fn find(session: &Session<'_>) -> Vec<Trial> {
    let runs = session.calls.split(|call| !call.succeeded()).filter(|run| !run.is_empty());
    let tasks = runs.flat_map(split_by_task).flat_map(|run| split_by_request(session, run, MIN_RUN));
    let again = recurring(session);
    let mut judged: Vec<Judged> = tasks.map(|run| judge(session, run, &again, MIN_RUN)).collect();
    judged.extend(again.iter().map(|shared| judge_recurring(session, shared)));
    keep_widest(judged)
}

/// A trial with the steps of its lesson. A rejected trial has no steps.
type Judged = (Trial, BTreeSet<String>);

/// All trials in order, with a candidate rejected if another one contains all of its steps. Of candidates with the same steps, the
/// best score wins, then the earliest.
fn keep_widest(judged: Vec<Judged>) -> Vec<Trial> {
    let score = |trial: &Trial| trial.result.as_ref().ok().map(|(candidate, _)| candidate.score);
    let fired: Vec<(usize, f64, BTreeSet<String>)> = judged
        .iter()
        .enumerate()
        .filter_map(|(place, (trial, steps))| Some((place, score(trial)?, steps.clone())))
        .collect();
    let mut trials: Vec<Trial> = judged.into_iter().map(|(trial, _)| trial).collect();
    for (place, own, steps) in &fired {
        let wider = fired.iter().find(|(other, score, others)| {
            let is_better = score.total_cmp(own).then(place.cmp(other)).is_gt();
            steps.is_subset(others) && (steps.len() < others.len() || is_better)
        });
        if let (Some((_, best, _)), Some(trial)) = (wider, trials.get_mut(*place)) {
            trial.result = Err(RejectedBecause::Outdone { score: *own, best: *best });
        }
    }
    trials
}

/// The tasks of a run. A task ends with a commit or a closed issue, and with the commands that publish it.
fn split_by_task<'s, 't>(run: &'s [TerminalCall<'t>]) -> Vec<&'s [TerminalCall<'t>]> {
    let mut tasks = Vec::new();
    let (mut start, mut is_committed) = (0, false);
    for (place, call) in run.iter().enumerate() {
        if is_committed && call.acts() && !call.line.publishes() {
            tasks.extend(run.get(start..place));
            (start, is_committed) = (place, false);
        }
        is_committed |= call.line.commits() || call.line.closes();
    }
    tasks.extend(run.get(start..).filter(|rest| !rest.is_empty()));
    tasks
}

/// The parts of a run that belong to one request of the user and have at least `min` calls. The whole run if no part has.
fn split_by_request<'s, 't>(
    session: &Session<'t>,
    run: &'s [TerminalCall<'t>],
    min: usize,
) -> Vec<&'s [TerminalCall<'t>]> {
    let request = |call: &TerminalCall<'_>| session.user_turn_before(call.turn);
    let pieces: Vec<&[TerminalCall<'_>]> = run.chunk_by(|a, b| request(a) == request(b)).collect();
    let long: Vec<&[TerminalCall<'_>]> = pieces.into_iter().filter(|piece| piece.len() >= min).collect();
    if long.is_empty() { vec![run] } else { long }
}

/// The trial of a run of successful calls.
fn judge(session: &Session<'_>, run: &[TerminalCall<'_>], again: &[Shared<'_, '_>], min: usize) -> Judged {
    let calls: Vec<&TerminalCall<'_>> = run.iter().collect();
    let steps = if run.len() < min { Vec::new() } else { steps(session, &calls) };
    match rejection(session, run, &steps, again, min) {
        Some(reason) => (Trial::refused(run.first().map_or(0, |call| call.turn), reason), BTreeSet::new()),
        None => lesson(session, &calls, steps, Times::Once),
    }
}

/// The first reason to reject a run with these steps. None if it makes a lesson.
fn rejection(
    session: &Session<'_>,
    run: &[TerminalCall<'_>],
    steps: &[Action<'_>],
    again: &[Shared<'_, '_>],
    min: usize,
) -> Option<RejectedBecause> {
    let actions: Vec<String> = steps.iter().map(|step| step.form.clone()).collect();
    let (n_calls, n_actions) = (run.len(), actions.len());
    if n_calls < min {
        return Some(RejectedBecause::ShortRun { n_calls, min });
    }
    if n_actions < 2 {
        return Some(RejectedBecause::FewActions { n_actions });
    }
    if n_actions > MAX_STEPS {
        return Some(RejectedBecause::ManyActions { n_actions, max: MAX_STEPS });
    }
    // Looking around before the first step and after the last one is not part of the procedure.
    let is_step = |call: &TerminalCall<'_>| !call.steps.is_empty();
    let (first, last) = (run.iter().position(is_step).unwrap_or(0), run.iter().rposition(is_step).unwrap_or(0));
    let n_acting = run.iter().filter(|call| is_step(call)).count();
    if n_acting * 2 <= last - first || !is_procedure(session, steps, &actions) {
        return Some(RejectedBecause::MostlyLooked { n_calls, n_acting, n_actions });
    }
    if steps.iter().all(|step| is_check(step.first)) {
        return Some(RejectedBecause::OnlyChecks);
    }
    // Commands between edits show how this code was written, not a procedure.
    let n_edits = session.edits(run.first()?.turn, run.last()?.turn).len();
    if n_edits * 2 >= n_calls {
        return Some(RejectedBecause::OnlyOnce { n_edits });
    }
    // A recurring procedure has a trial of its own.
    again.iter().any(|shared| shared.has_all(&actions)).then_some(RejectedBecause::SaidBefore)
}

/// True if the steps are many enough or recur in the session, and are not only the usual commits and pushes.
fn is_procedure(session: &Session<'_>, steps: &[Action<'_>], actions: &[String]) -> bool {
    let is_own = steps.iter().any(|step| !step.first.is_version_control());
    let is_informative = is_own || steps.iter().any(|step| step.usual.is_specific(&step.form));
    (actions.len() >= MIN_STEPS && is_informative) || (is_own && recurs(session, actions))
}

/// The trial of a procedure that the session repeated. Rejected with too few or too many steps, or with version control and checks
/// alone.
fn judge_recurring(session: &Session<'_>, shared: &Shared<'_, '_>) -> Judged {
    let mut steps = steps(session, &shared.calls);
    steps.retain(|step| shared.forms.contains(&step.form.as_str()));
    let turn = shared.calls.first().map_or(0, |call| call.turn);
    let is_own = steps.iter().any(|step| !step.first.is_version_control() && !is_check(step.first));
    if steps.len() < MIN_STEPS || steps.len() > MAX_STEPS || !is_own {
        return (Trial::refused(turn, RejectedBecause::FewActions { n_actions: steps.len() }), BTreeSet::new());
    }
    lesson(session, &shared.calls, steps, Times::Again)
}

/// The trial of a procedure with these steps. Rejected if one of them failed and needed a formatter that is not among them.
fn lesson(session: &Session<'_>, run: &[&TerminalCall<'_>], steps: Vec<Action<'_>>, times: Times) -> Judged {
    let (start, end) = (run.first().map_or(0, |call| call.turn), run.last().map_or(0, |call| call.turn));
    let actions: Vec<String> = steps.iter().map(|step| step.form.clone()).collect();
    if let Some(turn) = lacks_formatter(session, &actions) {
        return (Trial::refused(start, RejectedBecause::StepLeftOut { turn }), BTreeSet::new());
    }
    let span = session.user_turn_before(start).unwrap_or(0)..end;
    let topic = steps.first().map_or_else(|| "unknown".to_owned(), Action::topic);
    // The first request does not describe a recurring procedure.
    let intent = if times == Times::Once { session.intent(start) } else { String::new() };
    let done: Vec<&Step> = steps.iter().map(|step| step.first).collect();
    let trigger = match occasion(session, &done, &[span]) {
        Some(occasion) => format!("{occasion}: {}", listed(&actions)),
        None if intent.is_empty() => format!("doing {}", listed(&actions)),
        None => format!("{intent} ({})", listed(&actions)),
    };
    // A command that every task has, such as a commit or a check, says nothing about this one.
    let own = steps.iter().filter(|step| !step.first.is_version_control() && !is_check(step.first));
    let commands: Vec<String> = own.map(|step| format!("{}*", step.form)).collect();
    let mut draft = build_lesson(trigger, solution(&steps)).domains([topic.clone()]).commands(commands);
    if !intent.is_empty() {
        draft = draft.task(intent);
    }
    let candidate = Candidate {
        heuristic: Heuristic::MultiStep,
        name: format!("procedure-{}", slug(&topic)),
        draft: mined(draft, session, CONFIDENCE, Vec::new()),
        turns: run.iter().map(|call| call.turn).collect(),
        score: run.len() as f64 + if times == Times::Again { RECURRING_BONUS } else { 0.0 },
        author: Author::Agent,
    };
    let texts = steps.into_iter().map(|step| step.usual.text).collect();
    (Trial::fired(start, candidate, FiredBecause::Run { n_calls: run.len(), n_actions: actions.len() }), texts)
}

/// The numbered steps of a lesson.
fn solution(steps: &[Action<'_>]) -> String {
    // A folder that most steps share is named once.
    let folders: Vec<&str> = steps.iter().filter_map(|step| step.usual.folder.as_deref()).collect();
    let is_one = folders.len() * 2 > steps.len() && folders.windows(2).all(|pair| pair.first() == pair.last());
    let folder = folders.first().filter(|_| is_one);
    let numbered = steps.iter().zip(1..).map(|(step, number)| {
        let text = if folder.is_some() { step.usual.text.clone() } else { step.usual.whole() };
        format!("{number}. `{text}`")
    });
    let place = folder.map_or_else(String::new, |folder| format!(" in `{folder}`"));
    format!("Run{place}, in this order:\n{}", numbered.collect::<Vec<_>>().join("\n"))
}

/// A distinct step of a run.
struct Action<'s> {
    /// Program and subcommand, as in [`Step::form`].
    form: String,
    /// The form in which the session usually ran it.
    usual: UsualForm,
    first: &'s Step,
}

impl Action<'_> {
    /// The program's name in lower case.
    fn topic(&self) -> String {
        self.form.split(' ').next().unwrap_or_default().to_lowercase()
    }
}

/// The distinct steps of a run in the order of their first use: two for "lint, test, lint, test", and one for a command that is run
/// for file after file.
fn steps<'s>(session: &'s Session<'_>, run: &[&'s TerminalCall<'_>]) -> Vec<Action<'s>> {
    let mut actions: Vec<Action<'_>> = Vec::new();
    for step in run.iter().flat_map(|call| &call.steps) {
        if actions.iter().any(|known| known.form == step.form) {
            continue;
        }
        let succeeded = session.calls.iter().filter(|call| call.succeeded()).flat_map(|call| &call.steps);
        // Other flags make another step: `gofmt -l` only looks.
        let flags =
            |step: &Step| step.words.iter().filter(|word| word.starts_with('-')).cloned().collect::<BTreeSet<_>>();
        let own: Vec<BTreeSet<String>> =
            run.iter().flat_map(|call| &call.steps).filter(|own| own.form == step.form).map(flags).collect();
        let mut uses: Vec<&Step> =
            succeeded.filter(|other| other.form == step.form && own.contains(&flags(other))).collect();
        // A check of the whole project replaces checks of its parts.
        if uses.iter().any(|other| other.takes_all()) {
            uses.retain(|other| other.takes_all());
        }
        // A check may be shown as a wider one that was run elsewhere; a command that changes something is shown as it ran here.
        let own: Vec<&Step> = run.iter().flat_map(|call| &call.steps).filter(|own| own.form == step.form).collect();
        let usual = usual_form(session, &uses).filter(|usual| is_check(step) || own.iter().any(|own| usual.fits(own)));
        let Some(usual) = usual.or_else(|| super::usual::usual_form(session, &own)) else { continue };
        if actions.iter().all(|known| known.usual.text != usual.text) {
            actions.push(Action { form: step.form.clone(), usual, first: step });
        }
    }
    actions
}

/// True if the session went through these actions in this order, without others between them, at least twice.
fn recurs(session: &Session<'_>, actions: &[String]) -> bool {
    let succeeded = session.calls.iter().filter(|call| call.succeeded()).flat_map(|call| &call.steps);
    let mut forms: Vec<&str> = succeeded.map(|step| step.form.as_str()).collect();
    forms.dedup();
    let (mut n_done, mut place) = (0, 0);
    while let Some(next) = forms.get(place..place + actions.len()) {
        let is_done = next.iter().zip(actions).all(|(form, action)| form == action);
        n_done += usize::from(is_done);
        place += if is_done { actions.len() } else { 1 };
    }
    n_done >= 2
}
