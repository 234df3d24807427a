//! The skill as a value.

use std::collections::{BTreeMap, BTreeSet};

use adage_redact::mask;
use serde::Serialize;

use super::SkillName;
use crate::lesson::{LessonId, TextHash, Trust};

/// A skill: instructions for a kind of task, in a file of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skill {
    /// Its name, which is also the name of its folder.
    pub name: SkillName,
    /// What it does and when to use it.
    pub description: String,
    /// Its licence.
    pub license: Option<String>,
    /// Its requirements.
    pub compatibility: Option<String>,
    /// The tools that it may use, in the file's words.
    pub allowed_tools: Option<String>,
    /// Its version; may be empty.
    pub version: String,
    /// Its author; may be empty.
    pub author: String,
    /// Its subjects, as single words in lower case.
    pub topics: Vec<String>,
    /// The actions that it describes, as single words in lower case.
    pub actions: Vec<String>,
    /// Whether it is part of every context.
    pub auto_load: bool,
    /// How reliable it is.
    pub quality: Quality,
    /// Where it comes from.
    pub provenance: SkillProvenance,
    /// Further metadata of other programs.
    pub metadata: BTreeMap<String, String>,
    /// The instructions, in Markdown.
    pub body: String,
}

/// How reliable a skill is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Quality {
    /// It has not been used for a long time.
    Stale,
    /// It was made without a person.
    Draft,
    /// It was written elsewhere.
    Imported,
    /// A person wrote it, or its author is unknown.
    #[default]
    Manual,
    /// A check of it passed.
    Verified,
}

/// Where a skill comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SkillProvenance {
    /// Whether it may come from untrusted content.
    pub trust: Trust,
    /// The tools, sessions or files that it was made from, without duplicates, in order.
    pub sources: Vec<String>,
    /// The lessons that it was made from.
    pub lessons: Vec<LessonId>,
}

impl Skill {
    /// A skill with this name and description; all other fields are empty.
    #[must_use]
    pub fn new(name: SkillName, description: impl Into<String>) -> Self {
        Self {
            name,
            description: description.into(),
            license: None,
            compatibility: None,
            allowed_tools: None,
            version: String::new(),
            author: String::new(),
            topics: Vec::new(),
            actions: Vec::new(),
            auto_load: false,
            quality: Quality::default(),
            provenance: SkillProvenance::default(),
            metadata: BTreeMap::new(),
            body: String::new(),
        }
    }

    /// The same skill with these topics and actions.
    #[must_use]
    pub fn with_triggers<T: Into<String>, A: Into<String>>(
        self,
        topics: impl IntoIterator<Item = T>,
        actions: impl IntoIterator<Item = A>,
    ) -> Self {
        let topics = topics.into_iter().map(Into::into).collect();
        Self { topics, actions: actions.into_iter().map(Into::into).collect(), ..self }
    }

    /// The hash of everything that reaches a prompt or decides when: name, version, description, allowed tools, triggers,
    /// `auto_load`, body. A promotion applies to exactly this.
    #[must_use]
    pub fn text_hash(&self) -> TextHash {
        let tools = self.allowed_tools.as_deref().unwrap_or_default();
        let triggers = [self.topics.join(" "), self.actions.join(" ")];
        let always = if self.auto_load { "always" } else { "" };
        let [topics, actions] = &triggers;
        TextHash::of(&[
            self.name.as_str(),
            &self.version,
            &self.description,
            tools,
            topics,
            actions,
            always,
            &self.body,
        ])
    }

    /// The skill as a person reads it before promoting it: each text has the masks that a prompt has. How many characters they hide.
    pub(crate) fn masked(&self) -> (Self, usize) {
        let mut skill = self.clone();
        let mut n_hidden = 0;
        let options = [&mut skill.license, &mut skill.compatibility, &mut skill.allowed_tools].into_iter().flatten();
        let lists = [&mut skill.topics, &mut skill.actions, &mut skill.provenance.sources].into_iter().flatten();
        let texts = [&mut skill.description, &mut skill.version, &mut skill.author, &mut skill.body].into_iter();
        for text in texts.chain(options).chain(lists).chain(skill.metadata.values_mut()) {
            let masked = mask(text);
            *text = masked.text;
            n_hidden += masked.n_hidden;
        }
        (skill, n_hidden)
    }

    /// True for a draft that was made from sessions and not from a lesson, so that no person has admitted its content.
    pub(crate) fn is_drawn(&self) -> bool {
        let is_own = self.author == super::AUTHOR && self.provenance.lessons.is_empty();
        is_own && !matches!(self.quality, Quality::Imported | Quality::Manual)
    }

    /// True if more than one session suggested it.
    pub(crate) fn recurs(&self) -> bool {
        let sessions: BTreeSet<&str> = self.provenance.sources.iter().map(|source| source.trim()).collect();
        sessions.into_iter().filter(|session| !session.is_empty()).count() > 1
    }
}

impl Quality {
    /// The word for it in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Draft => "draft",
            Self::Imported => "imported",
            Self::Manual => "manual",
            Self::Verified => "verified",
        }
    }

    /// The quality for a word; [`Manual`](Self::Manual) for an unknown word, so that curation does not change the skill.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        [Self::Stale, Self::Draft, Self::Imported, Self::Verified]
            .into_iter()
            .find(|quality| quality.name().eq_ignore_ascii_case(word.trim()))
            .unwrap_or_default()
    }
}
