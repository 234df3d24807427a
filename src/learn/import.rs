//! Import of rows as one change, which one undo reverts (docs/spec/playbook.md, 7.1).

use super::learner::{Admission, Learner};
use super::outcome::LearnOutcome;
use crate::lesson::ChangeId;
use crate::state::{Action, Planned};

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Imported {
    /// The outcome of each lesson, in order.
    pub outcomes: Vec<LearnOutcome>,
    /// The id for [`Playbook::undo`](crate::Playbook::undo), which reverts the whole import; none when no lesson was stored.
    pub change: Option<ChangeId>,
}

impl Learner<'_> {
    /// As [`Learner::learn_all`], recorded as one change.
    pub(crate) fn import_all(mut self, drafts: &[Admission]) -> Planned<Imported> {
        let import = self.plan.record(Action::Import, Vec::new());
        self.import = Some(import);
        let outcomes = self.learn_each(drafts);
        self.plan.changes.retain(|change| !change.edits.is_empty());
        let change = self.plan.changes.first().map(|_| import);
        self.finish(Imported { outcomes, change })
    }
}
