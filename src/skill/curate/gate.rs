//! The quality gate of a skill that is saved without a person (docs/spec/skills.md, 3.1).

use serde::Serialize;

use super::outline::{EVIDENCE, MarkedLine, OVERVIEW, PITFALLS, VERIFICATION, sections, steps};
use crate::skill::Skill;
use crate::skill::code::code;

/// The minimum length of a body in bytes; from the earlier system.
const MIN_BODY_BYTES: usize = 200;

/// The minimum length of a rule in words; chosen.
const MIN_RULE_WORDS: usize = 3;

/// A requirement that a skill does not meet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Shortcoming {
    /// There is no text under a heading "Overview".
    #[error("it has no overview")]
    NoOverview,
    /// There is no text under a heading "Common Pitfalls".
    #[error("it names no common pitfalls")]
    NoPitfalls,
    /// Its body is too short.
    #[error("its body has {n_bytes} bytes, it needs {min}")]
    Short {
        /// The length in bytes.
        n_bytes: usize,
        /// The minimum length in bytes.
        min: usize,
    },
    /// It has neither a command nor a concrete rule.
    #[error("it has neither a command nor a concrete rule")]
    NothingConcrete,
}

/// Checks that a skill is worth saving: it has an overview, common pitfalls, a body of 200 bytes, and a command or a concrete
/// rule.
///
/// A command is fenced or inline code outside the sections of checks and evidence. A concrete rule is a step of at least three
/// words.
///
/// # Errors
/// Every requirement that is not met.
pub fn quality_gate(skill: &Skill) -> Result<(), Vec<Shortcoming>> {
    let sections = sections(&skill.body);
    let has = |title: &str| sections.iter().any(|section| section.is(title) && section.says_something());
    let n_bytes = skill.body.trim().len();
    let tells = sections.iter().filter(|section| !section.is(VERIFICATION) && !section.is(EVIDENCE));
    let has_command = tells.flat_map(|section| &section.lines).any(|line| match line {
        MarkedLine::Code(line) => !line.trim().is_empty(),
        MarkedLine::Text(line) => has_code(line),
        MarkedLine::Fence(_) => false,
    });
    let is_concrete = has_command || steps(&skill.body).iter().any(|step| step.split(' ').count() >= MIN_RULE_WORDS);
    let checks = [
        (has(OVERVIEW), Shortcoming::NoOverview),
        (has(PITFALLS), Shortcoming::NoPitfalls),
        (n_bytes >= MIN_BODY_BYTES, Shortcoming::Short { n_bytes, min: MIN_BODY_BYTES }),
        (is_concrete, Shortcoming::NothingConcrete),
    ];
    let lacks: Vec<Shortcoming> = checks.into_iter().filter(|(holds, _)| !holds).map(|(_, lack)| lack).collect();
    if lacks.is_empty() { Ok(()) } else { Err(lacks) }
}

/// True if a line has code between back-ticks.
fn has_code(line: &str) -> bool {
    code(line).iter().any(|code| !code.trim().is_empty())
}
