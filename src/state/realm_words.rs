//! The words of lessons that may be shown, by field and realm, updated from state to state.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::id_map::IdMap;
use super::lessons_by_time::{Changed, LessonsByTime};
use super::recall_index::visible_realms;
use crate::lesson::{Lesson, LessonId, Realm};
use crate::lexical::{DocumentWords, Field, FieldIndex, WordHashes, WordQuery, WordScore};

/// An index of words per realm. Document frequencies are counted only over the lessons that a request sees.
#[derive(Clone, Debug, Default)]
pub(crate) struct RealmWords {
    /// The lessons it is built from.
    lessons: LessonsByTime,
    realms: Arc<BTreeMap<Realm, Arc<RealmIndex>>>,
}

#[derive(Clone, Debug, Default)]
struct RealmIndex {
    ids: IdMap<LessonId, LessonId>,
    index: FieldIndex,
}

/// The scores of all lessons that a request sees.
pub(crate) struct ScoredWords<'a> {
    query: WordQuery,
    realms: Vec<ScoredRealm<'a>>,
}

struct ScoredRealm<'a> {
    realm: &'a Realm,
    index: &'a RealmIndex,
    /// By number.
    scores: Vec<WordScore>,
}

impl RealmWords {
    /// Built from the lessons.
    pub(super) fn of(lessons: &LessonsByTime) -> Self {
        let mut hashes = WordHashes::default();
        let mut by_realm: BTreeMap<&Realm, Vec<&Arc<Lesson>>> = BTreeMap::new();
        for lesson in lessons.iter().filter(|lesson| lesson.is_admitted()) {
            by_realm.entry(&lesson.realm).or_default().push(lesson);
        }
        let realms = by_realm
            .into_iter()
            .map(|(realm, lessons)| (realm.clone(), Arc::new(RealmIndex::of(&lessons, &mut hashes))));
        Self { realms: Arc::new(realms.collect()), lessons: lessons.clone() }
    }

    pub(super) fn follow(&mut self, lessons: &LessonsByTime) {
        let mut hashes = WordHashes::default();
        for Changed { before, after } in self.lessons.changed(lessons) {
            let admitted = |lesson: Option<Arc<Lesson>>| lesson.filter(|lesson| lesson.is_admitted());
            let (before, after) = (admitted(before), admitted(after));
            if before.as_ref().zip(after.as_ref()).is_some_and(|(one, other)| has_same_fields(one, other)) {
                continue;
            }
            if let Some(before) = before {
                self.take(&before);
            }
            if let Some(after) = after {
                let index = Arc::make_mut(&mut self.realms).entry(after.realm.clone()).or_default();
                Arc::make_mut(index).put(&after, &mut hashes);
            }
        }
        self.lessons = lessons.clone();
    }

    fn take(&mut self, lesson: &Lesson) {
        let realms = Arc::make_mut(&mut self.realms);
        let Some(index) = realms.get_mut(&lesson.realm).map(Arc::make_mut) else { return };
        if let Some(number) = index.ids.take(lesson.id) {
            index.index.take(number);
        }
        if index.ids.is_empty() {
            realms.remove(&lesson.realm);
        }
    }

    /// The scores of all lessons that a request from this realm sees.
    pub(crate) fn scored(&self, text: &str, realm: &Realm) -> ScoredWords<'_> {
        let realms = visible_realms(realm);
        let in_sight: Vec<(&Realm, &RealmIndex)> = realms
            .iter()
            .filter_map(|realm| self.realms.get_key_value(realm))
            .map(|(realm, index)| (realm, &**index))
            .collect();
        let indexes: Vec<&FieldIndex> = in_sight.iter().map(|(_, index)| &index.index).collect();
        let query = WordQuery::new(text, &indexes);
        let realms = in_sight
            .into_iter()
            .map(|(realm, index)| ScoredRealm { realm, index, scores: query.scores(&index.index) })
            .collect();
        ScoredWords { query, realms }
    }

    #[cfg(test)]
    pub(super) fn check_against(&self, fresh: &Self) {
        let contents = |words: &Self| {
            let of_realm = |(realm, index): (&Realm, &Arc<RealmIndex>)| {
                let name = |row| index.ids.get(row).copied();
                let rows: BTreeMap<_, String> = index.index.rows().map(|(row, what)| (name(row), what)).collect();
                (realm.clone(), rows)
            };
            words.realms.iter().map(of_realm).collect::<BTreeMap<_, _>>()
        };
        assert_eq!(self.lessons, fresh.lessons);
        assert_eq!(contents(self), contents(fresh));
    }
}

