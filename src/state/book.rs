//! The playbook as a value, the input of decisions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

use super::evicted::Evicted;
use super::lessons_by_time::LessonsByTime;
use super::removals::{Removals, Removed};
use super::utility;
use crate::config::UtilityPolicy;
use crate::error::{Error, Result};
use crate::lesson::{ChangeId, Lesson, LessonId, LessonRef, Realm, RemovedText, TextHash};

/// Why a lesson awaits review instead of being shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReviewReason {
    /// It may come from untrusted content; a person has to promote exactly this text.
    #[error("may come from untrusted content")]
    Tainted,
    /// A person promoted it, and its shown text has changed since.
    #[error("it was changed after a person promoted it")]
    Changed,
    /// It was found in a session.
    #[error("found in a session")]
    #[serde(alias = "unevidenced", alias = "unsure")]
    Mined,
    /// It would replace a lesson that is written by hand or verified, or that belongs to another realm.
    #[error("it would replace a lesson that a person backs or that belongs to another realm")]
    WouldSupersedeTrusted,
    /// The playbook is full, and only lessons written by hand or verified could be evicted for this automatic one.
    #[error("only hand-written or verified lessons could make room for it")]
    WouldEvictTrusted,
    /// Another branch changed a lesson that was changed here too: its text was kept beside the one in use when the branches were merged.
    #[error("another branch changed the same lesson in another way")]
    OtherVersion,
}

/// A lesson that awaits review. It is not shown and does not count towards the capacity.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Waiting {
    /// The lesson.
    pub lesson: Arc<Lesson>,
    /// Why it awaits review.
    pub reason: ReviewReason,
}

impl ReviewReason {
    /// Why a lesson needs review before it may be shown; none if it may be shown, or is disabled.
    pub(crate) fn of(lesson: &Lesson) -> Option<Self> {
        if lesson.is_admitted() || lesson.is_disabled() {
            return None;
        }
        Some(if lesson.provenance.promoted.is_some() { Self::Changed } else { Self::Tainted })
    }
}

/// All lessons, newest first, with those that await review and those that were removed. Clones share the lessons.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Book {
    pub(crate) lessons: LessonsByTime,
    pub(crate) waiting: Vec<Waiting>,
    pub(crate) removed: Removals,
    /// Lessons from version control that the user has not admitted. They are kept in the file, but not used.
    pub(crate) foreign: Vec<Arc<Lesson>>,
    /// Rows that are not lessons, kept as they are.
    pub(crate) unread: Vec<Value>,
    /// Hashes of mined texts, so that a session that is read twice is learned once; the latest last.
    pub(crate) mined_texts: Vec<TextHash>,
    /// Suggestions that a person skipped.
    pub(crate) skips: Vec<SkippedSuggestion>,
    /// The number of recalls per realm that showed a lesson of it; lessons age by this number.
    pub(crate) recalls: BTreeMap<Realm, u64>,
    /// The counts of evicted and pruned lessons, the latest last.
    pub(crate) evicted: Vec<Evicted>,
}

/// A suggestion that a person skipped. It is not made again for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkippedSuggestion {
    /// Its name.
    pub name: String,
    /// When it was skipped last.
    pub at: DateTime<FixedOffset>,
    /// How often it was skipped.
    pub times: u64,
}

/// The most fingerprints that are kept.
const MAX_MINED_TEXTS: usize = 10_000;
/// The minimum number of hexadecimal digits of an id prefix.
const MIN_ID_PREFIX: usize = 4;

impl Book {
    /// The number of recalls that showed a lesson of this realm.
    pub(crate) fn recalls(&self, realm: &Realm) -> u64 {
        self.recalls.get(realm).copied().unwrap_or_default()
    }

    /// Copies the records other than lessons from an earlier book, where this one has none.
    pub(crate) fn keep_records_of(&mut self, earlier: &Self) {
        fn keep<T: Clone + Default + PartialEq>(own: &mut T, earlier: &T) {
            if *own == T::default() {
                own.clone_from(earlier);
            }
        }
        keep(&mut self.mined_texts, &earlier.mined_texts);
        keep(&mut self.skips, &earlier.skips);
        keep(&mut self.recalls, &earlier.recalls);
        keep(&mut self.evicted, &earlier.evicted);
    }

    /// The present utility of a lesson of this book.
    pub(crate) fn utility(&self, policy: UtilityPolicy, lesson: &Lesson) -> f64 {
        utility::under(policy, lesson, self.recalls(&lesson.realm))
    }

    /// Counts one recall in each realm of the lessons that it showed.
    pub(crate) fn count_recall(&mut self, shown: impl Iterator<Item = LessonId>) {
        let realms = shown.filter_map(|id| self.lessons.get(id)).map(|lesson| lesson.realm.clone());
        for realm in realms.collect::<BTreeSet<Realm>>() {
            let recalls = self.recalls.entry(realm).or_default();
            *recalls = recalls.saturating_add(1);
        }
    }

    pub(crate) fn get(&self, id: LessonId) -> Option<&Arc<Lesson>> {
        self.lessons.get(id)
    }

    /// Replaces the lesson with the same id, or adds it; sorted by time.
    pub(crate) fn put(&mut self, lesson: Lesson) {
        self.lessons.put(Arc::new(lesson));
    }

    pub(crate) fn take(&mut self, id: LessonId) -> Option<Arc<Lesson>> {
        self.lessons.take(id)
    }

