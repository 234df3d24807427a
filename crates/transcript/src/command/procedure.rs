//! When two procedures are the same one.

use std::collections::BTreeSet;

use super::CommandLine;

/// Commands in normal form, each once.
///
/// ```
/// use adage_transcript::command::normal_forms;
///
/// let forms = normal_forms(["cargo build --release", "cargo build", ""]);
/// assert_eq!(forms.into_iter().collect::<Vec<_>>(), ["cargo build"]);
/// ```
pub fn normal_forms<'c>(commands: impl IntoIterator<Item = &'c str>) -> BTreeSet<String> {
    let forms = commands.into_iter().map(|command| CommandLine::parse(command).normal_form());
    forms.filter(|form| !form.is_empty()).collect()
}

/// True when at least half of the commands of the one with more are the other's too; false where one has none.
#[must_use]
pub fn are_alike(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let n_shared = one.intersection(other).count();
    n_shared > 0 && n_shared * 2 >= one.len().max(other.len())
}
