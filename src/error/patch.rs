//! Why a text is not a patch, or does not fit a file.

use serde::Serialize;

/// Why a text is no patch that may be applied, or does not apply. Lines of texts are shortened and without secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PatchError {
    /// There is no diff of a file in it.
    #[error("there is no diff of a file in it")]
    Empty,
    /// It is larger than patches may be.
    #[error("it has {found} {what}, at most {limit} are read")]
    TooLarge {
        /// Of what there is too much.
        what: Limit,
        /// How much there is, or where counting was given up.
        found: usize,
        /// How much there may be.
        limit: usize,
    },
    /// A line is none that can stand there.
    #[error("line {line} is {found:?}, expected {expected}")]
    Unexpected {
        /// Which line of the patch, from 1.
        line: usize,
        /// What stands there; empty at the end.
        found: String,
        /// What should.
        expected: &'static str,
    },
    /// It does what no proposal may.
    #[error("line {line} {what}, which is not allowed in a proposal")]
    Forbidden {
        /// Which line of the patch, from 1.
        line: usize,
        /// What it does.
        what: Forbidden,
    },
    /// A hunk has other lines than its header says.
    #[error(
        "the hunk at line {line} states {} old and {} new lines and has {} and {}",
        stated.0, stated.1, found.0, found.1
    )]
    Counts {
        /// Where the hunk begins in the patch, from 1.
        line: usize,
        /// Old and new lines that its header states.
        stated: (usize, usize),
        /// Old and new lines that it has, up to where it cannot go on.
        found: (usize, usize),
    },
    /// A hunk begins where it cannot, after the hunks before it.
    #[error(
        "the hunk at line {line} states that it begins at line {stated} of the {side} file; by the hunks before it, that is {expected}"
    )]
    Start {
        /// Where the hunk begins in the patch, from 1.
        line: usize,
        /// `old` or `new`.
        side: &'static str,
        /// The line number that its header states.
        stated: usize,
        /// The number that follows from the other side, or the least possible one.
        expected: usize,
    },
    /// A hunk does not show where it belongs, though the file has lines that stay.
    #[error("the hunk at line {line} has no line of context")]
    NoContext {
        /// Where the hunk begins in the patch, from 1.
        line: usize,
    },
    /// The file reads otherwise than the patch says.
    #[error(
        "line {file_line} of the file is {}, line {line} of the patch says {expected:?}",
        found.as_ref().map_or_else(|| "behind its end".to_owned(), |found| format!("{found:?}"))
    )]
    Mismatch {
        /// Which line of the patch, from 1.
        line: usize,
        /// Which line of the file, from 1.
        file_line: usize,
        /// The line in the patch.
        expected: String,
        /// The line in the file; none behind its end.
        found: Option<String>,
    },
    /// A line without a newline would come to stand inside the file.
    #[error("line {line} of the patch ends without a newline, but is not the end of the file")]
    NoNewlineInside {
        /// Which line of the patch, from 1.
        line: usize,
    },
    /// The patch makes a file that is there.
    #[error("the patch makes a new file, but there is one of {n_bytes} bytes")]
    Exists {
        /// How large it is.
        n_bytes: usize,
    },
    /// The patch changes a file that is not there.
    #[error("the patch changes a file that is not there")]
    Missing,
    /// Two proposals change the same lines differently.
    #[error("it changes lines that the waiting proposal changes differently")]
    Conflict,
    /// The diff library refused what passed every check.
    #[error("the diff cannot be read: {reason}")]
    Engine {
        /// What it said.
        reason: String,
    },
}

/// What a patch may have only so much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Limit {
    /// Bytes of its text.
    #[error("bytes")]
    Bytes,
    /// Diffs of files.
    #[error("files")]
    Files,
    /// Hunks of all files.
    #[error("hunks")]
    Hunks,
    /// The number of a line, or of lines, in a hunk's header.
    #[error("as a line number")]
    LineNumber,
    /// Bytes of a file that it is applied to, or makes.
    #[error("bytes in a file")]
    FileBytes,
}

/// What no proposal may do.
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
    /// Change what may be done with a file.
    #[error("sets the mode of a file")]
    Mode,
    /// Replace a file that is no text.
    #[error("is of a binary file")]
    Binary,
}
