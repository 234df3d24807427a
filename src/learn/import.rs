//! Import of rows as one change, which one undo reverts (docs/spec/playbook.md, 7.1).

use super::learner::{Learner, Newcomer};
use super::outcome::LearnOutcome;
use crate::lesson::{ChangeId, LessonId, Refusal};
use crate::state::{Action, Edit, Planned, Why};

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
    pub(crate) fn import_all(mut self, drafts: &[Result<Newcomer, Refusal>]) -> Planned<Imported> {
        let mut edits = Vec::new();
        let mut outcomes: Vec<LearnOutcome> = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let waited: Vec<LessonId> = self.plan.book.waiting.iter().map(|waiting| waiting.lesson.id).collect();
            let outcome = self.learn_draft(draft);
            let recorded = self.plan.changes.drain(..).flat_map(|change| change.edits);
            edits.extend(recorded);
            edits.extend(self.unrecorded(&outcome, &waited));
            outcomes.push(outcome);
        }
        let change = (!edits.is_empty()).then(|| self.plan.record(Action::Import, edits));
        for outcome in &mut outcomes {
            outcome.recorded_as(change);
        }
        self.finish(Imported { outcomes, change })
    }

    /// The edit of a lesson whose own outcome records no change: it evicted none, or awaits review.
    fn unrecorded(&self, outcome: &LearnOutcome, waited: &[LessonId]) -> Option<Edit> {
        let book = &self.plan.book;
        match outcome {
            LearnOutcome::Inserted { id, change: None, .. } | LearnOutcome::Distinct { id, change: None, .. } => {
                book.get(*id).map(|lesson| Edit::added(Why::Inserted, lesson))
            }
            LearnOutcome::Review { id, .. } if !waited.contains(id) => {
                let waiting = book.waiting.iter().find(|waiting| waiting.lesson.id == *id)?;
                Some(Edit::added(Why::Awaiting, &waiting.lesson))
            }
            _ => None,
        }
    }
}
