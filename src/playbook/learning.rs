//! Learning, verifying, pruning.

use std::sync::Arc;

use super::{Decided, Inner, MAX_ROUNDS, Playbook, View};
use crate::config::DedupPolicy;
use crate::error::{Error, Result};
use crate::gate;
use crate::learn::{Learned, Learner, Newcomer, Verification, feedback, retention, undo};
use crate::lesson::{ChangeId, Lesson, LessonDraft, LessonId, LessonRef, Realm};
use crate::state::{Action, Book, Change, DedupIndex, Edit, Why, change_id};
use crate::store::{Decision, Snapshot, Step};

/// What a prune took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// The lessons, least useful first; archived.
    pub lessons: Vec<LessonId>,
    /// What to hand to `undo`, when something was taken.
    pub change: Option<ChangeId>,
}

/// A draft that the gate let through, with whether it keeps its history; or why it did not.
type Admitted = Result<(Lesson, bool), crate::Refusal>;

/// What a decision turns out to need.
enum Round<T> {
    Done(T),
    Embed(Vec<String>),
}

impl Playbook {
    /// Learns one lesson and says what became of it: inserted, merged into one that says the same, kept apart from one that
    /// is close but says something else, waiting for review, or refused.
    ///
    /// # Errors
    /// [`Error::Io`] and the other errors of a commit; nothing was learned then. A model that fails is no error: duplicates
    /// are then told by task and trigger.
    pub fn learn_lesson(&self, draft: impl Into<LessonDraft>) -> Result<Learned> {
        let learned = self.learn_lessons([draft.into()])?;
        learned.into_iter().next().ok_or(Error::Contended { rounds: 0 })
    }

    /// Learns lessons in order, embedding them in batches, and commits once: all of them, or on an error none.
    ///
    /// # Errors
    /// As [`Playbook::learn_lesson`].
    pub fn learn_lessons<D: Into<LessonDraft>>(&self, drafts: impl IntoIterator<Item = D>) -> Result<Vec<Learned>> {
        let inner = &self.0;
        let admitted: Vec<Admitted> = drafts
            .into_iter()
            .map(|draft| {
                let draft = draft.into();
                let keeps_history = draft.keeps_history();
                let lesson = gate::admit(draft, &inner.config.learn, inner.clock.as_ref())?;
                Ok((lesson, keeps_history))
            })
            .collect();
        if admitted.iter().all(Result::is_err) {
            return Ok(admitted
                .into_iter()
                .filter_map(Result::err)
                .map(|reason| Learned::Refused { reason })
                .collect());
        }
        let mut texts: Vec<String> = Vec::new();
        for (lesson, _) in admitted.iter().flatten() {
            texts.push(lesson.trigger.clone());
            if inner.config.learn.dedup != DedupPolicy::Off {
                texts.push(lesson.whole_text());
            }
        }
        let mut realms: Vec<&Realm> = admitted.iter().flatten().map(|(lesson, _)| &lesson.realm).collect();
        realms.sort_unstable();
        realms.dedup();
        for round in 1.. {
            let has_vectors = inner.prepare(&texts, &realms);
            let done = inner.commit(|known, snapshot| {
                inner.decide((known, snapshot), (&admitted, &realms), has_vectors, round >= MAX_ROUNDS)
            })?;
            match done {
                Round::Done(learned) => return Ok(learned),
                Round::Embed(missing) if round < MAX_ROUNDS => texts = missing,
                Round::Embed(_) => break,
            }
        }
        Err(Error::Contended { rounds: MAX_ROUNDS })
    }

