//! Learning: from an admitted lesson to what the playbook becomes (playbook 3). A pure stage.

pub(crate) mod feedback;
mod learned;
mod merge;
pub(crate) mod retention;
pub(crate) mod review;
pub(crate) mod undo;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::config::{Config, DedupPolicy};
use crate::difference::{Difference, difference};
use crate::lesson::{ChangeId, Lesson, LessonId, Origin, Realm, Refusal, SCHEMA_VERSION, TextHash};
use crate::state::{Action, Book, Change, DedupIndex, Edit, ReviewReason, Waiting, Why, change_id};
use adage_index::UnitVector;
use chrono::{DateTime, FixedOffset};
pub use feedback::{Outcome, Verification};
pub use learned::Learned;
use retention::Trim;

/// How many duplicates are looked at, nearest first, before a lesson is taken for a new one.
const MAX_DUPLICATES: usize = 16;

/// A lesson on its way in.
#[derive(Clone, Debug)]
pub(crate) struct Newcomer {
    pub(crate) lesson: Lesson,
    /// The vector of its whole text, where there is an embedder.
    pub(crate) whole: Option<UnitVector>,
    /// A row that is moved in keeps its name, time and counts.
    pub(crate) keeps_history: bool,
}

/// A working copy of the playbook that learns one lesson after another.
pub(crate) struct Learner<'a> {
    config: &'a Config,
    now: DateTime<FixedOffset>,
    generation: u64,
    n_learned: usize,
    pub(crate) book: Book,
    pub(crate) changes: Vec<Change>,
    /// True when there is something to commit.
    pub(crate) is_changed: bool,
    /// Whole texts that came out of a merge and whose vectors are not known yet.
    pub(crate) unembedded: Vec<String>,
    dedup: DedupIndex,
    /// The texts that are here, by realm; made when a row is moved in.
    texts: Option<HashMap<(Realm, TextHash), LessonId>>,
    vector_of: &'a dyn Fn(&str) -> Option<UnitVector>,
}

struct Duplicate {
    lesson: Arc<Lesson>,
    distance: Option<f32>,
}

impl<'a> Learner<'a> {
    /// `dedup` is that of the book; `vector_of` gives the vector of a whole text, as far as it is known.
    pub(crate) fn new(
        (book, dedup): (Book, DedupIndex),
        generation: u64,
        now: DateTime<FixedOffset>,
        config: &'a Config,
        vector_of: &'a dyn Fn(&str) -> Option<UnitVector>,
    ) -> Self {
        Self {
            config,
            now,
            generation,
            n_learned: 0,
            book,
            changes: Vec::new(),
            is_changed: false,
            unembedded: Vec::new(),
            dedup,
            texts: None,
            vector_of,
        }
    }

    /// The dedup of the book as it is now.
    pub(crate) fn dedup(&mut self) -> DedupIndex {
        self.dedup.set_lessons(&self.book.lessons);
        self.dedup.clone()
    }

    /// Learns one lesson and says what became of it.
    pub(crate) fn learn(&mut self, newcomer: Newcomer) -> Learned {
        let Newcomer { mut lesson, whole, keeps_history } = newcomer;
        if let Some(reason) = self.refuse(&lesson, keeps_history) {
            return Learned::Refused { reason };
        }
        if !keeps_history && let Some(reason) = self.refuse_mined(&lesson) {
            return Learned::Refused { reason };
        }
        self.name(&mut lesson, keeps_history);
        let mut duplicates = self.duplicates(&lesson, whole.as_ref());
        let superseded = if keeps_history { None } else { self.superseded(&lesson) };
        let reason = if !lesson.is_admitted() {
            Some(ReviewReason::Tainted)
        } else if !keeps_history && lesson.is_unevidenced() {
            Some(ReviewReason::Unevidenced)
        } else if superseded.as_ref().is_some_and(|old| !lesson.may_supersede(old)) {
            Some(ReviewReason::WouldSupersedeTrusted)
        } else {
            None
        };
        if let Some(reason) = reason {
            let near = duplicates.first().map(|duplicate| duplicate.lesson.id);
            return self.wait(lesson, reason, near);
        }
        if let Some(old) = superseded {
            // Not merged into what it replaces: of two texts a merge could keep the older one.
            duplicates.retain(|duplicate| duplicate.lesson.id != old.id);
            return self.supersede(&old, |learner| learner.place(lesson, whole.as_ref(), duplicates));
        }
        self.place(lesson, whole.as_ref(), duplicates)
    }

    /// Merges a lesson into the nearest one that says the same, or enters it.
    fn place(&mut self, lesson: Lesson, whole: Option<&UnitVector>, duplicates: Vec<Duplicate>) -> Learned {
        let mut apart = None;
        for duplicate in duplicates {
            let difference = match self.config.learn.dedup {
                DedupPolicy::Guarded => difference(&lesson, &duplicate.lesson),
                DedupPolicy::Plain | DedupPolicy::Off => None,
            };
            match difference {
                None => return self.merge(&duplicate, lesson),
                Some(why) => apart = apart.or(Some((duplicate, why))),
            }
        }
        self.insert(lesson, whole, apart)
    }

