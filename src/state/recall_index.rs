//! The indexes that recall searches, built when they are first needed and carried over from then on.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use adage_index::{IndexConfig, IndexKind, UnitVector};

use super::book::Book;
use super::id_map::IdMap;
use super::lazy::Lazy;
use super::lessons_by_time::{Changed, LessonsByTime};
use super::realm_vectors::{Near, RealmVectors, VectorOf};
use crate::lesson::{Lesson, LessonId, Realm};
use crate::lexical::{Hit, LexicalIndex};

/// A state of the playbook with its indexes for recall.
#[derive(Debug, Default)]
pub(crate) struct RecallIndex {
    pub(crate) book: Arc<Book>,
    triggers: Lazy<Triggers>,
    lexicon: Lazy<Lexicon>,
}

/// The vectors of the triggers of lessons that may be shown.
#[derive(Clone, Debug)]
pub(crate) struct Triggers {
    /// The lessons it is built from.
    lessons: LessonsByTime,
    vectors: RealmVectors,
}

/// The words of all lessons.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lexicon {
    /// The lessons it is built from.
    lessons: LessonsByTime,
    ids: IdMap<Arc<Lesson>>,
    index: LexicalIndex,
}

impl RecallIndex {
    pub(crate) fn new(book: Arc<Book>) -> Self {
        Self { book, ..Self::default() }
    }

    /// Another state: the indexes that this one has are updated by what differs. `vector_of` returns the vectors of triggers.
    pub(crate) fn follow(&self, book: Arc<Book>, vector_of: &VectorOf<'_>) -> Self {
        Self {
            triggers: self.triggers.carried(|triggers| triggers.follow(&book.lessons, vector_of)),
            lexicon: self.lexicon.carried(|lexicon| lexicon.follow(&book.lessons)),
            book,
        }
    }

    /// The lessons that a request may see, newest first.
    pub(crate) fn visible<'a>(&'a self, realm: &'a Realm) -> impl Iterator<Item = &'a Arc<Lesson>> {
        self.book.lessons.iter().filter(|lesson| is_visible(lesson, realm))
    }

    /// The vectors of triggers, complete and of this dimension. Where some are not known, `make_known` is called with their
    /// triggers first.
    ///
    /// # Errors
    /// Those of `make_known`.
    pub(crate) fn triggers<E>(
        &self,
        dimension: usize,
        config: &IndexConfig,
        make_known: impl FnOnce(&[&str]) -> Result<(), E>,
        vector_of: &VectorOf<'_>,
    ) -> Result<Arc<Triggers>, E> {
        let is_of_this_model =
            |triggers: &Triggers| triggers.vectors.dimension().is_none_or(|found| found == dimension);
        let is_ready = |triggers: &Triggers| is_of_this_model(triggers) && triggers.vectors.unknown().next().is_none();
        self.triggers.get_or_make(is_ready, |known| {
            let mut triggers = match known.filter(|known| is_of_this_model(known)) {
                Some(known) => Triggers::clone(&known),
                None => Triggers::new(config, &self.book.lessons),
            };
            let unknown: Vec<Arc<Lesson>> = triggers.unknown().cloned().collect();
            make_known(&unknown.iter().map(|lesson| lesson.trigger.as_str()).collect::<Vec<_>>())?;
            for lesson in unknown {
                if let Some(vector) = vector_of(&lesson.trigger) {
                    triggers.vectors.put(&lesson.realm, lesson.id, Some(&vector));
                }
            }
            Ok(triggers)
        })
    }

    /// The lessons that a request from this realm sees and that share words with a text, best first.
    pub(crate) fn sharing_words(&self, text: &str, realm: &Realm, limit: usize) -> Vec<LessonId> {
        self.lexicon().search(text, realm).into_iter().take(limit).map(|(_, lesson)| lesson.id).collect()
    }

    /// The index of words.
    pub(crate) fn lexicon(&self) -> Arc<Lexicon> {
        let made = self.lexicon.get_or_make(|_| true, |_| Ok::<_, Infallible>(Lexicon::of(&self.book.lessons)));
        match made {
            Ok(lexicon) => lexicon,
            Err(never) => match never {},
        }
    }
}

#[cfg(test)]
impl RecallIndex {
    /// Panics unless the indexes that it has equal those built from `fresh` alone.
    pub(crate) fn check_against(&self, fresh: &Self, config: &IndexConfig, vector_of: &VectorOf<'_>) {
        if let Some(triggers) = self.triggers.get() {
            let mut complete = Triggers::clone(&triggers);
            for lesson in triggers.unknown() {
                complete.vectors.put(&lesson.realm, lesson.id, vector_of(&lesson.trigger).as_ref());
            }
            let mut made = Triggers::new(config, &LessonsByTime::default());
            made.follow(&fresh.book.lessons, vector_of);
            assert_eq!(complete.lessons, made.lessons);
            complete.vectors.check_against(&made.vectors);
        }
        if let Some(lexicon) = self.lexicon.get() {
            let made = fresh.lexicon();
            assert_eq!(lexicon.lessons, made.lessons);
            assert_eq!(lexicon.contents(), made.contents());
        }
    }
}

