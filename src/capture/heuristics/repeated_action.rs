//! `repeated-action`: the same command again and again is worth knowing by heart.

use super::session::{Session, TerminalCall};
use super::wording::command_text;
use super::{Candidate, Ground, Heuristic, Hurdle, Trial, mined};
use crate::config::CaptureConfig;
use crate::lesson::build_lesson;

/// Mined lessons start below the 0.5 of a lesson that someone wrote.
const CONFIDENCE: f64 = 0.4;

pub(super) fn find(session: &Session<'_>, config: &CaptureConfig) -> Vec<Trial> {
    let n_calls = session.calls.len();
    if n_calls < config.min_calls {
        return vec![Trial::refused(0, Hurdle::FewCalls { n_calls, min: config.min_calls })];
    }
    // In order of the first one, so that of equals the earliest wins.
    let mut groups: Vec<(String, Vec<&TerminalCall<'_>>)> = Vec::new();
    for call in session.calls.iter().filter(|call| call.succeeded() && call.acts() && !call.is_script()) {
        let form = call.line.normal_form();
        match groups.iter_mut().find(|(known, _)| *known == form) {
            Some((_, calls)) => calls.push(call),
            None => groups.push((form, vec![call])),
        }
    }
    groups.iter().map(|(form, calls)| judge(session, form, calls, config.min_repeats)).collect()
}

fn judge(session: &Session<'_>, form: &str, calls: &[&TerminalCall<'_>], min: usize) -> Trial {
    let times = calls.len();
    let Some(first) = calls.first().filter(|_| times >= min) else {
        return Trial::refused(calls.first().map_or(0, |call| call.turn), Hurdle::NotRepeated { times, min });
    };
    let (usual, n_same) = usual(calls).unwrap_or_else(|| (command_text(first), 1));
    // `mv a b` and `mv c d` share a program and nothing else.
    if n_same < 2 && !form.contains(' ') {
        return Trial::refused(first.turn, Hurdle::NeverTheSame { times });
    }
    let intent = session.intent(first.turn);
    let trigger =
        if intent.is_empty() { format!("running `{form}`") } else { format!("running `{form}`, as for: {intent}") };
    let solution = format!("Run `{usual}`. It was used {times} times in one session and worked.");
    let draft = build_lesson(trigger, solution).code_example(usual).domains([first.line.topic()]);
    let candidate = Candidate {
        heuristic: Heuristic::RepeatedAction,
        name: format!("repeated-{}", first.line.slug()),
        draft: mined(draft, session, CONFIDENCE, Vec::new()),
        turns: calls.iter().map(|call| call.turn).collect(),
        score: times as f64,
    };
    Trial::fired(first.turn, candidate, Ground::Repeated { times })
}

/// The way it was written most often, and how often; the earliest of equals.
fn usual(calls: &[&TerminalCall<'_>]) -> Option<(String, usize)> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for text in calls.iter().map(|call| command_text(call)) {
        match counts.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += 1,
            None => counts.push((text, 1)),
        }
    }
    // `max_by_key` gives the last of equals: hence the other way round.
    counts.into_iter().rev().max_by_key(|(_, count)| *count)
}
