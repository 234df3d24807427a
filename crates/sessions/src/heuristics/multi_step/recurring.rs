//! Procedures that recur in several tasks of a session.

use adage_transcript::command::Purpose;

use super::{MIN_STEPS, split_by_task};
use crate::heuristics::session::{Session, TerminalCall};

/// The steps that two tasks share, in the same order.
pub(super) struct Shared<'s, 't> {
    /// Program and subcommand of each step.
    pub(super) forms: Vec<&'s str>,
    /// The calls of these steps in one of the tasks, each once.
    pub(super) calls: Vec<&'s TerminalCall<'t>>,
}

impl Shared<'_, '_> {
    /// True if all of these forms are among its steps.
    pub(super) fn has_all(&self, forms: &[String]) -> bool {
        forms.iter().all(|form| self.forms.contains(&form.as_str()))
    }

    /// True if at least half of the shorter one's steps are in both.
    fn overlaps(&self, other: &Self) -> bool {
        let n_shared = self.forms.iter().filter(|form| other.forms.contains(form)).count();
        n_shared * 2 >= self.forms.len().min(other.forms.len())
    }
}

/// The longest sequences of steps that two tasks share, the longest first, the earliest of equals. A sequence that overlaps with a
/// longer one is left out. Empty if no two tasks share [`MIN_STEPS`] steps. A failure does not end a task: its step counts when it passes.
pub(super) fn recurring<'s, 't>(session: &'s Session<'t>) -> Vec<Shared<'s, 't>> {
    /// The number of tasks that are compared, counted from the end of the session.
    const MAX_TASKS: usize = 60;
    /// The number of distinct steps that are compared per task, counted from its start.
    const MAX_STEPS_PER_TASK: usize = 60;
    let tasks = split_by_task(&session.calls);
    let from = tasks.len().saturating_sub(MAX_TASKS);
    let tasks: Vec<Vec<DoneStep<'_, '_>>> =
        tasks.into_iter().skip(from).map(|task| steps_of(task, MAX_STEPS_PER_TASK)).collect();
    let best = tasks.iter().enumerate().filter_map(|(place, task)| {
        let others = tasks.iter().enumerate().filter(|(other, _)| *other != place);
        // `max_by_key` returns the last of equals. The earliest has to win.
        others.rev().map(|(_, other)| common_steps(task, other)).max_by_key(|shared| shared.forms.len())
    });
    let mut best: Vec<Shared<'_, '_>> = best.collect();
    best.sort_by_key(|shared| std::cmp::Reverse(shared.forms.len()));
    let mut found: Vec<Shared<'_, '_>> = Vec::new();
    for shared in best.into_iter().filter(|shared| shared.forms.len() >= MIN_STEPS) {
        if found.iter().all(|longer| !longer.overlaps(&shared)) {
            found.push(shared);
        }
    }
    found
}

/// A step of a task, with the call that ran it first.
#[derive(Clone, Copy)]
struct DoneStep<'s, 't> {
    form: &'s str,
    call: &'s TerminalCall<'t>,
}

/// The first `max` distinct steps of a task that succeeded, in order.
fn steps_of<'s, 't>(task: &'s [TerminalCall<'t>], max: usize) -> Vec<DoneStep<'s, 't>> {
    let mut done: Vec<DoneStep<'_, '_>> = Vec::new();
    for call in task.iter().filter(|call| call.succeeded()) {
        for step in &call.steps {
            if done.len() < max && done.iter().all(|known| known.form != step.form) {
                done.push(DoneStep { form: &step.form, call });
            }
        }
    }
    done
}

/// The longest common subsequence of two tasks, with the calls of the first one.
fn common_steps<'s, 't>(task: &[DoneStep<'s, 't>], other: &[DoneStep<'s, 't>]) -> Shared<'s, 't> {
    let forms = |task: &[DoneStep<'s, 't>]| -> Vec<&'s str> { task.iter().map(|done| done.form).collect() };
    let operations = similar::capture_diff_slices(similar::Algorithm::Lcs, &forms(task), &forms(other));
    let equal = operations.iter().filter(|operation| operation.tag() == similar::DiffTag::Equal);
    let kept: Vec<DoneStep<'_, '_>> =
        equal.flat_map(|equal| task.get(equal.old_range()).unwrap_or_default()).copied().collect();
    let mut calls: Vec<&TerminalCall<'_>> = kept.iter().map(|done| done.call).collect();
    calls.dedup_by_key(|call| call.turn);
    Shared { forms: kept.iter().map(|done| done.form).collect(), calls }
}

/// The turn in which one of these commands failed, if it passed only after a formatter that is not among them. None otherwise.
pub(super) fn lacks_formatter(session: &Session<'_>, forms: &[String]) -> Option<usize> {
    let is_step = |call: &TerminalCall<'_>, form: &String| call.steps.iter().any(|step| step.form == *form);
    let failures = session.calls.iter().enumerate().filter(|(_, call)| call.failed());
    let mut mended = failures.filter_map(|(place, failed)| {
        let form = forms.iter().find(|form| is_step(failed, form))?;
        let next = session.calls.get(place + 1..).unwrap_or_default();
        let fixed = next.iter().position(|call| call.succeeded() && is_step(call, form))?;
        let between = next.iter().take(fixed + 1).filter(|call| call.succeeded()).flat_map(|call| &call.steps);
        let mut formatters = between.filter(|step| step.purpose == Purpose::Formats);
        formatters.any(|step| !forms.contains(&step.form)).then_some(failed.turn)
    });
    mended.next()
}