    /// The lesson that a mined one is to take the place of, if it is still here.
    fn superseded(&self, lesson: &Lesson) -> Option<Arc<Lesson>> {
        let id = lesson.provenance.supersedes.filter(|_| lesson.provenance.origin == Origin::Mined)?;
        self.book.get(id).cloned()
    }

    /// Takes a lesson out, lets another one in, and records both as one change; the lesson stays where the other has to wait.
    fn supersede(&mut self, old: &Arc<Lesson>, learn: impl FnOnce(&mut Self) -> Learned) -> Learned {
        let n_changes = self.changes.len();
        let whole = (self.vector_of)(&old.whole_text());
        self.book.take(old.id);
        self.dedup.replace(Some(old), None, |_| None);
        let mut learned = learn(self);
        let gone = Edit::gone(Why::Superseded, Arc::clone(old));
        match &mut learned {
            Learned::Inserted { id, evicted, change } | Learned::KeptApart { id, evicted, change, .. } => {
                evicted.insert(0, old.id);
                let added = self.book.get(*id).map(|lesson| Edit::added(Why::Inserted, lesson));
                match self.changes.get_mut(n_changes) {
                    Some(recorded) => recorded.edits.push(gone),
                    None => *change = Some(self.record(added.into_iter().chain([gone]).collect())),
                }
            }
            Learned::Merged { evicted, .. } => {
                evicted.insert(0, old.id);
                if let Some(recorded) = self.changes.get_mut(n_changes) {
                    recorded.edits.push(gone);
                }
            }
            Learned::Review { .. } | Learned::Refused { .. } => {
                self.put(Lesson::clone(old), whole.as_ref());
            }
        }
        learned
    }

    fn refuse(&mut self, lesson: &Lesson, keeps_history: bool) -> Option<Refusal> {
        let text_hash = lesson.text_hash();
        let is_by_hand = lesson.provenance.origin == Origin::Hand && !keeps_history;
        if is_by_hand {
            self.is_changed |= self.book.forget_removal(text_hash);
        } else if self.book.was_removed(text_hash)
            || (keeps_history && self.book.removed.iter().any(|removed| removed.id == lesson.id))
        {
            return Some(Refusal::Removed);
        }
        if !keeps_history {
            return None;
        }
        let waiting = self.book.waiting.iter().map(|waiting| &waiting.lesson);
        let here = self.texts.get_or_insert_with(|| {
            let known = self.book.lessons.iter().chain(waiting);
            known.map(|known| ((known.realm.clone(), known.text_hash()), known.id)).collect()
        });
        match here.entry((lesson.realm.clone(), text_hash)) {
            Entry::Occupied(known) => Some(Refusal::AlreadyHere { id: *known.get() }),
            Entry::Vacant(place) => {
                place.insert(lesson.id);
                None
            }
        }
    }

    /// A session teaches each thing once, and only so many by itself (capture 5.4).
    fn refuse_mined(&mut self, lesson: &Lesson) -> Option<Refusal> {
        let session = &lesson.provenance.session;
        if lesson.provenance.origin != Origin::Mined || session.is_empty() {
            return None;
        }
        let fingerprint = TextHash::of(&[session.as_str(), &lesson.text_hash().to_string()]);
        if self.book.mined_texts.contains(&fingerprint) {
            return Some(Refusal::DrawnBefore { session: session.clone() });
        }
        let is_of_session =
            |other: &&Arc<Lesson>| other.provenance.origin == Origin::Mined && other.provenance.session == *session;
        let waiting = self.book.waiting.iter().map(|waiting| &waiting.lesson);
        let max = self.config.learn.max_of_session;
        if self.book.lessons.iter().chain(waiting).filter(is_of_session).count() >= max {
            return Some(Refusal::TooManyOfSession { session: session.clone(), max });
        }
        self.is_changed |= self.book.remember_mined(fingerprint);
        None
    }

    /// A fresh lesson gets its name here, where the batch and the generation are known.
    fn name(&mut self, lesson: &mut Lesson, keeps_history: bool) {
        lesson.schema_version = SCHEMA_VERSION;
        let is_taken = self.book.get(lesson.id).is_some();
        if !keeps_history || is_taken {
            let seed = [lesson.text_hash().to_string(), self.generation.to_string(), self.n_learned.to_string()];
            lesson.id = LessonId::numbered(self.now, self.n_learned, TextHash::of(&seed));
        }
        if !keeps_history {
            lesson.timestamp = self.now;
        }
        self.n_learned += 1;
    }

