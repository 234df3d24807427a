//! The vectors of lessons, one or several of each, and nearest-neighbour search: one index per realm, updated from state to state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use adage_index::{IndexConfig, IndexKind, SearchScope, UnitVector, VectorIndex};

use super::id_map::IdMap;
use crate::lesson::{LessonId, Realm};

/// The vectors of some texts of each lesson: its ways in, or its whole text. Clones share the indexes.
///
/// Each realm has an index of its own, so that a search does not have to filter out the lessons of other realms.
#[derive(Clone, Debug)]
pub(crate) struct RealmVectors {
    config: IndexConfig,
    realms: Arc<BTreeMap<Realm, Arc<RealmIndex>>>,
    /// Lessons whose vector is not known yet.
    unknown: BTreeSet<LessonId>,
}

#[derive(Clone, Debug)]
struct RealmIndex {
    rows: IdMap<Row, Row>,
    vectors: VectorIndex,
}

/// A lesson, and which of its texts.
type Row = (LessonId, u8);

/// Returns the vector of a text, if it is known.
pub(crate) type VectorOf<'a> = dyn Fn(&str) -> Option<UnitVector> + 'a;

/// A lesson and the cosine distance of its nearest vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Near {
    pub(crate) id: LessonId,
    pub(crate) distance: f32,
}

impl RealmVectors {
    pub(crate) fn new(config: IndexConfig) -> Self {
        Self { config, realms: Arc::default(), unknown: BTreeSet::new() }
    }

    /// The dimension of the vectors; `None` before the first one.
    pub(crate) fn dimension(&self) -> Option<usize> {
        self.realms.values().find_map(|index| index.vectors.dimension())
    }

    /// Adds a lesson or replaces its vectors. Without them it is recorded as unknown, and not found.
    ///
    /// A vector of another length than the others comes from another model: the others become unknown.
    pub(crate) fn put(&mut self, realm: &Realm, id: LessonId, vectors: Option<&[UnitVector]>) {
        self.take(realm, id);
        let Some(vectors) = vectors else {
            self.unknown.insert(id);
            return;
        };
        let Some(first) = vectors.first() else { return };
        if self.dimension().is_some_and(|dimension| dimension != first.as_slice().len()) {
            let known = self.realms.values().flat_map(|index| index.rows.ids().map(|row| &row.0));
            self.unknown.extend(known.copied());
            self.realms = Arc::default();
        }
        let realms = Arc::make_mut(&mut self.realms);
        let index = realms.entry(realm.clone()).or_insert_with(|| {
            Arc::new(RealmIndex { rows: IdMap::default(), vectors: VectorIndex::new(self.config.clone()) })
        });
        let index = Arc::make_mut(index);
        for (place, vector) in (0..=u8::MAX).zip(vectors) {
            let number = index.rows.put((id, place), (id, place));
            // The only possible error is another dimension, which was ruled out above.
            if index.vectors.put(number, vector).is_err() {
                index.rows.take((id, place));
            }
        }
    }

    /// Removes a lesson, whether its vectors are known or not.
    pub(crate) fn take(&mut self, realm: &Realm, id: LessonId) {
        self.unknown.remove(&id);
        if self.realms.get(realm).is_none_or(|index| index.rows_of(id).next().is_none()) {
            return;
        }
        let realms = Arc::make_mut(&mut self.realms);
        let Some(index) = realms.get_mut(realm).map(Arc::make_mut) else { return };
        for (row, number) in index.rows_of(id).collect::<Vec<_>>() {
            index.rows.take(row);
            index.vectors.remove(number);
        }
        if index.rows.is_empty() {
            realms.remove(realm);
        }
    }

    /// Lessons whose vector is not known, in the order of their ids.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = LessonId> {
        self.unknown.iter().copied()
    }

    /// The `k` nearest in these realms, nearest first, ties by id; and the kind of the index that searched the largest of them.
    ///
    /// Where the search is exact, or nearly so, the cut at `k` depends on the present state alone. The numbers by which the index breaks ties
    /// depend on history, so ties at the cut are resolved here. A query of another dimension finds nothing.
    pub(crate) fn nearest<'r>(
        &self,
        realms: impl IntoIterator<Item = &'r Realm>,
        query: &UnitVector,
        k: usize,
    ) -> (Vec<Near>, IndexKind) {
        let (mut found, mut by, mut largest) = (Vec::new(), IndexKind::Exact, 0);
        for index in realms.into_iter().filter_map(|realm| self.realms.get(realm)) {
            let kind = index.nearest(query, k, &mut found);
            if index.vectors.len() > largest {
                (by, largest) = (kind, index.vectors.len());
            }
        }
        found.sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance).then(a.id.cmp(&b.id)));
        // The nearest vector of each lesson counts.
        let mut met = BTreeSet::new();
        found.retain(|near| met.insert(near.id));
        found.truncate(k);
        (found, by)
    }

    /// The distance of the nearest of a lesson's vectors, if they are known.
    pub(crate) fn distance(&self, realm: &Realm, id: LessonId, query: &UnitVector) -> Option<f32> {
        let index = self.realms.get(realm)?;
        let distances = index.rows_of(id).filter_map(|(_, number)| index.vectors.distance(number, query));
        distances.min_by(f32::total_cmp)
    }

    /// Panics unless it has the lessons of the other one, with their vectors. It may know a vector that the cache has lost: a
    /// removal that failed drops them from the cache first.
    #[cfg(test)]
    pub(crate) fn check_against(&self, fresh: &Self) {
        let (known, expected) = (self.all_vectors(), fresh.all_vectors());
        let all_ids = |known: &BTreeMap<(Realm, Row), Vec<f32>>, vectors: &Self| {
            known.keys().map(|key| key.1.0).chain(vectors.unknown()).collect::<BTreeSet<_>>()
        };
        assert_eq!(all_ids(&known, self), all_ids(&expected, fresh));
        for (key, vector) in expected {
            assert!(known.get(&key) == Some(&vector), "another vector than that of {key:?}");
        }
    }

    /// All known vectors.
    #[cfg(test)]
    pub(crate) fn all_vectors(&self) -> BTreeMap<(Realm, Row), Vec<f32>> {
        let rows = |(realm, index): (&Realm, &Arc<RealmIndex>)| {
            assert_eq!(index.rows.iter().count(), index.vectors.len());
            let row = |(number, row): (u32, &Row)| {
                assert_eq!(index.rows.number(*row), Some(number));
                ((realm.clone(), *row), index.vectors.vector(number).unwrap().to_vec())
            };
            index.rows.iter().map(row).collect::<Vec<_>>()
        };
        self.realms.iter().flat_map(rows).collect()
    }
}

