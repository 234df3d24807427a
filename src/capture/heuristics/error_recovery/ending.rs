//! The end of a failure: a related command passes, or the same command fails with another error.

use adage_transcript::{CommandLine, Relation};

use super::attempts::is_same_error_text;
use super::edits::is_settings;
use super::{covers, diagnosis_of, is_test_file};
use crate::capture::heuristics::error_line::{absent_program, error_line, is_finding};
use crate::capture::heuristics::session::{Session, TerminalCall};

/// How a failure ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// A related command passed.
    Passed,
    /// The command failed with another error, so the first error is fixed.
    OtherError,
}

/// A later command that ends a failure.
#[derive(Clone, Copy)]
pub(super) struct End<'s, 't> {
    pub(super) call: &'s TerminalCall<'t>,
    /// The number of searched calls between the failure and this one.
    pub(super) n_before: usize,
    pub(super) relation: Relation,
    pub(super) ending: Ending,
    /// True if so many calls came between that only the agent's diagnosis says what fixed it.
    pub(super) is_far: bool,
}

/// The end of a failure among the calls that follow it. None if none of them ends it.
pub(super) fn find_end<'s, 't>(
    session: &Session<'t>,
    failed: &TerminalCall<'_>,
    error: Option<&str>,
    next: &[&'s TerminalCall<'t>],
) -> Option<End<'s, 't>> {
    let passed = find_success(session, failed, error, next);
    let changed = error.and_then(|error| find_other_error(failed, error, next)).filter(|changed| {
        // An earlier success says more, unless it only shares the program.
        let is_first =
            |passed: &End<'_, '_>| changed.n_before < passed.n_before || passed.relation == Relation::SameProgram;
        passed.as_ref().is_none_or(is_first) && is_setup_change(session, failed, changed.call)
    });
    changed.or(passed)
}

/// The end of a failure after a long repair with edits that the agent explains: the same command, or a check that covers everything
/// that failed. None if there is no such end.
pub(super) fn find_far_end<'s, 't>(
    session: &Session<'t>,
    failed: &TerminalCall<'_>,
    error: Option<&str>,
    next: &[&'s TerminalCall<'t>],
) -> Option<End<'s, 't>> {
    let is_whole =
        |end: &End<'_, '_>| matches!(end.relation, Relation::Rerun | Relation::Prepared) || covers(failed, end.call);
    let end = find_success(session, failed, error, next).filter(is_whole)?;
    let has_edits = session.edits_in(failed.turn, end.call.turn).next().is_some();
    (has_edits && diagnosis_of(session, failed, end.call).is_some()).then_some(End { is_far: true, ..end })
}

/// The related command that passes. A command that does the same wins over one that only shares the program. After edits, or for an
/// error about the code, a rerun of the whole command wins over a variant. The nearest of equals wins. None if none passes.
fn find_success<'s, 't>(
    session: &Session<'t>,
    failed: &TerminalCall<'_>,
    error: Option<&str>,
    next: &[&'s TerminalCall<'t>],
) -> Option<End<'s, 't>> {
    let end = |n_before, relation, call| End { call, n_before, relation, ending: Ending::Passed, is_far: false };
    let succeeded =
        next.iter().enumerate().filter(|(_, later)| later.succeeded() && !hides_failure(later, &failed.line, error));
    let related = succeeded.filter_map(|(before, later)| {
        let relation = failed.line.relation_to(&later.line)?;
        // Reading and changing are two purposes, unless the spelling was corrected or something was prepared.
        let is_same_kind =
            later.acts() == failed.acts() || matches!(relation, Relation::Respelled | Relation::Prepared);
        is_same_kind.then(|| end(before, relation, *later))
    });
    let replaced = || {
        let is_absent = error.and_then(absent_program).is_some_and(|program| failed.line.program() == Some(program));
        let others = next.iter().enumerate().filter(|(_, later)| is_absent && later.succeeded());
        let mut others = others.filter(|(_, later)| failed.line.is_replaced_by(&later.line));
        others.next().map(|(before, later)| end(before, Relation::Replaced, *later))
    };
    let is_variant = |end: &End<'_, '_>| {
        let is_about_code =
            || error.is_some_and(is_finding) || session.edits_in(failed.turn, end.call.turn).next().is_some();
        !matches!(end.relation, Relation::Rerun | Relation::Prepared) && is_about_code()
    };
    related.min_by_key(|end| (end.relation == Relation::SameProgram, is_variant(end), end.n_before)).or_else(replaced)
}

/// The nearest run of the same command that fails with another error. None for errors about the code, where one error often
/// follows another.
fn find_other_error<'s, 't>(
    failed: &TerminalCall<'_>,
    error: &str,
    next: &[&'s TerminalCall<'t>],
) -> Option<End<'s, 't>> {
    if is_finding(error) || !failed.acts() {
        return None;
    }
    let ends = next.iter().enumerate().filter_map(|(n_before, later)| {
        let relation = failed.line.relation_to(&later.line)?;
        // A variant of the command counts only if its operand is in the output of the failure.
        let is_same = match relation {
            Relation::Rerun | Relation::Prepared => true,
            Relation::SameAction => later.line.operands().any(|word| failed.output().contains(word)),
            _ => false,
        };
        let is_other =
            later.failed() && error_line(later.output()).is_some_and(|other| !is_same_error_text(other, error));
        let end = End { call: later, n_before, relation, ending: Ending::OtherError, is_far: false };
        (is_same && is_other && !later.output().contains(error)).then_some(end)
    });
    ends.min_by_key(|end| end.n_before)
}

/// True if all edits between two calls changed settings, or tests with a diagnosis of the agent. Also true without edits.
fn is_setup_change(session: &Session<'_>, failed: &TerminalCall<'_>, later: &TerminalCall<'_>) -> bool {
    let edits = session.edits(failed.turn, later.turn);
    let mut paths = edits.iter().filter_map(|call| call.changed_path()).filter(|path| !is_settings(path)).peekable();
    let is_named = edits.iter().all(|call| call.changed_path().is_some());
    is_named && (paths.peek().is_none() || (paths.all(is_test_file) && diagnosis_of(session, failed, later).is_some()))
}

/// True for a line that hides its command's exit status where the failed line did not, or that leaves out the program that read its
/// pipe, so that its success proves nothing. A `grep` with a match that is not for complaints hides nothing.
fn hides_failure(fixed: &TerminalCall<'_>, failed: &CommandLine, error: Option<&str>) -> bool {
    const MARKS: [&str; 6] = ["|| ", "; true", "2>/dev/null", "2> /dev/null", "&>/dev/null", "grep -v"];
    const COMPLAINTS: [&str; 3] = ["error", "fail", "warn"];
    let is_new = |mark: &str| fixed.line.text().contains(mark) && !failed.text().contains(mark);
    let lower = fixed.line.text().to_lowercase();
    let has_found = || !fixed.output().trim().is_empty() && !COMPLAINTS.iter().any(|word| lower.contains(word));
    failed.is_shortened_by(&fixed.line, error.unwrap_or_default())
        || MARKS.iter().any(|mark| is_new(mark))
        || (is_new("| grep ") && !has_found())
}
