//! Errors of parsing and applying a patch.

use serde::Serialize;

/// Why a patch is invalid or does not apply. Lines in messages are shortened and without secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PatchError {
    /// It contains no diff of a file.
    #[error("it contains no diff of a file")]
    Empty,
    /// It exceeds a limit of patches.
    #[error("it has {found} {what}, at most {limit} are read")]
    TooLarge {
        /// The exceeded limit.
        what: Limit,
        /// The number found, or where counting stopped.
        found: usize,
        /// The maximum.
        limit: usize,
    },
    /// A line is not valid at its position.
    #[error("line {line} is {found:?}, expected {expected}")]
    Unexpected {
        /// The line of the patch, counted from 1.
        line: usize,
        /// The line; empty at the end of the patch.
        found: String,
        /// The expected line.
        expected: &'static str,
    },
    /// It has a change that is not allowed in proposals.
    #[error("line {line} {what}, which is not allowed in a proposal")]
    Forbidden {
        /// The line of the patch, counted from 1.
        line: usize,
        /// The change.
        what: Forbidden,
    },
    /// A hunk has other numbers of lines than its header states.
    #[error(
        "the hunk at line {line} states {} old and {} new lines and has {} and {}",
        stated.0, stated.1, found.0, found.1
    )]
    Counts {
        /// The line of the patch where the hunk begins, counted from 1.
        line: usize,
        /// The numbers of old and new lines in its header.
        stated: (usize, usize),
        /// The numbers of old and new lines found, up to the first invalid line.
        found: (usize, usize),
    },
    /// The position of a hunk is impossible after the hunks before it.
    #[error(
        "the hunk at line {line} states that it begins at line {stated} of the {side} file; by the hunks before it, that is {expected}"
    )]
    Start {
        /// The line of the patch where the hunk begins, counted from 1.
        line: usize,
        /// `old` or `new`.
        side: &'static str,
        /// The line number that its header states.
        stated: usize,
        /// The number implied by the other side, or the least possible one.
        expected: usize,
    },
    /// A hunk has no line of context, although the file keeps lines.
    #[error("the hunk at line {line} has no line of context")]
    NoContext {
        /// The line of the patch where the hunk begins, counted from 1.
        line: usize,
    },
    /// A line of the file differs from the patch.
    #[error(
        "line {file_line} of the file is {}, line {line} of the patch says {expected:?}",
        found.as_ref().map_or_else(|| "behind its end".to_owned(), |found| format!("{found:?}"))
    )]
    Mismatch {
        /// The line of the patch, counted from 1.
        line: usize,
        /// The line of the file, counted from 1.
        file_line: usize,
        /// The line in the patch.
        expected: String,
        /// The line in the file; none after its end.
        found: Option<String>,
    },
    /// A line without a newline would be in the middle of the file.
    #[error("line {line} of the patch ends without a newline, but is not the end of the file")]
    NoNewlineInside {
        /// The line of the patch, counted from 1.
        line: usize,
    },
    /// The patch creates a file that exists.
    #[error("the patch makes a new file, but there is one of {n_bytes} bytes")]
    Exists {
        /// Its size in bytes.
        n_bytes: usize,
    },
    /// The patch changes a missing file.
    #[error("the patch changes a file that does not exist")]
    Missing,
    /// Two proposals change the same lines differently.
    #[error("it changes lines that the waiting proposal changes differently")]
    Conflict,
    /// The diff library refused a patch that passed every check.
    #[error("the diff cannot be read: {reason}")]
    Engine {
        /// What it said.
        reason: String,
    },
}

/// A limited quantity of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Limit {
    /// The bytes of its text.
    #[error("bytes")]
    Bytes,
    /// Diffs of files.
    #[error("files")]
    Files,
    /// Hunks of all files.
    #[error("hunks")]
    Hunks,
    /// A line number or count in a hunk's header.
    #[error("as a line number")]
    LineNumber,
    /// The bytes of a file before or after the patch.
    #[error("bytes in a file")]
    FileBytes,
}

/// A change that is not allowed in proposals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Forbidden {
    /// Delete a file.
    #[error("deletes a file")]
    Delete,
    /// Give a file another name.
    #[error("renames a file")]
    Rename,
    /// Copy a file.
    #[error("copies a file")]
    Copy,
    /// Change the permissions of a file.
    #[error("sets the mode of a file")]
    Mode,
    /// Change a binary file.
    #[error("is of a binary file")]
    Binary,
}
