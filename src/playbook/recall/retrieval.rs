//! Retrieval, and the receipt of what was shown.

use std::sync::Arc;

use adage_index::{UnitVector, VectorError};
use adage_redact::Redactor;
use adage_redact::block::EMPTY_PLAYBOOK;
use chrono::{DateTime, FixedOffset};

use crate::config::{CalibrationFit, RetrievalConfig, RetrievalRule};
use crate::embed::{Embedder, Role, embed_unit};
use crate::error::{Error, Result, config, with_causes};
use crate::lesson::{LessonId, ReceiptId, TextHash, for_prompt};
use crate::playbook::recall::crediting::PendingRetrieval;
use crate::playbook::recall::pool::Pool;
use crate::playbook::{OpenPlaybook, Playbook, View};
use crate::retrieve::{
    Calibration, Context, NoMatchReason, Query, QueryVectors, Ranked, Rendered, Request, Scored, Search, Shown,
    TierChoice, Unit, VectorQuery, estimated_tokens, render, resolve_contradictions, units,
};
use crate::skill::RenderedSkills;
use crate::state::{EmbeddedText, LessonVectors};
use crate::store::{Event, Text};
use crate::trust::Standing;

impl Playbook {
    /// The lessons for a task, rendered for the prompt: the most relevant ones for a query, the newest ones without a query,
    /// and an empty text when nothing is relevant. Skills with `auto_load` in their `SKILL.md` follow, three at most by
    /// default, and only promoted ones if they need a promotion.
    ///
    /// Unless the request is a peek, shown lessons are counted and the context has a receipt. Counting appends one line to the
    /// folder and never fails or delays the answer. If `config().credit` is so set, some lessons are withheld at random and the
    /// receipt is logged. Secrets in a query are redacted before it is embedded.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io); [`Error::NoEmbedder`] or [`Error::Embed`] when the request requires
    /// vectors; [`Error::Vector`] for an unusable query vector; [`Error::Config`] for a threshold that is not a valid distance.
    pub fn get_playbook_context(&self, request: impl Into<Request>) -> Result<Context> {
        let (shared, request) = (&self.shared, request.into());
        if shared.store.guard.standing() == Standing::Unknown {
            return Ok(Context::nothing(NoMatchReason::NotTrusted));
        }
        let view = shared.view()?;
        let members = [(&**shared, &*view)];
        let pool = Pool::of(&members, &view.recall);
        let answer = shared.answer_counted(pool, &request, &|_| 0)?;
        Ok(answer.into_context(&request, std::slice::from_ref(self), &|_| 0))
    }
}

impl Playbook {
    /// The probability, in [0, 1], that a lesson's answer must exceed to be shown: `config().retrieval.answer_from`, or what was
    /// fitted for the embedder, without one for words.
    #[must_use]
    pub fn answer_threshold(&self) -> f32 {
        let config = &self.config().retrieval;
        let fitted = || self.shared.fingerprint().map_or(Calibration::WORDS, Calibration::of).answer_from();
        config.answer_from.unwrap_or_else(fitted)
    }
}

/// The result of a request, before rendering for the prompt.
pub(in crate::playbook) struct Answer {
    ranked: Ranked,
    rendered: Rendered,
    receipt: Option<ReceiptId>,
    /// True for a request without a task to an empty memory.
    is_empty_start: bool,
}

