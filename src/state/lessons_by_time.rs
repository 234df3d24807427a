//! The lessons, sorted newest first and indexed by id. Clones share them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use serde::{Serialize, Serializer};

use crate::lesson::{Lesson, LessonId};

/// All lessons of a playbook.
#[derive(Clone, Debug, Default)]
pub(crate) struct LessonsByTime {
    lessons: Arc<BTreeMap<Place, Arc<Lesson>>>,
    /// The time by which each one is sorted.
    times: Arc<BTreeMap<LessonId, DateTime<FixedOffset>>>,
}

/// The order of lessons: newest first.
type Place = Reverse<(DateTime<FixedOffset>, LessonId)>;

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
        self.lessons.values()
    }

    pub(crate) fn get(&self, id: LessonId) -> Option<&Arc<Lesson>> {
        self.lessons.get(&self.place(id)?)
    }

    /// Adds a lesson, or replaces the one with the same id. Returns the replaced one.
    pub(crate) fn put(&mut self, lesson: Arc<Lesson>) -> Option<Arc<Lesson>> {
        let replaced = self.take(lesson.id);
        Arc::make_mut(&mut self.times).insert(lesson.id, lesson.timestamp);
        Arc::make_mut(&mut self.lessons).insert(place_of(&lesson), lesson);
        replaced
    }

    pub(crate) fn take(&mut self, id: LessonId) -> Option<Arc<Lesson>> {
        let place = self.place(id)?;
        Arc::make_mut(&mut self.times).remove(&id);
        Arc::make_mut(&mut self.lessons).remove(&place)
    }

    /// Changes a lesson in place: not its id and not its time.
    pub(crate) fn update(&mut self, id: LessonId, change: impl FnOnce(&mut Lesson)) {
        let Some(place) = self.place(id) else { return };
        if let Some(lesson) = Arc::make_mut(&mut self.lessons).get_mut(&place) {
            change(Arc::make_mut(lesson));
        }
    }

    /// The changes to a newer state, in the order of ids. Lessons shared by both states are skipped by pointer comparison;
    /// those of a file that was read again are compared by value.
    pub(crate) fn changed(&self, newer: &Self) -> Vec<Changed> {
        // A lesson whose time changed is in two places.
        let mut changed: BTreeMap<LessonId, Changed> = BTreeMap::new();
        if Arc::ptr_eq(&self.lessons, &newer.lessons) {
            return Vec::new();
        }
        for lesson in self.lessons_not_in(newer) {
            changed.entry(lesson.id).or_default().before = Some(Arc::clone(lesson));
        }
        for lesson in newer.lessons_not_in(self) {
            changed.entry(lesson.id).or_default().after = Some(Arc::clone(lesson));
        }
        changed.into_values().collect()
    }

    /// The lessons that the other state does not have, or has otherwise.
    fn lessons_not_in<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a Arc<Lesson>> {
        let is_same = |one: &Arc<Lesson>, other: &Arc<Lesson>| Arc::ptr_eq(one, other) || one == other;
        let mut others = other.lessons.iter().peekable();
        self.lessons.iter().filter_map(move |(place, lesson)| {
            while others.next_if(|(of_other, _)| *of_other < place).is_some() {}
            let known = others.next_if(|(of_other, _)| *of_other == place);
            known.is_none_or(|(_, known)| !is_same(lesson, known)).then_some(lesson)
        })
    }

    fn place(&self, id: LessonId) -> Option<Place> {
        self.times.get(&id).map(|time| Reverse((*time, id)))
    }
}

fn place_of(lesson: &Lesson) -> Place {
    Reverse((lesson.timestamp, lesson.id))
}

impl FromIterator<Arc<Lesson>> for LessonsByTime {
    /// In any order, each id once.
    fn from_iter<I: IntoIterator<Item = Arc<Lesson>>>(lessons: I) -> Self {
        let lessons: BTreeMap<Place, Arc<Lesson>> =
            lessons.into_iter().map(|lesson| (place_of(&lesson), lesson)).collect();
        let times = lessons.values().map(|lesson| (lesson.id, lesson.timestamp)).collect();
        Self { lessons: Arc::new(lessons), times: Arc::new(times) }
    }
}

impl PartialEq for LessonsByTime {
    fn eq(&self, other: &Self) -> bool {
        self.lessons.values().eq(other.lessons.values())
    }
}

impl Serialize for LessonsByTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.lessons.values())
    }
}