impl RealmIndex {
    fn of(lessons: &[&Arc<Lesson>], hashes: &mut WordHashes) -> Self {
        let mut ids = IdMap::default();
        let documents =
            lessons.iter().map(|lesson| (ids.put(lesson.id, lesson.id), DocumentWords::of(&fields(lesson), hashes)));
        let index = FieldIndex::of(documents);
        Self { ids, index }
    }

    fn put(&mut self, lesson: &Lesson, hashes: &mut WordHashes) {
        let number = self.ids.put(lesson.id, lesson.id);
        self.index.put(number, DocumentWords::of(&fields(lesson), hashes));
    }
}

impl ScoredWords<'_> {
    /// The number of lessons that the request sees.
    pub(crate) fn n_in_sight(&self) -> usize {
        self.realms.iter().map(|scored| scored.index.index.len()).sum()
    }

    /// The `k` lessons with the best word scores, best first, ties by id. Lessons without a shared word are included only if
    /// all visible lessons are requested.
    pub(crate) fn best(&self, k: usize) -> Vec<LessonId> {
        if self.n_in_sight() <= k {
            return self.realms.iter().flat_map(|scored| scored.index.ids.ids()).copied().collect();
        }
        let mut hits: Vec<(f32, usize, u32)> = Vec::new();
        for (place, scored) in self.realms.iter().enumerate() {
            let numbered = (0..).zip(&scored.scores).filter(|(_, score)| score.words > 0.0);
            hits.extend(numbered.map(|(number, score)| (score.words, place, number)));
        }
        let id = |hit: &(f32, usize, u32)| self.realms.get(hit.1)?.index.ids.get(hit.2).copied();
        if k < hits.len() {
            let (_, cut, _) = hits.select_nth_unstable_by(k, |one, other| other.0.total_cmp(&one.0));
            let cut = cut.0;
            hits.retain(|hit| hit.0 >= cut);
        }
        let mut best: Vec<(f32, LessonId)> = hits.iter().filter_map(|hit| Some((hit.0, id(hit)?))).collect();
        best.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        best.into_iter().take(k).map(|(_, id)| id).collect()
    }

    /// The word score of one lesson.
    pub(crate) fn score(&self, lesson: &Lesson) -> WordScore {
        let of_lesson = |(scored, number): (&ScoredRealm<'_>, u32)| scored.scores.get(number as usize).copied();
        self.place(lesson).and_then(of_lesson).unwrap_or_default()
    }

    /// How rare the rarest word of a name that the query has is among the lessons that it sees, in [0, 1].
    pub(crate) fn rarity(&self, name: &str) -> f32 {
        self.query.rarity(name)
    }

    /// The BM25F score of one lesson over character n-grams.
    pub(crate) fn grams(&self, lesson: &Lesson) -> f32 {
        self.place(lesson).map_or(0.0, |(scored, number)| self.query.grams(&scored.index.index, number))
    }

    fn place(&self, lesson: &Lesson) -> Option<(&ScoredRealm<'_>, u32)> {
        let scored = self.realms.iter().find(|scored| scored.realm.cmp(&lesson.realm).is_eq())?;
        Some((scored, scored.index.ids.number(lesson.id)?))
    }
}

/// The searched texts of a lesson, larger weights first. A repeated text counts once.
fn fields(lesson: &Lesson) -> Vec<Field<'_>> {
    let ways = lesson.ways_in.texts().map(|text| (text, 1.0, 10.0));
    let heads = [(&lesson.trigger, 3.0, 10.0), (&lesson.task, 3.0, 10.0)];
    let bodies = [
        (&lesson.mistake, 1.0, 20.0),
        (&lesson.anti_pattern, 0.5, 15.0),
        (&lesson.solution, 0.5, 20.0),
        (&lesson.correct_pattern, 0.5, 20.0),
    ];
    let mut texts: Vec<Field<'_>> = Vec::new();
    for (text, weight, usual_terms) in heads.into_iter().chain(ways).chain(bodies) {
        if !texts.iter().any(|known| known.text == text) {
            texts.push(Field { text, weight, usual_terms });
        }
    }
    texts
}

fn has_same_fields(one: &Lesson, other: &Lesson) -> bool {
    one.realm == other.realm && fields(one) == fields(other)
}