impl Answer {
    /// The text for the prompt, with the skills that are part of every context. `member_index` returns the index of the playbook
    /// that a lesson belongs to.
    pub(in crate::playbook) fn into_context(
        self,
        request: &Request,
        playbooks: &[Playbook],
        member_index: &dyn Fn(LessonId) -> usize,
    ) -> Context {
        let Self { ranked, rendered, receipt, is_empty_start } = self;
        let folder =
            |id| playbooks.get(member_index(id)).map(|playbook| playbook.folder().to_owned()).unwrap_or_default();
        let lessons = rendered.shown.into_iter().zip(rendered.triggers).map(|(hit, trigger)| Shown {
            id: hit.lesson.id,
            folder: folder(hit.lesson.id),
            trigger,
            distance: hit.distance,
            score: hit.score,
            probability: hit.probability,
            matched: hit.matched.as_deref().map(for_prompt),
            contradicted_by: hit.contradicted_by.map(|by| by.id),
        });
        let mut text = if is_empty_start { EMPTY_PLAYBOOK.to_owned() } else { rendered.text };
        let skills = append_skills(&mut text, request, playbooks);
        Context {
            text,
            skills,
            tier: ranked.tier,
            index: ranked.index,
            lessons: lessons.collect(),
            none_because: rendered.none_because,
            receipt,
            considered: if request.is_explained { ranked.considered } else { Vec::new() }
                .into_iter()
                .map(|scored| Scored { trigger: for_prompt(&scored.trigger), ..scored })
                .collect(),
        }
    }
}

/// Appends the skills that are part of every context, within the request's budget. Returns their names.
fn append_skills(text: &mut String, request: &Request, playbooks: &[Playbook]) -> Vec<String> {
    let mut skills = Vec::new();
    for playbook in playbooks {
        let room = request.max_tokens.map(|max| max.saturating_sub(estimated_tokens(text)));
        let loaded = playbook.skills().always_loaded(room).unwrap_or_else(|error| {
            tracing::warn!(%error, "the auto-loaded skills are left out of the context");
            RenderedSkills::default()
        });
        if !loaded.text.is_empty() {
            text.extend((!text.is_empty()).then_some('\n'));
            text.push_str(&loaded.text);
        }
        skills.extend(loaded.shown.into_iter().map(|name| name.to_string()));
    }
    skills
}

impl OpenPlaybook {
    /// The answer, counted unless the request is a peek.
    pub(in crate::playbook) fn answer_counted(
        &self,
        pool: Pool<'_>,
        request: &Request,
        member_index: &dyn Fn(LessonId) -> usize,
    ) -> Result<Answer> {
        let (ranked, mut rendered) = self.answer(pool, request, &self.config.retrieval)?;
        let max_tokens = request.max_tokens.unwrap_or(self.config.retrieval.max_tokens);
        let is_counted = !request.is_peek && !rendered.shown.is_empty();
        let pending = PendingRetrieval { pool, request, ranked: &ranked, max_tokens, member_index };
        let receipt = if is_counted { self.count(pending, &mut rendered) } else { None };
        let (tier, shown, because) =
            (ranked.tier, rendered.shown.len(), rendered.none_because.as_ref().map(ToString::to_string));
        let receipt_id = receipt.map(|receipt| receipt.to_string());
        tracing::info!(?tier, shown, receipt = receipt_id, because, "recalled");
        let is_empty_start = request.query == Query::ColdStart && pool.recall.book.lessons.is_empty();
        Ok(Answer { ranked, rendered, receipt, is_empty_start })
    }

    /// The answer under these settings.
    pub(in crate::playbook) fn answer(
        &self,
        pool: Pool<'_>,
        request: &Request,
        config: &RetrievalConfig,
    ) -> Result<(Ranked, Rendered)> {
        let mut ranked = self.rank(pool, request, config)?;
        let limit = request.limit.unwrap_or(config.limit);
        let enough = limit.saturating_add(request.except.len());
        ranked.hits = resolve_contradictions(&ranked.hits, &pool.recall.book, &request.realm, enough);
        let n_found = ranked.hits.len();
        ranked.hits.retain(|hit| !request.except.contains(&hit.lesson.id));
        ranked.hits.truncate(limit);
        if ranked.hits.is_empty() && n_found > 0 && limit > 0 {
            ranked.none_because = Some(NoMatchReason::LeftOut);
        }
        let rendered = render(&ranked, request.max_tokens.unwrap_or(config.max_tokens));
        Ok((ranked, rendered))
    }

