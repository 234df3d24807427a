//! Curation: detects duplicate, unused and unwanted drafts (docs/spec/skills.md, 3). A pure stage.
//!
//! A skill is never changed, merged away or removed if a person wrote, imported, checked or promoted it, or added files to it.
//! Of two skills with the same body, the draft is merged away. Of two drafts on the same subject with agreeing steps, the older
//! name is kept. A second run on the result of a first one does nothing.

mod gate;
mod merge;
mod outline;
mod procedure;
mod save;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use chrono::{DateTime, FixedOffset};
use serde::Serialize;

use crate::config::CurationConfig;
use crate::skill::{Quality, Skill, SkillName};

pub use gate::{Shortcoming, quality_gate};
pub use merge::SameBecause;
pub(super) use outline::{OVERVIEW, PITFALLS, VERIFICATION, with_section};
pub(crate) use procedure::is_same_procedure;
pub use save::{AutoSave, Declined, DeclinedSkill, auto_save};

/// A saved skill with its history.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillLife {
    /// The skill.
    pub skill: Skill,
    /// When it was first seen, if known.
    pub saved: Option<DateTime<FixedOffset>>,
    /// When it was last used, if ever.
    pub last_used: Option<DateTime<FixedOffset>>,
    /// Whether a person skipped its suggestion recently and often enough.
    pub is_skipped: bool,
    /// What a person decided about it.
    pub hold: ProtectedBecause,
    /// Whether it is not shown yet, because only one session suggested it and a lesson that it was made from is not in use.
    pub waits: bool,
}

/// What a person decided about a draft.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProtectedBecause {
    /// Nothing.
    #[default]
    None,
    /// The person promoted exactly this text or added files to it: it is not changed.
    Stands,
    /// The person undid its curation: it is not changed, and nothing is merged into it.
    Apart,
}

/// The steps of a curation, in order; empty if there is nothing to do.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CurationPlan {
    /// The steps.
    pub steps: Vec<CurationStep>,
}

/// A step of a curation.
#[derive(Clone, Debug, PartialEq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CurationStep {
    /// A draft is archived because its suggestion was skipped.
    #[error("remove {name}: its suggestion was skipped")]
    RemoveSkipped {
        /// The draft.
        name: SkillName,
    },
    /// A stale skill was used again and becomes a draft.
    #[error("revive {}: it was used again", becomes.name)]
    Revive {
        /// The skill afterwards.
        becomes: Box<Skill>,
    },
    /// Two skills are merged; the text of the removed one is archived.
    #[error("merge {gone} into {kept}: {because}")]
    Merge {
        /// The name that is kept.
        kept: SkillName,
        /// The draft that is removed.
        gone: SkillName,
        /// Why they are merged.
        because: SameBecause,
        /// The kept skill afterwards; none if it is unchanged.
        becomes: Option<Box<Skill>>,
    },
    /// A draft is marked as stale because it has not been used for a long time.
    #[error("mark {} as stale: not used for {unused_days} days", becomes.name)]
    MarkStale {
        /// The number of days without use.
        unused_days: i64,
        /// The skill afterwards.
        becomes: Box<Skill>,
    },
    /// An unused draft is archived; only if the configuration asks for it.
    #[error("archive {name}: not used for {unused_days} days")]
    Prune {
        /// The draft.
        name: SkillName,
        /// The number of days without use.
        unused_days: i64,
    },
}

impl SkillLife {
    /// True if no person was involved with it.
    fn is_free(&self) -> bool {
        matches!(self.skill.quality, Quality::Draft | Quality::Stale) && self.hold == ProtectedBecause::None
    }

    /// Days since its last use, or since it was saved; none if neither is known.
    fn unused_days(&self, now: DateTime<FixedOffset>) -> Option<i64> {
        let since = self.last_used.max(self.saved)?;
        Some(now.signed_duration_since(since).num_days())
    }