    /// Changes a lesson in place, if it is there: not its id and not its time.
    pub(crate) fn update(&mut self, id: LessonId, change: impl FnOnce(&mut Lesson)) {
        self.lessons.update(id, change);
    }

    /// The lesson that a reference names (docs/spec/playbook.md, 6).
    ///
    /// # Errors
    /// `NoSuchLesson`; `Ambiguous` with the ids when several have the trigger.
    pub(crate) fn resolve(&self, reference: &LessonRef) -> Result<&Arc<Lesson>> {
        let found = self.named(reference);
        match found.as_slice() {
            [] => Err(Error::NoSuchLesson { lesson: reference.clone() }),
            [one] => Ok(one),
            several => Err(Error::Ambiguous {
                trigger: reference.trigger().to_owned(),
                ids: several.iter().map(|lesson| lesson.id).collect(),
            }),
        }
    }

    fn named(&self, reference: &LessonRef) -> Vec<&Arc<Lesson>> {
        match reference {
            LessonRef::Id(id) => self.get(*id).into_iter().collect(),
            LessonRef::Trigger(trigger) => {
                let folded = |text: &str| text.trim().nfc().collect::<String>().to_lowercase();
                let wanted = folded(trigger);
                let named: Vec<_> = self.lessons.iter().filter(|lesson| folded(&lesson.trigger) == wanted).collect();
                if named.is_empty() { self.beginning_with(&wanted) } else { named }
            }
            LessonRef::Within { realm, lesson } => {
                let mut seen = self.named(lesson);
                seen.retain(|lesson| realm.sees(&lesson.realm));
                if seen.iter().any(|lesson| lesson.realm == *realm) {
                    seen.retain(|lesson| lesson.realm == *realm);
                }
                seen
            }
        }
    }

    /// The lessons whose id has this prefix, if it is a valid one.
    fn beginning_with(&self, digits: &str) -> Vec<&Arc<Lesson>> {
        let is_digits = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'));
        if !is_digits || digits.len() < MIN_ID_PREFIX {
            return Vec::new();
        }
        self.lessons.iter().filter(|lesson| lesson.id.to_string().starts_with(digits)).collect()
    }

    /// Records that a text was mined from a session. False if it was recorded before.
    pub(crate) fn remember_mined(&mut self, fingerprint: TextHash) -> bool {
        if self.mined_texts.contains(&fingerprint) {
            return false;
        }
        let excess = (self.mined_texts.len() + 1).saturating_sub(MAX_MINED_TEXTS);
        self.mined_texts.drain(..excess);
        self.mined_texts.push(fingerprint);
        true
    }

    /// The lesson with this id, in use or in review.
    pub(crate) fn in_use_or_review(&self, id: LessonId) -> Option<&Arc<Lesson>> {
        self.get(id).or_else(|| self.in_review(id).next())
    }

    /// What is here of a lesson: in use, in review, or removed not long ago.
    pub(crate) fn any_with(&self, id: LessonId) -> impl Iterator<Item = &Arc<Lesson>> {
        let removed = self.removed.iter().filter(move |removed| removed.id == id);
        self.get(id).into_iter().chain(self.in_review(id)).chain(removed.filter_map(|removed| removed.lesson.as_ref()))
    }

    fn in_review(&self, id: LessonId) -> impl Iterator<Item = &Arc<Lesson>> {
        self.waiting.iter().map(|waiting| &waiting.lesson).filter(move |lesson| lesson.id == id)
    }

    /// The lessons in use and in review.
    pub(crate) fn used_and_reviewed(&self) -> impl Iterator<Item = &Arc<Lesson>> {
        self.lessons.iter().chain(self.waiting.iter().map(|waiting| &waiting.lesson))
    }

    /// All lessons, also those that nobody has admitted and those in review.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Lesson>> {
        self.used_and_reviewed().chain(&self.foreign)
    }

    /// Records that a person removed this lesson.
    pub(crate) fn remember_removal(&mut self, lesson: Arc<Lesson>, change: ChangeId, at: DateTime<FixedOffset>) {
        let (id, text) = (lesson.id, RemovedText::of(&lesson));
        self.forget_evicted(&lesson);
        self.removed.push(Removed { id, text, at, change: Some(change), lesson: Some(lesson) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, lesson};

    #[test]
    fn lessons_stand_newest_first() {
        let mut book = Book::default();
        for (trigger, seconds) in [("old", 1), ("newest", 9), ("middle", 5)] {
            book.put(Lesson { timestamp: at(seconds), ..lesson(trigger, "s") });
        }
        let triggers: Vec<&str> = book.lessons.iter().map(|lesson| lesson.trigger.as_str()).collect();
        assert_eq!(triggers, ["newest", "middle", "old"]);
    }

    #[test]
    fn a_trigger_names_a_lesson_whatever_its_case_unless_several_have_it() {
        let mut book = Book::default();
        book.put(lesson("Parse dates", "s"));
        book.put(lesson("twice", "a"));
        book.put(lesson("Twice", "b"));
        assert_eq!(book.resolve(&" parse DATES ".into()).unwrap().trigger, "Parse dates");
        assert!(matches!(book.resolve(&"none".into()), Err(Error::NoSuchLesson { .. })));
        match book.resolve(&"TWICE".into()) {
            Err(Error::Ambiguous { ids, .. }) => assert_eq!(ids.len(), 2),
            other => panic!("{other:?}"),
        }
    }
}
