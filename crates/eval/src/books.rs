//! Books: playbooks of lessons drawn at random.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::sync::Arc;

use adage::config::DedupPolicy;
use adage::{Config, LessonId, Playbook};

use crate::data::{Data, Lesson, Question};
use crate::vectors::CachedEmbedder;
use crate::{Error, Random};

/// How books are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// Lessons per book; all where there is no number.
    pub n_lessons: Option<usize>,
    /// Books.
    pub n_draws: usize,
    /// The same seed draws the same books.
    pub seed: u64,
}

/// A playbook of some of the lessons.
#[derive(Debug)]
pub struct Book {
    home: tempfile::TempDir,
    config: Config,
    pub(crate) embedder: Arc<CachedEmbedder>,
    /// The lessons' own names by those of the data.
    pub ids: BTreeMap<String, LessonId>,
    /// Of the data's questions, those that no lesson answers, and those that one of the book does.
    pub questions: Vec<Question>,
}

impl Sampling {
    /// The books, one after the other.
    pub fn books<'a>(
        self,
        data: &'a Data,
        embedder: &'a Arc<CachedEmbedder>,
    ) -> impl Iterator<Item = Result<Book, Error>> + 'a {
        let mut random = Random(self.seed);
        (0..self.n_draws).map(move |_| {
            let n = self.n_lessons.unwrap_or(data.lessons.len());
            Book::new(&random.some(&data.lessons, n), data, Arc::clone(embedder))
        })
    }
}

impl Book {
    fn new(lessons: &[Lesson], data: &Data, embedder: Arc<CachedEmbedder>) -> Result<Self, Error> {
        let mut config = Config::default();
        config.learn.dedup = DedupPolicy::Off;
        config.retention.capacity = lessons.len().max(1);
        let home = tempfile::tempdir().map_err(Error::io(env::temp_dir()))?;
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
    ///
    /// # Errors
    /// [`Error::Playbook`].
    pub fn open(&self, change: impl FnOnce(&mut Config)) -> Result<Playbook, Error> {
        let mut config = self.config.clone();
        change(&mut config);
        let builder = Playbook::builder(self.home.path()).with_embedder(Arc::<CachedEmbedder>::clone(&self.embedder));
        Ok(builder.with_config(config).open()?)
    }

    /// The lessons that answer a question, as far as they are in the book.
    #[must_use]
    pub fn right(&self, question: &Question) -> BTreeSet<LessonId> {
        question.right.iter().filter_map(|id| self.ids.get(id).copied()).collect()
    }
}
