//! Learns lessons one after another on a plan, which is committed as a whole.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use adage_index::UnitVector;

use super::known_texts::KnownTexts;
use super::neighbours::{Distinct, Duplicate, Neighbours, Related};
use super::outcome::LearnOutcome;
use super::retention::Trim;
use super::{merge, removal, retention};
use crate::config::{Config, DedupPolicy};
use crate::difference::{Difference, difference};
use crate::lesson::{Backing, ChangeId, Lesson, LessonId, Origin, Refusal, SCHEMA_VERSION, TextHash};
use crate::state::{Action, Changed, DedupIndex, Edit, Plan, Planned, ReviewReason, VectorOf, Waiting, Why};

/// How a lesson arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It is learned now, and gets its id and time now.
    New,
    /// It is a row of another playbook or of a file, and keeps the id, time and counts that the gate left.
    MovedIn,
}

/// A lesson that passed the gate.
#[derive(Clone, Debug)]
pub(crate) struct Newcomer {
    pub(crate) lesson: Lesson,
    pub(crate) arrival: Arrival,
    /// The lesson that it replaces, according to the host.
    pub(crate) supersedes: Option<LessonId>,
}

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
    comparison: Comparison,
    pub(super) vector_of: &'a VectorOf<'a>,
    pub(super) plan: Plan,
    /// The index of the plan's book.
    pub(super) dedup: DedupIndex,
    n_learned: usize,
    /// True if there is something to commit.
    is_changed: bool,
    /// Merged whole texts whose vectors are not known yet.
    unembedded: Vec<String>,
    /// The texts in the playbook; built when the first row is imported.
    texts: OnceCell<KnownTexts>,
}

