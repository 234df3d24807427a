//! Skills: lessons that became instructions of their own, in the files that agents share (Agent Skills, agentskills.io).

mod compose;
mod fields;
mod front_matter;
mod keywords;
mod lines;
mod name;
mod quoted;
mod read;
mod skill;
mod standard;
mod write;

pub use name::{BadSkillName, SkillName};
pub(crate) use read::MAX_BYTES as MAX_SKILL_BYTES;
pub use read::{SkillNote, SkillReading, SkillRefused};
pub use skill::{Quality, Skill, SkillProvenance};
