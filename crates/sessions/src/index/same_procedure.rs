//! The commands of a lesson, by which two procedures are found to be the same one (docs/spec/capture.md, 4.5).

use std::collections::BTreeSet;

use adage_transcript::command::normal_forms;

/// The commands of a lesson, in normal form. The rules write commands between back-ticks, every second piece.
pub(crate) fn commands_told(solution: &str) -> BTreeSet<String> {
    normal_forms(solution.split('`').skip(1).step_by(2))
}
