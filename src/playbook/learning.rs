//! Learning, verifying and pruning lessons.

use super::commit::{Attempt, VectorNeeds};
use super::{OpenPlaybook, Playbook};
use crate::error::Result;
use crate::gate;
use crate::learn::{
    Admission, Arrival, Comparison, KeptFromPruning, LearnOutcome, Learner, Newcomer, Pruned, Verification, feedback,
    means_the_same, pruning,
};
use crate::lesson::{DraftOrigin, Lesson, LessonDraft, LessonId, LessonRef, Realm};
use crate::retrieve::shown_tokens;
use crate::state::Planned;

impl Playbook {
    /// Learns one lesson. The outcome is one of: inserted; merged into a lesson that gives the same advice; inserted as
    /// distinct from a near lesson with different advice; awaiting review; refused.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io) and the other errors of a commit; nothing was learned then. If the embedding
    /// model fails, there is no error: duplicates are detected by task and trigger.
    pub fn learn_lesson(&self, draft: impl Into<LessonDraft>) -> Result<LearnOutcome> {
        let outcome = match self.shared.admit(draft.into()) {
            Ok(newcomer) => self.shared.commit_learning(&[&newcomer], |learner| learner.learn_one(&newcomer))?,
            Err(reason) => LearnOutcome::Refused { reason },
        };
        outcome.trace();
        Ok(outcome)
    }

    /// Learns lessons in order. They are embedded in batches and committed at once: on an error, none is learned.
    ///
    /// # Errors
    /// As [`Playbook::learn_lesson`].
    pub fn learn_lessons<D: Into<LessonDraft>>(
        &self,
        drafts: impl IntoIterator<Item = D>,
    ) -> Result<Vec<LearnOutcome>> {
        let drafts: Vec<Admission> = drafts.into_iter().map(|draft| self.shared.admit(draft.into())).collect();
        let learned = if let Some(refused) = all_refused(&drafts) {
            refused
        } else {
            let newcomers: Vec<&Newcomer> = drafts.iter().flatten().collect();
            self.shared.commit_learning(&newcomers, |learner| learner.learn_all(&drafts))?
        };
        learned.iter().for_each(LearnOutcome::trace);
        Ok(learned)
    }

    /// Records a check of a lesson. A passed check raises its confidence and protects it from pruning and eviction; a failed one removes the
    /// verified mark.
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`](crate::Error::NoSuchLesson), [`Error::Ambiguous`](crate::Error::Ambiguous), and the errors of a commit.
    pub fn mark_verified(&self, lesson: impl Into<LessonRef>, verification: Verification) -> Result<LessonId> {
        let bonus = self.shared.config.learn.verified_bonus;
        self.shared.update_lesson(&lesson.into(), |lesson| feedback::record_verification(lesson, verification, bonus))
    }

    /// Records that a lesson should have been shown for a request: the request becomes one of its situations, without secrets and cut to 200
    /// characters, so that the next one like it finds the lesson. A text of common words, or that means the same as a way in, adds nothing; if the
    /// lesson has 12 already, the oldest situation makes room.
    ///
    /// ```
    /// use adage::{Playbook, build_lesson};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
    /// playbook.learn_lesson(build_lesson("rotating SSH keys", "Keep the old key for a day."))?;
    /// assert_eq!(playbook.get_playbook_context("replace the deploy credentials")?.text, "");
    /// playbook.record_missed("rotating SSH keys", "replace the deploy credentials")?;
    /// assert_eq!(playbook.get_playbook_context("replace the deploy credentials")?.lessons.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`](crate::Error::NoSuchLesson), [`Error::Ambiguous`](crate::Error::Ambiguous), and the errors of a commit.
    pub fn record_missed(&self, lesson: impl Into<LessonRef>, request: &str) -> Result<LessonId> {
        let (shared, request) = (&self.shared, gate::clean(request));
        if let Some(embedder) = &shared.embedder {
            // Without its vector the text is compared by words alone.
            let _ = shared.ensure_vectors(embedder.as_ref(), &[&request]);
        }
        let vector_of = |text: &str| shared.vector(text);
        shared.update_lesson(&lesson.into(), |lesson| {
            let trigger = lesson.trigger.clone();
            if !gate::specific::names_something(&request) {
                return;
            }
            lesson.change_ways_in(|ways| {
                ways.add_situation(&request, &trigger, &|one, other| means_the_same(&vector_of, one, other));
            });
        })
    }

