//! What a match is made of, point by point.

use std::fmt;

use serde::Serialize;

/// Why a word of the query speaks for a skill, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PointReason {
    /// It is one of the skill's topics.
    Topic,
    /// It is one of the skill's actions.
    Action,
    /// It is a part of a topic or action of several words, such as `docker` of `docker-compose`.
    Part,
    /// It has the stem of a topic or action.
    Stem,
    /// It means what a topic or action means.
    Synonym,
    /// The description has it.
    Description,
}

/// What one word of the query counts for a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Point {
    /// The word of the query, in lower case.
    pub query_word: String,
    /// The word of the skill that it meets.
    pub skill_word: String,
    /// How they meet.
    pub reason: PointReason,
    /// What that counts.
    pub points: u32,
}

impl PointReason {
    /// What it counts: 3 a topic or action, 2 a part, a stem or a synonym, 1 a word of the description. The earlier
    /// system's; a part is ours, which had no points for it.
    #[must_use]
    pub fn points(self) -> u32 {
        match self {
            Self::Topic | Self::Action => 3,
            Self::Part | Self::Stem | Self::Synonym => 2,
            Self::Description => 1,
        }
    }

    /// The reason in a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Topic => "topic",
            Self::Action => "action",
            Self::Part => "part",
            Self::Stem => "stem",
            Self::Synonym => "synonym",
            Self::Description => "description",
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{} {} {:?}", self.points, self.reason.name(), self.query_word)?;
        if self.query_word == self.skill_word { Ok(()) } else { write!(f, " as {:?}", self.skill_word) }
    }
}
