//! `multi-step`: several commands in a row, all successful, are a procedure.

use super::session::{Session, TerminalCall};
use super::wording::{listed, shown};
use super::{Candidate, Ground, Heuristic, Hurdle, Trial, mined};
use crate::capture::command::slug;
use crate::config::CaptureConfig;
use crate::lesson::build_lesson;

/// A procedure of more steps is not one.
const MAX_STEPS: usize = 12;
/// Mined lessons start below the 0.5 of a lesson that someone wrote.
const CONFIDENCE: f64 = 0.4;

pub(super) fn find(session: &Session<'_>, config: &CaptureConfig) -> Vec<Trial> {
    let runs = session.calls.split(|call| !call.succeeded()).filter(|run| !run.is_empty());
    runs.flat_map(|run| by_request(session, run, config.min_run))
        .map(|run| judge(session, run, config.min_run))
        .collect()
}

/// A run that goes on over several requests of the user falls into what was done for each, where one of them is long enough.
fn by_request<'s, 't>(session: &Session<'t>, run: &'s [TerminalCall<'t>], min: usize) -> Vec<&'s [TerminalCall<'t>]> {
    let request = |call: &TerminalCall<'_>| session.user_turn_before(call.turn);
    let pieces: Vec<&[TerminalCall<'_>]> = run.chunk_by(|a, b| request(a) == request(b)).collect();
    let long: Vec<&[TerminalCall<'_>]> = pieces.into_iter().filter(|piece| piece.len() >= min).collect();
    if long.is_empty() { vec![run] } else { long }
}

fn judge(session: &Session<'_>, run: &[TerminalCall<'_>], min: usize) -> Trial {
    let start = run.first().map_or(0, |call| call.turn);
    if run.len() < min {
        return Trial::refused(start, Hurdle::ShortRun { n_calls: run.len(), min });
    }
    // Each thing once, where it was first done, the way it was last done: "lint, test, lint, test" is two steps.
    let mut steps: Vec<(String, &TerminalCall<'_>)> = Vec::new();
    for call in run.iter().filter(|call| call.acts() && !call.is_script()) {
        let form = call.line.normal_form();
        match steps.iter_mut().find(|(known, _)| *known == form) {
            Some((_, last)) => *last = call,
            None => steps.push((form, call)),
        }
    }
    let actions: Vec<String> = steps.iter().map(|(form, _)| form.clone()).collect();
    let Some((_, first)) = steps.first().filter(|_| actions.len() > 1) else {
        return Trial::refused(start, Hurdle::FewActions { n_actions: actions.len() });
    };
    let topic = first.line.topic();
    let intent = session.intent(start);
    let trigger = if intent.is_empty() {
        format!("doing {}", listed(&actions))
    } else {
        format!("{intent} ({})", listed(&actions))
    };
    let numbered =
        steps.iter().take(MAX_STEPS).zip(1..).map(|((_, call), number)| format!("{number}. {}", shown(call)));
    let solution = format!("Run, in this order:\n{}", numbered.collect::<Vec<_>>().join("\n"));
    let draft = build_lesson(trigger, solution).domains([topic.clone()]);
    let candidate = Candidate {
        heuristic: Heuristic::MultiStep,
        name: format!("procedure-{}", slug(&topic)),
        draft: mined(draft, session, CONFIDENCE, Vec::new()),
        turns: run.iter().map(|call| call.turn).collect(),
        score: run.len() as f64,
    };
    Trial::fired(start, candidate, Ground::Run { n_calls: run.len(), n_actions: actions.len() })
}
