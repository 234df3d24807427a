//! The ONNX embedder: `WordPiece`, the graph, attention-masked mean pooling.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use ndarray::{Array2, ArrayView2, Axis};
use rten::{ModelOptions, NodeId, RunOptions, ThreadPool, ValueOrView, ValueView};
use tokenizers::{Tokenizer, TruncationParams};

use super::{Embedder, Model, Role};
use crate::error::EmbedError;
use crate::lesson::TextHash;

/// Longer texts are cut; what all-MiniLM-L6-v2 was trained for.
const MAX_TOKENS: usize = 256;

/// Texts a run. Sorted by length, groups of 4 to 8 are a quarter faster than single texts and than groups of 32.
const GROUP: usize = 8;

/// What runs the graph. Chosen by the caller, never by what lies on the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// Pure Rust (rten), one thread a caller.
    #[default]
    Portable,
}

/// Embeds with an ONNX model. The model is loaded at the first text, once; handles share it.
///
/// ```
/// # #[cfg(feature = "bundled-model")] {
/// use adage::{Embedder, Engine, Model, OnnxEmbedder, Role};
/// let embedder = OnnxEmbedder::new(Model::bundled(), Engine::Portable);
/// let vectors = embedder.embed(&["pin the version", "fix the version number"], Role::Document)?;
/// assert_eq!(vectors.dim(), (2, 384));
/// assert!(vectors.row(0).dot(&vectors.row(1)) > 0.5);
/// # }
/// # Ok::<(), adage::EmbedError>(())
/// ```
pub struct OnnxEmbedder {
    model: Model,
    engine: Engine,
    session: OnceLock<Result<Session, String>>,
}

impl OnnxEmbedder {
    /// An embedder that loads `model` into `engine` when the first text comes.
    #[must_use]
    pub fn new(model: Model, engine: Engine) -> Self {
        Self { model, engine, session: OnceLock::new() }
    }

    fn session(&self) -> Result<&Session, EmbedError> {
        let load = || Session::load(&self.model, self.engine).map_err(|error| error.to_string());
        self.session.get_or_init(load).as_ref().map_err(|reason| EmbedError::Load { reason: reason.clone() })
    }
}

impl Embedder for OnnxEmbedder {
    fn embed(&self, texts: &[&str], _: Role) -> Result<Array2<f32>, EmbedError> {
        self.session()?.embed(texts)
    }

    fn fingerprint(&self) -> TextHash {
        self.model.fingerprint
    }

    fn dimension(&self) -> Result<usize, EmbedError> {
        Ok(self.session()?.dimension)
    }
}

/// A loaded model.
struct Session {
    tokenizer: Tokenizer,
    graph: rten::Model,
    options: RunOptions,
    token_ids: NodeId,
    attention_mask: NodeId,
    token_types: Option<NodeId>,
    output: NodeId,
    dimension: usize,
}

fn load_error(error: impl std::fmt::Display) -> EmbedError {
    EmbedError::Load { reason: error.to_string() }
}

fn run_error(error: impl std::fmt::Display) -> EmbedError {
    EmbedError::Run { reason: error.to_string() }
}

impl Session {
    fn load(model: &Model, engine: Engine) -> Result<Self, EmbedError> {
        let Engine::Portable = engine;
        let (graph, tokenizer) = model.bytes()?;
        let tokenizer = load_tokenizer(&tokenizer)?;
        // Packing the weights once costs 10 ms here and saves a third of every run of a short text.
        let mut options = ModelOptions::with_all_ops();
        options.prepack_weights(true);
        let graph = match graph {
            Cow::Borrowed(bytes) => options.load_static_slice(bytes),
            Cow::Owned(bytes) => options.load(bytes),
        }
        .map_err(load_error)?;
        let node = |name: &str| graph.node_id(name).map_err(load_error);
        let output = match graph.find_node("last_hidden_state") {
            Some(output) => output,
            None => *graph.output_ids().first().ok_or_else(|| load_error("the graph has no output"))?,
        };
        let mut session = Self {
            token_ids: node("input_ids")?,
            attention_mask: node("attention_mask")?,
            token_types: graph.find_node("token_type_ids"),
            output,
            options: RunOptions::default().with_thread_pool(Some(Arc::new(ThreadPool::with_num_threads(1)))),
            tokenizer,
            graph,
            dimension: 0,
        };
        session.dimension = session.run(&[vec![0]])?.ncols();
        Ok(session)
    }

