//! What several tasks of a session have in common.

use adage_transcript::command::Purpose;

use super::{MIN_STEPS, by_task};
use crate::capture::heuristics::session::{Session, TerminalCall};

/// Steps that two tasks went through in the same order.
pub(super) struct Shared<'s, 't> {
    pub(super) forms: Vec<&'s str>,
    /// The calls of one of the tasks.
    pub(super) calls: Vec<&'s TerminalCall<'t>>,
}

impl Shared<'_, '_> {
    /// True when these commands are among its own.
    pub(super) fn has_all(&self, forms: &[String]) -> bool {
        forms.iter().all(|form| self.forms.contains(&form.as_str()))
    }

    fn is_alike(&self, other: &Self) -> bool {
        let n_shared = self.forms.iter().filter(|form| other.forms.contains(form)).count();
        n_shared * 2 >= self.forms.len().min(other.forms.len())
    }
}

/// The most steps that two tasks of a session went through in the same order, the longest first, of equals the earliest. What shares
/// half of its steps with a longer one is left out. A failure ends no task: what failed was done when it passed.
pub(super) fn recurring<'s, 't>(session: &'s Session<'t>) -> Vec<Shared<'s, 't>> {
    /// Of more tasks the last ones; of a longer one the first calls.
    const MAX_TASKS: usize = 60;
    const MAX_DONE: usize = 60;
    let tasks = by_task(&session.calls);
    let from = tasks.len().saturating_sub(MAX_TASKS);
    let tasks: Vec<Vec<Done<'_, '_>>> = tasks.into_iter().skip(from).map(|task| done(task, MAX_DONE)).collect();
    let best = tasks.iter().enumerate().filter_map(|(place, task)| {
        let others = tasks.iter().enumerate().filter(|(other, _)| *other != place);
        // Of equals the last is taken, so the earliest has to be it.
        others.rev().map(|(_, other)| shared(task, other)).max_by_key(|shared| shared.forms.len())
    });
    let mut best: Vec<Shared<'_, '_>> = best.collect();
    best.sort_by_key(|shared| std::cmp::Reverse(shared.forms.len()));
    let mut found: Vec<Shared<'_, '_>> = Vec::new();
    for shared in best.into_iter().filter(|shared| shared.forms.len() >= MIN_STEPS) {
        if found.iter().all(|longer| !longer.is_alike(&shared)) {
            found.push(shared);
        }
    }
    found
}

/// One thing that a task did, where it was first done.
#[derive(Clone, Copy)]
struct Done<'s, 't> {
    form: &'s str,
    call: &'s TerminalCall<'t>,
}

fn done<'s, 't>(task: &'s [TerminalCall<'t>], max: usize) -> Vec<Done<'s, 't>> {
    let mut done: Vec<Done<'_, '_>> = Vec::new();
    for call in task.iter().filter(|call| call.succeeded()) {
        for step in &call.steps {
            if done.len() < max && done.iter().all(|known| known.form != step.form) {
                done.push(Done { form: &step.form, call });
            }
        }
    }
    done
}

/// The longest common subsequence.
fn shared<'s, 't>(task: &[Done<'s, 't>], other: &[Done<'s, 't>]) -> Shared<'s, 't> {
    let forms = |task: &[Done<'s, 't>]| -> Vec<&'s str> { task.iter().map(|done| done.form).collect() };
    let operations = similar::capture_diff_slices(similar::Algorithm::Lcs, &forms(task), &forms(other));
    let equal = operations.iter().filter(|operation| operation.tag() == similar::DiffTag::Equal);
    let kept: Vec<Done<'_, '_>> =
        equal.flat_map(|equal| task.get(equal.old_range()).unwrap_or_default()).copied().collect();
    let mut calls: Vec<&TerminalCall<'_>> = kept.iter().map(|done| done.call).collect();
    calls.dedup_by_key(|call| call.turn);
    Shared { forms: kept.iter().map(|done| done.form).collect(), calls }
}

/// Where one of some commands failed and passed only after a formatter that is not among them.
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
