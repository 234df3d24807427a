//! Models as ONNX graphs: tokens in, token embeddings out, pooled here.

use ndarray::{Array2, Array3, Axis, s};
use tokenizers::{Tokenizer, TruncationParams};

use super::Model;
use super::onnx::MAX_TOKENS;
use crate::error::EmbedError;

/// Texts a run. Sorted by length, groups of 4 to 8 are a quarter faster than single texts and than groups of 32.
const GROUP: usize = 8;

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

/// A loaded graph with its tokenizer.
pub(super) struct GraphSession {
    tokenizer: Tokenizer,
    graph: Box<dyn Graph>,
    pub(super) dimension: usize,
}

impl GraphSession {
    /// Loads a graph with this function, and the tokenizer.
    pub(super) fn load(
        model: &Model,
        load: impl FnOnce(Vec<u8>) -> Result<Box<dyn Graph>, EmbedError>,
    ) -> Result<Self, EmbedError> {
        let (graph, tokenizer) = model.bytes()?;
        let tokenizer = load_tokenizer(&tokenizer)?;
        let mut session = Self { tokenizer, graph: load(graph)?, dimension: 0 };
        session.dimension = session.run(&[vec![0]]).map_err(load_error)?.ncols();
        Ok(session)
    }

    pub(super) fn embed(&self, texts: &[&str]) -> Result<Array2<f32>, EmbedError> {
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
        let (mut ids, mut mask) = (Vec::new(), Vec::new());
        for (row, text) in texts.iter().enumerate() {
            ids.extend_from_slice(text);
            mask.resize(ids.len(), 1);
            ids.resize((row + 1) * width, 0);
            mask.resize(ids.len(), 0);
        }
        let embeddings = self.graph.run(&Tokens { shape: [n_texts, width], ids, mask })?;
        let (rows, columns, dimension) = embeddings.dim();
        if (rows, columns) != (n_texts, width) {
            let reason = format!("{n_texts} texts of {width} tokens came back as {rows} of {columns}");
            return Err(EmbedError::Run { reason });
        }
        let mut pooled = Array2::zeros((n_texts, dimension));
        for ((mut row, text), tokens) in pooled.outer_iter_mut().zip(texts).zip(embeddings.outer_iter()) {
            if let Some(mean) = tokens.slice(s![..text.len(), ..]).mean_axis(Axis(0)) {
                let length = mean.dot(&mean).sqrt().max(f32::MIN_POSITIVE);
                row.assign(&(mean / length));
            }
        }
        Ok(pooled)
    }
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
