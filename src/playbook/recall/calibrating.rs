//! Fits the relevance gate to a user's labelled queries.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::{CalibrationFit, RetrievalConfig, RetrievalRule};
use crate::error::Result;
use crate::error::calibrate;
use crate::lesson::{LessonId, LessonRef, Realm};
use crate::playbook::recall::pool::Pool;
use crate::playbook::{OpenPlaybook, Playbook, View};
use crate::retrieve::{
    Asked, Calibration, CalibrationReport, Gate, LabelledPair, Request, ShownLessons, TierChoice, Trial, distinct,
};

impl Playbook {
    /// Fits the scale and the offset of the gate's log odds to labelled queries: each names the lesson that answers it, or
    /// states that none does (docs/spec/playbook.md, 5.2). The result is valid for the playbook's embedder, or for retrieval by
    /// words if it has none.
    ///
    /// The queries run in the realm as peeks: nothing is counted or written. To use the result, add it to
    /// [`RetrievalConfig::calibration`] under its key.
    ///
    /// # Errors
    /// [`Error::Calibrate`](crate::Error::Calibrate) for fewer than 40 queries, for fewer than 5 with or 5 without an answer, for a
    /// lesson that the realm does not see, and for two queries that contradict each other. [`Error::Embed`](crate::Error::Embed),
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn calibrate(&self, pairs: &[LabelledPair], realm: &Realm) -> Result<CalibrationReport> {
        let shared = &self.shared;
        let view = shared.view()?;
        let asked = answers(distinct(pairs)?, &view, realm)?;
        let (embedder, calibration, tier) = match shared.fingerprint() {
            Some(fingerprint) => (fingerprint.to_string(), Calibration::of(fingerprint), TierChoice::Vector),
            None => (CalibrationFit::WORDS.to_owned(), Calibration::WORDS, TierChoice::Lexical),
        };
        let config = RetrievalConfig {
            rule: RetrievalRule::Signals,
            answer_from: Some(0.0),
            calibration: BTreeMap::new(),
            ..shared.config.retrieval.clone()
        };
        let trials: Vec<Trial> = asked
            .into_iter()
            .map(|(query, right)| {
                let request = Request::about(query).in_realm(realm).tier(tier);
                shared.trial(&view, &request, &right, &config)
            })
            .collect::<Result<_>>()?;
        Ok(Gate::new(embedder, shared.config.retrieval.answer_from, &calibration).report(&trials))
    }
}

impl OpenPlaybook {
    /// The candidates of a query with the gate open.
    fn trial(
        &self,
        view: &View,
        request: &Request,
        right: &BTreeSet<LessonId>,
        config: &RetrievalConfig,
    ) -> Result<Trial> {
        let members = [(self, view)];
        let (ranked, rendered) = self.answer(Pool::of(&members, &view.recall), request, config)?;
        let shown = match rendered.shown.iter().any(|hit| right.contains(&hit.lesson.id)) {
            true => ShownLessons::Right,
            false if rendered.shown.is_empty() => ShownLessons::Nothing,
            false => ShownLessons::Wrong,
        };
        // Without evidence no lesson is an answer.
        Ok(Trial { strongest: ranked.strongest.unwrap_or_default(), wants_lesson: !right.is_empty(), shown })
    }
}

/// Each query with the ids of the lessons that answer it.
fn answers(asked: Vec<Asked>, view: &View, realm: &Realm) -> Result<Vec<(String, BTreeSet<LessonId>)>> {
    let visible: BTreeSet<LessonId> = view.recall.visible(realm).map(|lesson| lesson.id).collect();
    let answer = |line: usize, query: &str, lesson: &LessonRef| {
        let found = view.recall.book.resolve(&lesson.clone().within(realm));
        let (query, named) = (query.to_owned(), lesson.clone());
        match found.map(|found| found.id) {
            Ok(id) if visible.contains(&id) => Ok(id),
            Ok(_) => Err(calibrate::Error::NotShown { line, query, lesson: named }),
            Err(error) => Err(calibrate::Error::NoLesson { line, query, lesson: named, source: Box::new(error) }),
        }
    };
    let with_answers = |Asked { line, query, lessons }: Asked| {
        let right = lessons.iter().map(|lesson| answer(line, &query, lesson)).collect::<Result<_, _>>()?;
        Ok((query, right))
    };
    asked.into_iter().map(with_answers).collect()
}
