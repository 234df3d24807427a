//! The index that learning searches for duplicates: titles, vectors of whole texts, ranks; updated from state to state.

use std::collections::BTreeSet;
use std::sync::Arc;

use adage_index::UnitVector;

use super::lessons_by_time::{Changed, LessonsByTime};
use super::ranking::Ranking;
use super::realm_vectors::{Near, RealmVectors, VectorOf};
use crate::config::{Config, DedupPolicy};
use crate::lesson::{Lesson, LessonId, Realm, TextHash, Trust};
use crate::lexical::bare_words;

/// Built from a state of the playbook, and updated to another one by the difference. Clones share everything.
#[derive(Clone, Debug)]
pub(crate) struct DedupIndex {
    dedup: DedupPolicy,
    /// The lessons it is made of.
    lessons: LessonsByTime,
    titles: BTreeSet<(TextHash, LessonId)>,
    pub(crate) ranking: Ranking,
    wholes: RealmVectors,
}

impl DedupIndex {
    /// An index of no lessons.
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            dedup: config.learn.dedup,
            lessons: LessonsByTime::default(),
            titles: BTreeSet::new(),
            ranking: Ranking::new(config.retention.utility),
            wholes: RealmVectors::new(config.index.clone()),
        }
    }

    /// Updates the index to another state. `vector_of` returns the vector of a whole text, if it is known.
    pub(crate) fn follow(&mut self, lessons: &LessonsByTime, vector_of: &VectorOf<'_>) {
        for changed in self.lessons.changed(lessons) {
            self.replace(&changed, vector_of);
        }
        self.lessons = lessons.clone();
    }

    /// Records that the index was updated to this state lesson by lesson.
    pub(crate) fn set_lessons(&mut self, lessons: &LessonsByTime) {
        self.lessons = lessons.clone();
    }

    /// Updates the index by one lesson.
    pub(crate) fn replace(&mut self, changed: &Changed, vector_of: &VectorOf<'_>) {
        let (before, after) = (changed.before.as_deref(), changed.after.as_deref());
        if let Some(before) = before {
            self.ranking.leave(before);
        }
        if let Some(after) = after {
            self.ranking.enter(after);
        }
        // Lessons that have to be promoted are not merged into.
        let is_findable =
            |lesson: &&Lesson| lesson.provenance.trust == Trust::Trusted && self.dedup != DedupPolicy::Off;
        let (before, after) = (before.filter(is_findable), after.filter(is_findable));
        let is_same = |same: fn(&Lesson, &Lesson) -> bool| {
            before.zip(after).is_some_and(|(before, after)| before.realm == after.realm && same(before, after))
        };
        if !is_same(|before, after| (&before.task, &before.trigger) == (&after.task, &after.trigger)) {
            if let Some(before) = before {
                self.titles.remove(&(title(before), before.id));
            }
            if let Some(after) = after {
                self.titles.insert((title(after), after.id));
            }
        }
        if !is_same(has_same_whole) {
            if let Some(before) = before {
                self.wholes.take(&before.realm, before.id);
            }
            if let Some(after) = after {
                let whole = vector_of(&after.whole_text());
                self.wholes.put(&after.realm, after.id, whole.as_ref().map(std::slice::from_ref));
            }
        }
    }

    /// The lessons of this realm whose whole text is nearest, ties by id.
    pub(crate) fn nearest(&self, realm: &Realm, whole: &UnitVector, k: usize) -> Vec<Near> {
        self.wholes.nearest([realm], whole, k).0
    }

    /// The lessons of the same realm, task and trigger, in the order of their ids.
    pub(crate) fn titled(&self, lesson: &Lesson) -> impl Iterator<Item = LessonId> {
        let title = title(lesson);
        let from = self.titles.range((title, LessonId::MIN)..);
        from.take_while(move |row| row.0 == title).map(|row| row.1)
    }

    /// Adds newly known vectors of whole texts in these realms.
    pub(crate) fn complete(&mut self, realms: &[Realm], vector_of: &VectorOf<'_>) {
        for lesson in self.unknown(realms) {
            if let Some(vector) = vector_of(&lesson.whole_text()) {
                self.wholes.put(&lesson.realm, lesson.id, Some(&[vector]));
            }
        }
    }

    /// The lessons of these realms whose whole text's vector is not known.
    pub(crate) fn unknown(&self, realms: &[Realm]) -> Vec<Arc<Lesson>> {
        let unknown = self.wholes.unknown().filter_map(|id| self.lessons.get(id));
        unknown.filter(|lesson| realms.contains(&lesson.realm)).cloned().collect()
    }

    /// Panics unless it equals `fresh`, which was built from these lessons alone.
    #[cfg(test)]
    pub(crate) fn check_against(&self, fresh: &Self, lessons: &LessonsByTime, vector_of: &VectorOf<'_>) {
        assert_eq!(self.lessons, *lessons);
        assert_eq!(self.titles, fresh.titles);
        assert_eq!(self.ranking.contents(), fresh.ranking.contents());
        // A vector may have become known since.
        let mut complete = self.clone();
        let realms: Vec<Realm> = lessons.iter().map(|lesson| lesson.realm.clone()).collect();
        complete.complete(&realms, vector_of);
        complete.wholes.check_against(&fresh.wholes);
    }
}

fn has_same_whole(one: &Lesson, other: &Lesson) -> bool {
    (&one.trigger, &one.anti_pattern, &one.correct_pattern)
        == (&other.trigger, &other.anti_pattern, &other.correct_pattern)
}

/// A hash of the realm and of the normalised words of task and trigger.
fn title(lesson: &Lesson) -> TextHash {
    let words = |text: &str| bare_words(text).collect::<Vec<_>>().join(" ");
    TextHash::of(&[&lesson.realm.project, &lesson.realm.role, &words(&lesson.task), &words(&lesson.trigger)])
}
