//! Where a model comes from.

use std::path::{Path, PathBuf};

use adage_redact::path_line;

use crate::error::EmbedError;
use crate::lesson::TextHash;

/// A sentence-embedding model: an ONNX graph of the BERT kind and its `tokenizer.json`.
///
/// The graph takes `input_ids`, `attention_mask` and, if it likes, `token_type_ids`, all int64 `[batch, tokens]`, and returns
/// token embeddings `[batch, tokens, dimension]` as `last_hidden_state` or its first output.
#[derive(Clone)]
pub struct Model {
    pub(super) source: Source,
    pub(super) fingerprint: TextHash,
}

#[derive(Clone)]
#[cfg_attr(not(any(feature = "rten", feature = "ort")), allow(dead_code, reason = "no engine reads a graph"))]
pub(super) enum Source {
    /// Linked into the program.
    #[cfg(feature = "bundled-model")]
    Bundled,
    Bytes {
        graph: Vec<u8>,
        tokenizer: Vec<u8>,
    },
    Files {
        graph: PathBuf,
        tokenizer: PathBuf,
    },
}

impl Model {
    /// all-MiniLM-L6-v2, linked into the program: 384 dimensions, English above all, 22.9 MB. It runs in
    /// [`Engine::BuiltIn`](super::Engine::BuiltIn), for which its weights are packed, and in no other engine.
    #[cfg(feature = "bundled-model")]
    #[must_use]
    pub fn bundled() -> Self {
        Self { source: Source::Bundled, fingerprint: TextHash::of(&[adage_encoder::MODEL_SHA256]) }
    }

    #[cfg(feature = "bundled-model")]
    pub(super) fn is_bundled(&self) -> bool {
        matches!(self.source, Source::Bundled)
    }

    /// The model in a folder: `model.onnx` and `tokenizer.json`. They are read when the first text is embedded; here they
    /// are only hashed.
    ///
    /// # Errors
    /// [`EmbedError::Load`] when one of the two cannot be read.
    pub fn from_dir(dir: impl AsRef<Path>) -> Result<Self, EmbedError> {
        let (graph, tokenizer) = (dir.as_ref().join("model.onnx"), dir.as_ref().join("tokenizer.json"));
        let fingerprint = TextHash::of(&[read(&graph)?, read(&tokenizer)?]);
        Ok(Self { source: Source::Files { graph, tokenizer }, fingerprint })
    }

    /// A model from memory.
    #[must_use]
    pub fn from_bytes(graph: Vec<u8>, tokenizer: Vec<u8>) -> Self {
        let fingerprint = TextHash::of(&[&graph, &tokenizer]);
        Self { source: Source::Bytes { graph, tokenizer }, fingerprint }
    }

    /// The graph and the tokenizer.
    #[cfg(any(feature = "rten", feature = "ort"))]
    pub(super) fn bytes(&self) -> Result<(Vec<u8>, Vec<u8>), EmbedError> {
        match &self.source {
            #[cfg(feature = "bundled-model")]
            Source::Bundled => {
                let reason = "the bundled model runs in Engine::BuiltIn only; another engine needs a folder's model";
                Err(EmbedError::Load { reason: reason.to_owned() })
            }
            Source::Bytes { graph, tokenizer } => Ok((graph.clone(), tokenizer.clone())),
            Source::Files { graph, tokenizer } => Ok((read(graph)?, read(tokenizer)?)),
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, EmbedError> {
    std::fs::read(path).map_err(|error| EmbedError::Load { reason: format!("{}: {error}", path_line(path)) })
}