    /// The ranked lessons; those whose file or command patterns match come first.
    fn rank(&self, pool: Pool<'_>, request: &Request, config: &RetrievalConfig) -> Result<Ranked> {
        // Lessons that are left out do not count towards the limit.
        let limit = match request.limit.unwrap_or(config.limit) {
            0 => 0,
            limit => limit.saturating_add(request.except.len()),
        };
        let is_explained = request.is_explained || self.is_logged(request);
        let Pool { recall, later, .. } = pool;
        let search = Search { recall, realm: &request.realm, limit, is_explained, config, n_units: 1, later };
        Ok(search.with_matched(request, self.find(pool, request, search)?))
    }

    /// The lessons by the tier that the request chooses: by vectors, or by words if there is no embedder or it fails; the newest
    /// without a query.
    fn find(&self, pool: Pool<'_>, request: &Request, search: Search<'_>) -> Result<Ranked> {
        let config = search.config;
        let threshold = request.distance_threshold.unwrap_or(config.distance_threshold);
        if !(0.0..=2.0).contains(&threshold) {
            let (setting, expected) = ("distance_threshold", "a cosine distance in [0, 2]");
            return Err(config::Error::Invalid { setting, value: threshold.to_string(), expected }.into());
        }
        let Query::About(query) = &request.query else {
            return Ok(search.by_time(request.max_tokens.unwrap_or(config.max_tokens)));
        };
        let is_classic = config.rule == RetrievalRule::Classic || request.distance_threshold.is_some();
        if is_classic || request.vector.is_some() {
            return self.find_part(pool, request, query, search, is_classic.then_some(threshold));
        }
        let parts = units(query);
        let search = Search { n_units: parts.len(), ..search };
        let found = parts.iter().map(|part| match part {
            Unit::Typed(text) => self.find_part(pool, request, text, search, None),
            Unit::Output(text) => Ok(search.by_signs(text)),
        });
        Ok(Ranked::best_of(found.collect::<Result<_>>()?).unwrap_or_else(|| search.by_signs("")))
    }

    /// The lessons for one part of a request; under the classic rule if there is a threshold of the distance.
    fn find_part(
        &self,
        pool: Pool<'_>,
        request: &Request,
        query: &str,
        search: Search<'_>,
        classic: Option<f32>,
    ) -> Result<Ranked> {
        let config = search.config;
        if request.tier != Some(TierChoice::Lexical) {
            match self.find_by_vector(pool, request, query, search, classic) {
                Ok(ranked) => return Ok(ranked),
                Err(error @ Error::Vector(_)) => return Err(error),
                Err(error) if request.tier == Some(TierChoice::Vector) => return Err(error),
                Err(Error::NoEmbedder) => {}
                Err(error) => {
                    tracing::warn!(error = with_causes(&error), "retrieving by words: the vectors failed");
                }
            }
        }
        if classic.is_some() {
            return Ok(search.by_words(query));
        }
        let calibration = Calibration::WORDS.fitted(config.calibration.get(CalibrationFit::WORDS));
        Ok(search.by_signals(query, None, &calibration))
    }

    /// The answer of the first tier; under the classic rule if there is a threshold of the distance.
    fn find_by_vector(
        &self,
        pool: Pool<'_>,
        request: &Request,
        query: &str,
        search: Search<'_>,
        classic: Option<f32>,
    ) -> Result<Ranked> {
        let vector = self.query_vector(query, request)?;
        let dimension = vector.as_slice().len();
        let ways_in = pool.vectors(self, EmbeddedText::WaysIn, dimension)?;
        if let Some(threshold) = classic {
            return Ok(search.by_vector(&ways_in, VectorQuery { text: query, vector: &vector, threshold }));
        }
        let wholes = pool.vectors(self, EmbeddedText::Whole, dimension)?;
        let mistakes = pool.vectors(self, EmbeddedText::Mistake, dimension)?;
        let vectors = QueryVectors { vector: &vector, ways_in: &ways_in, wholes: &wholes, mistakes: &mistakes };
        let fingerprint = self.fingerprint().ok_or(Error::NoEmbedder)?;
        let fit = search.config.calibration.get(&fingerprint.to_string());
        let calibration = Calibration::of(fingerprint).fitted(fit);
        Ok(search.by_signals(query, Some(vectors), &calibration))
    }

