//! Books: playbooks of lessons drawn at random.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use adage::config::DedupPolicy;
use adage::{Config, LessonId, Playbook};

use super::Failure;
use super::data::{Data, Lesson, Question};
use super::embedder::Kept;

/// How books are drawn.
#[derive(Clone, Copy)]
pub(crate) struct Sampling {
    /// Lessons per book; all where there is no number.
    pub(crate) n_lessons: Option<usize>,
    pub(crate) n_draws: usize,
    pub(crate) seed: u64,
}

/// A playbook of some of the lessons.
pub(crate) struct Book {
    pub(crate) home: tempfile::TempDir,
    pub(crate) config: Config,
    pub(crate) embedder: Arc<Kept>,
    /// The lessons' own names by those of the data.
    pub(crate) ids: BTreeMap<String, LessonId>,
    /// Of the data's questions, those that no lesson answers, and those that one of the book does.
    pub(crate) questions: Vec<Question>,
}

/// Pseudo-random numbers (splitmix64, by Sebastiano Vigna), so that a seed means the same draws everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % n.max(1) as u64) as usize
    }

    /// `n` of the items, in the order in which they are drawn.
    pub(crate) fn some<T: Clone>(&mut self, items: &[T], n: usize) -> Vec<T> {
        let mut items = items.to_vec();
        for at in 0..n.min(items.len()) {
            let other = at + self.below(items.len() - at);
            items.swap(at, other);
        }
        items.truncate(n);
        items
    }
}

impl Sampling {
    pub(crate) fn books<'a>(
        self,
        data: &'a Data,
        embedder: &'a Arc<Kept>,
    ) -> impl Iterator<Item = Result<Book, Failure>> + 'a {
        let mut random = Random(self.seed);
        (0..self.n_draws).map(move |_| {
            let n = self.n_lessons.unwrap_or(data.lessons.len());
            Book::new(&random.some(&data.lessons, n), data, Arc::clone(embedder))
        })
    }
}

impl Book {
    fn new(lessons: &[Lesson], data: &Data, embedder: Arc<Kept>) -> Result<Self, Failure> {
        let mut config = Config::default();
        config.learn.dedup = DedupPolicy::Off;
        config.retention.capacity = lessons.len().max(1);
        let home = tempfile::tempdir()?;
        let mut book = Self { home, config, embedder, ids: BTreeMap::new(), questions: Vec::new() };
        let learned = book.open(|_| {})?.learn_lessons(lessons.iter().map(|lesson| lesson.draft.clone()))?;
        let ids = lessons.iter().zip(&learned).filter_map(|(lesson, learned)| Some((lesson.id.clone(), learned.id()?)));
        book.ids = ids.collect();
        let is_asked = |question: &&Question| {
            question.right.is_empty() || question.right.iter().any(|right| book.ids.contains_key(right))
        };
        book.questions = data.questions.iter().filter(is_asked).cloned().collect();
        Ok(book)
    }

    /// A handle with other settings.
    pub(crate) fn open(&self, change: impl FnOnce(&mut Config)) -> Result<Playbook, Failure> {
        let mut config = self.config.clone();
        change(&mut config);
        let builder = Playbook::builder(self.home.path()).with_embedder(Arc::<Kept>::clone(&self.embedder));
        Ok(builder.with_config(config).open()?)
    }

    /// The lessons that answer a question, as far as they are in the book.
    pub(crate) fn right(&self, question: &Question) -> BTreeSet<LessonId> {
        question.right.iter().filter_map(|id| self.ids.get(id).copied()).collect()
    }
}
