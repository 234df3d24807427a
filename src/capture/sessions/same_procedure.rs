//! When two procedures are the same one (docs/spec/capture.md, 4.5).

use std::collections::BTreeSet;

use adage_transcript::CommandLine;

/// The commands of a lesson, in normal form. The rules write commands between back-ticks, every second piece.
pub(crate) fn commands_told(solution: &str) -> BTreeSet<String> {
    normal_forms(solution.split('`').skip(1).step_by(2))
}

/// Commands in normal form, each once.
pub(crate) fn normal_forms<'c>(commands: impl IntoIterator<Item = &'c str>) -> BTreeSet<String> {
    let forms = commands.into_iter().map(|command| CommandLine::parse(command).normal_form());
    forms.filter(|form| !form.is_empty()).collect()
}

/// True when at least half of the commands of the one with more are the other's too; false where one has none.
pub(crate) fn are_alike(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let n_shared = one.intersection(other).count();
    n_shared > 0 && n_shared * 2 >= one.len().max(other.len())
}
