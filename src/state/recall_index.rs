//! The indexes that recall searches, built when first needed and updated afterwards.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use adage_index::IndexConfig;

use super::book::Book;
use super::id_map::IdMap;
use super::lazy::Lazy;
use super::lesson_vectors::{EmbeddedText, LessonVectors};
use super::lessons_by_time::{Changed, LessonsByTime};
use super::realm_vectors::VectorOf;
use super::realm_words::RealmWords;
use crate::lesson::{Lesson, LessonId, Realm};
use crate::lexical::{Hit, LexicalIndex};

/// A state of the playbook with its indexes for recall.
#[derive(Debug, Default)]
pub(crate) struct RecallIndex {
    pub(crate) book: Arc<Book>,
    ways_in: Lazy<LessonVectors>,
    wholes: Lazy<LessonVectors>,
    mistakes: Lazy<LessonVectors>,
    words: Lazy<RealmWords>,
    lexicon: Lazy<Lexicon>,
}

/// The words of all lessons.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lexicon {
    /// The lessons it is built from.
    lessons: LessonsByTime,
    ids: IdMap<LessonId, Arc<Lesson>>,
    index: LexicalIndex,
}

impl RecallIndex {
    pub(crate) fn new(book: Arc<Book>) -> Self {
        Self { book, ..Self::default() }
    }

    /// Another state: the indexes that this one has are updated by what differs. `vector_of` returns the vectors of triggers.
    pub(crate) fn follow(&self, book: Arc<Book>, vector_of: &VectorOf<'_>) -> Self {
        let follow = |vectors: &mut LessonVectors| vectors.follow(&book.lessons, vector_of);
        Self {
            ways_in: self.ways_in.carried(follow),
            wholes: self.wholes.carried(follow),
            mistakes: self.mistakes.carried(follow),
            words: self.words.carried(|words| words.follow(&book.lessons)),
            lexicon: self.lexicon.carried(|lexicon| lexicon.follow(&book.lessons)),
            book,
        }
    }

    /// The lessons that a request may see, newest first.
    pub(crate) fn visible<'a>(&'a self, realm: &'a Realm) -> impl Iterator<Item = &'a Arc<Lesson>> {
        self.book.lessons.iter().filter(|lesson| is_visible(lesson, realm))
    }

    /// The vectors of one text of each lesson, complete and of this dimension. Where some are not known, `make_known` is called
    /// with their texts first.
    ///
    /// # Errors
    /// Those of `make_known`.
    pub(crate) fn vectors<E>(
        &self,
        text: EmbeddedText,
        dimension: usize,
        config: &IndexConfig,
        make_known: impl FnOnce(&[&str]) -> Result<(), E>,
        vector_of: &VectorOf<'_>,
    ) -> Result<Arc<LessonVectors>, E> {
        self.lazy_vectors(text).get_or_make(
            |vectors| vectors.is_complete(dimension),
            |known| {
                let mut vectors = match known.filter(|known| known.is_of(dimension)) {
                    Some(known) => LessonVectors::clone(&known),
                    None => LessonVectors::new(text, config, &self.book.lessons, vector_of),
                };
                let unknown = vectors.unknown_texts();
                if unknown.is_empty() {
                    return Ok(vectors);
                }
                make_known(&unknown.iter().map(String::as_str).collect::<Vec<_>>())?;
                vectors.complete(vector_of);
                Ok(vectors)
            },
        )
    }

    /// True when there are vectors of this text, perhaps not all of them.
    pub(crate) fn has_vectors(&self, text: EmbeddedText) -> bool {
        self.lazy_vectors(text).get().is_some()
    }

    fn lazy_vectors(&self, text: EmbeddedText) -> &Lazy<LessonVectors> {
        match text {
            EmbeddedText::WaysIn => &self.ways_in,
            EmbeddedText::Whole => &self.wholes,
            EmbeddedText::Mistake => &self.mistakes,
        }
    }

    /// The words of the lessons that may be shown, by field.
    pub(crate) fn words(&self) -> Arc<RealmWords> {
        let made = self.words.get_or_make(|_| true, |_| Ok::<_, Infallible>(RealmWords::of(&self.book.lessons)));
        match made {
            Ok(words) => words,
            Err(never) => match never {},
        }
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
        for vectors in [self.ways_in.get(), self.wholes.get(), self.mistakes.get()].into_iter().flatten() {
            vectors.check_against(&fresh.book.lessons, config, vector_of);
        }
        if let Some(words) = self.words.get() {
            words.check_against(&fresh.words());
        }
        if let Some(lexicon) = self.lexicon.get() {
            let made = fresh.lexicon();
            assert_eq!(lexicon.lessons, made.lessons);
            assert_eq!(lexicon.contents(), made.contents());
        }
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

fn is_visible(lesson: &Lesson, realm: &Realm) -> bool {
    realm.sees(&lesson.realm) && lesson.is_admitted()
}

/// The realms that a request from this one sees.
pub(super) fn visible_realms(realm: &Realm) -> BTreeSet<Realm> {
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
