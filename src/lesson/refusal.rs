//! Why a draft was not stored.

use serde::Serialize;

use super::LessonId;

/// Why a draft was not stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Refusal {
    /// It is not a JSON object.
    #[error("a lesson is a JSON object with the fields of a lesson")]
    NotAnObject,
    /// It says neither what was to be done nor when the lesson holds.
    #[error("it has neither a task nor a trigger")]
    NoTrigger,
    /// It says not what to do.
    #[error("it has no solution")]
    NoSolution,
    /// A field is too long.
    #[error("its {field} has {length} bytes, at most {max} are kept")]
    TooLong {
        /// Which one.
        field: &'static str,
        /// Its length in bytes.
        length: usize,
        /// The most that is kept.
        max: usize,
    },
    /// Its trigger is a piece of conversation; by the setting `learn.quality_gate`.
    #[error("its trigger {trigger:?} is a piece of conversation: say when the lesson holds")]
    SmallTalk {
        /// The trigger.
        trigger: String,
    },
    /// It names no mistake, and what it says is no rule; by the setting `learn.quality_gate`.
    #[error(
        "it names no mistake, and {advice:?} is not a rule: say what to do in 12 to 600 characters, or what went wrong"
    )]
    NoRule {
        /// The begin of its correct pattern.
        advice: String,
    },
    /// One of its patterns matches every path, or every command line.
    #[error("its pattern {glob:?} matches everything: name a file, a folder or a command")]
    MatchesEverything {
        /// The pattern.
        glob: String,
    },
    /// Its row is nested too deep.
    #[error("it is nested {depth} levels deep, at most {max} are kept")]
    TooDeep {
        /// The levels of lists and objects, the row itself among them.
        depth: usize,
        /// The most that are kept.
        max: usize,
    },
    /// A key becomes one of a lesson's own once hidden characters are taken out.
    #[error("its key {key:?} reads as {known:?}")]
    DisguisedKey {
        /// The key as it is in the draft.
        key: String,
        /// The key that it reads as.
        known: &'static str,
    },
    /// It would be read back from the file as another lesson.
    #[error("it could not be read back from the file unchanged")]
    NotReadBack,
    /// It is close to a lesson in quarantine, and not written by hand.
    #[error("lesson {id}, which is in quarantine, says the same")]
    Quarantined {
        /// The lesson in quarantine.
        id: LessonId,
    },
    /// A person removed this text, and it was not learned by hand now.
    #[error("a person removed this lesson")]
    Removed,
    /// The lesson that it is to supersede is not here.
    #[error("there is no lesson {id} to supersede")]
    NothingToSupersede {
        /// The lesson that was named.
        id: LessonId,
    },
    /// The same was drawn from the same session before.
    #[error("it was drawn from session {session} before")]
    DrawnBefore {
        /// The session.
        session: String,
    },
    /// The session has taught enough by itself.
    #[error("session {session} has taught {max} lessons automatically, the most that one session may")]
    TooManyOfSession {
        /// The session.
        session: String,
        /// The most that one session teaches.
        max: usize,
    },
    /// It would have to wait for review, and no more may wait: what waits is not pushed out by a file.
    #[error("{max} lessons await review, which is the limit; review them first")]
    ReviewIsFull {
        /// The most that may wait.
        max: usize,
    },
    /// The row that is moved in is here already.
    #[error("lesson {id} is here already")]
    AlreadyHere {
        /// The lesson that has this text.
        id: LessonId,
    },
}
