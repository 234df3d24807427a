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
    /// It has neither a task nor a trigger.
    #[error("it has neither a task nor a trigger")]
    NoTrigger,
    /// It does not say what to do.
    #[error("it has no solution")]
    NoSolution,
    /// A field is too long.
    #[error("its {field} has {length} bytes, at most {max} are kept")]
    TooLong {
        /// The name of the field.
        field: &'static str,
        /// The length in bytes.
        length: usize,
        /// The maximum length in bytes.
        max: usize,
    },
    /// Its trigger is a piece of conversation. Checked if `learn.quality_gate` is set.
    #[error("its trigger {trigger:?} is a piece of conversation: say when the lesson holds")]
    SmallTalk {
        /// The trigger.
        trigger: String,
    },
    /// It is a program's, and its trigger or task has so many words that it names no situation: it would match everything.
    #[error("its {field} has {n_words} different words, at most {max}: name one situation")]
    Unspecific {
        /// The name of the field.
        field: &'static str,
        /// The number of different words, without stop words.
        n_words: usize,
        /// The maximum.
        max: usize,
    },
    /// It names no mistake, and its advice is not a rule. Checked if `learn.quality_gate` is set.
    #[error(
        "it names no mistake, and {advice:?} is not a rule: say what to do in 12 to 600 characters, or what went wrong"
    )]
    NoRule {
        /// The beginning of its correct pattern.
        advice: String,
    },
    /// One of its patterns matches every path, or every command line, or nearly all: it has neither three literal characters in a row
    /// nor the whole name of a file, a folder or a program.
    #[error("its pattern {glob:?} matches everything: name a file, a folder or a command")]
    MatchesEverything {
        /// The pattern.
        glob: String,
    },
    /// One of its patterns is too long to be compared with every command.
    #[error("one of its patterns has {n_chars} characters, at most {max} are compared")]
    PatternTooLong {
        /// The number of characters.
        n_chars: usize,
        /// The maximum.
        max: usize,
    },
    /// It has too many patterns of paths and commands.
    #[error("it has {n_patterns} patterns, at most {max} are compared")]
    TooManyPatterns {
        /// The number of patterns.
        n_patterns: usize,
        /// The maximum.
        max: usize,
    },
    /// It has too many ways in: names, situations and signs.
    #[error("it has {n_ways} names, situations and signs, at most {max} are kept")]
    TooManyWaysIn {
        /// The number of ways in.
        n_ways: usize,
        /// The maximum.
        max: usize,
    },
    /// One of its ways in is too long.
    #[error("one of its names, situations and signs has {n_chars} characters, at most {max} are kept")]
    WayInTooLong {
        /// The number of characters.
        n_chars: usize,
        /// The maximum.
        max: usize,
    },
    /// One of its ways in has only words that are in nearly every question.
    #[error("its way in {text:?} fits everything: name what is special about the situation")]
    WayInFitsEverything {
        /// The way in.
        text: String,
    },
    /// Its row is nested too deeply.
    #[error("it is nested {depth} levels deep, at most {max} are kept")]
    TooDeep {
        /// The number of nested lists and objects, including the row itself.
        depth: usize,
        /// The maximum.
        max: usize,
    },
    /// A key becomes a known one when invisible characters are removed.
    #[error("its key {key:?} reads as {known:?}")]
    DisguisedKey {
        /// The key as it is in the draft.
        key: String,
        /// The key that it reads as.
        known: &'static str,
    },
    /// It would not be read back from the file unchanged.
    #[error("it could not be read back from the file unchanged")]
    NotReadBack,
    /// It is near to a [disabled](crate::Lesson::is_disabled) lesson and was not written by hand.
    #[error("lesson {id}, which is in quarantine, says the same")]
    Quarantined {
        /// The disabled lesson.
        id: LessonId,
    },
    /// A person removed this text before, and it is not learned by hand now.
    #[error("a person removed this lesson")]
    Removed,
    /// The lesson that it replaces does not exist.
    #[error("there is no lesson {id} to supersede")]
    NothingToSupersede {
        /// The id that was given.
        id: LessonId,
    },
    /// The same session taught it before.
    #[error("session {session} taught the same before")]
    AlreadyMined {
        /// The session.
        session: String,
    },
    /// The session has reached the maximum of lessons. Those that the user's words confirm and the others are counted apart.
    #[error(
        "session {session} already has {max} lessons of this kind (confirmed by the user's words, or not), which is the limit per session"
    )]
    TooManyOfSession {
        /// The session.
        session: String,
        /// The maximum per session.
        max: usize,
    },
    /// It would have to await review, and the review list is full: an import does not displace other lessons from it.
    #[error("{max} lessons await review, which is the limit; review them first")]
    ReviewIsFull {
        /// The maximum number of lessons in review.
        max: usize,
    },
    /// The imported row is in the playbook already.
    #[error("lesson {id} already exists")]
    AlreadyHere {
        /// The lesson with this text.
        id: LessonId,
    },
}
