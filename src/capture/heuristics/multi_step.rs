//! `multi-step`: several commands in a row, all successful, are a procedure.

use super::session::{Session, TerminalCall};
use super::usual::{occasion, usual};
use super::wording::listed;
use super::{Candidate, Ground, Heuristic, Hurdle, Trial, mined};
use crate::capture::command::{Step, slug};
use crate::config::CaptureConfig;
use crate::lesson::build_lesson;

/// A procedure of more steps is not one, but all that a session did.
const MAX_STEPS: usize = 8;
/// Fewer are no procedure, unless they come again in the same order.
const MIN_STEPS: usize = 3;
/// Mined lessons start below the 0.5 of a lesson that someone wrote.
const CONFIDENCE: f64 = 0.4;

pub(super) fn find(session: &Session<'_>, config: &CaptureConfig) -> Vec<Trial> {
    let runs = session.calls.split(|call| !call.succeeded()).filter(|run| !run.is_empty());
    let tasks = runs.flat_map(by_task).flat_map(|run| by_request(session, run, config.min_run));
    tasks.map(|run| judge(session, run, config.min_run)).collect()
}

/// A run falls apart where a task ends: after a commit and what publishes it, after an issue that was closed.
fn by_task<'s, 't>(run: &'s [TerminalCall<'t>]) -> Vec<&'s [TerminalCall<'t>]> {
    let mut tasks = Vec::new();
    let (mut start, mut is_committed) = (0, false);
    for (place, call) in run.iter().enumerate() {
        if is_committed && call.acts() && !call.line.publishes() {
            tasks.extend(run.get(start..place));
            (start, is_committed) = (place, false);
        }
        is_committed |= call.line.commits();
        if call.line.closes() {
            tasks.extend(run.get(start..=place));
            (start, is_committed) = (place + 1, false);
        }
    }
    tasks.extend(run.get(start..).filter(|rest| !rest.is_empty()));
    tasks
}

/// A run that goes on over several requests of the user falls into what was done for each, where one of them is long enough.
fn by_request<'s, 't>(session: &Session<'t>, run: &'s [TerminalCall<'t>], min: usize) -> Vec<&'s [TerminalCall<'t>]> {
    let request = |call: &TerminalCall<'_>| session.user_turn_before(call.turn);
    let pieces: Vec<&[TerminalCall<'_>]> = run.chunk_by(|a, b| request(a) == request(b)).collect();
    let long: Vec<&[TerminalCall<'_>]> = pieces.into_iter().filter(|piece| piece.len() >= min).collect();
    if long.is_empty() { vec![run] } else { long }
}

fn judge(session: &Session<'_>, run: &[TerminalCall<'_>], min: usize) -> Trial {
    let (start, end) = (run.first().map_or(0, |call| call.turn), run.last().map_or(0, |call| call.turn));
    if run.len() < min {
        return Trial::refused(start, Hurdle::ShortRun { n_calls: run.len(), min });
    }
    // Each thing once, where it was first done, the way it was done most: "lint, test, lint, test" is two steps.
    let mut steps: Vec<(&str, Vec<&Step>)> = Vec::new();
    for step in run.iter().flat_map(|call| &call.steps) {
        match steps.iter_mut().find(|(form, _)| *form == step.form) {
            Some((_, uses)) => uses.push(step),
            None => steps.push((step.form.as_str(), vec![step])),
        }
    }
    let actions: Vec<String> = steps.iter().map(|(form, _)| (*form).to_owned()).collect();
    if actions.len() < 2 {
        return Trial::refused(start, Hurdle::FewActions { n_actions: actions.len() });
    }
    if actions.len() > MAX_STEPS {
        return Trial::refused(start, Hurdle::ManyActions { n_actions: actions.len(), max: MAX_STEPS });
    }
    let n_acting = run.iter().filter(|call| !call.steps.is_empty()).count();
    if !recurs(session, &actions) && (actions.len() < MIN_STEPS || n_acting * 2 < run.len()) {
        return Trial::refused(start, Hurdle::MostlyLooked { n_calls: run.len(), n_acting, n_actions: actions.len() });
    }
    let topic = run.iter().find(|call| !call.steps.is_empty()).map_or_else(|| "unknown".to_owned(), |call| call.line.topic());
    let intent = session.intent(start);
    let done: Vec<&Step> = steps.iter().flat_map(|(_, uses)| uses).copied().collect();
    let trigger = match occasion(session, &done, session.user_turn_before(start).unwrap_or(0), end) {
        Some(occasion) => format!("{occasion}: {}", listed(&actions)),
        None if intent.is_empty() => format!("doing {}", listed(&actions)),
        None => format!("{intent} ({})", listed(&actions)),
    };
    let shown = steps.iter().filter_map(|(_, uses)| usual(session, uses)).zip(1..);
    let numbered: Vec<String> = shown.map(|(step, number)| format!("{number}. `{}`", step.text)).collect();
    let solution = format!("Run, in this order:\n{}", numbered.join("\n"));
    let draft = build_lesson(trigger, solution).task(intent).domains([topic.clone()]);
    let candidate = Candidate {
        heuristic: Heuristic::MultiStep,
        name: format!("procedure-{}", slug(&topic)),
        draft: mined(draft, session, CONFIDENCE, Vec::new()),
        turns: run.iter().map(|call| call.turn).collect(),
        score: run.len() as f64,
    };
    Trial::fired(start, candidate, Ground::Run { n_calls: run.len(), n_actions: actions.len() })
}

/// True when the session did these things in this order at least twice.
fn recurs(session: &Session<'_>, actions: &[String]) -> bool {
    let mut n_done = 0;
    for step in session.calls.iter().filter(|call| call.succeeded()).flat_map(|call| &call.steps) {
        n_done += usize::from(actions.get(n_done % actions.len().max(1)).is_some_and(|action| *action == step.form));
    }
    n_done >= 2 * actions.len()
}
