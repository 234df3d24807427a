//! The explanation of a match, point by point.

use std::fmt;

use serde::Serialize;

/// Why a word of the query counts for a skill, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PointReason {
    /// It equals one of the skill's topics.
    Topic,
    /// It equals one of the skill's actions.
    Action,
    /// It is a part of a topic or action of several words, such as `docker` of `docker-compose`.
    Part,
    /// It has the stem of a topic or action.
    Stem,
    /// It is a synonym of a topic or action.
    Synonym,
    /// The description contains it.
    Description,
}

/// The points of one word of the query for a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Point {
    /// The word of the query, in lower case.
    pub query_word: String,
    /// The word of the skill that it matches.
    pub skill_word: String,
    /// How they match.
    pub reason: PointReason,
    /// The points.
    pub points: u32,
}

impl PointReason {
    /// The points: 3 for a topic or action, 2 for a part, a stem or a synonym, 1 for a word of the description. The numbers are
    /// those of the earlier system, except for a part, which it did not count.
    #[must_use]
    pub fn points(self) -> u32 {
        match self {
            Self::Topic | Self::Action => 3,
            Self::Part | Self::Stem | Self::Synonym => 2,
            Self::Description => 1,
        }
    }

    /// The reason as one word.
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
