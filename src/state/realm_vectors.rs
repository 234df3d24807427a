//! One vector of each lesson, and the nearest of them: an index a realm, carried on from state to state.

use std::collections::BTreeMap;
use std::sync::Arc;

use adage_index::{IndexConfig, IndexKind, SearchScope, UnitVector, VectorIndex};

use super::id_map::Slots;
use crate::lesson::{LessonId, Realm};
use crate::sorted_blocks::Shelf;

/// The vectors of one text of each lesson: its trigger, or the whole of it. A clone shares the indexes.
///
/// A realm has an index of its own: no search has to pass over the lessons of other realms, and no realm takes memory for them.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    config: IndexConfig,
    fields: Arc<BTreeMap<Realm, Arc<Field>>>,
    /// Lessons whose vector is not known yet.
    unknown: Shelf<LessonId>,
}

#[derive(Clone, Debug)]
struct Field {
    slots: Slots<LessonId>,
    index: VectorIndex,
}

/// A lesson and the cosine distance of its vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Near {
    pub(crate) id: LessonId,
    pub(crate) distance: f32,
}

impl Space {
    pub(crate) fn new(config: IndexConfig) -> Self {
        Self { config, fields: Arc::default(), unknown: Shelf::default() }
    }

    /// Components of the vectors; `None` before the first.
    pub(crate) fn dimension(&self) -> Option<usize> {
        self.fields.values().find_map(|field| field.index.dimension())
    }

    /// Enters a lesson, or its new vector. Without one it is not found, and remembered as unknown.
    ///
    /// A vector of another length than the others comes from a model that changed: the others are unknown then.
    pub(crate) fn put(&mut self, realm: &Realm, id: LessonId, vector: Option<&UnitVector>) {
        let Some(vector) = vector else {
            self.take(realm, id);
            self.unknown.insert(id);
            return;
        };
        if self.dimension().is_some_and(|dimension| dimension != vector.as_slice().len()) {
            let known = self.fields.values().flat_map(|field| field.slots.names());
            self.unknown = Shelf::of(self.unknown.iter().chain(known).copied().collect());
            self.fields = Arc::default();
        }
        let fields = Arc::make_mut(&mut self.fields);
        let field = fields.entry(realm.clone()).or_insert_with(|| {
            Arc::new(Field { slots: Slots::default(), index: VectorIndex::new(self.config.clone()) })
        });
        let field = Arc::make_mut(field);
        let number = field.slots.put(id);
        // The one error there is: another dimension, which cannot be any more.
        if field.index.put(number, vector).is_ok() {
            self.unknown.remove(&id);
        }
    }

    /// Takes a lesson out, known or not.
    pub(crate) fn take(&mut self, realm: &Realm, id: LessonId) {
        self.unknown.remove(&id);
        if self.fields.get(realm).is_none_or(|field| field.slots.number(id).is_none()) {
            return;
        }
        let fields = Arc::make_mut(&mut self.fields);
        let Some(field) = fields.get_mut(realm).map(Arc::make_mut) else { return };
        if let Some(number) = field.slots.take(id) {
            field.index.remove(number);
        }
        if field.slots.is_empty() {
            fields.remove(realm);
        }
    }

    /// Lessons whose vector is not known, in the order of their names.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = LessonId> {
        self.unknown.iter().copied()
    }

    /// The `k` nearest in these realms, nearest first, ties by name; and what searched the largest of them.
    ///
    /// Where the answer is exact, who is cut off at `k` depends on the state alone, not on what it was before: numbers, by which
    /// the index breaks ties, do. Nothing is near a query of another dimension.
    pub(crate) fn nearest<'r>(
        &self,
        realms: impl IntoIterator<Item = &'r Realm>,
        query: &UnitVector,
        k: usize,
    ) -> (Vec<Near>, IndexKind) {
        let (mut found, mut by, mut largest) = (Vec::new(), IndexKind::Exact, 0);
        for field in realms.into_iter().filter_map(|realm| self.fields.get(realm)) {
            let kind = field.nearest(query, k, &mut found);
            if field.index.len() > largest {
                (by, largest) = (kind, field.index.len());
            }
        }
        found.sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance).then(a.id.cmp(&b.id)));
        found.truncate(k);
        (found, by)
    }

    /// Panics where it does not have the lessons of the other one, or not their vectors. It may know a vector that the cache has
    /// lost: a removal that failed takes them out of that first.
    #[cfg(test)]
    pub(crate) fn check_against(&self, fresh: &Self) {
        let (known, expected) = (self.known(), fresh.known());
        let names = |known: &BTreeMap<(Realm, LessonId), Vec<f32>>, space: &Self| {
            Shelf::of(known.keys().map(|key| key.1).chain(space.unknown()).collect())
        };
        assert_eq!(names(&known, self), names(&expected, fresh));
        for (key, vector) in expected {
            assert!(known.get(&key) == Some(&vector), "another vector than that of {key:?}");
        }
    }

    /// Everything that it knows.
    #[cfg(test)]
    pub(crate) fn known(&self) -> BTreeMap<(Realm, LessonId), Vec<f32>> {
        let rows = |(realm, field): (&Realm, &Arc<Field>)| {
            assert_eq!(field.slots.iter().count(), field.index.len());
            let row = |(number, id): (u32, &LessonId)| {
                assert_eq!(field.slots.number(*id), Some(number));
                ((realm.clone(), *id), field.index.vector(number).unwrap().to_vec())
            };
            field.slots.iter().map(row).collect::<Vec<_>>()
        };
        self.fields.iter().flat_map(rows).collect()
    }
}

