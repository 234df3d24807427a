//! What is shown.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// How lessons are ranked, and which of them are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RetrievalRule {
    /// By all evidence, shown where it is likely enough to be an answer (docs/spec/playbook.md, 5.1).
    #[default]
    Evidence,
    /// The earlier system's: triggers below a distance, ranked by distance and shared words (docs/spec/playbook.md, 5.8).
    Classic,
}

/// What is shown (docs/spec/playbook.md, 5).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetrievalConfig {
    /// Ranking and gate.
    pub rule: RetrievalRule,
    /// A query is answered when a lesson is an answer with a larger probability. In [0, 1]; that of the embedder's calibration
    /// where it is `None`. Of [`RetrievalRule::Evidence`].
    pub answer_from: Option<f32>,
    /// A lesson is shown from this share of the best one's probability on. 0.2, in [0, 1]; measured. Of
    /// [`RetrievalRule::Evidence`].
    pub min_share: f32,
    /// The best by each kind of evidence that are looked at. 50; measured. Of [`RetrievalRule::Evidence`].
    pub candidates: usize,
    /// Triggers strictly below this cosine distance are shown. 0.45, in [0, 2]; the earlier system's number, there squared L2.
    /// This and what follows it, except `limit` and `max_tokens`, is of [`RetrievalRule::Classic`].
    pub distance_threshold: f32,
    /// A trigger that is farther is shown up to this distance where the query names one of the lesson's domains. `None`, in
    /// [0, 2]; the earlier system's number was 0.625 (1.25 in squared L2).
    pub domain_distance: Option<f32>,
    /// Weight of the word overlap beside `1 − distance`. 0.4; the earlier system's.
    pub overlap_weight: f32,
    /// Lessons shown. 5; the earlier system's.
    pub limit: usize,
    /// Neighbours looked at: `max(2·limit, this)`. 10; the earlier system's.
    pub min_neighbours: usize,
    /// Size of the rendered block. 1,200, in estimated tokens; specified.
    pub max_tokens: usize,
    /// Share of the query, by idf, that a lexical hit must cover: the mean of what its trigger and what the whole of it
    /// match, or the latter from one half on. 0.30, in [0, 1]; specified for the whole alone, which is more talkative.
    pub lexical_floor: f32,
    /// What [`Playbook::calibrate`](crate::Playbook::calibrate) fitted, by the fingerprint of the embedder, or `words` for recall
    /// without one. Empty; a folder's own settings may not have it. Of [`RetrievalRule::Evidence`].
    pub calibration: BTreeMap<String, CalibrationFit>,
}

/// What a user's labelled queries make of the shipped log odds `z` that a query is answered: `scale·z + offset`
/// (docs/spec/playbook.md, 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationFit {
    /// How much the evidence means. 1 as shipped, in [0.05, 20].
    pub scale: f32,
    /// How much likelier an answer is, as log odds. 0 as shipped, in [-20, 20].
    pub offset: f32,
    /// To how many labelled queries it was fitted.
    pub n_pairs: usize,
}

impl CalibrationFit {
    pub(crate) const SCALES: RangeInclusive<f32> = 0.05..=20.0;
    pub(crate) const OFFSETS: RangeInclusive<f32> = -20.0..=20.0;
    /// The key of the numbers for recall without an embedder.
    pub(crate) const WORDS: &str = "words";
}

impl Default for RetrievalConfig {
    fn default() -> Self {
        Self {
            rule: RetrievalRule::Evidence,
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
