//! Skills: lessons that became instructions of their own, in the files that agents share (Agent Skills, agentskills.io).

mod name;
mod skill;

pub use name::{BadSkillName, SkillName};
pub use skill::{Quality, Skill, SkillProvenance};
