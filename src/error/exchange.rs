//! Errors of exchanging lessons.

use std::path::PathBuf;

use adage_redact::path_line;

/// An error of exchanging lessons. No file was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No exchange format has this name.
    #[error("no exchange format {name:?}; there are jsonl, memory, agents, ace")]
    NoSuchFormat {
        /// The requested name or id.
        name: String,
    },
    /// The format of a text cannot be detected; pass it explicitly.
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
    #[error("{} was not written: {reason}", path_line(path))]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: ExportRefused,
    },
}

/// Why an export did not write a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportRefused {
    /// The position of adage's section is ambiguous.
    #[error("line {line} is a mark of adage's section that has no counterpart, or a second one")]
    Section {
        /// The line, from 1.
        line: usize,
    },
    /// The whole file would be replaced, but others have written to it.
    #[error("line {line} was not written by adage, and this format takes the whole file")]
    Foreign {
        /// The line, from 1.
        line: usize,
    },
    /// It is not text.
    #[error("it is not UTF-8 text")]
    NotText,
    /// It is a file of the memory itself; name another one.
    #[error("it is a file of the memory itself; name another one")]
    OwnFile,
    /// It, or a folder on the way to it, is a link that leads out of the folder that the link is in: a repository may bring such
    /// links. Name the file that is meant.
    #[error(
        "{} is a link to {}; name the file that is meant",
        path_line(link),
        to.as_ref().map_or_else(|| "nothing".to_owned(), path_line)
    )]
    Link {
        /// The link.
        link: PathBuf,
        /// Where it leads; none where it leads to nothing.
        to: Option<PathBuf>,
    },
}
