//! The lessons in their order, newest first, and found by name. A clone shares them.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use serde::{Serialize, Serializer};

use crate::lesson::{Lesson, LessonId};
use crate::sorted_blocks::Shelf;

/// All lessons of a playbook.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timeline {
    lessons: Shelf<Arc<Lesson>>,
    /// Under which time each one stands.
    times: Shelf<(LessonId, DateTime<FixedOffset>)>,
}

/// A lesson as it was and as it is; one of the two is there at least.
pub(crate) type Changed = (Option<Arc<Lesson>>, Option<Arc<Lesson>>);

impl Timeline {
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

    /// Replaces the lesson of the same id, or adds it, at its place in time; what it replaced.
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

    /// Changes a lesson where it stands: neither its name nor its time.
    pub(crate) fn update(&mut self, id: LessonId, change: impl FnOnce(&mut Lesson)) {
        let Some(time) = self.time(id) else { return };
        if let Some(lesson) = self.lessons.find_mut(|lesson| place(lesson, time, id)) {
            change(Arc::make_mut(lesson));
        }
    }

    /// What a newer state changed, in the order of names. Lessons that both share are passed over by their pointers, those of
    /// a state that was read again are compared.
    pub(crate) fn changed(&self, newer: &Self) -> Vec<Changed> {
        let is_same = |one: &Arc<Lesson>, other: &Arc<Lesson>| Arc::ptr_eq(one, other) || one == other;
        let differing = self.lessons.differing(&newer.lessons, |one, other| one.newest_first(other), is_same);
        // One whose time changed stands in two places.
        let mut changed: BTreeMap<LessonId, Changed> = BTreeMap::new();
        for (before, after) in differing {
            if let Some(before) = before {
                changed.entry(before.id).or_default().0 = Some(Arc::clone(before));
            }
            if let Some(after) = after {
                changed.entry(after.id).or_default().1 = Some(Arc::clone(after));
            }
        }
        changed.into_values().collect()
    }

    fn time(&self, id: LessonId) -> Option<DateTime<FixedOffset>> {
        self.times.find(|row| row.0.cmp(&id)).map(|row| row.1)
    }
}

/// Where a lesson stands beside the one of this time and name.
fn place(lesson: &Lesson, time: DateTime<FixedOffset>, id: LessonId) -> Ordering {
    time.cmp(&lesson.timestamp).then(id.cmp(&lesson.id))
}

impl FromIterator<Arc<Lesson>> for Timeline {
    /// In any order, each name once.
    fn from_iter<I: IntoIterator<Item = Arc<Lesson>>>(lessons: I) -> Self {
        let mut lessons: Vec<Arc<Lesson>> = lessons.into_iter().collect();
        lessons.sort_by(|one, other| one.newest_first(other));
        let times = lessons.iter().map(|lesson| (lesson.id, lesson.timestamp)).collect();
        Self { lessons: Shelf::from_sorted(lessons), times: Shelf::of(times) }
    }
}

impl PartialEq for Timeline {
    fn eq(&self, other: &Self) -> bool {
        self.lessons == other.lessons
    }
}

impl Serialize for Timeline {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.lessons.iter())
    }
}
