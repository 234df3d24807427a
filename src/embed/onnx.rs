//! The embedder of ONNX models: `WordPiece`, the forward pass, the mean over a text's tokens.

use std::sync::OnceLock;

use ndarray::Array2;
use parking_lot::Mutex;

use super::engine::Engine;
#[cfg(any(feature = "rten", feature = "ort"))]
use super::graph::GraphSession;
use super::recent::Recent;
use super::{Embedder, Model, Role};
use crate::error::EmbedError;
use crate::lesson::TextHash;

/// The maximum tokens of a text, as in the training of all-MiniLM-L6-v2; longer texts are cut.
pub(super) const MAX_TOKENS: usize = 256;

/// Embeds with an ONNX model. The model is loaded at the first text, once, if its engine loads any; handles share it.
///
/// The vectors of the last 256 queries that came alone are kept (half a megabyte at 384 dimensions), so that asking again
/// costs about a microsecond. Documents are not: the playbook has a cache of its own for them.
///
/// ```
/// # #[cfg(feature = "bundled-model")] {
/// use adage::{Embedder, OnnxEmbedder};
/// use adage::embed::{Engine, Model, Role};
/// let embedder = OnnxEmbedder::new(Model::bundled(), Engine::BuiltIn);
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
    /// An embedder that loads `model` into `engine` at the first text.
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
        // A graph gives vectors that differ in the last digits between batches: only vectors of single texts are kept, so that
        // the same query gets the same bytes.
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
        Ok(self.session()?.dimension())
    }
}

/// A model that is ready.
enum Session {
    #[cfg(feature = "bundled-model")]
    BuiltIn(adage_encoder::Encoder),
    #[cfg(any(feature = "rten", feature = "ort"))]
    Graph(Box<GraphSession>),
}

impl Session {
    fn load(model: &Model, engine: &Engine) -> Result<Self, EmbedError> {
        match engine {
            #[cfg(feature = "bundled-model")]
            Engine::BuiltIn if model.is_bundled() => Ok(Self::BuiltIn(adage_encoder::Encoder::new())),
            #[cfg(feature = "bundled-model")]
            Engine::BuiltIn => {
                let reason =
                    "the built-in engine runs the bundled model only; another one needs Engine::Rten or OnnxRuntime";
                Err(EmbedError::Load { reason: reason.to_owned() })
            }
            #[cfg(feature = "rten")]
            Engine::Rten => {
                let load = |graph| Ok(Box::new(super::rten::RtenGraph::load(graph)?) as _);
                Ok(Self::Graph(Box::new(GraphSession::load(model, load)?)))
            }
            #[cfg(feature = "ort")]
            Engine::OnnxRuntime(library) => {
                let load =
                    |graph: Vec<u8>| Ok(Box::new(super::onnxruntime::OnnxRuntimeGraph::load(library, &graph)?) as _);
                Ok(Self::Graph(Box::new(GraphSession::load(model, load)?)))
            }
        }
    }

    fn embed(&self, texts: &[&str]) -> Result<Array2<f32>, EmbedError> {
        match self {
            #[cfg(feature = "bundled-model")]
            Self::BuiltIn(encoder) => {
                let tokens: Vec<Vec<u32>> =
                    texts.iter().map(|text| adage_encoder::tokenize(text, MAX_TOKENS)).collect();
                let vectors = encoder.encode(&tokens.iter().map(Vec::as_slice).collect::<Vec<_>>());
                Ok(Array2::from(vectors))
            }
            #[cfg(any(feature = "rten", feature = "ort"))]
            Self::Graph(session) => session.embed(texts),
        }
    }

    fn dimension(&self) -> usize {
        match self {
            #[cfg(feature = "bundled-model")]
            Self::BuiltIn(_) => adage_encoder::DIMENSION,
            #[cfg(any(feature = "rten", feature = "ort"))]
            Self::Graph(session) => session.dimension,
        }
    }
}

#[cfg(all(test, feature = "ort"))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use ndarray::Array3;

    use super::super::graph::{Graph, Tokens, run_error};
    use super::*;

    /// Gives each token its number as an embedding, and counts.
    struct Counting(Arc<AtomicUsize>);

    impl Graph for Counting {
        fn run(&self, tokens: &Tokens) -> Result<Array3<f32>, EmbedError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            let [n_texts, n_tokens] = tokens.shape;
            let embeddings = tokens.ids.iter().flat_map(|id| [*id as f32, 1.0]).collect();
            Array3::from_shape_vec((n_texts, n_tokens, 2), embeddings).map_err(run_error)
        }
    }

    #[test]
    fn a_query_that_was_asked_before_gets_the_same_bytes_and_no_run() {
        let n_runs = Arc::new(AtomicUsize::new(0));
        let model = Model::from_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/models")).unwrap();
        let session = GraphSession::load(&model, |_| Ok(Box::new(Counting(Arc::clone(&n_runs))) as _)).unwrap();
        let mut embedder = OnnxEmbedder::new(model, Engine::OnnxRuntime("not loaded".into()));
        embedder.session = OnceLock::from(Ok(Session::Graph(Box::new(session))));
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
