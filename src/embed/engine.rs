//! Engines that run a graph.

#[cfg(feature = "ort")]
use std::path::PathBuf;

/// The engine that runs the graph. The caller chooses it; it never depends on what is installed on the machine.
///
/// Vectors of one model in two engines differ in the last digits only (cosine at least .99999).
///
/// ```no_run
/// # #[cfg(feature = "ort")] {
/// use adage::{OnnxEmbedder, Playbook};
/// use adage::embed::{Engine, Model};
/// let engine = Engine::OnnxRuntime("/path/to/onnxruntime/capi/libonnxruntime.so.1.31.1".into());
/// let embedder = OnnxEmbedder::new(Model::from_dir("/path/to/model")?, engine);
/// embedder.warm_up()?; // fails here if it is missing, too old, or not the one that this process has
/// let playbook = Playbook::builder("memory").with_embedder(std::sync::Arc::new(embedder)).open()?;
/// # }
/// # Ok::<(), adage::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "bundled-model", derive(Default))]
#[non_exhaustive]
pub enum Engine {
    /// The engine of the bundled model, in integers: nothing is loaded, a text takes a fifth of the other engines' time, and
    /// its vector has the same bits alone and in a batch, on every processor. It runs only
    /// [`Model::bundled`](super::Model::bundled).
    #[cfg(feature = "bundled-model")]
    #[default]
    BuiltIn,
    /// Any model, in pure Rust (rten); one thread per caller.
    #[cfg(feature = "rten")]
    Rten,
    /// ONNX Runtime 1.24 or later from this library, which is loaded at the first text and stays until the process ends;
    /// a process has one. In the Python package it is `onnxruntime/capi/libonnxruntime.so.*`.
    ///
    /// One thread; callers take turns. Loading a library runs its code: name one that you trust.
    #[cfg(feature = "ort")]
    OnnxRuntime(PathBuf),
}
