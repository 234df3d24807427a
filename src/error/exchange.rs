//! Why lessons cannot be exchanged.

use std::path::PathBuf;

/// Why lessons cannot be exchanged. No file was touched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No exchange format has this name.
    #[error("no exchange format {name:?}; there are jsonl, memory, agents, ace")]
    NoSuchFormat {
        /// What was asked for.
        name: String,
    },
    /// The format of a text cannot be detected; name one.
    #[error("the exchange format cannot be detected; name one: jsonl, memory, agents, ace")]
    UnknownFormat,
    /// It is not the key of a user's exports.
    #[error("an export key is {expected} hex digits; this text has {found} characters")]
    BadKey {
        /// The length of a key.
        expected: usize,
        /// The length of the text.
        found: usize,
    },
    /// The file's section of lessons cannot be replaced.
    #[error("{} was not written: {reason}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: ExportRefused,
    },
}

/// Why an export did not touch a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportRefused {
    /// It is not certain where adage's section is.
    #[error("line {line} is a mark of adage's section that has no counterpart, or a second one")]
    Section {
        /// The line, from 1.
        line: usize,
    },
    /// The whole file would be replaced, and others wrote in it.
    #[error("line {line} was not written by adage, and this format takes the whole file")]
    Foreign {
        /// The line, from 1.
        line: usize,
    },
    /// It is not text.
    #[error("it is not a file of UTF-8 text")]
    NotText,
    /// It is a file of the memory itself; name another one.
    #[error("it is a file of the memory itself; name another one")]
    OwnFile,
}
