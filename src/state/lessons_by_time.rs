//! The lessons, sorted newest first and indexed by id. Clones share them.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use serde::{Serialize, Serializer};

use super::pieces::{Pieces, StoredPieces};
use crate::lesson::{Lesson, LessonId};
use crate::sorted_blocks::SortedBlocks;

/// All lessons of a playbook.
#[derive(Clone, Debug, Default)]
pub(crate) struct LessonsByTime {
    lessons: SortedBlocks<Arc<Lesson>>,
    /// The time by which each one is sorted.
    times: SortedBlocks<(LessonId, DateTime<FixedOffset>)>,
}

/// A lesson before and after a change; at least one of the two exists.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changed {
    pub(crate) before: Option<Arc<Lesson>>,
    pub(crate) after: Option<Arc<Lesson>>,
}

impl LessonsByTime {
    pub(crate) fn len(&self) -> usize {
        self.lessons.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lessons.is_empty()
    }

    /// Newest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<Lesson>> + Clone {
        self.lessons.iter()
    }

    pub(crate) fn get(&self, id: LessonId) -> Option<&Arc<Lesson>> {
        let time = self.time(id)?;
        self.lessons.find(|lesson| place(lesson, time, id))
    }

    /// Adds a lesson, or replaces the one with the same id. Returns the replaced one.
    pub(crate) fn put(&mut self, lesson: Arc<Lesson>) -> Option<Arc<Lesson>> {
        let (id, time) = (lesson.id, lesson.timestamp);
        let replaced = self.take(id);
        self.times.put((id, time), |row| row.0.cmp(&id));
        self.lessons.put(lesson, |other| place(other, time, id));
        replaced
    }

    pub(crate) fn take(&mut self, id: LessonId) -> Option<Arc<Lesson>> {
        let (_, time) = self.times.take(|row| row.0.cmp(&id))?;
        self.lessons.take(|lesson| place(lesson, time, id))
    }

    /// Changes a lesson in place: not its id and not its time.
    pub(crate) fn update(&mut self, id: LessonId, change: impl FnOnce(&mut Lesson)) {
        let Some(time) = self.time(id) else { return };
        if let Some(lesson) = self.lessons.find_mut(|lesson| place(lesson, time, id)) {
            change(Arc::make_mut(lesson));
        }
    }

    /// The changes to a newer state, in the order of ids. Lessons shared by both states are skipped by pointer comparison;
    /// those of a file that was read again are compared by value.
    pub(crate) fn changed(&self, newer: &Self) -> Vec<Changed> {
        let is_same = |one: &Arc<Lesson>, other: &Arc<Lesson>| Arc::ptr_eq(one, other) || one == other;
        let differing = self.lessons.differing(&newer.lessons, |one, other| one.newest_first(other), is_same);
        // A lesson whose time changed is in two positions.
        let mut changed: BTreeMap<LessonId, Changed> = BTreeMap::new();
        for (before, after) in differing {
            if let Some(before) = before {
                changed.entry(before.id).or_default().before = Some(Arc::clone(before));
            }
            if let Some(after) = after {
                changed.entry(after.id).or_default().after = Some(Arc::clone(after));
            }
        }
        changed.into_values().collect()
    }

    pub(crate) fn write(&self, pieces: &mut Pieces<'_>) {
        pieces.push_rows(&self.lessons);
        pieces.push_rows(&self.times);
    }

    /// Reads what [`LessonsByTime::write`] wrote. A lesson is decoded on demand.
    pub(crate) fn read(pieces: &mut StoredPieces<'_>) -> Option<Self> {
        let stored = Self { lessons: pieces.rows()?, times: pieces.rows()? };
        (stored.lessons.len() == stored.times.len()).then_some(stored)
    }

    fn time(&self, id: LessonId) -> Option<DateTime<FixedOffset>> {
        self.times.find(|row| row.0.cmp(&id)).map(|row| row.1)
    }
}

/// The order of a lesson relative to the one of this time and id.
fn place(lesson: &Lesson, time: DateTime<FixedOffset>, id: LessonId) -> Ordering {
    time.cmp(&lesson.timestamp).then(id.cmp(&lesson.id))
}

impl FromIterator<Arc<Lesson>> for LessonsByTime {
    /// In any order, each id once.
    fn from_iter<I: IntoIterator<Item = Arc<Lesson>>>(lessons: I) -> Self {
        let mut lessons: Vec<Arc<Lesson>> = lessons.into_iter().collect();
        lessons.sort_by(|one, other| one.newest_first(other));
        let times = lessons.iter().map(|lesson| (lesson.id, lesson.timestamp)).collect();
        Self { lessons: SortedBlocks::from_sorted(lessons), times: SortedBlocks::of(times) }
    }
}

impl PartialEq for LessonsByTime {
    fn eq(&self, other: &Self) -> bool {
        self.lessons == other.lessons
    }
}

impl Serialize for LessonsByTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.lessons.iter())
    }
}
