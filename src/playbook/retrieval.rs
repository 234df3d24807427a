//! Retrieval and its receipt.

use std::sync::Arc;

use adage_index::{UnitVector, VectorError};
use adage_redact::Redactor;
use adage_redact::block::EMPTY_PLAYBOOK;
use chrono::{DateTime, FixedOffset};

use super::crediting::Showing;
use super::{Inner, Playbook, View};
use crate::config::{CalibrationFit, RetrievalConfig, RetrievalRule};
use crate::embed::{Role, embed_units};
use crate::error::{Error, Result, config, with_causes};
use crate::lesson::{ReceiptId, TextHash};
use crate::retrieve::{
    Calibration, Context, NoMatchReason, Query, QueryVectors, Ranked, Rendered, Request, Search, Shown, TierChoice,
    VectorQuery, estimated_tokens, render, settle_conflicts,
};
use crate::skill::RenderedSkills;
use crate::state::{EmbeddedText, LessonVectors};
use crate::store::{Event, Text};
use crate::trust::Standing;

impl Playbook {
    /// The lessons to put before a task, ready for the prompt: the nearest ones for a query, the newest ones for none, and
    /// nothing when nothing is relevant. Below them the skills that come with every context, where there are any: `auto_load` in
    /// their `SKILL.md`, promoted where they need it, three at most by default.
    ///
    /// What is shown is counted, and the receipt of it handed out, unless the request is a peek. Counting appends one line to
    /// the folder and never fails or delays the answer. Where `config().credit` says so, chance withholds some of it, and the
    /// receipt is logged. Secrets in a query are redacted before it is embedded.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io); [`Error::NoEmbedder`] or [`Error::Embed`] when the request insists on
    /// vectors; [`Error::Vector`] for a query vector that cannot be used; [`Error::Config`] for a threshold that is no
    /// distance.
    pub fn get_playbook_context(&self, request: impl Into<Request>) -> Result<Context> {
        let (inner, request) = (&self.0, request.into());
        if inner.store.guard.standing() == Standing::Unknown {
            return Ok(Context::nothing(NoMatchReason::NotTrusted));
        }
        let view = inner.view()?;
        let (ranked, mut rendered) = inner.answer(&view, &request, &inner.config.retrieval)?;
        let max_tokens = request.max_tokens.unwrap_or(inner.config.retrieval.max_tokens);
        let is_counted = !request.is_peek && !rendered.shown.is_empty();
        let showing = Showing { view: &view, request: &request, ranked: &ranked, max_tokens };
        let receipt = if is_counted { inner.count(showing, &mut rendered) } else { None };
        let is_empty_start = request.query == Query::ColdStart && view.recall.book.lessons.is_empty();
        let lessons = rendered.shown.into_iter().map(|hit| Shown {
            id: hit.lesson.id,
            trigger: hit.lesson.trigger.clone(),
            distance: hit.distance,
            score: hit.score,
            probability: hit.probability,
            matched: hit.matched,
            contradicted_by: hit.contradicted_by.map(|by| by.id),
        });
        let mut text = if is_empty_start { EMPTY_PLAYBOOK.to_owned() } else { rendered.text };
        let room = request.max_tokens.map(|max| max.saturating_sub(estimated_tokens(&text)));
        let skills = self.skills().always_loaded(room).unwrap_or_else(|error| {
            tracing::warn!(%error, "the skills that come with every context are left out");
            RenderedSkills::default()
        });
        if !skills.text.is_empty() {
            text.extend((!text.is_empty()).then_some('\n'));
            text.push_str(&skills.text);
        }
        Ok(Context {
            text,
            skills: skills.shown.into_iter().map(|name| name.to_string()).collect(),
            tier: ranked.tier,
            index: ranked.index,
            lessons: lessons.collect(),
            none_because: rendered.none_because,
            receipt,
            considered: if request.is_explained { ranked.considered } else { Vec::new() },
        })
    }
}

impl Inner {
    /// What is found by these settings, and what of it is shown.
    pub(super) fn answer(
        &self,
        view: &View,
        request: &Request,
        config: &RetrievalConfig,
    ) -> Result<(Ranked, Rendered)> {
        let mut ranked = self.rank(view, request, config)?;
        let limit = request.limit.unwrap_or(config.limit);
        ranked.hits = settle_conflicts(&ranked.hits, &view.recall.book, &request.realm, limit);
        let rendered = render(&ranked, request.max_tokens.unwrap_or(config.max_tokens));
        Ok((ranked, rendered))
    }

