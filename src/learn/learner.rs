//! Learns lessons one after another on a plan, which is committed as a whole.
//!
//! A lesson is checked (`checking.rs`), compared with those that are near (`neighbours.rs`), and decided about (`decision.rs`);
//! these only read. `applying.rs` alone changes the plan, so a refused lesson changes nothing.

use std::cell::OnceCell;

use super::known_texts::KnownTexts;
use super::outcome::LearnOutcome;
use super::removal;
use crate::config::Config;
use crate::lesson::{ChangeId, Lesson, LessonId, Refusal};
use crate::state::{DedupIndex, Plan, Planned, VectorOf};

/// How a lesson arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It is learned now, and gets its id and time now.
    New,
    /// The same, for a mined lesson that a quote of the user admits without review.
    Quoted,
    /// It is a row of another playbook or of a file, and keeps the id, time and counts that the gate left.
    MovedIn,
    /// A person promoted it: it keeps its id, and gets its time now.
    Promoted,
}

impl Arrival {
    /// True if the lesson is learned now.
    pub(crate) fn is_new(self) -> bool {
        matches!(self, Self::New | Self::Quoted)
    }
}

/// A lesson that passed the gate.
#[derive(Clone, Debug)]
pub(crate) struct Newcomer {
    pub(crate) lesson: Lesson,
    pub(crate) arrival: Arrival,
    /// The lesson that it replaces, according to the host.
    pub(crate) supersedes: Option<LessonId>,
}

/// A draft after the gate.
pub(crate) type Admission = Result<Newcomer, Refusal>;

/// What lessons are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// Only task and trigger.
    Titles,
    /// Also vectors. The vectors of merged texts are requested.
    Vectors,
    /// Also vectors. The vectors of merged texts are left for later.
    KnownVectors,
}

/// Learns one lesson after another on a plan.
pub(crate) struct Learner<'a> {
    pub(super) config: &'a Config,
    pub(super) comparison: Comparison,
    pub(super) vector_of: &'a VectorOf<'a>,
    pub(super) plan: Plan,
    /// The index of the plan's book.
    pub(super) dedup: DedupIndex,
    /// The number of lessons that were not refused.
    pub(super) n_accepted: usize,
    /// True if there is something to commit.
    pub(super) is_changed: bool,
    /// Merged whole texts whose vectors are not known yet.
    pub(super) unembedded: Vec<String>,
    /// The texts in the playbook; built when the first row is imported.
    pub(super) texts: OnceCell<KnownTexts>,
    /// The change of an import, which records every lesson.
    pub(super) import: Option<ChangeId>,
}

/// True if the vectors of both texts are known and near: as a way in, the second would add nothing.
pub(crate) fn means_the_same(vector_of: &VectorOf<'_>, one: &str, other: &str) -> bool {
    /// Chosen: sentences that differ in a word are nearer.
    const NEAR: f32 = 0.9;
    let vectors = vector_of(one).zip(vector_of(other));
    vectors.is_some_and(|(one, other)| {
        one.as_slice().iter().zip(other.as_slice()).map(|(one, other)| one * other).sum::<f32>() >= NEAR
    })
}

impl<'a> Learner<'a> {
    /// `dedup` is the index of the plan's book; `vector_of` returns the vectors of whole texts.
    pub(crate) fn new(
        plan: Plan,
        dedup: DedupIndex,
        config: &'a Config,
        comparison: Comparison,
        vector_of: &'a VectorOf<'a>,
    ) -> Self {
        Self {
            config,
            comparison,
            vector_of,
            plan,
            dedup,
            n_accepted: 0,
            is_changed: false,
            unembedded: Vec::new(),
            texts: OnceCell::new(),
            import: None,
        }
    }

    /// Learns all lessons that passed the gate. Returns the outcomes in order.
    pub(crate) fn learn_all(mut self, drafts: &[Admission]) -> Planned<Vec<LearnOutcome>> {
        let outcomes = self.learn_each(drafts);
        self.finish(outcomes)
    }

    /// Learns one lesson.
    pub(crate) fn learn_one(mut self, newcomer: &Newcomer) -> Planned<LearnOutcome> {
        let outcome = self.learn(newcomer);
        self.finish(outcome)
    }

    pub(super) fn learn_each(&mut self, drafts: &[Admission]) -> Vec<LearnOutcome> {
        let learn = |draft: &Admission| match draft {
            Ok(newcomer) => self.learn(newcomer),
            Err(reason) => LearnOutcome::Refused { reason: reason.clone() },
        };
        drafts.iter().map(learn).collect()
    }

    fn learn(&mut self, newcomer: &Newcomer) -> LearnOutcome {
        let checked = match self.check(newcomer) {
            Ok(checked) => checked,
            Err(reason) => return LearnOutcome::Refused { reason },
        };
        let compared = self.compare(checked);
        let decision = self.decide(compared);
        self.apply(decision)
    }

    /// The outcomes, with the plan if there is something to commit.
    pub(super) fn finish<T>(mut self, outcomes: T) -> Planned<T> {
        if self.comparison == Comparison::Vectors && !self.unembedded.is_empty() {
            return Planned::NeedsVectors(self.unembedded);
        }
        if !self.is_changed {
            return Planned::Nothing(outcomes);
        }
        removal::forget_old_texts(&mut self.plan);
        Planned::Commit(self.into_plan(), outcomes)
    }

    pub(super) fn into_plan(mut self) -> Plan {
        self.dedup.set_lessons(&self.plan.book.lessons);
        Plan { dedup: Some(self.dedup), ..self.plan }
    }
}