    fn query_vector(&self, query: &str, request: &Request) -> Result<UnitVector> {
        let Some(embedder) = &self.embedder else {
            return Err(Error::NoEmbedder);
        };
        if let Some(given) = &request.vector {
            let (found, expected) = (given.len(), embedder.dimension()?);
            if found != expected {
                return Err(VectorError::Dimension { found, expected }.into());
            }
            Ok(UnitVector::new(given)?)
        } else {
            // The host's embedder may transmit or log it.
            let query = Redactor::shared().redact(query);
            Ok(embed_unit(embedder.as_ref(), &query, Role::Query)?)
        }
    }

    /// The vectors of one text of all lessons, of this dimension.
    pub(in crate::playbook) fn lesson_vectors(
        &self,
        view: &View,
        text: EmbeddedText,
        dimension: usize,
    ) -> Result<Arc<LessonVectors>> {
        let embedder = self.embedder.as_ref().ok_or(Error::NoEmbedder)?;
        self.lesson_vectors_by(embedder.as_ref(), view, text, dimension)
    }

    /// As `lesson_vectors`, by another embedder of the same model.
    pub(in crate::playbook) fn lesson_vectors_by(
        &self,
        embedder: &dyn Embedder,
        view: &View,
        text: EmbeddedText,
        dimension: usize,
    ) -> Result<Arc<LessonVectors>> {
        let make_known = |texts: &[&str]| {
            self.vectors.write().fix_dimension(dimension);
            self.ensure_vectors(embedder, texts)?;
            if let Err(error) = self.save_vectors(&view.snapshot) {
                tracing::warn!(%error, "the new vectors are not cached");
            }
            Ok::<_, Error>(())
        };
        if !view.recall.has_vectors(text) {
            self.read_vectors(dimension)?;
        }
        let vector_of = |text: &str| self.vector(text);
        view.recall.vectors(text, dimension, &self.config.index, make_known, &vector_of)
    }

    /// Records a retrieval and returns its receipt; none if it could not be recorded.
    pub(in crate::playbook) fn record(&self, view: &View, shown: Vec<Text>) -> Option<ReceiptId> {
        let (receipt, at) = self.new_receipt();
        self.record_as(receipt, at, view, shown, None).then_some(receipt)
    }

    /// A new receipt id, and the present time.
    pub(in crate::playbook) fn new_receipt(&self) -> (ReceiptId, DateTime<FixedOffset>) {
        let at = self.clock.now();
        (ReceiptId::at(at, TextHash::of(&[uuid::Uuid::new_v4().as_bytes()])), at)
    }

    /// Records a retrieval: now, or with a later call if another process is committing. `log` is the line of the receipt if
    /// receipts are logged. Returns false if it could not be recorded.
    pub(in crate::playbook) fn record_as(
        &self,
        receipt: ReceiptId,
        at: DateTime<FixedOffset>,
        view: &View,
        shown: Vec<Text>,
        log: Option<Vec<u8>>,
    ) -> bool {
        if !self.kept.may_append(&view.snapshot) {
            return false;
        }
        for (id, _) in &shown {
            if let Some(lesson) = view.snapshot.book().get(*id) {
                tracing::debug!(%id, source = lesson.source, challenge = lesson.source_challenge_hash, "retrieved");
            }
        }
        if let Err(error) = self.kept.note(&view.snapshot, Event::Shown { receipt, shown, at }, log) {
            tracing::warn!(%error, "a retrieval could not be counted, so it has no receipt");
            return false;
        }
        true
    }
}
