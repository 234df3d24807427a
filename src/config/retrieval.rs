//! What is shown.

use serde::{Deserialize, Serialize};

/// What is shown (docs/spec/playbook.md, 5).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetrievalConfig {
    /// Triggers strictly below this cosine distance are shown. 0.45, in [0, 2]; the earlier system's number, there squared L2.
    pub distance_threshold: f32,
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
}

impl Default for RetrievalConfig {
    fn default() -> Self {
        Self {
            distance_threshold: 0.45,
            overlap_weight: 0.4,
            limit: 5,
            min_neighbours: 10,
            max_tokens: 1_200,
            lexical_floor: 0.30,
        }
    }
}