    /// Records a check of a lesson: passed raises its confidence and protects it, failed takes the mark away.
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`], [`Error::Ambiguous`], and the errors of a commit.
    pub fn mark_verified(&self, lesson: impl Into<LessonRef>, verification: Verification) -> Result<LessonId> {
        let (inner, reference) = (&self.0, lesson.into());
        inner.commit(|_, snapshot| {
            let id = snapshot.book().resolve(&reference)?.id;
            let mut book = Book::clone(snapshot.book());
            book.update(id, |lesson| feedback::verified(lesson, verification, inner.config.learn.verified_bonus));
            Ok(Step::Commit(Decision { book, ..Decision::default() }, id))
        })
    }

    /// Archives lessons of the bottom quartile by utility that were shown often and did not help: hit rate under 0.35, not
    /// verified, shown at least 5 times; at most a quarter of all, and none of fewer than 10.
    ///
    /// # Errors
    /// The errors of a commit.
    pub fn prune_low_utility(&self) -> Result<Pruned> {
        let inner = &self.0;
        inner.commit(|_, snapshot| {
            let lessons = inner.prunable(snapshot.book());
            if lessons.is_empty() {
                return Ok(Step::Nothing(Pruned { lessons, change: None }));
            }
            let now = inner.clock.now();
            let mut book = Book::clone(snapshot.book());
            let gone = lessons.iter().filter_map(|id| book.take(*id));
            let edits: Vec<Edit> = gone.map(|lesson| Edit::gone(Why::Pruned, lesson)).collect();
            let id = change_id(now, snapshot.truth.generation, 0);
            let change = Change { id, at: now, action: Action::Prune, undoes: None, edits };
            let decision = Decision { book, changes: vec![change], forgets_vectors: false };
            Ok(Step::Commit(decision, Pruned { lessons, change: Some(id) }))
        })
    }

    /// What [`Playbook::prune_low_utility`] would take now.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn prunable(&self) -> Result<Vec<LessonId>> {
        Ok(self.0.prunable(self.0.recount()?.snapshot.book()))
    }
}

impl Inner {
    fn prunable(&self, book: &Book) -> Vec<LessonId> {
        let config = &self.config.retention;
        retention::prune(book, config.prune_min_retrievals, config.prune_max_fraction, config)
    }

    /// Embeds what a decision will need, and makes the dedup complete for these realms, while nobody waits for the folder.
    /// `false` when there is no embedder or it failed.
    pub(super) fn prepare(&self, texts: &[String], realms: &[&Realm]) -> bool {
        let Some(embedder) = &self.embedder else { return false };
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let vector_of = |text: &str| self.vector(text);
        let prepared = self.ensure_vectors(embedder.as_ref(), &texts).and_then(|()| {
            if self.config.learn.dedup == DedupPolicy::Off {
                return Ok(());
            }
            let view = Arc::clone(&self.view.read());
            let is_ready = |dedup: &DedupIndex| dedup.unknown(realms).is_empty();
            view.dedup.get_or_make(is_ready, |known| {
                let mut dedup = known.map_or_else(|| self.fresh_dedup(&view), |known| DedupIndex::clone(&known));
                let wholes: Vec<String> = dedup.unknown(realms).iter().map(|lesson| lesson.whole_text()).collect();
                self.ensure_vectors(embedder.as_ref(), &wholes.iter().map(String::as_str).collect::<Vec<_>>())?;
                dedup.complete(realms, &vector_of);
                Ok::<_, Error>(dedup)
            })?;
            Ok(())
        });
        match prepared {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, "learning without vectors");
                false
            }
        }
    }

    fn decide(
        &self,
        (known, snapshot): (&View, &Snapshot),
        (admitted, realms): (&[Admitted], &[&Realm]),
        has_vectors: bool,
        is_last_round: bool,
    ) -> Result<Decided<Round<Vec<Learned>>>> {
        let uses_vectors = has_vectors && self.config.learn.dedup != DedupPolicy::Off;
        let vector_of = |text: &str| self.vector(text);
        let mut dedup = self.present_dedup(known, snapshot);
        if uses_vectors {
            let missing = self.missing_wholes(&mut dedup, realms)?;
            if !missing.is_empty() {
                return Ok(Step::Nothing(Round::Embed(missing)).into());
            }
        }
        let now = self.clock.now();
        let state = (Book::clone(snapshot.book()), dedup);
        let mut learner = Learner::new(state, snapshot.truth.generation, now, &self.config, &vector_of);
        let mut outcomes = Vec::new();
        for draft in admitted {
            outcomes.push(match draft {
                Err(reason) => Learned::Refused { reason: reason.clone() },
                Ok((lesson, keeps_history)) => {
                    let whole = uses_vectors.then(|| self.vector(&lesson.whole_text())).flatten();
                    learner.learn(Newcomer { lesson: lesson.clone(), whole, keeps_history: *keeps_history })
                }
            });
        }
        let dedup = learner.dedup();
        let Learner { mut book, changes, unembedded, is_changed, .. } = learner;
        // The text of a merge may be new to the model. In the last round its vector is left for later: it is only missing.
        if uses_vectors && !unembedded.is_empty() && !is_last_round {
            return Ok(Step::Nothing(Round::Embed(unembedded)).into());
        }
        if !is_changed {
            return Ok(Step::Nothing(Round::Done(outcomes)).into());
        }
        undo::forget_old_removals(&mut book, now);
        let step = Step::Commit(Decision { book, changes, forgets_vectors: false }, Round::Done(outcomes));
        Ok(Decided { step, dedup: Some(dedup) })
    }

    /// The dedup of the state that is decided on.
    pub(super) fn present_dedup(&self, known: &View, snapshot: &Snapshot) -> DedupIndex {
        let mut dedup = known.dedup.get().map_or_else(|| self.fresh_dedup(known), |dedup| DedupIndex::clone(&dedup));
        dedup.follow(&snapshot.book().lessons, &|text| self.vector(text));
        dedup
    }

    fn fresh_dedup(&self, view: &View) -> DedupIndex {
        let mut dedup = DedupIndex::new(&self.config);
        dedup.follow(&view.snapshot.book().lessons, &|text| self.vector(text));
        dedup
    }

    /// Whole texts of these realms whose vectors are not known, perhaps because another process learned them.
    fn missing_wholes(&self, dedup: &mut DedupIndex, realms: &[&Realm]) -> Result<Vec<String>> {
        let vector_of = |text: &str| self.vector(text);
        dedup.complete(realms, &vector_of);
        let wholes: Vec<String> = dedup.unknown(realms).iter().map(|lesson| lesson.whole_text()).collect();
        let missing = self.missing(&wholes.iter().map(String::as_str).collect::<Vec<_>>())?;
        if missing.is_empty() && !wholes.is_empty() {
            // The folder had them.
            dedup.complete(realms, &vector_of);
        }
        Ok(missing)
    }
}