    /// The order in which names are kept: skills that a person vouches for, then by quality, then by age, then by name. A skill
    /// of unknown age counts as new.
    fn seniority(&self) -> impl Ord + use<> {
        let saved = (self.saved.is_none(), self.saved);
        (self.is_free(), std::cmp::Reverse(self.skill.quality), saved, self.skill.name.clone())
    }
}

/// The plan of a curation of these skills, one per name.
#[must_use]
pub fn curate(states: &[SkillLife], now: DateTime<FixedOffset>, config: &CurationConfig) -> CurationPlan {
    let mut named = BTreeMap::new();
    for state in states {
        named.entry(&state.skill.name).or_insert(state);
    }
    let limit = i64::try_from(config.staleness.as_secs() / (24 * 60 * 60)).unwrap_or(i64::MAX);
    let mut steps = Vec::new();
    let mut there = Vec::new();
    for state in named.into_values() {
        if !state.is_free() {
            there.push(state.clone());
        } else if state.is_skipped {
            steps.push(CurationStep::RemoveSkipped { name: state.skill.name.clone() });
        } else if state.skill.quality == Quality::Stale && state.unused_days(now).is_some_and(|days| days < limit) {
            let becomes = Skill { quality: Quality::Draft, ..state.skill.clone() };
            steps.push(CurationStep::Revive { becomes: Box::new(becomes.clone()) });
            there.push(SkillLife { skill: becomes, ..state.clone() });
        } else {
            there.push(state.clone());
        }
    }
    for state in merge_all(there, config, &mut steps) {
        let Some(unused_days) = state.unused_days(now).filter(|days| *days >= limit && state.is_free()) else {
            continue;
        };
        if config.auto_prune {
            steps.push(CurationStep::Prune { name: state.skill.name, unused_days });
        } else if state.skill.quality != Quality::Stale {
            let becomes = Box::new(Skill { quality: Quality::Stale, ..state.skill });
            steps.push(CurationStep::MarkStale { unused_days, becomes });
        }
    }
    CurationPlan { steps }
}

/// Merges until no two skills can be merged. Returns the rest in the order of names.
fn merge_all(mut states: Vec<SkillLife>, config: &CurationConfig, steps: &mut Vec<CurationStep>) -> Vec<SkillLife> {
    states.sort_by_cached_key(SkillLife::seniority);
    let mut waiting = VecDeque::from(states);
    let mut apart: Vec<SkillLife> = Vec::new();
    // No two of `apart` can be merged. A merged skill is compared with all of them again: it has more topics than before.
    while let Some(state) = waiting.pop_front() {
        let found = apart.iter().enumerate().find_map(|(place, other)| {
            let (kept, gone) = if other.seniority() <= state.seniority() { (other, &state) } else { (&state, other) };
            Some((place, merge::merge(kept, gone, config)?))
        });
        match found {
            None => apart.push(state),
            Some((place, merged)) => {
                apart.remove(place);
                steps.push(merged.step);
                waiting.push_front(merged.state);
            }
        }
    }
    apart.sort_by(|one, other| one.skill.name.cmp(&other.skill.name));
    apart
}

impl CurationPlan {
    /// True if there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The final state of each changed skill; none if it is removed.
    #[must_use]
    pub fn outcome(&self) -> BTreeMap<SkillName, Option<&Skill>> {
        let mut outcome = BTreeMap::new();
        for step in &self.steps {
            match step {
                CurationStep::RemoveSkipped { name } | CurationStep::Prune { name, .. } => {
                    outcome.insert(name.clone(), None);
                }
                CurationStep::Revive { becomes } | CurationStep::MarkStale { becomes, .. } => {
                    outcome.insert(becomes.name.clone(), Some(becomes.as_ref()));
                }
                CurationStep::Merge { gone, becomes, .. } => {
                    outcome.insert(gone.clone(), None);
                    if let Some(becomes) = becomes {
                        outcome.insert(becomes.name.clone(), Some(becomes.as_ref()));
                    }
                }
            }
        }
        outcome
    }
}
