//! Settings of skills: matching, saving, curation.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::range::{at_least_one, check, within};
use super::seconds;
use crate::error::config::Error;

/// Settings of matching skills to a task (docs/spec/skills.md, 2).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MatchConfig {
    /// Maximum number of skills shown in addition to those that are always loaded. 5; the earlier system's. 0 shows none.
    pub max_slots: usize,
    /// Minimum points of a skill matched by words. 3, at least 1; the earlier system's.
    pub threshold: u32,
    /// Minimum cosine similarity of a skill matched by vectors. 0.35, in [-1, 1]; the earlier system's.
    pub cosine_floor: f32,
    /// Time limit of the embedder, after which words decide. 2 s; the earlier system's.
    #[serde(with = "seconds")]
    pub time_limit: Duration,
    /// Maximum size of the rendered block. 6,000, at least 1, in estimated tokens; chosen.
    pub max_tokens: usize,
}

impl Default for MatchConfig {
    fn default() -> Self {
        Self { max_slots: 5, threshold: 3, cosine_floor: 0.35, time_limit: Duration::from_secs(2), max_tokens: 6_000 }
    }
}

impl MatchConfig {
    pub(super) fn validate(&self) -> Result<(), Error> {
        let Self { max_slots: _, threshold, cosine_floor, time_limit: _, max_tokens } = self;
        at_least_one("matching.threshold", *threshold)?;
        within("matching.cosine_floor", *cosine_floor, -1.0..=1.0, "a cosine in [-1, 1]")?;
        at_least_one("matching.max_tokens", *max_tokens)
    }
}

/// Settings of saving suggested skills without a person (docs/spec/skills.md, 3.1). Tainted ones are never saved.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AutoSaveConfig {
    /// Whether suggested skills are saved. True; the earlier system's.
    pub enabled: bool,
    /// Maximum number of skills saved per session. 3; the earlier system's, where a run of the agent is a session.
    pub max_per_run: usize,
    /// Whether only skills reworded by a language model are saved. False; chosen, as the crate includes no such model.
    pub require_llm: bool,
}

impl Default for AutoSaveConfig {
    fn default() -> Self {
        Self { enabled: true, max_per_run: 3, require_llm: false }
    }
}

/// Settings of the curation of drafts (docs/spec/skills.md, 3.2, 3.3). `capture.skip_threshold` and `capture.skip_for` decide
/// when a suggestion counts as skipped.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CurationConfig {
    /// Whether a run that saved skills is followed by a curation. True; the earlier system's.
    pub auto_curate: bool,
    /// Time without use after which a draft is stale, in whole days. 90 days, at least 1; the earlier system's.
    #[serde(with = "seconds")]
    pub staleness: Duration,
    /// Whether stale drafts are archived instead of only marked. False; the earlier system's.
    pub auto_prune: bool,
    /// Minimum number of shared topics for comparing the steps of two drafts. 2, at least 1; the earlier system's.
    pub min_shared_topics: usize,
}

impl Default for CurationConfig {
    fn default() -> Self {
        Self { auto_curate: true, staleness: Duration::from_hours(90 * 24), auto_prune: false, min_shared_topics: 2 }
    }
}

impl CurationConfig {
    pub(super) fn validate(&self) -> Result<(), Error> {
        let Self { auto_curate: _, staleness, auto_prune: _, min_shared_topics } = self;
        let n_days = staleness.as_secs() / (24 * 60 * 60);
        check("curation.staleness", &format_args!("{n_days} days"), n_days > 0, "at least a day")?;
        at_least_one("curation.min_shared_topics", *min_shared_topics)
    }
}

/// Settings of skills in contexts (docs/spec/skills.md, 1).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SkillsConfig {
    /// Maximum number of auto-loaded skills in a context. 3; the earlier system's. 0 shows none.
    pub max_auto_load: usize,
}

impl Default for SkillsConfig {
    fn default() -> Self {
        Self { max_auto_load: 3 }
    }
}
