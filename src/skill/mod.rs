//! Skills: instructions made from lessons or written by people, in the file format that agents share (Agent Skills,
//! agentskills.io).

mod code;
mod compose;
mod content;
mod curate;
mod fields;
mod front_matter;
mod keywords;
mod lines;
mod matcher;
mod name;
mod quoted;
mod read;
mod standard;
mod wording;
mod write;

pub use compose::SuggestedSkill;
pub use content::{Quality, Skill, SkillProvenance};
pub(crate) use curate::is_same_procedure;
pub use curate::{
    AutoSave, CurationPlan, CurationStep, Declined, DeclinedSkill, ProtectedBecause, SameBecause, Shortcoming,
    SkillLife, auto_save, curate, quality_gate,
};
pub use matcher::{
    Fallback, IndexedSkill, LeftOutSkill, MatchTier, MatchedBy, Matches, NoMatch, Point, PointReason, RenderedSkills,
    SkillIndex, SkillMatch, match_skills, match_skills_by_meaning, render_skills,
};
pub use name::{BadSkillName, SkillName};
pub(crate) use read::{MAX_BYTES as MAX_SKILL_BYTES, front_matter_texts};
pub use read::{SkillNote, SkillReading, SkillRefused};
pub use wording::{NotWorded, word_skill};

/// The author of skills that the crate makes.
const AUTHOR: &str = "adage";