impl Triggers {
    /// All vectors are unknown.
    fn new(config: &IndexConfig, lessons: &LessonsByTime) -> Self {
        let mut triggers = Self { lessons: LessonsByTime::default(), vectors: RealmVectors::new(config.clone()) };
        triggers.follow(lessons, &|_| None);
        triggers
    }

    fn follow(&mut self, lessons: &LessonsByTime, vector_of: &VectorOf<'_>) {
        for Changed { before, after } in self.lessons.changed(lessons) {
            let (before, after) = (admitted(before.as_ref()), admitted(after.as_ref()));
            if before.zip(after).is_some_and(|(a, b)| (&a.realm, &a.trigger) == (&b.realm, &b.trigger)) {
                continue;
            }
            if let Some(before) = before {
                self.vectors.take(&before.realm, before.id);
            }
            if let Some(after) = after {
                self.vectors.put(&after.realm, after.id, vector_of(&after.trigger).as_ref());
            }
        }
        self.lessons = lessons.clone();
    }

    /// The lessons whose vector is not known.
    fn unknown(&self) -> impl Iterator<Item = &Arc<Lesson>> {
        self.vectors.unknown().filter_map(|id| self.lessons.get(id))
    }

    /// The nearest that a request from this realm sees, and the kind of index that searched them.
    pub(crate) fn nearest(&self, realm: &Realm, query: &UnitVector, k: usize) -> (Vec<Near>, IndexKind) {
        self.vectors.nearest(&seen(realm), query, k)
    }
}

impl Lexicon {
    fn of(lessons: &LessonsByTime) -> Self {
        let mut ids = IdMap::default();
        let texts = lessons
            .iter()
            .map(|lesson| (ids.put(lesson.id, Arc::clone(lesson)), lesson.trigger.as_str(), body(lesson)));
        let index = LexicalIndex::of(texts);
        Self { lessons: lessons.clone(), ids, index }
    }

    fn follow(&mut self, lessons: &LessonsByTime) {
        for Changed { before, after } in self.lessons.changed(lessons) {
            let is_same_text = before.as_ref().zip(after.as_ref()).is_some_and(|(a, b)| has_same_words(a, b));
            if let Some(before) = before.filter(|_| !is_same_text)
                && let Some(row) = self.ids.take(before.id)
            {
                self.index.take(row, &before.trigger, &body(&before));
            }
            if let Some(after) = after {
                let row = self.ids.put(after.id, Arc::clone(&after));
                if !is_same_text {
                    self.index.put(row, &after.trigger, &body(&after));
                }
            }
        }
        self.lessons = lessons.clone();
    }

    /// The lessons that a request from this realm sees and that share a word with the query, best first, ties newest first.
    pub(crate) fn search(&self, query: &str, realm: &Realm) -> Vec<(Hit, &Arc<Lesson>)> {
        let hits = self.index.search(query).into_iter();
        let mut found: Vec<(Hit, &Arc<Lesson>)> = hits
            .filter_map(|hit| Some((hit, self.ids.get(hit.row)?)))
            .filter(|(_, lesson)| is_visible(lesson, realm))
            .collect();
        found.sort_by(|a, b| b.0.score.total_cmp(&a.0.score).then_with(|| a.1.newest_first(b.1)));
        found
    }
}

#[cfg(test)]
impl Lexicon {
    /// Its postings by lesson id, and the lessons.
    fn contents(&self) -> (Vec<String>, LessonsByTime) {
        let name = |row| self.ids.get(row).map(|lesson| lesson.id);
        let mut postings: Vec<String> =
            self.index.rows().map(|(row, posting)| format!("{:?} {posting}", name(row))).collect();
        postings.sort();
        (postings, self.ids.iter().map(|(_, lesson)| Arc::clone(lesson)).collect())
    }
}

fn admitted(lesson: Option<&Arc<Lesson>>) -> Option<&Arc<Lesson>> {
    lesson.filter(|lesson| lesson.is_admitted())
}

fn is_visible(lesson: &Lesson, realm: &Realm) -> bool {
    realm.sees(&lesson.realm) && lesson.is_admitted()
}

/// The realms that a request from this one sees.
fn seen(realm: &Realm) -> BTreeSet<Realm> {
    let parts = |part: &String| [String::new(), part.clone()];
    let pairs =
        parts(&realm.project).into_iter().flat_map(|project| parts(&realm.role).map(|role| (project.clone(), role)));
    pairs.map(|(project, role)| Realm { project, role }).collect()
}

/// The text that is searched besides the trigger. Fields that repeat another are not counted twice.
pub(crate) fn body(lesson: &Lesson) -> String {
    let mut texts = vec![lesson.trigger.as_str()];
    for text in words_of(lesson) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.split_off(1).join("\n")
}

fn words_of(lesson: &Lesson) -> [&str; 5] {
    [&lesson.task, &lesson.mistake, &lesson.anti_pattern, &lesson.solution, &lesson.correct_pattern]
}

fn has_same_words(one: &Lesson, other: &Lesson) -> bool {
    one.trigger == other.trigger && words_of(one) == words_of(other)
}