impl Field {
    /// Adds the `k` nearest, and those that are as far as the last of them, where the answer is exact.
    fn nearest(&self, query: &UnitVector, k: usize, found: &mut Vec<Near>) -> IndexKind {
        let n_all = self.index.len();
        let k = k.min(n_all);
        let mut wanted = (k + 1).min(n_all);
        loop {
            let Ok(answer) = self.index.search(query, wanted, SearchScope::All) else { return IndexKind::Exact };
            let nearest = answer.neighbours;
            let distance = |place: usize| nearest.get(place).map(|neighbour| neighbour.distance);
            let is_tied = k > 0 && distance(k - 1) == distance(wanted - 1);
            if is_tied && wanted < n_all && answer.by == IndexKind::Exact {
                wanted = wanted.saturating_mul(2).min(n_all);
                continue;
            }
            found.extend(nearest.into_iter().filter_map(|neighbour| {
                Some(Near { id: *self.slots.get(neighbour.key)?, distance: neighbour.distance })
            }));
            return answer.by;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::TextHash;
    use crate::testing::at;

    fn unit(components: &[f32]) -> UnitVector {
        UnitVector::new(components).unwrap()
    }

    fn id(number: i64) -> LessonId {
        LessonId::at(at(number), TextHash::of(&["id"]))
    }

    fn realm(project: &str) -> Realm {
        Realm { project: project.into(), role: String::new() }
    }

    fn ids(found: &(Vec<Near>, IndexKind)) -> Vec<LessonId> {
        found.0.iter().map(|near| near.id).collect()
    }

    #[test]
    fn ties_come_by_name_whatever_came_first() {
        let mut space = Space::new(IndexConfig::default());
        let here = realm("here");
        for number in [5, 3, 9, 1, 7] {
            space.put(&here, id(number), Some(&unit(&[1.0, 1.0])));
        }
        space.put(&here, id(0), Some(&unit(&[0.0, 1.0])));
        space.take(&here, id(3));
        space.put(&here, id(3), Some(&unit(&[1.0, 1.0])));
        let query = unit(&[1.0, 0.0]);
        assert_eq!(ids(&space.nearest([&here], &query, 2)), [id(1), id(3)]);
        assert_eq!(ids(&space.nearest([&here], &query, 9)), [1, 3, 5, 7, 9, 0].map(id));
        assert!(ids(&space.nearest([&here], &query, 0)).is_empty());
    }

    #[test]
    fn realms_are_searched_together_and_left_out() {
        let mut space = Space::new(IndexConfig::default());
        let [one, two, three] = ["1", "2", "3"].map(realm);
        for (place, realm) in [&one, &two, &three, &one].into_iter().enumerate() {
            let number = i64::try_from(place).unwrap();
            space.put(realm, id(number), Some(&unit(&[1.0, 0.1 * place as f32])));
        }
        let query = unit(&[1.0, 0.0]);
        assert_eq!(ids(&space.nearest([&one, &three], &query, 3)), [0, 2, 3].map(id));
        assert_eq!(ids(&space.nearest([&two], &query, 3)), [id(1)]);
        assert!(space.nearest([&realm("4")], &query, 3).0.is_empty());
    }

    #[test]
    fn a_model_that_changed_makes_the_others_unknown() {
        let mut space = Space::new(IndexConfig::default());
        let here = realm("here");
        space.put(&here, id(1), None);
        space.put(&here, id(2), Some(&unit(&[1.0, 0.0])));
        assert_eq!((space.unknown().collect::<Vec<_>>(), space.dimension()), (vec![id(1)], Some(2)));
        assert!(space.nearest([&here], &unit(&[1.0]), 3).0.is_empty());
        space.put(&here, id(3), Some(&unit(&[1.0, 0.0, 0.0])));
        assert_eq!((space.unknown().collect::<Vec<_>>(), space.dimension()), (vec![id(1), id(2)], Some(3)));
        space.put(&here, id(1), Some(&unit(&[0.0, 1.0, 0.0])));
        space.take(&here, id(2));
        assert_eq!((space.unknown().count(), space.known().len()), (0, 2));
    }
}