/// A lesson that is to be added.
pub(super) struct Addition {
    pub(super) lesson: Lesson,
    /// The vector of its whole text.
    pub(super) whole: Option<UnitVector>,
    /// The nearest lesson that it is near to but distinct from.
    distinct_from: Option<Distinct>,
    /// Lessons that it is linked with: those that it contradicts, and those that may give the same advice.
    related: Related,
    /// Lessons with at most this backing may be evicted for it.
    backing: Backing,
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
        let (unembedded, texts) = (Vec::new(), OnceCell::new());
        Self { config, comparison, vector_of, plan, dedup, n_learned: 0, is_changed: false, unembedded, texts }
    }

    /// Learns all lessons that passed the gate. Returns the outcomes in order.
    pub(crate) fn learn_all(mut self, drafts: &[Result<Newcomer, Refusal>]) -> Planned<Vec<LearnOutcome>> {
        let outcomes = drafts.iter().map(|draft| self.learn_draft(draft)).collect();
        self.finish(outcomes)
    }

    pub(super) fn learn_draft(&mut self, draft: &Result<Newcomer, Refusal>) -> LearnOutcome {
        match draft {
            Ok(newcomer) => self.learn(newcomer.clone()),
            Err(reason) => LearnOutcome::Refused { reason: reason.clone() },
        }
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

    fn learn(&mut self, newcomer: Newcomer) -> LearnOutcome {
        if let Err(reason) = self.check(&newcomer) {
            return LearnOutcome::Refused { reason };
        }
        let (given, arrival) = (newcomer.lesson.clone(), newcomer.arrival);
        let outcome = self.learn_checked(newcomer);
        self.remember(&given, arrival, &outcome);
        outcome
    }

    /// Records the text of a lesson that was not refused.
    pub(super) fn remember(&mut self, given: &Lesson, arrival: Arrival, outcome: &LearnOutcome) {
        let Some(id) = outcome.id() else { return };
        let book = &mut self.plan.book;
        if let Some(fingerprint) = mined_text(given).filter(|_| arrival == Arrival::New) {
            self.is_changed |= book.remember_mined(fingerprint);
        }
        // What awaits review is not learned yet.
        if !matches!(outcome, LearnOutcome::Review { .. }) {
            self.is_changed |= book.forget_removal(given);
        }
        if let Some(texts) = self.texts.get_mut() {
            texts.insert(given, id);
        }
    }

    fn learn_checked(&mut self, newcomer: Newcomer) -> LearnOutcome {
        let Newcomer { mut lesson, arrival, supersedes } = newcomer;
        self.assign_id(&mut lesson, arrival);
        let whole = match self.comparison {
            Comparison::Titles => None,
            Comparison::Vectors | Comparison::KnownVectors => (self.vector_of)(&lesson.whole_text()),
        };
        let Neighbours { mut duplicates, related } = self.neighbours(&lesson, whole.as_ref());
        if let Some(quarantined) = duplicates.iter().find(|duplicate| duplicate.lesson.is_quarantined()) {
            if arrival == Arrival::MovedIn || !lesson.is_by_hand() {
                return LearnOutcome::Refused { reason: Refusal::Quarantined { id: quarantined.lesson.id } };
            }
            // A text written by a person is a lesson of its own; the other one stays in quarantine.
            duplicates.retain(|duplicate| !duplicate.lesson.is_quarantined());
        }
        let superseded = match supersedes {
            Some(id) => self.plan.book.get(id).cloned(),
            None => self.superseded(&lesson).filter(|_| arrival == Arrival::New),
        };
        if let Some(reason) = review_reason(&lesson, arrival, superseded.as_deref()) {
            let near = duplicates.first().map(|duplicate| duplicate.lesson.id);
            if arrival == Arrival::MovedIn && self.is_review_full() {
                return LearnOutcome::Refused {
                    reason: Refusal::ReviewIsFull { max: self.config.retention.max_waiting },
                };
            }
            return self.await_review(lesson, reason, near);
        }
        let Some(old) = superseded else { return self.merge_or_add(lesson, whole, Neighbours { duplicates, related }) };
        // It is not merged into the lesson that it replaces: a merge could keep the older text.
        duplicates.retain(|duplicate| duplicate.lesson.id != old.id);
        let neighbours = Neighbours { duplicates, related: related.without(old.id) };
        let learned = self.supersede(&old, |learner| learner.merge_or_add(lesson, whole, neighbours));
        if supersedes.is_some() { learned.superseding(old.id) } else { learned }
    }

    /// Merges a lesson into the nearest one with the same advice, or adds it.
    fn merge_or_add(&mut self, lesson: Lesson, whole: Option<UnitVector>, neighbours: Neighbours) -> LearnOutcome {
        let Neighbours { duplicates, related } = neighbours;
        let mut distinct_from = None;
        for duplicate in duplicates {
            let difference = match self.config.learn.dedup {
                DedupPolicy::Guarded | DedupPolicy::Classic => difference(&lesson, &duplicate.lesson),
                DedupPolicy::Plain | DedupPolicy::Off => None,
            };
            match difference {
                None => return self.merge(&duplicate, lesson),
                Some(why) => distinct_from = distinct_from.or(Some(Distinct { from: duplicate, why })),
            }
        }
        let backing = lesson.backing();
        let contradicted = related.contradicted.first().cloned();
        let contradiction = contradicted.map(|from| Distinct { from, why: Difference::Contradiction });
        let distinct_from = distinct_from.or(contradiction);
        self.add(Addition { lesson, whole, distinct_from, related, backing })
    }

    /// The lesson that a mined one replaces, if it still exists.
    fn superseded(&self, lesson: &Lesson) -> Option<Arc<Lesson>> {
        let id = lesson.provenance.supersedes.filter(|_| lesson.provenance.origin == Origin::Mined)?;
        self.plan.book.get(id).cloned()
    }

    /// Replaces a lesson with another one as one change. If the other awaits review, the lesson stays.
    pub(super) fn supersede(
        &mut self,
        old: &Arc<Lesson>,
        learn: impl FnOnce(&mut Self) -> LearnOutcome,
    ) -> LearnOutcome {
        let n_changes = self.plan.changes.len();
        let whole = (self.vector_of)(&old.whole_text());
        self.take(old.id);
        let mut learned = learn(self);
        let gone = Edit::gone(Why::Superseded, Arc::clone(old));
        match &mut learned {
            LearnOutcome::Inserted { id, evicted, change, .. } | LearnOutcome::Distinct { id, evicted, change, .. } => {
                evicted.insert(0, old.id);
                let added = self.plan.book.get(*id).map(|lesson| Edit::added(Why::Inserted, lesson));
                match self.plan.changes.get_mut(n_changes) {
                    Some(recorded) => recorded.edits.push(gone),
                    None => *change = Some(self.record(added.into_iter().chain([gone]).collect())),
                }
            }
            LearnOutcome::Merged { evicted, .. } | LearnOutcome::Superseded { evicted, .. } => {
                evicted.insert(0, old.id);
                if let Some(recorded) = self.plan.changes.get_mut(n_changes) {
                    recorded.edits.push(gone);
                }
            }
            LearnOutcome::Review { .. } | LearnOutcome::Refused { .. } => {
                self.put(Lesson::clone(old), whole.as_ref());
            }
        }
        learned
    }

    /// Refuses a lesson that a person removed, that is here, or that cannot replace what it is to replace.
    fn check(&self, Newcomer { lesson, arrival, supersedes }: &Newcomer) -> Result<(), Refusal> {
        let book = &self.plan.book;
        match arrival {
            Arrival::New if lesson.is_by_hand() => {}
            Arrival::New if book.was_removed(lesson) => return Err(Refusal::Removed),
            Arrival::New => self.check_mined(lesson)?,
            Arrival::MovedIn if book.lists_removal(lesson) => return Err(Refusal::Removed),
            Arrival::MovedIn => self.check_unknown(lesson)?,
        }
        match supersedes {
            Some(id) if book.get(*id).is_none() => Err(Refusal::NothingToSupersede { id: *id }),
            _ => Ok(()),
        }
    }

    /// Refuses to import a text that the playbook has already.
    fn check_unknown(&self, lesson: &Lesson) -> Result<(), Refusal> {
        let book = &self.plan.book;
        let known = self.texts.get_or_init(|| KnownTexts::of(book)).find(lesson);
        // A lesson that had the text may have made room for another one since.
        let is_here =
            |id: &LessonId| book.get(*id).is_some() || book.waiting.iter().any(|waiting| waiting.lesson.id == *id);
        known.filter(is_here).map_or(Ok(()), |id| Err(Refusal::AlreadyHere { id }))
    }

    /// Refuses a lesson that its session taught before, or that exceeds the number per session (docs/spec/capture.md, 5.4).
    fn check_mined(&self, lesson: &Lesson) -> Result<(), Refusal> {
        let (book, session) = (&self.plan.book, &lesson.provenance.session);
        let Some(fingerprint) = mined_text(lesson) else { return Ok(()) };
        if book.mined_texts.contains(&fingerprint) {
            return Err(Refusal::DrawnBefore { session: session.clone() });
        }
        // A list of what was also said is never learned as a whole, so it takes no place. Guesses, of which many may wait, take
        // none of what the user's words confirm, nor do those of the rules take any of what a model proposes.
        let kind = |lesson: &Lesson| (lesson.is_confirmed(), lesson.provenance.recovery.is_some());
        let own_kind = kind(lesson);
        let is_of_session = |other: &&Arc<Lesson>| {
            other.provenance.origin == Origin::Mined
                && other.provenance.session == *session
                && other.also_said().is_empty()
                && kind(other) == own_kind
        };
        let waiting = book.waiting.iter().map(|waiting| &waiting.lesson);
        let max = self.config.learn.max_of_session;
        let is_full = || book.lessons.iter().chain(waiting).filter(is_of_session).count() >= max;
        if lesson.also_said().is_empty() && is_full() {
            return Err(Refusal::TooManyOfSession { session: session.clone(), max });
        }
        Ok(())
    }

    /// Sets the final id. A new lesson gets it here, where its position in the commit is known; an imported row gets a new one
    /// only if its own is taken.
    pub(super) fn assign_id(&mut self, lesson: &mut Lesson, arrival: Arrival) {
        lesson.schema_version = SCHEMA_VERSION;
        let book = &self.plan.book;
        let is_taken =
            book.get(lesson.id).is_some() || book.waiting.iter().any(|waiting| waiting.lesson.id == lesson.id);
        if arrival == Arrival::New || is_taken {
            let Plan { now, generation, .. } = self.plan;
            let seed = [lesson.text_hash().to_string(), generation.to_string(), self.n_learned.to_string()];
            lesson.id = LessonId::numbered(now, self.n_learned, TextHash::of(&seed));
        }
        if arrival == Arrival::New {
            lesson.timestamp = self.plan.now;
        }
        self.n_learned += 1;
    }

    fn merge(&mut self, duplicate: &Duplicate, incoming: Lesson) -> LearnOutcome {
        let backing = incoming.backing();
        let existing = Arc::clone(&duplicate.lesson);
        let mut merged = merge::merge(&existing, &incoming, self.plan.now, &self.config.learn);
        // A lesson that is learned again counts as shown just now.
        merged.shown_at_recall = self.plan.book.recalls(&merged.realm).max(merged.shown_at_recall);
        let whole = merged.whole_text();
        let vector = (self.vector_of)(&whole);
        if vector.is_none() && duplicate.distance.is_some() {
            self.unembedded.push(whole);
        }
        let into = merged.id;
        let mut edits = vec![Edit {
            id: into,
            why: Why::Merged,
            after: Some(merged.text_hash()),
            before: Some(existing),
            incoming: Some(Arc::new(incoming)),
            removed_text: None,
        }];
        self.put(merged.clone(), vector.as_ref());
        self.is_changed = true;
        let evicted =
            match retention::trim(&self.plan.book, &self.dedup.ranking, &merged, backing, &self.config.retention) {
                Trim::Evict(ids) => self.evict(ids, &mut edits),
                Trim::NoRoomForHead => Vec::new(),
            };
        let change = self.record(edits);
        LearnOutcome::Merged { into, distance: duplicate.distance, evicted, change }
    }

    /// Adds a lesson without merging. If the lessons that would have to be evicted have a higher backing, it awaits review.
    pub(super) fn add(&mut self, addition: Addition) -> LearnOutcome {
        let Addition { mut lesson, whole, distinct_from, related, backing } = addition;
        let id = lesson.id;
        let near = distinct_from.as_ref().map(|distinct| distinct.from.lesson.id);
        let linked: BTreeSet<LessonId> = near.into_iter().chain(related.linked()).collect();
        lesson.near.extend(linked.iter().filter(|near| !lesson.near.contains(near)).copied().collect::<Vec<_>>());
        let mut edits = vec![Edit::added(Why::Inserted, &lesson)];
        let evicted =
            match retention::trim(&self.plan.book, &self.dedup.ranking, &lesson, backing, &self.config.retention) {
                Trim::Evict(ids) => self.evict(ids, &mut edits),
                Trim::NoRoomForHead => return self.await_review(lesson, ReviewReason::WouldEvictTrusted, near),
            };
        self.plan.book.begin(&mut lesson);
        self.put(lesson, whole.as_ref());
        self.is_changed = true;
        for near in linked {
            self.link(near, id);
        }
        let change = (!evicted.is_empty()).then(|| self.record(edits));
        match distinct_from {
            None => LearnOutcome::Inserted { id, near: related.alike, evicted, change },
            Some(Distinct { from, why }) => {
                LearnOutcome::Distinct { id, near: from.lesson.id, distance: from.distance, why, evicted, change }
            }
        }
    }

    fn is_review_full(&self) -> bool {
        self.plan.book.waiting.len() >= self.config.retention.max_waiting
    }

    fn await_review(&mut self, mut lesson: Lesson, reason: ReviewReason, near: Option<LessonId>) -> LearnOutcome {
        let text_hash = lesson.text_hash();
        let waiting = &mut self.plan.book.waiting;
        let is_same =
            |waiting: &&Waiting| waiting.lesson.realm == lesson.realm && waiting.lesson.text_hash() == text_hash;
        if let Some(waiting) = waiting.iter().find(is_same) {
            return LearnOutcome::Review { id: waiting.lesson.id, reason: waiting.reason, near };
        }
        lesson.near.extend(near.filter(|near| !lesson.near.contains(near)));
        let id = lesson.id;
        self.is_changed = true;
        waiting.push(Waiting { lesson: Arc::new(lesson), reason });
        let excess = waiting.len().saturating_sub(self.config.retention.max_waiting);
        let edits: Vec<Edit> =
            (waiting.drain(..excess)).map(|waiting| Edit::gone(Why::Unreviewed, waiting.lesson)).collect();
        if !edits.is_empty() {
            self.record(edits);
        }
        LearnOutcome::Review { id, reason, near }
    }

    fn evict(&mut self, ids: Vec<LessonId>, edits: &mut Vec<Edit>) -> Vec<LessonId> {
        for id in &ids {
            let Some(lesson) = self.take(*id) else { continue };
            self.plan.book.remember_evicted(&lesson, self.config.retention.capacity);
            edits.push(Edit::gone(Why::Evicted, lesson));
        }
        ids
    }

    fn record(&mut self, edits: Vec<Edit>) -> ChangeId {
        self.plan.record(Action::Learn, edits)
    }

    fn take(&mut self, id: LessonId) -> Option<Arc<Lesson>> {
        let before = self.plan.book.take(id);
        self.dedup.replace(&Changed { before: before.clone(), after: None }, &|_| None);
        before
    }

    /// Adds a lesson or replaces its text. `whole` is the vector of the text.
    fn put(&mut self, lesson: Lesson, whole: Option<&UnitVector>) {
        let lesson = Arc::new(lesson);
        let before = self.plan.book.lessons.put(Arc::clone(&lesson));
        self.dedup.replace(&Changed { before, after: Some(lesson) }, &|_| whole.cloned());
    }

    /// Links a lesson, if it still exists, with another one near to it.
    fn link(&mut self, id: LessonId, near: LessonId) {
        let before = self.plan.book.get(id).cloned();
        self.plan.book.update(id, |lesson| lesson.near.push(near));
        self.dedup.replace(&Changed { before, after: self.plan.book.get(id).cloned() }, self.vector_of);
    }
}