    /// Marks a lesson as graduated, which means that another text covers it (a skill, a page of rules). Writing lessons as a skill
    /// sets the mark. It has no other effect.
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`](crate::Error::NoSuchLesson), [`Error::Ambiguous`](crate::Error::Ambiguous), and the errors of a commit.
    pub fn mark_graduated(&self, lesson: impl Into<LessonRef>) -> Result<LessonId> {
        self.shared.update_lesson(&lesson.into(), |lesson| lesson.graduated = true)
    }

    /// Removes the mark that [`Playbook::mark_graduated`] sets.
    ///
    /// # Errors
    /// As [`Playbook::mark_graduated`].
    pub fn unmark_graduated(&self, lesson: impl Into<LessonRef>) -> Result<LessonId> {
        self.shared.update_lesson(&lesson.into(), |lesson| lesson.graduated = false)
    }

    /// Archives lessons of the bottom quartile by utility that were judged (helpful or harmful) at least 5 times, have a hit rate under
    /// 0.35, are not verified and were not written by hand. At most a quarter of all lessons is archived, and none if there are fewer than 10.
    ///
    /// # Errors
    /// The errors of a commit.
    pub fn prune_low_utility(&self) -> Result<Pruned> {
        let shared = &self.shared;
        let pruned = shared.commit(|attempt| Ok(pruning::prune(shared.plan(attempt), &shared.config.retention)))?;
        pruned.lessons.iter().for_each(|id| tracing::info!(%id, "pruned"));
        Ok(pruned)
    }

    /// The lessons that [`Playbook::prune_low_utility`] would archive now.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn prunable(&self) -> Result<Vec<LessonId>> {
        Ok(pruning::prunable(self.shared.recount()?.snapshot.book(), &self.shared.config.retention))
    }

    /// The lessons that rarely helped and that [`Playbook::prune_low_utility`] never archives, with the reason.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn kept_from_pruning(&self) -> Result<Vec<KeptFromPruning>> {
        Ok(pruning::kept_from_pruning(self.shared.recount()?.snapshot.book(), &self.shared.config.retention))
    }
}

impl OpenPlaybook {
    /// Changes a lesson in place.
    fn update_lesson(&self, lesson: &LessonRef, change: impl Fn(&mut Lesson)) -> Result<LessonId> {
        self.commit(|attempt| {
            let mut plan = self.plan(attempt);
            let id = plan.book.resolve(lesson)?.id;
            plan.book.update(id, &change);
            Ok(Planned::Commit(plan, id))
        })
    }

    /// A draft after the gate.
    pub(super) fn admit(&self, draft: LessonDraft) -> Admission {
        let arrival = match draft.origin() {
            DraftOrigin::Host | DraftOrigin::Program => Arrival::New,
            DraftOrigin::Quoted => Arrival::Quoted,
            DraftOrigin::Moved | DraftOrigin::OwnExport | DraftOrigin::File => Arrival::MovedIn,
        };
        let supersedes = draft.superseded();
        let mut lesson = gate::admit(draft, &self.config.learn, self.clock.as_ref())?;
        if lesson.realm.is_project_of(&self.own_roots) {
            lesson.realm.project.clear();
        }
        lesson.provenance.supersedes = supersedes.or(lesson.provenance.supersedes);
        if arrival.is_new() {
            lesson.bind_evidence();
        }
        Ok(Newcomer { lesson, arrival, supersedes })
    }

    fn commit_learning<T>(&self, newcomers: &[&Newcomer], learn: impl Fn(Learner<'_>) -> Planned<T>) -> Result<T> {
        let budget = self.config.retrieval.max_tokens;
        for newcomer in newcomers {
            // It has no id yet.
            let tokens = shown_tokens(&newcomer.lesson);
            if tokens > budget {
                tracing::warn!(
                    tokens,
                    budget,
                    "the lesson is longer than the default token budget and will not be shown; shorten it"
                );
            }
        }
        let needs = self.needs_of(newcomers.iter().copied());
        let realms = needs.realms().to_vec();
        self.commit_with(needs, |attempt| self.plan_learning(attempt, &realms, &learn))
    }

    pub(super) fn needs_of<'n>(&self, newcomers: impl Iterator<Item = &'n Newcomer>) -> VectorNeeds {
        VectorNeeds::of(newcomers.map(|newcomer| &newcomer.lesson), &self.config)
    }

    pub(super) fn plan_learning<T>(
        &self,
        attempt: &Attempt<'_>,
        realms: &[Realm],
        learn: impl FnOnce(Learner<'_>) -> Planned<T>,
    ) -> Result<Planned<T>> {
        let mut dedup = self.dedup_index(attempt);
        if attempt.comparison != Comparison::Titles {
            let missing = self.missing_wholes(&mut dedup, realms)?;
            if !missing.is_empty() {
                return Ok(Planned::NeedsVectors(missing));
            }
        }
        let vector_of = |text: &str| self.vector(text);
        let learner = Learner::new(self.plan(attempt), dedup, &self.config, attempt.comparison, &vector_of);
        Ok(learn(learner))
    }
}

/// The outcomes if every draft is refused: there is nothing to compare then.
pub(super) fn all_refused(drafts: &[Admission]) -> Option<Vec<LearnOutcome>> {
    let refused =
        |draft: &Admission| draft.as_ref().err().map(|reason| LearnOutcome::Refused { reason: reason.clone() });
    drafts.iter().map(refused).collect()
}
