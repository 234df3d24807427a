//! A commit: vectors are computed first, then the decision is made under the lock; it is repeated if the state has changed.

use std::sync::Arc;

use super::{OpenPlaybook, View};
use crate::config::{Config, DedupPolicy};
use crate::error::{Error, Result, with_causes};
use crate::learn::Comparison;
use crate::lesson::{Lesson, Realm};
use crate::state::{Book, DedupIndex, EmbeddedText, Plan, Planned};
use crate::store::{ModelVectors, Snapshot};

/// How often a commit is tried.
const MAX_ROUNDS: usize = 3;

/// The vectors that a decision reads. They are computed before the lock is taken, so that no other writer waits for them.
#[derive(Clone, Debug, Default)]
pub(super) struct VectorNeeds {
    texts: Vec<String>,
    /// The realms in which duplicates are searched: the whole text of each of their lessons is needed.
    realms: Vec<Realm>,
}

/// The state that a decision is made on, under the lock.
pub(super) struct Attempt<'a> {
    known: &'a View,
    pub(super) snapshot: &'a Snapshot,
    /// By titles if there are no vectors; in the last attempt, by the vectors that are known.
    pub(super) comparison: Comparison,
}

impl VectorNeeds {
    pub(super) fn of<'l>(lessons: impl Iterator<Item = &'l Lesson>, config: &Config) -> Self {
        let mut needs = Self::default();
        for lesson in lessons {
            needs.texts.extend(EmbeddedText::searched(config.retrieval.rule).iter().flat_map(|text| text.of(lesson)));
            if config.learn.dedup != DedupPolicy::Off {
                needs.texts.push(lesson.whole_text());
            }
            needs.realms.push(lesson.realm.clone());
        }
        needs.realms.sort_unstable();
        needs.realms.dedup();
        needs
    }

    pub(super) fn realms(&self) -> &[Realm] {
        &self.realms
    }

    fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.realms.is_empty()
    }
}

impl Attempt<'_> {
    pub(super) fn book(&self) -> &Book {
        self.snapshot.book()
    }
}