impl Addition {
    /// A lesson that a person promoted: it is added without merging, and evicts no lesson written by hand.
    pub(super) fn promoted(lesson: Lesson, whole: Option<UnitVector>) -> Self {
        Self { lesson, whole, distinct_from: None, related: Related::default(), backing: Backing::Checked }
    }
}

/// The fingerprint of a mined text and its session, if both are known.
fn mined_text(lesson: &Lesson) -> Option<TextHash> {
    let session = &lesson.provenance.session;
    let is_mined = lesson.provenance.origin == Origin::Mined && !session.is_empty();
    is_mined.then(|| TextHash::of(&[session.as_str(), &lesson.text_hash().to_string()]))
}

/// Why a lesson has to await review; none if it does not.
fn review_reason(lesson: &Lesson, arrival: Arrival, superseded: Option<&Lesson>) -> Option<ReviewReason> {
    if let Some(reason) = ReviewReason::of(lesson) {
        Some(reason)
    } else if arrival == Arrival::New && lesson.is_unevidenced() {
        Some(ReviewReason::Unevidenced)
    } else if arrival == Arrival::New && lesson.is_unsure() {
        Some(ReviewReason::Unsure)
    } else if superseded.is_some_and(|old| !lesson.is_by_hand() && !lesson.may_supersede(old)) {
        Some(ReviewReason::WouldSupersedeTrusted)
    } else {
        None
    }
}