    /// The lessons of the same realm that could be the same, nearest first; then those of the same task and trigger.
    fn duplicates(&self, lesson: &Lesson, whole: Option<&UnitVector>) -> Vec<Duplicate> {
        let near = whole.map_or_else(Vec::new, |whole| self.dedup.nearest(&lesson.realm, whole, MAX_DUPLICATES));
        let near = near.into_iter().filter(|near| near.distance < self.config.learn.duplicate_distance);
        let mut found: Vec<Duplicate> = near
            .filter_map(|near| {
                Some(Duplicate { lesson: Arc::clone(self.book.get(near.id)?), distance: Some(near.distance) })
            })
            .collect();
        let is_new = |id: &LessonId| found.iter().all(|known| known.lesson.id != *id);
        let mut titled: Vec<Arc<Lesson>> =
            self.dedup.titled(lesson).filter(is_new).filter_map(|id| self.book.get(id).cloned()).collect();
        titled.sort_by(|one, other| one.newest_first(other));
        found.extend(titled.into_iter().map(|lesson| Duplicate { lesson, distance: None }));
        found
    }

    fn merge(&mut self, duplicate: &Duplicate, incoming: Lesson) -> Learned {
        let existing = Arc::clone(&duplicate.lesson);
        let merged = merge::merge(&existing, &incoming, self.now, &self.config.learn);
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
        let evicted = match retention::trim(&self.dedup.ranking, &merged, &self.config.retention) {
            Trim::Evict(ids) => self.evict(&ids, &mut edits),
            Trim::NoRoomForHead => Vec::new(),
        };
        let change = self.record(edits);
        Learned::Merged { into, distance: duplicate.distance, evicted, change }
    }

    fn insert(
        &mut self,
        mut lesson: Lesson,
        whole: Option<&UnitVector>,
        apart: Option<(Duplicate, Difference)>,
    ) -> Learned {
        let id = lesson.id;
        let near = apart.as_ref().map(|(duplicate, _)| duplicate.lesson.id);
        lesson.near.extend(near.filter(|near| !lesson.near.contains(near)));
        let mut edits = vec![Edit::added(Why::Inserted, &lesson)];
        let evicted = match retention::trim(&self.dedup.ranking, &lesson, &self.config.retention) {
            Trim::Evict(ids) => self.evict(&ids, &mut edits),
            Trim::NoRoomForHead => return self.wait(lesson, ReviewReason::WouldEvictTrusted, near),
        };
        self.is_changed = true;
        self.put(lesson, whole);
        if let Some(near) = near {
            self.link(near, id);
        }
        let change = (!evicted.is_empty()).then(|| self.record(edits));
        match apart {
            None => Learned::Inserted { id, evicted, change },
            Some((duplicate, why)) => {
                Learned::KeptApart { id, near: duplicate.lesson.id, distance: duplicate.distance, why, evicted, change }
            }
        }
    }

    fn wait(&mut self, mut lesson: Lesson, reason: ReviewReason, near: Option<LessonId>) -> Learned {
        let text_hash = lesson.text_hash();
        let is_same =
            |waiting: &&Waiting| waiting.lesson.realm == lesson.realm && waiting.lesson.text_hash() == text_hash;
        if let Some(waiting) = self.book.waiting.iter().find(is_same) {
            return Learned::Review { id: waiting.lesson.id, reason: waiting.reason, near };
        }
        lesson.near.extend(near.filter(|near| !lesson.near.contains(near)));
        let id = lesson.id;
        self.is_changed = true;
        self.book.waiting.push(Waiting { lesson: Arc::new(lesson), reason });
        let excess = self.book.waiting.len().saturating_sub(self.config.retention.max_waiting);
        let edits: Vec<Edit> =
            (self.book.waiting.drain(..excess)).map(|waiting| Edit::gone(Why::Unreviewed, waiting.lesson)).collect();
        if !edits.is_empty() {
            self.record(edits);
        }
        Learned::Review { id, reason, near }
    }

    fn evict(&mut self, ids: &[LessonId], edits: &mut Vec<Edit>) -> Vec<LessonId> {
        for id in ids {
            if let Some(lesson) = self.book.take(*id) {
                self.dedup.replace(Some(&lesson), None, |_| None);
                edits.push(Edit::gone(Why::Evicted, lesson));
            }
        }
        ids.to_vec()
    }

    fn record(&mut self, edits: Vec<Edit>) -> ChangeId {
        let id = change_id(self.now, self.generation, self.changes.len());
        self.changes.push(Change { id, at: self.now, action: Action::Learn, undoes: None, edits });
        id
    }

    /// Enters a lesson, or its new text, whose vector is this one.
    fn put(&mut self, lesson: Lesson, whole: Option<&UnitVector>) {
        let lesson = Arc::new(lesson);
        let before = self.book.lessons.put(Arc::clone(&lesson));
        self.dedup.replace(before.as_deref(), Some(&lesson), |_| whole.cloned());
    }

    /// Notes at a lesson, if it is still here, that another one is close to it.
    fn link(&mut self, id: LessonId, near: LessonId) {
        let before = self.book.get(id).cloned();
        self.book.update(id, |lesson| lesson.near.push(near));
        self.dedup.replace(before.as_deref(), self.book.get(id).map(Arc::as_ref), self.vector_of);
    }
}

#[cfg(test)]
mod tests;
