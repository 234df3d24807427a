//! Why labelled queries cannot be fitted to.

use crate::lesson::LessonRef;

/// Why labelled queries cannot be fitted to. Lines are counted from 1; of queries that were read from no file, their places are.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There are too few of them, or too few of one kind. A query that is there twice counts once.
    #[error(
        "{} queries, {wanting} that a lesson answers and {wanting_none} that none does; it takes {needed}, {of_a_kind} of either \
         kind: {} are missing, {} that a lesson answers and {} that none does",
        wanting + wanting_none,
        needed.saturating_sub(wanting + wanting_none),
        of_a_kind.saturating_sub(*wanting),
        of_a_kind.saturating_sub(*wanting_none)
    )]
    TooFew {
        /// Queries that a lesson answers.
        wanting: usize,
        /// Queries that no lesson answers.
        wanting_none: usize,
        /// How many it takes.
        needed: usize,
        /// How many of either kind it takes.
        of_a_kind: usize,
    },
    /// A line is not a labelled query.
    #[error(
        "line {line} is not {{\"query\": \"…\", \"lesson\": \"id or trigger\"}} or {{\"query\": \"…\", \"lesson\": null}}"
    )]
    Line {
        /// The line.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A query is blank.
    #[error("line {line}: the query is blank")]
    Blank {
        /// The line.
        line: usize,
    },
    /// No lesson that can be shown is the one that a line names.
    #[error("line {line}: {query:?} wants {lesson}")]
    NoLesson {
        /// The line.
        line: usize,
        /// Its query.
        query: String,
        /// The lesson that it names.
        lesson: LessonRef,
        /// Why that is none.
        source: Box<crate::Error>,
    },
    /// The lesson that a line names is there, and shown to nobody who asks here.
    #[error(
        "line {line}: {query:?} wants {lesson}, which is not shown here: it awaits review or belongs to another realm"
    )]
    NotShown {
        /// The line.
        line: usize,
        /// Its query.
        query: String,
        /// The lesson that it names.
        lesson: LessonRef,
    },
    /// Two lines have the same query; one wants a lesson, the other none.
    #[error("lines {line} and {other} contradict each other: {query:?} wants {lesson} and no lesson")]
    Contradiction {
        /// The later line.
        line: usize,
        /// The earlier one.
        other: usize,
        /// The query of both.
        query: String,
        /// The lesson that one of them wants.
        lesson: LessonRef,
    },
}