impl OpenPlaybook {
    /// Commits the plan that `decide` makes for the newest state. `decide` runs under the lock, and again if the state has
    /// changed.
    pub(super) fn commit<T>(&self, decide: impl FnMut(&Attempt<'_>) -> Result<Planned<T>>) -> Result<T> {
        self.commit_with(VectorNeeds::default(), decide)
    }

    /// As [`OpenPlaybook::commit`], for a decision that reads vectors.
    pub(super) fn commit_with<T>(
        &self,
        mut needs: VectorNeeds,
        mut decide: impl FnMut(&Attempt<'_>) -> Result<Planned<T>>,
    ) -> Result<T> {
        for round in 1..=MAX_ROUNDS {
            let comparison = self.comparison(&needs, round);
            match self.try_commit(comparison, &mut decide) {
                Ok(Ok(value)) => return Ok(value),
                Ok(Err(missing)) => needs.texts = missing,
                Err(Error::Contended { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Contended { rounds: MAX_ROUNDS })
    }

    /// The result that [`OpenPlaybook::commit_with`] would have now. Nothing is written.
    pub(super) fn preview_with<T>(
        &self,
        mut needs: VectorNeeds,
        mut decide: impl FnMut(&Attempt<'_>) -> Result<Planned<T>>,
    ) -> Result<T> {
        for round in 1..=MAX_ROUNDS {
            let comparison = self.comparison(&needs, round);
            let known = self.view()?;
            match decide(&Attempt { known: &known, snapshot: &known.snapshot, comparison })? {
                Planned::Commit(_, value) | Planned::Nothing(value) => return Ok(value),
                Planned::NeedsVectors(missing) => needs.texts = missing,
            }
        }
        Err(Error::Contended { rounds: MAX_ROUNDS })
    }

    fn comparison(&self, needs: &VectorNeeds, round: usize) -> Comparison {
        match self.prepare(needs) {
            false => Comparison::Titles,
            true if round == MAX_ROUNDS => Comparison::KnownVectors,
            true => Comparison::Vectors,
        }
    }

    /// Either the result of the commit, or the texts whose vectors are still needed to decide.
    fn try_commit<T>(
        &self,
        comparison: Comparison,
        decide: &mut impl FnMut(&Attempt<'_>) -> Result<Planned<T>>,
    ) -> Result<Result<T, Vec<String>>> {
        let turn = self.store.folder.turn(&self.writer)?;
        let known = Arc::clone(&self.view.read());
        let vectors = self.fingerprint().map(|fingerprint| ModelVectors { cache: &self.vectors, fingerprint });
        let mut dedup = None;
        let plan = |snapshot: &Snapshot| {
            Ok(match decide(&Attempt { known: &known, snapshot, comparison })? {
                Planned::Commit(mut plan, value) => {
                    dedup = plan.dedup.take();
                    (Some(plan), Ok(value))
                }
                Planned::Nothing(value) => (None, Ok(value)),
                Planned::NeedsVectors(texts) => (None, Err(texts)),
            })
        };
        let (snapshot, outcome) = self.kept.commit(&known.snapshot, &turn, vectors, plan)?;
        match dedup {
            Some(dedup) => self.publish_after(&known.recall, &dedup.into(), snapshot),
            None => self.publish(snapshot),
        };
        Ok(outcome)
    }

    /// An empty plan.
    pub(super) fn plan(&self, attempt: &Attempt<'_>) -> Plan {
        Plan::new(attempt.book().clone(), attempt.snapshot.file.generation, self.clock.now())
    }

    /// Embeds what a decision needs, and completes the duplicate index for its realms. Returns false if duplicates are not
    /// compared by vectors: no vector is needed, there is no embedder, or it failed.
    fn prepare(&self, needs: &VectorNeeds) -> bool {
        let Some(embedder) = self.embedder.as_ref().filter(|_| !needs.is_empty()) else { return false };
        let texts: Vec<&str> = needs.texts.iter().map(String::as_str).collect();
        let prepared = self.ensure_vectors(embedder.as_ref(), &texts).and_then(|()| {
            if self.config.learn.dedup == DedupPolicy::Off {
                return Ok(false);
            }
            let view = Arc::clone(&self.view.read());
            let is_ready = |dedup: &DedupIndex| dedup.unknown(&needs.realms).is_empty();
            view.dedup.get_or_make(is_ready, |known| {
                let mut dedup = known.map_or_else(|| self.fresh_dedup(&view), |known| DedupIndex::clone(&known));
                let wholes: Vec<String> =
                    dedup.unknown(&needs.realms).iter().map(|lesson| lesson.whole_text()).collect();
                self.ensure_vectors(embedder.as_ref(), &wholes.iter().map(String::as_str).collect::<Vec<_>>())?;
                dedup.complete(&needs.realms, &|text| self.vector(text));
                Ok::<_, Error>(dedup)
            })?;
            Ok(true)
        });
        prepared.unwrap_or_else(|error| {
            tracing::warn!(error = with_causes(&error), "learning without vectors");
            false
        })
    }

    /// The duplicate index of the state that the decision is made on.
    pub(super) fn dedup_index(&self, attempt: &Attempt<'_>) -> DedupIndex {
        let known = attempt.known;
        let mut dedup = known.dedup.get().map_or_else(|| self.fresh_dedup(known), |dedup| DedupIndex::clone(&dedup));
        dedup.follow(&attempt.book().lessons, &|text| self.vector(text));
        dedup
    }

    fn fresh_dedup(&self, view: &View) -> DedupIndex {
        let mut dedup = DedupIndex::new(&self.config);
        dedup.follow(&view.snapshot.book().lessons, &|text| self.vector(text));
        dedup
    }

    /// Completes the index for these realms. Returns the whole texts whose vectors are still missing, for example because
    /// another process has learned them.
    pub(super) fn missing_wholes(&self, dedup: &mut DedupIndex, realms: &[Realm]) -> Result<Vec<String>> {
        dedup.complete(realms, &|text| self.vector(text));
        let wholes: Vec<String> = dedup.unknown(realms).iter().map(|lesson| lesson.whole_text()).collect();
        let missing = self.missing(&wholes.iter().map(String::as_str).collect::<Vec<_>>())?;
        if missing.is_empty() && !wholes.is_empty() {
            // The folder's cache had them.
            dedup.complete(realms, &|text| self.vector(text));
        }
        Ok(missing)
    }
}
