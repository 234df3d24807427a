//! The playbook as a value: what is decided on.

use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

use super::lessons_by_time::Timeline;
use crate::error::{Error, Result};
use crate::lesson::{ChangeId, Lesson, LessonId, LessonRef, TextHash};

/// A person asked for this lesson to go; it is remembered so that it stays gone (playbook 7).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Removed {
    pub(crate) id: LessonId,
    pub(crate) text_hash: TextHash,
    pub(crate) at: DateTime<FixedOffset>,
    /// The change that removed it, for `undo`.
    pub(crate) change: Option<ChangeId>,
    /// The lesson itself, for 30 days.
    pub(crate) lesson: Option<Arc<Lesson>>,
}

/// Why a lesson waits for review instead of being shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReviewReason {
    /// Untrusted content could have shaped it; a person has to promote exactly this text.
    #[error("untrusted content could have shaped it")]
    Tainted,
    /// No user's words stand behind it.
    #[error("no user's words stand behind it")]
    Unevidenced,
    /// It is to take the place of a lesson that a person stands behind, or that holds elsewhere.
    #[error("it would replace a lesson that a person stands behind or that holds elsewhere")]
    WouldSupersedeTrusted,
    /// The playbook is full, and only hand-written or verified lessons could make room for this automatic one.
    #[error("only hand-written or verified lessons could make room for it")]
    WouldEvictTrusted,
}

/// A lesson that waits for review. It is not shown and takes no room.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Waiting {
    pub(crate) lesson: Arc<Lesson>,
    pub(crate) reason: ReviewReason,
}

/// All lessons, newest first, with those that wait and those that were removed. A clone shares the lessons.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Book {
    pub(crate) lessons: Timeline,
    pub(crate) waiting: Vec<Waiting>,
    pub(crate) removed: Vec<Removed>,
    /// Rows that are no lessons, kept as they are.
    pub(crate) unread: Vec<Value>,
    /// What was drawn from sessions, so that a session read twice teaches once; the latest last.
    pub(crate) drawn: Vec<TextHash>,
    /// Suggestions that a person does not want.
    pub(crate) skips: Vec<Skip>,
}

/// A suggestion that a person does not want to see again for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skip {
    /// The suggestion's name.
    pub name: String,
    /// When it was skipped last.
    pub at: DateTime<FixedOffset>,
    /// How often it was skipped.
    pub times: u64,
}

/// Draws that are remembered.
const MAX_DRAWN: usize = 10_000;

impl Book {
    pub(crate) fn get(&self, id: LessonId) -> Option<&Arc<Lesson>> {
        self.lessons.get(id)
    }

    /// Replaces the lesson of the same id, or adds it, at its place in time.
    pub(crate) fn put(&mut self, lesson: Lesson) {
        self.lessons.put(Arc::new(lesson));
    }

    pub(crate) fn take(&mut self, id: LessonId) -> Option<Arc<Lesson>> {
        self.lessons.take(id)
    }

    /// Changes a lesson in place, if it is there; for what does not move its time.
    pub(crate) fn update(&mut self, id: LessonId, change: impl FnOnce(&mut Lesson)) {
        self.lessons.update(id, change);
    }

    /// The lesson that is meant (playbook 6).
    ///
    /// # Errors
    /// `NoSuchLesson`; `Ambiguous` with the ids when several have the trigger.
    pub(crate) fn resolve(&self, reference: &LessonRef) -> Result<&Arc<Lesson>> {
        let missing = || Error::NoSuchLesson { lesson: reference.clone() };
        let trigger = match reference {
            LessonRef::Id(id) => return self.get(*id).ok_or_else(missing),
            LessonRef::Trigger(trigger) => trigger,
        };
        let folded = |text: &str| text.trim().nfc().collect::<String>().to_lowercase();
        let wanted = folded(trigger);
        let found: Vec<&Arc<Lesson>> = self.lessons.iter().filter(|lesson| folded(&lesson.trigger) == wanted).collect();
        match found.as_slice() {
            [] => Err(missing()),
            [one] => Ok(one),
            several => Err(Error::Ambiguous {
                trigger: trigger.clone(),
                ids: several.iter().map(|lesson| lesson.id).collect(),
            }),
        }
    }

    /// Remembers what was drawn from a session. False when it was drawn before.
    pub(crate) fn draw(&mut self, fingerprint: TextHash) -> bool {
        if self.drawn.contains(&fingerprint) {
            return false;
        }
        let excess = (self.drawn.len() + 1).saturating_sub(MAX_DRAWN);
        self.drawn.drain(..excess);
        self.drawn.push(fingerprint);
        true
    }

    /// True when a person removed exactly this text.
    pub(crate) fn was_removed(&self, text_hash: TextHash) -> bool {
        self.removed.iter().any(|removed| removed.text_hash == text_hash)
    }

    /// Remembers that a person asked for this lesson to go.
    pub(crate) fn remember_removal(&mut self, lesson: Arc<Lesson>, change: ChangeId, at: DateTime<FixedOffset>) {
        let (id, text_hash) = (lesson.id, lesson.text_hash());
        self.removed.push(Removed { id, text_hash, at, change: Some(change), lesson: Some(lesson) });
    }

    /// Forgets removals of this text: it was learned by hand again. True when there was one.
    pub(crate) fn forget_removal(&mut self, text_hash: TextHash) -> bool {
        let n_before = self.removed.len();
        self.removed.retain(|removed| removed.text_hash != text_hash);
        self.removed.len() < n_before
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
