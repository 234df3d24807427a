//! Why a measurement failed.

use std::io;
use std::path::PathBuf;

use adage::embed::EmbedError;

/// Why a measurement failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("{}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A line is not JSON.
    #[error("{}:{line}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The error of the parser.
        source: serde_json::Error,
    },
    /// A file or folder has none of the formats that can be measured.
    #[error(
        "{}: expected a folder with lessons.jsonl and none.jsonl, or corpus.jsonl, queries.jsonl and qrels.jsonl; or a file of \
         pairs (kind, a, b), of duplicates (dup, a, b) or of unrelated questions (text)",
        path.display()
    )]
    NoData {
        /// The file or folder.
        path: PathBuf,
    },
    /// A file of vectors has another dimension, or is truncated.
    #[error("{}: {found} bytes, which is not a multiple of {record}", path.display())]
    Vectors {
        /// The file.
        path: PathBuf,
        /// Its length in bytes.
        found: usize,
        /// Bytes per vector.
        record: usize,
    },
    /// The playbook failed.
    #[error(transparent)]
    Playbook(#[from] adage::Error),
    /// The embedder failed.
    #[error(transparent)]
    Embed(#[from] EmbedError),
}

impl Error {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |source| Self::Io { path, source }
    }
}
