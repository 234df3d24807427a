//! The ONNX embedder: `WordPiece`, the graph, attention-masked mean pooling.

use std::sync::OnceLock;

use ndarray::{Array2, Axis, s};
use parking_lot::Mutex;
use tokenizers::{Tokenizer, TruncationParams};

use super::engine::{Engine, Graph, Tokens, load_error, run_error};
use super::recent::Recent;
use super::{Embedder, Model, Role};
use crate::error::EmbedError;
use crate::lesson::TextHash;

/// Longer texts are cut; what all-MiniLM-L6-v2 was trained for.
const MAX_TOKENS: usize = 256;

/// Texts a run. Sorted by length, groups of 4 to 8 are a quarter faster than single texts and than groups of 32.
const GROUP: usize = 8;

/// Embeds with an ONNX model. The model is loaded at the first text, once; handles share it.
///
/// The vectors of the last 256 queries that came alone are kept (half a megabyte at 384 dimensions), so that asking again
/// costs about a microsecond. Documents are not: the playbook has a cache of its own for them.
///
/// ```
/// # #[cfg(all(feature = "rten", feature = "bundled-model"))] {
/// use adage::{Embedder, OnnxEmbedder};
/// use adage::embed::{Engine, Model, Role};
/// let embedder = OnnxEmbedder::new(Model::bundled(), Engine::Portable);
/// let vectors = embedder.embed(&["pin the version", "fix the version number"], Role::Document)?;
/// assert_eq!(vectors.dim(), (2, 384));
/// assert!(vectors.row(0).dot(&vectors.row(1)) > 0.5);
/// # }
/// # Ok::<(), adage::embed::EmbedError>(())
/// ```
pub struct OnnxEmbedder {
    model: Model,
    engine: Engine,
    session: OnceLock<Result<Session, EmbedError>>,
    recent: Mutex<Recent>,
}

impl OnnxEmbedder {
    /// An embedder that loads `model` into `engine` when the first text comes.
    #[must_use]
    pub fn new(model: Model, engine: Engine) -> Self {
        Self { model, engine, session: OnceLock::new(), recent: Mutex::default() }
    }

    /// Loads the model now and runs it once, so that the first text is as fast as the others.
    /// [`Playbook::warm_up`](crate::Playbook::warm_up) does it too.
    ///
    /// # Errors
    /// [`EmbedError::Load`] when the model cannot be loaded; [`EmbedError::Runtime`], [`EmbedError::RuntimeVersion`] and
    /// [`EmbedError::RuntimeTaken`] when ONNX Runtime cannot. The embedder stays as it is then; make another one to try again.
    pub fn warm_up(&self) -> Result<(), EmbedError> {
        self.session().map(|_| ())
    }

    fn session(&self) -> Result<&Session, EmbedError> {
        self.session.get_or_init(|| Session::load(&self.model, &self.engine)).as_ref().map_err(Clone::clone)
    }
}

impl Embedder for OnnxEmbedder {
    fn embed(&self, texts: &[&str], role: Role) -> Result<Array2<f32>, EmbedError> {
        // A text's vector differs in the last digits between runs with different company: only those that came alone are
        // kept, and the same question gets the same bytes.
        let (Role::Query, [query]) = (role, texts) else { return self.session()?.embed(texts) };
        let key = TextHash::of(&[query]);
        if let Some(row) = self.recent.lock().get(key) {
            return Ok(row);
        }
        let row = self.session()?.embed(texts)?;
        self.recent.lock().put(key, row.clone());
        Ok(row)
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
    graph: Box<dyn Graph>,
    dimension: usize,
}

impl Session {
    fn load(model: &Model, engine: &Engine) -> Result<Self, EmbedError> {
        let (graph, tokenizer) = model.bytes()?;
        let tokenizer = load_tokenizer(&tokenizer)?;
        let mut session = Self { tokenizer, graph: engine.load(graph)?, dimension: 0 };
        session.dimension = session.run(&[vec![0]]).map_err(load_error)?.ncols();
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

#[cfg(all(test, feature = "rten", feature = "bundled-model"))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use ndarray::Array3;

    use super::*;

    struct Counting(Box<dyn Graph>, Arc<AtomicUsize>);

    impl Graph for Counting {
        fn run(&self, tokens: &Tokens) -> Result<Array3<f32>, EmbedError> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.run(tokens)
        }
    }

    #[test]
    fn a_query_that_was_asked_before_gets_the_same_bytes_and_no_run() {
        let n_runs = Arc::new(AtomicUsize::new(0));
        let mut session = Session::load(&Model::bundled(), &Engine::Portable).unwrap();
        session.graph = Box::new(Counting(session.graph, Arc::clone(&n_runs)));
        let mut embedder = OnnxEmbedder::new(Model::bundled(), Engine::Portable);
        embedder.session = OnceLock::from(Ok(session));
        let check = |texts: &[&str], role, expected_runs| {
            n_runs.store(0, Ordering::Relaxed);
            let rows = embedder.embed(texts, role).unwrap();
            assert_eq!(n_runs.load(Ordering::Relaxed), expected_runs, "{texts:?} {role:?}");
            rows
        };
        let first = check(&["pin the version"], Role::Query, 1);
        let other = check(&["pin the versions"], Role::Query, 1);
        assert_ne!(first, other);
        assert_eq!(check(&["pin the version"], Role::Query, 0), first);
        // Documents and groups go to the model.
        check(&["pin the version"], Role::Document, 1);
        check(&["pin the version", "pin the versions"], Role::Query, 1);
    }
}