    fn embed(&self, texts: &[&str]) -> Result<Array2<f32>, EmbedError> {
        let mut pooled = Array2::zeros((texts.len(), self.dimension));
        let encodings = self.tokenizer.encode_batch_fast(texts.to_vec(), true).map_err(run_error)?;
        let mut by_length: Vec<(usize, Vec<i32>)> = encodings
            .iter()
            .map(|encoding| encoding.get_ids().iter().map(|id| i32::try_from(*id).unwrap_or(0)).collect())
            .enumerate()
            .collect();
        by_length.sort_by_key(|(_, ids)| ids.len());
        for group in by_length.chunks(GROUP) {
            let ids: Vec<Vec<i32>> = group.iter().map(|(_, ids)| ids.clone()).collect();
            let rows = self.run(&ids)?;
            for ((place, _), row) in group.iter().zip(rows.outer_iter()) {
                pooled.row_mut(*place).assign(&row);
            }
        }
        Ok(pooled)
    }

    /// Runs texts of similar length together, padded to the longest, and pools each: the mean of its own tokens'
    /// embeddings, scaled to length 1.
    fn run(&self, texts: &[Vec<i32>]) -> Result<Array2<f32>, EmbedError> {
        let (n_texts, width) = (texts.len(), texts.iter().map(Vec::len).max().unwrap_or(0));
        let padded = |fill: &dyn Fn(&[i32]) -> Vec<i32>| -> Vec<i32> {
            texts
                .iter()
                .flat_map(|ids| {
                    let mut row = fill(ids);
                    row.resize(width, 0);
                    row
                })
                .collect()
        };
        let (ids, mask) = (padded(&<[i32]>::to_vec), padded(&|ids: &[i32]| vec![1; ids.len()]));
        let types = vec![0; n_texts * width];
        let shape = [n_texts, width];
        let mut inputs = vec![(self.token_ids, input(shape, &ids)?), (self.attention_mask, input(shape, &mask)?)];
        if let Some(token_types) = self.token_types {
            inputs.push((token_types, input(shape, &types)?));
        }
        let [output] = self.graph.run_n(inputs, [self.output], Some(self.options.clone())).map_err(run_error)?;
        let ([_, _, dimension], embeddings) = output.into_shape_vec::<f32, 3>().map_err(run_error)?;
        let mut pooled = Array2::zeros((n_texts, dimension));
        let rows = embeddings.chunks_exact((width * dimension).max(1));
        for ((mut row, text), embeddings) in pooled.outer_iter_mut().zip(texts).zip(rows) {
            let own = embeddings.get(..text.len() * dimension).unwrap_or_default();
            let tokens = ArrayView2::from_shape((text.len(), dimension), own).map_err(run_error)?;
            if let Some(mean) = tokens.mean_axis(Axis(0)) {
                let length = mean.dot(&mean).sqrt().max(f32::MIN_POSITIVE);
                row.assign(&(mean / length));
            }
        }
        Ok(pooled)
    }
}

fn input(shape: [usize; 2], data: &[i32]) -> Result<ValueOrView<'_>, EmbedError> {
    Ok(ValueView::from_shape(shape, data).map_err(run_error)?.into())
}

/// The tokenizer with our own limits: its file asks for 128 tokens, always padded to 128. What looks like a special token in
/// a text is text.
fn load_tokenizer(json: &[u8]) -> Result<Tokenizer, EmbedError> {
    let mut tokenizer = Tokenizer::from_bytes(json).map_err(load_error)?;
    let truncation = TruncationParams { max_length: MAX_TOKENS, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(truncation)).map_err(load_error)?;
    tokenizer.with_padding(None);
    tokenizer.set_encode_special_tokens(true);
    Ok(tokenizer)
}
