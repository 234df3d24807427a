//! `SKILL.md` files: read leniently, written for the Agent Skills specification, matched to a task, and kept in order.
//!
//! ```
//! use adage::Playbook;
//! use adage::skills::Skill;
//!
//! # let folder = tempfile::tempdir()?;
//! let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
//! let mut skill = Skill::new("docker-build".parse()?, "Builds images.").with_triggers(["docker"], ["build"]);
//! skill.body = "1. Use the cache.".to_owned();
//! playbook.skills().save(&skill)?;
//!
//! let skills = playbook.skills().for_task("compile the docker image")?;
//! assert_eq!(skills.block.text, "<skill name=\"docker-build\">\n1. Use the cache.\n</skill>\n");
//! assert!(playbook.skills().for_task("What is the capital of France?")?.block.text.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A skill from a project's folder is listed, but never shown before a person has promoted exactly its text.

pub use crate::error::skills::Error;
pub use crate::playbook::skills::Skills;
pub use crate::playbook::skills::curation::Curated;
pub use crate::playbook::skills::exchange::{
    ExportedSkill as Exported, ImportedSkill as Imported, SavedSkill as Saved,
};
pub use crate::playbook::skills::listing::{
    ListedSkill as Listed, ShadowedSkill as Shadowed, SkillListing as Listing, SkillPlace as Place,
};
pub use crate::playbook::skills::matching::TaskSkills;
pub use crate::playbook::skills::saving::AutoSaved;
pub use crate::skill::{
    AutoSave, BadSkillName as BadName, CurationPlan, CurationStep, Declined, DeclinedSkill, Fallback,
    IndexedSkill as Indexed, LeftOutSkill as LeftOut, MatchTier, MatchedBy, Matches, NoMatch, NotWorded, Point,
    PointReason, ProtectedBecause, Quality, RenderedSkills as Rendered, SameBecause, Shortcoming, Skill,
    SkillIndex as Index, SkillLife as Life, SkillMatch as Match, SkillName as Name, SkillNote as Note,
    SkillProvenance as Provenance, SkillReading as Reading, SkillRefused as Refused, SuggestedSkill as Suggested,
    auto_save, curate, match_skills, match_skills_by_meaning, quality_gate, render_skills, word_skill,
};
pub use crate::store::skills::files::{NotListed, RefusedSkill as RefusedFile};
pub use crate::store::skills::state::SkillUse as Use;
pub use crate::store::skills::supporting::{NotCovered, SkillFile as File};
