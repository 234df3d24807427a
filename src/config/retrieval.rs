//! Settings of retrieval.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::range::{at_least_one, check, distance, share};
use crate::error::config::Error;

/// How lessons are ranked, and which of them are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RetrievalRule {
    /// By all match signals: a lesson is shown if it is likely enough to be an answer (docs/spec/playbook.md, 5.1).
    #[default]
    #[serde(rename = "evidence")]
    Signals,
    /// The earlier system's: triggers below a distance, ranked by distance and shared words (docs/spec/playbook.md, 5.8).
    Classic,
}

/// Settings of retrieval (docs/spec/playbook.md, 5).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetrievalConfig {
    /// Ranking and gate.
    pub rule: RetrievalRule,
    /// The probability, in [0, 1], above which a query is answered; `None` uses that of the embedder's calibration. For
    /// [`RetrievalRule::Signals`].
    pub answer_from: Option<f32>,
    /// The minimum probability of a shown lesson, as a fraction of the best one's. 0.2, in [0, 1]; measured. For
    /// [`RetrievalRule::Signals`].
    pub min_share: f32,
    /// Maximum number of candidates by each match signal. 50; measured. For [`RetrievalRule::Signals`].
    pub candidates: usize,
    /// Triggers strictly below this cosine distance are shown. 0.45, in [0, 2]; the earlier system's number, there squared L2.
    /// This setting and the following ones, except `limit`, `max_tokens` and `calibration`, are for [`RetrievalRule::Classic`].
    pub distance_threshold: f32,
    /// A farther trigger is shown up to this distance if the query names one of the lesson's domains. `None`, in [0, 2]; the
    /// earlier system's number was 0.625 (1.25 in squared L2).
    pub domain_distance: Option<f32>,
    /// Weight of the word overlap that is added to `1 − distance`. 0.4; the earlier system's.
    pub overlap_weight: f32,
    /// Maximum number of lessons shown. 5; the earlier system's.
    pub limit: usize,
    /// Minimum number of neighbours that are examined: `max(2·limit, this)`. 10; the earlier system's.
    pub min_neighbours: usize,
    /// Maximum size of the rendered block. 1,200, in estimated tokens; specified.
    pub max_tokens: usize,
    /// Fraction of the query's idf mass that a lexical hit must cover: the mean of the fractions that its trigger and its whole
    /// text match, or the latter alone from one half on. 0.30, in [0, 1]; specified for the whole text alone, which answers
    /// more queries.
    pub lexical_floor: f32,
    /// The fits of [`Playbook::calibrate`](crate::Playbook::calibrate), by the fingerprint of the embedder, or `words` for
    /// retrieval without one. Empty; a folder's own settings may not contain it. For [`RetrievalRule::Signals`].
    pub calibration: BTreeMap<String, CalibrationFit>,
}

/// A fit to a user's labelled queries. It maps the shipped log odds `z` that a query is answered to `scale·z + offset`
/// (docs/spec/playbook.md, 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationFit {
    /// The weight of the signals. 1 as shipped, in [0.05, 20].
    pub scale: f32,
    /// The shift of the log odds. 0 as shipped, in [-20, 20].
    pub offset: f32,
    /// The number of labelled queries that it was fitted to.
    pub n_pairs: usize,
}

impl CalibrationFit {
    pub(crate) const SCALES: RangeInclusive<f32> = 0.05..=20.0;
    pub(crate) const OFFSETS: RangeInclusive<f32> = -20.0..=20.0;
    /// The key of the fit for retrieval without an embedder.
    pub(crate) const WORDS: &str = "words";
}

impl Default for RetrievalConfig {
    fn default() -> Self {
        Self {
            rule: RetrievalRule::Signals,
            answer_from: None,
            min_share: 0.2,
            candidates: 50,
            distance_threshold: 0.45,
            domain_distance: None,
            overlap_weight: 0.4,
            limit: 5,
            min_neighbours: 10,
            max_tokens: 1_200,
            lexical_floor: 0.30,
            calibration: BTreeMap::new(),
        }
    }
}

impl RetrievalConfig {
    pub(super) fn validate(&self) -> Result<(), Error> {
        let Self {
            rule: _,
            answer_from,
            min_share,
            candidates,
            distance_threshold,
            domain_distance,
            overlap_weight,
            limit,
            min_neighbours: _,
            max_tokens,
            lexical_floor,
            calibration,
        } = self;
        share("retrieval.answer_from", answer_from.unwrap_or_default())?;
        share("retrieval.min_share", *min_share)?;
        at_least_one("retrieval.candidates", *candidates)?;
        distance("retrieval.distance_threshold", *distance_threshold)?;
        distance("retrieval.domain_distance", domain_distance.unwrap_or_default())?;
        let is_weight = overlap_weight.is_finite() && *overlap_weight >= 0.0;
        check("retrieval.overlap_weight", overlap_weight, is_weight, "finite and not negative")?;
        at_least_one("retrieval.limit", *limit)?;
        at_least_one("retrieval.max_tokens", *max_tokens)?;
        share("retrieval.lexical_floor", *lexical_floor)?;
        calibration.iter().try_for_each(|(embedder, fit)| fit.validate(embedder))
    }
}

impl CalibrationFit {
    fn validate(self, embedder: &str) -> Result<(), Error> {
        let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let is_fingerprint = embedder.len() == 32 && embedder.bytes().all(is_digit);
        let is_known = is_fingerprint || embedder == Self::WORDS;
        let expected = "by the 32 hex digits of an embedder's fingerprint, or words";
        check("retrieval.calibration", embedder, is_known, expected)?;
        let Self { scale, offset, n_pairs } = self;
        check("retrieval.calibration.scale", &scale, Self::SCALES.contains(&scale), "in [0.05, 20]")?;
        check("retrieval.calibration.offset", &offset, Self::OFFSETS.contains(&offset), "in [-20, 20]")?;
        at_least_one("retrieval.calibration.n_pairs", n_pairs)
    }
}