impl RealmIndex {
    /// The rows of a lesson, with their numbers.
    fn rows_of(&self, id: LessonId) -> impl Iterator<Item = (Row, u32)> {
        self.rows.range((id, u8::MIN)..=(id, u8::MAX))
    }

    /// Adds rows of at least the `k` nearest lessons and, unless a graph was searched, all at the same distance as the last of them.
    fn nearest(&self, query: &UnitVector, k: usize, found: &mut Vec<Near>) -> IndexKind {
        let n_all = self.vectors.len();
        let k = k.min(n_all);
        let mut wanted = (k + 1).min(n_all);
        loop {
            let Ok(answer) = self.vectors.search(query, wanted, SearchScope::All) else { return IndexKind::Exact };
            let near = answer.neighbours.iter().filter_map(|neighbour| {
                Some(Near { id: self.rows.get(neighbour.key)?.0, distance: neighbour.distance })
            });
            let near: Vec<Near> = near.collect();
            let mut met = BTreeSet::new();
            let last_of_k = near.iter().filter(|near| met.insert(near.id)).nth(k.saturating_sub(1));
            let is_exact = matches!(answer.by, IndexKind::Exact | IndexKind::Coarse);
            let is_cut = match (last_of_k, near.last()) {
                (Some(last_of_k), Some(last)) => is_exact && last_of_k.distance.total_cmp(&last.distance).is_eq(),
                (None, Some(_)) => answer.neighbours.len() >= wanted,
                (_, None) => false,
            };
            if k > 0 && is_cut && wanted < n_all {
                wanted = wanted.saturating_mul(2).min(n_all);
                continue;
            }
            found.extend(near);
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
        Realm::new(project, "")
    }

    fn ids(found: &(Vec<Near>, IndexKind)) -> Vec<LessonId> {
        found.0.iter().map(|near| near.id).collect()
    }

    #[test]
    fn ties_come_by_id_whatever_came_first() {
        let mut vectors = RealmVectors::new(IndexConfig::default());
        let here = realm("here");
        for number in [5, 3, 9, 1, 7] {
            vectors.put(&here, id(number), Some(&[unit(&[1.0, 1.0])]));
        }
        vectors.put(&here, id(0), Some(&[unit(&[0.0, 1.0])]));
        vectors.take(&here, id(3));
        vectors.put(&here, id(3), Some(&[unit(&[1.0, 1.0])]));
        let query = unit(&[1.0, 0.0]);
        assert_eq!(ids(&vectors.nearest([&here], &query, 2)), [id(1), id(3)]);
        assert_eq!(ids(&vectors.nearest([&here], &query, 9)), [1, 3, 5, 7, 9, 0].map(id));
        assert!(ids(&vectors.nearest([&here], &query, 0)).is_empty());
    }

    #[test]
    fn realms_are_searched_together_and_left_out() {
        let mut vectors = RealmVectors::new(IndexConfig::default());
        let [one, two, three] = ["1", "2", "3"].map(realm);
        for (place, realm) in [&one, &two, &three, &one].into_iter().enumerate() {
            let number = i64::try_from(place).unwrap();
            vectors.put(realm, id(number), Some(&[unit(&[1.0, 0.1 * place as f32])]));
        }
        let query = unit(&[1.0, 0.0]);
        assert_eq!(ids(&vectors.nearest([&one, &three], &query, 3)), [0, 2, 3].map(id));
        assert_eq!(ids(&vectors.nearest([&two], &query, 3)), [id(1)]);
        assert!(vectors.nearest([&realm("4")], &query, 3).0.is_empty());
    }

    #[test]
    fn a_model_that_changed_makes_the_others_unknown() {
        let mut vectors = RealmVectors::new(IndexConfig::default());
        let here = realm("here");
        vectors.put(&here, id(1), None);
        vectors.put(&here, id(2), Some(&[unit(&[1.0, 0.0])]));
        assert_eq!((vectors.unknown().collect::<Vec<_>>(), vectors.dimension()), (vec![id(1)], Some(2)));
        assert!(vectors.nearest([&here], &unit(&[1.0]), 3).0.is_empty());
        vectors.put(&here, id(3), Some(&[unit(&[1.0, 0.0, 0.0])]));
        assert_eq!((vectors.unknown().collect::<Vec<_>>(), vectors.dimension()), (vec![id(1), id(2)], Some(3)));
        vectors.put(&here, id(1), Some(&[unit(&[0.0, 1.0, 0.0])]));
        vectors.take(&here, id(2));
        assert_eq!((vectors.unknown().count(), vectors.all_vectors().len()), (0, 2));
    }
}
