//! Errors of a vector memory.

use adage_index::VectorError;

use super::{EmbedError, FolderError, config};

/// Shorthand for results of a vector memory.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a [`VectorMemory`](crate::VectorMemory).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder or one of its files.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A setting cannot be used.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// A vector cannot be used.
    #[error(transparent)]
    Vector(#[from] VectorError),
    /// The embedder failed.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The memory was queried without an embedder.
    #[error("a query needs an embedder; give one to the builder")]
    NoEmbedder,
    /// No document has this id.
    #[error("no document {id:?}")]
    NoSuchDocument {
        /// What was asked for, shortened to 100 characters.
        id: String,
    },
    /// A document with this id exists. Nothing was changed.
    #[error("document {id:?} exists already; replace it with `update` or `put_all`")]
    DocumentExists {
        /// The id, shortened to 100 characters.
        id: String,
    },
    /// A document cannot be stored. Nothing was changed.
    #[error("document {id:?} cannot be kept")]
    Document {
        /// Its id, shortened to 100 characters.
        id: String,
        /// Why not.
        #[source]
        reason: DocumentError,
    },
}

/// Why a document cannot be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// A part is empty or blank.
    #[error("the {part} is empty")]
    Empty {
        /// Which part.
        part: &'static str,
    },
    /// A part is too long.
    #[error("the {part} has {found} bytes, at most {limit} are kept")]
    TooLong {
        /// Which part.
        part: &'static str,
        /// Its length, in bytes.
        found: usize,
        /// The maximum length, in bytes.
        limit: usize,
    },
    /// There are too many metadata fields.
    #[error("the document has {found} fields, at most {limit} are kept")]
    TooManyFields {
        /// The number of fields.
        found: usize,
        /// The maximum number of fields.
        limit: usize,
    },
    /// Its id is repeated in one batch.
    #[error("its id comes twice in the batch")]
    Twice,
}
