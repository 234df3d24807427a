//! Errors of fitting labelled queries.

use crate::lesson::LessonRef;

/// An error of fitting labelled queries. Lines are counted from 1; for queries that were not read from a file, they are
/// positions in the list.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There are too few queries, or too few of one kind. A repeated query counts once.
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
        /// The minimum number of queries.
        needed: usize,
        /// The minimum number of queries of either kind.
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
    /// The lesson that a line names does not exist or is ambiguous.
    #[error("line {line}: {query:?} names {lesson}")]
    NoLesson {
        /// The line.
        line: usize,
        /// Its query.
        query: String,
        /// The lesson that it names.
        lesson: LessonRef,
        /// The reason.
        source: Box<crate::Error>,
    },
    /// The lesson that a line names exists, but is not shown in this realm.
    #[error(
        "line {line}: {query:?} names {lesson}, which is not shown here: it awaits review or belongs to another realm"
    )]
    NotShown {
        /// The line.
        line: usize,
        /// Its query.
        query: String,
        /// The lesson that it names.
        lesson: LessonRef,
    },
    /// Two lines have the same query; one names a lesson, the other none.
    #[error("lines {line} and {other} contradict each other: {query:?} names {lesson} and no lesson")]
    Contradiction {
        /// The later line.
        line: usize,
        /// The earlier one.
        other: usize,
        /// The query of both.
        query: String,
        /// The lesson that one of them names.
        lesson: LessonRef,
    },
}
