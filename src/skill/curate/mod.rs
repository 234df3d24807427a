//! Curation: which drafts are duplicates, which are not used, which nobody wants (docs/spec/skills.md, 3). A pure stage.
//!
//! A skill that a person wrote, imported, checked, promoted or added files to is never changed, merged away or removed. Of two
//! skills with the same body, the draft is merged away; of two drafts on one subject whose steps agree, the older name is kept. A
//! second run on the result of a first one does nothing.

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
pub use save::{AutoSave, Declined, auto_save};

/// A saved skill with what is known of its life.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillLife {
    /// The skill.
    pub skill: Skill,
    /// Since when it is there, where that is known.
    pub saved: Option<DateTime<FixedOffset>>,
    /// When it was last used, where it was.
    pub last_used: Option<DateTime<FixedOffset>>,
    /// A person skipped the suggestion that it came from, often and lately enough.
    pub is_skipped: bool,
    /// What a person did about it.
    pub hold: ProtectedBecause,
    /// It is not shown yet: only one session suggested it, and a lesson that it was drawn from is not in use.
    pub waits: bool,
}

/// What a person did about a draft.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProtectedBecause {
    /// Nothing.
    #[default]
    None,
    /// They promoted exactly this text, or put files beside it: it stays as it is.
    Stands,
    /// They took it out of a curation: it is left alone, and nothing is merged into it.
    Apart,
}

/// What a curation would do, in order. Empty when all is as it should be.
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
    /// A draft goes because its suggestion was skipped; archived.
    #[error("remove {name}: its suggestion was skipped")]
    RemoveSkipped {
        /// Which.
        name: SkillName,
    },
    /// A stale skill was used again and is a draft as before.
    #[error("revive {}: it was used again", becomes.name)]
    Revive {
        /// What it becomes.
        becomes: Box<Skill>,
    },
    /// Two skills become one; the text of the one that goes is archived.
    #[error("merge {gone} into {kept}: {because}")]
    Merge {
        /// The name that stays.
        kept: SkillName,
        /// The draft that goes.
        gone: SkillName,
        /// Why they are one.
        because: SameBecause,
        /// What the kept one becomes; none when it stays as it is.
        becomes: Option<Box<Skill>>,
    },
    /// A draft that was not used for long is marked.
    #[error("mark {} as stale: not used for {unused_days} days", becomes.name)]
    MarkStale {
        /// For how many days.
        unused_days: i64,
        /// What it becomes.
        becomes: Box<Skill>,
    },
    /// A draft that was not used for long goes; archived. Only where the configuration asks for it.
    #[error("archive {name}: not used for {unused_days} days")]
    Prune {
        /// Which.
        name: SkillName,
        /// For how many days.
        unused_days: i64,
    },
}

impl SkillLife {
    /// True when nothing but the crate itself made it.
    fn is_free(&self) -> bool {
        matches!(self.skill.quality, Quality::Draft | Quality::Stale) && self.hold == ProtectedBecause::None
    }

    /// Days since it was last used or saved; none when neither is known.
    fn unused_days(&self, now: DateTime<FixedOffset>) -> Option<i64> {
        let since = self.last_used.max(self.saved)?;
        Some(now.signed_duration_since(since).num_days())
    }

    /// What a person stands behind first, then the better quality, then the older, then by name. One that is not known to be
    /// old is not.
    fn seniority(&self) -> impl Ord + use<> {
        let saved = (self.saved.is_none(), self.saved);
        (self.is_free(), std::cmp::Reverse(self.skill.quality), saved, self.skill.name.clone())
    }
}

/// What a curation would do with these skills, of which each name counts once.
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

/// Merges until no two are one; what is left, in the order of names.
fn merge_all(mut states: Vec<SkillLife>, config: &CurationConfig, steps: &mut Vec<CurationStep>) -> Vec<SkillLife> {
    states.sort_by_cached_key(SkillLife::seniority);
    let mut waiting = VecDeque::from(states);
    let mut apart: Vec<SkillLife> = Vec::new();
    // No two of `apart` are one. A merged one is compared with all of them again: it has more topics than before.
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
    /// True when there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// What each skill that is touched becomes in the end; none when it goes.
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
