//! Skills: matching, saving, curation.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::seconds;

/// Which skills a task is given (docs/spec/skills.md, 2).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MatchConfig {
    /// Skills shown beside those that are always loaded. 5; the earlier system's. 0 shows none.
    pub max_slots: usize,
    /// Points by words that a skill needs. 3, at least 1; the earlier system's.
    pub threshold: u32,
    /// Cosine similarity that a skill needs, by an embedder. 0.35, in [-1, 1]; the earlier system's.
    pub cosine_floor: f32,
    /// How long an embedder may take before words decide. 2 s; the earlier system's.
    #[serde(with = "seconds")]
    pub time_limit: Duration,
    /// Size of the rendered block. 6,000, at least 1, in estimated tokens; chosen.
    pub max_tokens: usize,
}

impl Default for MatchConfig {
    fn default() -> Self {
        Self { max_slots: 5, threshold: 3, cosine_floor: 0.35, time_limit: Duration::from_secs(2), max_tokens: 6_000 }
    }
}

/// Which of the skills that sessions suggest are saved without a person (docs/spec/skills.md, 3.1). Tainted ones never are.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AutoSaveConfig {
    /// Whether any is. True; the earlier system's.
    pub enabled: bool,
    /// Skills saved of one session. 3; the earlier system's, where a run of the agent is a session.
    pub max_per_run: usize,
    /// Only skills that a language model worded are saved. False; chosen, as no model comes with the crate.
    pub require_llm: bool,
}

impl Default for AutoSaveConfig {
    fn default() -> Self {
        Self { enabled: true, max_per_run: 3, require_llm: false }
    }
}

/// What becomes of saved skills that nobody stands behind (docs/spec/skills.md, 3.2, 3.3). When a suggestion counts as
/// skipped is said by
/// `capture.skip_threshold` and `capture.skip_for`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CurationConfig {
    /// Whether a run that saved skills is followed by a curation. True; the earlier system's.
    pub auto_curate: bool,
    /// For how long a draft is not used before it is stale, in whole days. 90 days, at least 1; the earlier system's.
    #[serde(with = "seconds")]
    pub staleness: Duration,
    /// Whether stale drafts are taken out and archived, instead of only marked. False; the earlier system's.
    pub auto_prune: bool,
    /// Topics that two drafts share before their steps are compared. 2, at least 1; the earlier system's.
    pub min_shared_topics: usize,
}

impl Default for CurationConfig {
    fn default() -> Self {
        Self { auto_curate: true, staleness: Duration::from_hours(90 * 24), auto_prune: false, min_shared_topics: 2 }
    }
}

/// Skills (docs/spec/skills.md, 1).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SkillsConfig {
    /// Skills that come with every context. 3; the earlier system's. 0 shows none.
    pub max_auto_load: usize,
}

impl Default for SkillsConfig {
    fn default() -> Self {
        Self { max_auto_load: 3 }
    }
}
