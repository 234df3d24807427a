//! Names of proposals: the kind, and a name if a kind can have several.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use adage::LessonId;
use adage::skills::Name as SkillName;

/// The kind of a patch, which decides what it may change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PatchKind {
    /// Notes: Markdown files directly in the memory folder.
    Private,
    /// The one file for global notes that the host named.
    Global,
    /// Existing skills below the roots that the host named as writable. The name is the patch's.
    Skill(SkillName),
}

impl PatchKind {
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Global => "global",
            Self::Skill(_) => "skill",
        }
    }
}

/// The name of a proposal. As text: `private`, `global`, `skills/NAME.patch`, `skills/NAME`, `sessions/ID`, `files/NAME`, or a lesson's id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProposalName {
    /// A patch.
    Patch(PatchKind),
    /// A new skill.
    Skill(SkillName),
    /// What was found in a session, by its id.
    Session(String),
    /// What was imported from a file, by the name that the import gave.
    File(String),
    /// A lesson that awaits review.
    Lesson(LessonId),
}

/// The kinds of proposals, in the order in which they are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProposalKind {
    /// A patch of the notes in the memory folder.
    Private,
    /// A patch of the global notes.
    Global,
    /// A patch of a skill.
    SkillPatch,
    /// A new skill.
    Skill,
    /// What was found in a session.
    Session,
    /// What was imported from a file.
    File,
    /// A lesson.
    Lesson,
}

impl ProposalKind {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::Private, Self::Global, Self::SkillPatch, Self::Skill, Self::Session, Self::File, Self::Lesson];

    /// The name as text.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Global => "global",
            Self::SkillPatch => "skill-patch",
            Self::Skill => "skill",
            Self::Session => "session",
            Self::File => "file",
            Self::Lesson => "lesson",
        }
    }
}

impl ProposalName {
    /// The kind of the proposal.
    #[must_use]
    pub fn kind(&self) -> ProposalKind {
        match self {
            Self::Patch(PatchKind::Private) => ProposalKind::Private,
            Self::Patch(PatchKind::Global) => ProposalKind::Global,
            Self::Patch(PatchKind::Skill(_)) => ProposalKind::SkillPatch,
            Self::Skill(_) => ProposalKind::Skill,
            Self::Session(_) => ProposalKind::Session,
            Self::File(_) => ProposalKind::File,
            Self::Lesson(_) => ProposalKind::Lesson,
        }
    }
}

impl fmt::Display for ProposalName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Patch(PatchKind::Skill(name)) => write!(f, "skills/{name}.patch"),
            Self::Patch(kind) => f.write_str(kind.word()),
            Self::Skill(name) => write!(f, "skills/{name}"),
            Self::Session(id) => write!(f, "sessions/{id}"),
            Self::File(name) => write!(f, "files/{name}"),
            Self::Lesson(id) => write!(f, "{id}"),
        }
    }
}

impl Serialize for ProposalName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The text is not the name of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error(
    "{text:?} names no proposal; there are private, global, skills/NAME.patch, skills/NAME, sessions/ID, files/NAME and ids of lessons"
)]
#[non_exhaustive]
pub struct BadProposalName {
    /// The text.
    pub text: String,
}

impl FromStr for ProposalName {
    type Err = BadProposalName;

    fn from_str(text: &str) -> Result<Self, BadProposalName> {
        let text = text.trim();
        let bad = || BadProposalName { text: text.to_owned() };
        if let Some(name) = text.strip_prefix("skills/") {
            return match name.strip_suffix(".patch") {
                Some(name) => name.parse().map(|name| Self::Patch(PatchKind::Skill(name))),
                None => name.parse().map(Self::Skill),
            }
            .map_err(|_| bad());
        }
        if let Some(id) = text.strip_prefix("sessions/").filter(|id| !id.is_empty()) {
            return Ok(Self::Session(id.to_owned()));
        }
        if let Some(name) = text.strip_prefix("files/").filter(|name| !name.is_empty()) {
            return Ok(Self::File(name.to_owned()));
        }
        match text {
            "private" => Ok(Self::Patch(PatchKind::Private)),
            "global" => Ok(Self::Patch(PatchKind::Global)),
            id => id.parse().map(Self::Lesson).map_err(|_| bad()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for text in [
            "private",
            "global",
            "files/memory/MEMORY.md",
            "skills/deploy.patch",
            "skills/deploy",
            "sessions/3f2a",
            "0198c0de-0000-7000-8000-000000000001",
        ] {
            let name: ProposalName = text.parse().unwrap();
            assert_eq!(name.to_string(), text);
        }
        for text in [
            "",
            "Private",
            "skills/",
            "sessions/",
            "skills/.patch",
            "skills/../x",
            "skills/a/b",
            "private/extraction.patch",
            "x",
        ] {
            assert_eq!(text.parse::<ProposalName>(), Err(BadProposalName { text: text.to_owned() }), "{text}");
        }
    }
}
