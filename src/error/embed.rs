//! An error of embedding texts.

use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use adage_index::VectorError;
use adage_redact::path_line;

/// An error of embedding texts.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// The model or its tokenizer could not be loaded.
    #[error("the embedding model could not be loaded: {reason}")]
    Load {
        /// The engine's message.
        reason: String,
    },
    /// ONNX Runtime's library could not be loaded. Pass the path of the library file; in the Python package it is
    /// `onnxruntime/capi/libonnxruntime.so.*`.
    #[error("ONNX Runtime could not be loaded from {}: {reason}", path_line(path))]
    Runtime {
        /// The given path.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The library is an ONNX Runtime of the wrong version.
    #[error("{} is ONNX Runtime {found}, it must be 1.{oldest} or later", path_line(path))]
    RuntimeVersion {
        /// The library.
        path: PathBuf,
        /// Its version.
        found: String,
        /// The minor number of the oldest supported version.
        oldest: u32,
    },
    /// The process has already loaded ONNX Runtime from another path; a process can load only one.
    #[error(
        "cannot load ONNX Runtime from {}: this process has loaded it from {} already",
        path_line(asked),
        loaded.as_ref().map_or_else(|| "elsewhere".to_owned(), path_line)
    )]
    RuntimeTaken {
        /// The path that was loaded; none if the host loaded it through `ort`.
        loaded: Option<PathBuf>,
        /// The requested path.
        asked: PathBuf,
    },
    /// The model ran and failed.
    #[error("the embedding model failed: {reason}")]
    Run {
        /// The engine's message.
        reason: String,
    },
    /// The embedder returned another number of rows than it was given texts.
    #[error("{texts} texts were embedded as {rows} rows")]
    RowCount {
        /// The number of texts.
        texts: usize,
        /// The number of rows.
        rows: usize,
    },
    /// A returned row cannot be used.
    #[error("the embedder returned an unusable vector for text {row}: {reason}")]
    BadRow {
        /// Index of the text.
        row: usize,
        /// What is wrong with it.
        reason: VectorError,
    },
    /// The host's embedder failed with an error of its own: see [`EmbedError::host`].
    #[error("the embedder failed")]
    Host {
        /// That error, also reached by [`source`](std::error::Error::source).
        source: HostError,
    },
}

impl EmbedError {
    /// Wraps an error of a host's own [`Embedder`](crate::Embedder), which becomes the source.
    ///
    /// ```
    /// use std::error::Error;
    /// use adage::embed::EmbedError;
    ///
    /// let error = EmbedError::host(std::io::Error::other("the server is down"));
    /// assert_eq!(error.source().unwrap().to_string(), "the server is down");
    /// let EmbedError::Host { source } = error else { unreachable!() };
    /// assert_eq!(source.to_string(), "the server is down");
    /// assert!(source.downcast_ref::<std::io::Error>().is_some());
    /// ```
    pub fn host(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Host { source: HostError(Arc::from(error.into())) }
    }
}

/// An error of the host's embedder. It displays as, and dereferences to, the error given to [`EmbedError::host`].
// Not an error itself: `source` and `downcast_ref` reach the host's own. Shared, because an embedder that could not be loaded
// returns the same error at every call.
#[derive(Clone, Debug)]
pub struct HostError(Arc<dyn Error + Send + Sync>);

impl Deref for HostError {
    type Target = dyn Error + Send + Sync;

    fn deref(&self) -> &Self::Target {
        self.0.as_ref()
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
