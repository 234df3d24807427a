//! Playbooks of lessons that are drawn at random from a data set.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::sync::Arc;

use adage::config::DedupPolicy;
use adage::{Config, LessonId, Playbook};

use crate::cached_embedder::CachedEmbedder;
use crate::dataset::{Dataset, Lesson, Question};
use crate::{Error, Random};

/// How playbooks are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// Lessons per playbook; `None` takes all of them.
    pub n_lessons: Option<usize>,
    /// Number of playbooks.
    pub n_draws: usize,
    /// The same seed draws the same playbooks.
    pub seed: u64,
}

/// A playbook of some lessons of a data set, in a temporary folder.
#[derive(Debug)]
pub struct SampledPlaybook {
    folder: tempfile::TempDir,
    config: Config,
    pub(crate) embedder: Arc<CachedEmbedder>,
    /// The ids in the playbook, by the ids in the data set.
    pub ids: BTreeMap<String, LessonId>,
    /// The unrelated questions of the data set, and those that a lesson of this playbook answers.
    pub questions: Vec<Question>,
}

impl Sampling {
    /// The playbooks, each made when it is asked for.
    ///
    /// # Errors
    /// Each item may be [`Error::Io`] or [`Error::Playbook`].
    pub fn playbooks<'a>(
        self,
        data: &'a Dataset,
        embedder: &'a Arc<CachedEmbedder>,
    ) -> impl Iterator<Item = Result<SampledPlaybook, Error>> + 'a {
        let mut random = Random(self.seed);
        (0..self.n_draws).map(move |_| {
            let n = self.n_lessons.unwrap_or(data.lessons.len());
            SampledPlaybook::new(&random.sample(&data.lessons, n), data, Arc::clone(embedder))
        })
    }
}

impl SampledPlaybook {
    fn new(lessons: &[Lesson], data: &Dataset, embedder: Arc<CachedEmbedder>) -> Result<Self, Error> {
        let mut config = Config::default();
        config.learn.dedup = DedupPolicy::Off;
        config.retention.capacity = lessons.len().max(1);
        let folder = tempfile::tempdir().map_err(Error::io(env::temp_dir()))?;
        let mut playbook = Self { folder, config, embedder, ids: BTreeMap::new(), questions: Vec::new() };
        let learned = playbook.open(|_| {})?.learn_lessons(lessons.iter().map(|lesson| lesson.draft.clone()))?;
        let ids = lessons.iter().zip(&learned).filter_map(|(lesson, learned)| Some((lesson.id.clone(), learned.id()?)));
        playbook.ids = ids.collect();
        let is_included = |question: &&Question| {
            question.relevant.is_empty() || question.relevant.iter().any(|id| playbook.ids.contains_key(id))
        };
        playbook.questions = data.questions.iter().filter(is_included).cloned().collect();
        Ok(playbook)
    }

    /// Opens the playbook with changed settings.
    ///
    /// # Errors
    /// [`Error::Playbook`].
    pub fn open(&self, change: impl FnOnce(&mut Config)) -> Result<Playbook, Error> {
        let mut config = self.config.clone();
        change(&mut config);
        let builder = Playbook::builder(self.folder.path()).with_embedder(Arc::<CachedEmbedder>::clone(&self.embedder));
        Ok(builder.with_config(config).open()?)
    }

    /// The lessons of this playbook that answer a question; empty if it is unrelated.
    #[must_use]
    pub fn relevant(&self, question: &Question) -> BTreeSet<LessonId> {
        question.relevant.iter().filter_map(|id| self.ids.get(id).copied()).collect()
    }
}
