//! `repeated-action`: a command that a session runs again and again is worth remembering.

use adage_transcript::command::{Step, slug};

use super::project_checks::{self, is_check};
use super::session::{MAX_COMMAND_CHARS, Session, TerminalCall, is_script};
use super::usual::{occasion, usual_form};
use super::{Author, Candidate, FiredBecause, Heuristic, RejectedBecause, Trial, mined};
use adage::lesson::build_lesson;

/// The initial confidence, below the 0.5 of a lesson that someone wrote.
const CONFIDENCE: f64 = 0.4;

/// The successful uses of one command, in order.
struct Group<'s, 't> {
    /// Program and subcommand.
    form: &'s str,
    uses: Vec<(&'s TerminalCall<'t>, &'s Step)>,
}

/// Minimum number of terminal calls of a session for repetitions to count; the earlier system counted calls of every tool.
pub(super) const MIN_CALLS: usize = 6;
/// Minimum number of successes of a repeated command; the earlier system's.
pub(super) const MIN_REPEATS: usize = 2;

/// A trial for each command that succeeded, in the order of first use, and one for the project's checks. In a session with too few
/// calls, one rejected trial in place of the commands.
pub(super) fn find(session: &Session<'_>) -> Vec<Trial> {
    let n_calls = session.calls.len();
    if n_calls < MIN_CALLS {
        let few = Trial::refused(0, RejectedBecause::FewCalls { n_calls, min: MIN_CALLS });
        return [few].into_iter().chain(project_checks::find(session)).collect();
    }
    // The groups are in the order of first use, so that the earliest of equals wins.
    let mut groups: Vec<Group<'_, '_>> = Vec::new();
    for call in session.calls.iter().filter(|call| call.succeeded()) {
        for step in &call.steps {
            match groups.iter_mut().find(|group| group.form == step.form) {
                Some(group) => group.uses.push((call, step)),
                None => groups.push(Group { form: &step.form, uses: vec![(call, step)] }),
            }
        }
    }
    let trials = groups.iter().map(|group| judge(session, group, MIN_REPEATS));
    trials.chain(project_checks::find(session)).collect()
}

/// The lesson of one command, or why there is none.
fn judge(session: &Session<'_>, group: &Group<'_, '_>, min: usize) -> Trial {
    let Group { form, uses } = group;
    let steps: Vec<&Step> = uses.iter().map(|(_, step)| *step).collect();
    let times = steps.len();
    if steps.iter().any(|step| is_check(step)) {
        return Trial::refused(uses.first().map_or(0, |(call, _)| call.turn), RejectedBecause::OnlyChecks);
    }
    let (Some((first, _)), Some(usual)) = (uses.first().filter(|_| times >= min), usual_form(session, &steps)) else {
        let turn = uses.first().map_or(0, |(call, _)| call.turn);
        return Trial::refused(turn, RejectedBecause::NotRepeated { times, min });
    };
    // A form that was used once was not repeated. Committing and pushing changes is common knowledge.
    let is_known = steps.iter().all(|step| step.is_version_control()) && !usual.is_specific(form);
    if usual.times < min || is_known {
        return Trial::refused(first.turn, RejectedBecause::NeverTheSame { times });
    }
    let whole = usual.whole();
    if is_script(&whole) {
        let n_chars = whole.chars().count();
        return Trial::refused(first.turn, RejectedBecause::Script { n_chars, max: MAX_COMMAND_CHARS });
    }
    let trigger = match (occasion_of_most(session, uses), session.intent(first.turn)) {
        (Some(occasion), _) => format!("{occasion}: running `{form}`"),
        (None, intent) if intent.is_empty() => format!("running `{form}`"),
        (None, intent) => format!("running `{form}`, as for: {intent}"),
    };
    let solution = format!("Run `{}`. It was used {} times in one session and worked.", usual.whole(), usual.times);
    let topic = first.line.topic();
    let draft = build_lesson(trigger, solution).code_example(usual.whole()).domains([topic]);
    let mut turns: Vec<usize> = uses.iter().map(|(call, _)| call.turn).collect();
    turns.dedup();
    let candidate = Candidate {
        heuristic: Heuristic::RepeatedAction,
        name: format!("repeated-{}", slug(form)),
        draft: mined(draft, session, CONFIDENCE, Vec::new()),
        turns,
        score: usual.times as f64,
        author: Author::Agent,
    };
    Trial::fired(first.turn, candidate, FiredBecause::Repeated { times: usual.times })
}

/// When a command is run, as a phrase for its trigger. Edits since the previous use or the user's last turn count as its occasion if
/// they precede at least half of the uses. None if no occasion fits.
fn occasion_of_most(session: &Session<'_>, uses: &[(&TerminalCall<'_>, &Step)]) -> Option<String> {
    let mut before = 0;
    let mut spans = Vec::new();
    for (call, _) in uses {
        spans.push(before.max(session.user_turn_before(call.turn).unwrap_or(0))..call.turn);
        before = call.turn;
    }
    let n_after_edits = spans.iter().filter(|span| !session.edits(span.start, span.end).is_empty()).count();
    if n_after_edits * 2 < uses.len() {
        spans.clear();
    }
    occasion(session, &[uses.first()?.1], &spans)
}
