//! A skill as a value.

use std::collections::{BTreeMap, BTreeSet};

use adage_redact::mask;
use serde::Serialize;

use super::SkillName;
use crate::lesson::{LessonId, TextHash, Trust};

/// Instructions for a kind of task, in a file of their own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skill {
    /// Its name, and its folder's.
    pub name: SkillName,
    /// What it does and when it holds.
    pub description: String,
    /// Under which licence it was given.
    pub license: Option<String>,
    /// What it needs to work.
    pub compatibility: Option<String>,
    /// The tools that it may use, as the file words it.
    pub allowed_tools: Option<String>,
    /// Which edition of it this is; may be empty.
    pub version: String,
    /// Who wrote it; may be empty.
    pub author: String,
    /// What it is about, as single words in lower case.
    pub topics: Vec<String>,
    /// What is done in it, as single words in lower case.
    pub actions: Vec<String>,
    /// It comes with every context.
    pub auto_load: bool,
    /// How far it is to be relied on.
    pub quality: Quality,
    /// Where it comes from.
    pub provenance: SkillProvenance,
    /// What others noted about it.
    pub metadata: BTreeMap<String, String>,
    /// The instructions, in Markdown.
    pub body: String,
}

/// How far a skill is to be relied on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Quality {
    /// It was not used for long.
    Stale,
    /// It was made without a person.
    Draft,
    /// It was written elsewhere.
    Imported,
    /// A person wrote it, or nothing says who did.
    #[default]
    Manual,
    /// It was checked.
    Verified,
}

/// Where a skill comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SkillProvenance {
    /// Whether it may come from untrusted content.
    pub trust: Trust,
    /// The tools, sessions or files it was drawn from, each once, in order.
    pub sources: Vec<String>,
    /// The lessons it was made from.
    pub lessons: Vec<LessonId>,
}

impl Skill {
    /// A skill of which only the name and the description are known; all else is empty.
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

    /// The same with these topics and actions.
    #[must_use]
    pub fn with_triggers<T: Into<String>, A: Into<String>>(
        self,
        topics: impl IntoIterator<Item = T>,
        actions: impl IntoIterator<Item = A>,
    ) -> Self {
        let topics = topics.into_iter().map(Into::into).collect();
        Self { topics, actions: actions.into_iter().map(Into::into).collect(), ..self }
    }

    /// The hash of everything that reaches a prompt, and of what decides when it does: name, version, description, what it may
    /// use, triggers, whether it always comes, body. A promotion holds for exactly this.
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

    /// True for a draft that was drawn from sessions and from no lesson, so that nobody has let in what it says.
    pub(crate) fn is_drawn(&self) -> bool {
        let is_own = self.author == super::AUTHOR && self.provenance.lessons.is_empty();
        is_own && !matches!(self.quality, Quality::Imported | Quality::Manual)
    }

    /// True when more than one session suggested it.
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

    /// The quality that a word stands for; anything unknown is [`Manual`](Self::Manual), so that it is left alone.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        [Self::Stale, Self::Draft, Self::Imported, Self::Verified]
            .into_iter()
            .find(|quality| quality.name().eq_ignore_ascii_case(word.trim()))
            .unwrap_or_default()
    }
}
