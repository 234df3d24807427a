//! What runs a graph.

use std::borrow::Cow;
#[cfg(feature = "ort")]
use std::path::PathBuf;

use ndarray::Array3;

#[cfg(feature = "ort")]
use super::onnxruntime::OnnxRuntimeGraph;
#[cfg(feature = "rten")]
use super::rten::RtenGraph;
use crate::error::EmbedError;

/// What runs the graph. Chosen by the caller, never by what lies on the machine.
///
/// Vectors of two engines differ in the last digits only and carry the same fingerprint.
///
/// ```no_run
/// # #[cfg(all(feature = "ort", feature = "bundled-model"))] {
/// use adage::{OnnxEmbedder, Playbook};
/// use adage::embed::{Engine, Model};
/// let engine = Engine::OnnxRuntime("/path/to/onnxruntime/capi/libonnxruntime.so.1.31.1".into());
/// let embedder = OnnxEmbedder::new(Model::bundled(), engine);
/// embedder.warm_up()?; // told here if it is not there, too old, or not the one that this process has
/// let playbook = Playbook::builder("memory").with_embedder(std::sync::Arc::new(embedder)).open()?;
/// # }
/// # Ok::<(), adage::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "rten", derive(Default))]
#[non_exhaustive]
pub enum Engine {
    /// Pure Rust (rten), one thread a caller.
    #[cfg(feature = "rten")]
    #[cfg_attr(feature = "rten", default)]
    Portable,
    /// ONNX Runtime 1.24 or later from this library, which is loaded at the first text and stays until the process ends;
    /// a process has one. In the Python package it is `onnxruntime/capi/libonnxruntime.so.*`.
    ///
    /// One thread; callers take turns. Loading a library runs its code: name one that you trust.
    #[cfg(feature = "ort")]
    OnnxRuntime(PathBuf),
}

impl Engine {
    #[cfg_attr(not(feature = "rten"), expect(clippy::needless_pass_by_value, reason = "rten keeps it"))]
    pub(super) fn load(&self, graph: Cow<'static, [u8]>) -> Result<Box<dyn Graph>, EmbedError> {
        Ok(match self {
            #[cfg(feature = "rten")]
            Self::Portable => Box::new(RtenGraph::load(graph)?),
            #[cfg(feature = "ort")]
            Self::OnnxRuntime(library) => Box::new(OnnxRuntimeGraph::load(library, &graph)?),
        })
    }
}

/// Texts of one run, padded with zeros to the longest.
pub(super) struct Tokens {
    /// Texts, tokens a text.
    pub(super) shape: [usize; 2],
    pub(super) ids: Vec<i32>,
    /// 1 for a token of the text, 0 for padding.
    pub(super) mask: Vec<i32>,
}

/// A loaded graph.
pub(super) trait Graph: Send + Sync {
    /// The token embeddings: texts, tokens, dimension.
    fn run(&self, tokens: &Tokens) -> Result<Array3<f32>, EmbedError>;
}

pub(super) fn load_error(error: impl std::fmt::Display) -> EmbedError {
    EmbedError::Load { reason: error.to_string() }
}

pub(super) fn run_error(error: impl std::fmt::Display) -> EmbedError {
    EmbedError::Run { reason: error.to_string() }
}