    /// What is found, with the lessons before it whose patterns match.
    fn rank(&self, view: &View, request: &Request, config: &RetrievalConfig) -> Result<Ranked> {
        let limit = request.limit.unwrap_or(config.limit);
        let is_explained = request.is_explained || self.is_logged(view, request);
        let search = Search { recall: &view.recall, realm: &request.realm, limit, is_explained, config };
        Ok(search.with_matched(request, self.find(view, request, search)?))
    }

    fn find(&self, view: &View, request: &Request, search: Search<'_>) -> Result<Ranked> {
        let config = search.config;
        let threshold = request.distance_threshold.unwrap_or(config.distance_threshold);
        if !(0.0..=2.0).contains(&threshold) {
            let (setting, expected) = ("distance_threshold", "a cosine distance in [0, 2]");
            return Err(config::Error::Invalid { setting, value: threshold.to_string(), expected }.into());
        }
        let Query::About(query) = &request.query else { return Ok(search.by_time()) };
        let is_classic = config.rule == RetrievalRule::Classic || request.distance_threshold.is_some();
        if request.tier != Some(TierChoice::Lexical) {
            let by_vector = || {
                let vector = self.query_vector(query, request)?;
                let dimension = vector.as_slice().len();
                let triggers = self.lesson_vectors(view, EmbeddedText::Trigger, dimension)?;
                if is_classic {
                    return Ok(search.by_vector(&triggers, VectorQuery { text: query, vector: &vector, threshold }));
                }
                let wholes = self.lesson_vectors(view, EmbeddedText::Whole, dimension)?;
                let mistakes = self.lesson_vectors(view, EmbeddedText::Mistake, dimension)?;
                let vectors =
                    QueryVectors { vector: &vector, triggers: &triggers, wholes: &wholes, mistakes: &mistakes };
                let fingerprint = self.fingerprint().ok_or(Error::NoEmbedder)?;
                let fit = config.calibration.get(&fingerprint.to_string());
                let calibration = Calibration::of(fingerprint).fitted(fit);
                Ok(search.by_evidence(query, Some(vectors), &calibration))
            };
            match by_vector() {
                Ok(ranked) => return Ok(ranked),
                Err(error @ Error::Vector(_)) => return Err(error),
                Err(error) if request.tier == Some(TierChoice::Vector) => return Err(error),
                Err(Error::NoEmbedder) => {}
                Err(error) => {
                    tracing::warn!(error = with_causes(&error), "retrieving by words: the vectors failed");
                }
            }
        }
        if is_classic {
            return Ok(search.by_words(query));
        }
        let calibration = Calibration::WORDS.fitted(config.calibration.get(CalibrationFit::WORDS));
        Ok(search.by_evidence(query, None, &calibration))
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
            // The host's embedder may send it away or log it.
            let query = Redactor::shared().redact(query);
            let vectors = embed_units(embedder.as_ref(), &[&query], Role::Query)?;
            vectors.into_iter().next().ok_or(Error::NoEmbedder)
        }
    }

    /// The vectors of one text of all lessons, of this dimension.
    pub(super) fn lesson_vectors(
        &self,
        view: &View,
        text: EmbeddedText,
        dimension: usize,
    ) -> Result<Arc<LessonVectors>> {
        let embedder = self.embedder.as_ref().ok_or(Error::NoEmbedder)?;
        let make_known = |texts: &[&str]| {
            self.vectors.write().settle_dimension(dimension);
            self.ensure_vectors(embedder.as_ref(), texts)?;
            if let Err(error) = self.save_vectors(&view.snapshot) {
                tracing::warn!(%error, "the vectors just made are not cached");
            }
            Ok::<_, Error>(())
        };
        let vector_of = |text: &str| self.vector(text);
        view.recall.vectors(text, dimension, &self.config.index, make_known, &vector_of)
    }

    /// Notes a showing: at once, or with the next call when somebody is committing. `log` makes the line of its receipt, if that is
    /// logged.
    pub(super) fn record(
        &self,
        view: &View,
        shown: Vec<Text>,
        log: impl FnOnce(ReceiptId, DateTime<FixedOffset>) -> Option<Vec<u8>>,
    ) -> Option<ReceiptId> {
        if !self.store.may_append(&view.snapshot) {
            return None;
        }
        for (id, _) in &shown {
            if let Some(lesson) = view.snapshot.book().get(*id) {
                tracing::debug!(%id, source = lesson.source, challenge = lesson.source_challenge_hash, "retrieved");
            }
        }
        let at = self.clock.now();
        let receipt = ReceiptId::at(at, TextHash::of(&[uuid::Uuid::new_v4().as_bytes()]));
        let log = log(receipt, at);
        if let Err(error) = self.store.note(&view.snapshot, &Event::Shown { receipt, shown, at }, log) {
            tracing::warn!(%error, "a retrieval could not be counted, so it has no receipt");
            return None;
        }
        Some(receipt)
    }
}
