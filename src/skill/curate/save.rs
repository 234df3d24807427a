//! Automatic saving of suggested skills: a few per run, and only those that pass the quality gate (docs/spec/skills.md, 3.1).

use serde::Serialize;

use super::gate::{Shortcoming, quality_gate};
use crate::config::AutoSaveConfig;
use crate::lesson::Refusal;
use crate::skill::{NotWorded, Quality, Skill, SkillName};

/// The suggested skills, sorted into those to save and those not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AutoSave {
    /// To be saved as drafts, under unused names.
    pub saved: Vec<Skill>,
    /// Not to be saved.
    pub declined: Vec<DeclinedSkill>,
}

/// A suggested skill that is not saved. In JSON: `[name, reason]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "(SkillName, Declined)")]
#[non_exhaustive]
pub struct DeclinedSkill {
    /// The suggested name.
    pub name: SkillName,
    /// Why it is not saved.
    pub reason: Declined,
}

impl From<DeclinedSkill> for (SkillName, Declined) {
    fn from(declined: DeclinedSkill) -> Self {
        (declined.name, declined.reason)
    }
}

/// Why a suggested skill is not saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Declined {
    /// Automatic saving is off.
    #[error("automatic saving of skills is off")]
    Off,
    /// The gate refuses the lesson that it is made from.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It is a rule in a person's words, which has no steps.
    #[error("it has no steps: a rule is a lesson, not a skill")]
    NoSteps,
    /// The quality gate refuses it.
    #[error("{}", list(.0))]
    Gate(Vec<Shortcoming>),
    /// No model reworded it, and the settings require that.
    #[error(transparent)]
    NotWorded(#[from] NotWorded),
    /// A skill was made of the same text before; a person may have removed it since.
    #[error("skill {0} was made from it before")]
    MadeBefore(SkillName),
    /// An existing skill has the same content.
    #[error("skill {0} says the same")]
    SameAs(SkillName),
    /// The run has saved the maximum.
    #[error("a run saves at most {max}")]
    Enough {
        /// The maximum per run.
        max: usize,
    },
    /// No unused name was found.
    #[error("its name is taken")]
    NameTaken,
}

/// How many names are tried if the skill's own is taken.
const MAX_NAMES: usize = 100;

/// Sorts suggested skills into those to save and those not, in their order. Declined ones do not count towards the limit.
/// `require_llm` is not checked here; that is up to the caller.
#[must_use]
pub fn auto_save(suggested: impl IntoIterator<Item = Skill>, known: &[Skill], config: &AutoSaveConfig) -> AutoSave {
    let mut outcome = AutoSave::default();
    for skill in suggested {
        match consider(skill.clone(), known, &outcome.saved, config) {
            Ok(draft) => outcome.saved.push(draft),
            Err(reason) => outcome.declined.push(DeclinedSkill { name: skill.name, reason }),
        }
    }
    outcome
}

fn consider(skill: Skill, known: &[Skill], saved: &[Skill], config: &AutoSaveConfig) -> Result<Skill, Declined> {
    if !config.enabled {
        return Err(Declined::Off);
    }
    quality_gate(&skill).map_err(Declined::Gate)?;
    let others = || known.iter().chain(saved);
    if let Some(same) = others().find(|other| other.body.trim() == skill.body.trim()) {
        return Err(Declined::SameAs(same.name.clone()));
    }
    if saved.len() >= config.max_per_run {
        return Err(Declined::Enough { max: config.max_per_run });
    }
    let is_free = |name: &SkillName| {
        let is_same = |other: &Skill| other.name.as_str().eq_ignore_ascii_case(name.as_str());
        !others().any(is_same)
    };
    let name = std::iter::once(skill.name.clone()).chain((2..MAX_NAMES).map(|n| skill.name.numbered(n))).find(is_free);
    let name = name.ok_or(Declined::NameTaken)?;
    Ok(Skill { name, quality: Quality::Draft, auto_load: false, ..skill })
}

fn list(shortcomings: &[Shortcoming]) -> String {
    shortcomings.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
