//! ONNX Runtime, loaded from a library that the caller names: the only file that names ort.

use std::error::Error;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ndarray::Array3;
use ort::LoadDynamicError;
use ort::environment::Environment;
use ort::logging::LogLevel;
use ort::session::Session;
use ort::session::builder::GraphOptimizationLevel;
use ort::value::TensorRef;
use parking_lot::Mutex;

use super::graph::{Graph, Tokens, load_error, run_error};
use super::library::examine;
use crate::error::EmbedError;

/// Token types, where a graph takes them.
const TOKEN_TYPES: &str = "token_type_ids";

pub(super) struct OnnxRuntimeGraph {
    /// ONNX Runtime's allocators and statistics are not thread-safe, so ort wants the session to itself: calls take turns.
    session: Mutex<Session>,
    takes_types: bool,
    output: String,
}

impl OnnxRuntimeGraph {
    pub(super) fn load(library: &Path, graph: &[u8]) -> Result<Self, EmbedError> {
        let session = session(&environment(library)?, graph).map_err(load_error)?;
        let outputs = session.outputs();
        let output = outputs.iter().find(|output| output.name() == "last_hidden_state").or(outputs.first());
        Ok(Self {
            takes_types: session.inputs().iter().any(|input| input.name() == TOKEN_TYPES),
            output: output.ok_or_else(|| load_error("the graph has no output"))?.name().to_owned(),
            session: Mutex::new(session),
        })
    }
}

fn session(environment: &Environment, graph: &[u8]) -> ort::Result<Session> {
    Session::builder(environment)?
        .with_optimization_level(GraphOptimizationLevel::All)?
        .with_intra_threads(1)?
        .with_inter_threads(1)?
        // A thread that waits by spinning takes a core from the host.
        .with_intra_op_spinning(false)?
        .with_inter_op_spinning(false)?
        .commit_from_memory(graph)
}

impl Graph for OnnxRuntimeGraph {
    fn run(&self, tokens: &Tokens) -> Result<Array3<f32>, EmbedError> {
        let wide = |data: &[i32]| data.iter().copied().map(i64::from).collect::<Vec<i64>>();
        let (ids, mask, types) = (wide(&tokens.ids), wide(&tokens.mask), vec![0; tokens.ids.len()]);
        let mut inputs = vec![("input_ids", &ids), ("attention_mask", &mask)];
        if self.takes_types {
            inputs.push((TOKEN_TYPES, &types));
        }
        let inputs = inputs
            .into_iter()
            .map(|(name, data)| Ok((name, TensorRef::from_array_view((tokens.shape, data.as_slice()))?)))
            .collect::<ort::Result<Vec<_>>>()
            .map_err(run_error)?;
        let mut session = self.session.lock();
        let outputs = session.run(inputs).map_err(run_error)?;
        let output = outputs.get(&self.output).ok_or_else(|| run_error(format!("no output {}", self.output)))?;
        let (shape, embeddings) = output.try_extract_tensor::<f32>().map_err(run_error)?;
        let sizes: Vec<usize> = shape.iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect();
        let shape: [usize; 3] = sizes
            .try_into()
            .map_err(|sizes| run_error(format!("the output has the shape {sizes:?}, not three sizes")))?;
        Array3::from_shape_vec(shape, embeddings.to_vec()).map_err(run_error)
    }
}

/// The library of this process, once one is loaded: ort keeps it, and ONNX Runtime's environment, in a static of its own, and
/// never takes another.
static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);

struct Runtime {
    library: PathBuf,
    /// Kept for good: ort makes no second one after it is dropped.
    environment: Result<Environment, EmbedError>,
}

fn environment(path: &Path) -> Result<Environment, EmbedError> {
    let library = examine(path)?;
    let mut runtime = RUNTIME.lock();
    if let Some(runtime) = &*runtime {
        return if runtime.library == library {
            runtime.environment.clone()
        } else {
            Err(EmbedError::RuntimeTaken { loaded: Some(runtime.library.clone()), asked: library })
        };
    }
    // ort does not tell whether the host loaded a library before. It looks at a path only if not, and there is nothing
    // inside a file: this fails exactly where the way is free.
    if ort::init_from(library.join("taken")).is_ok() {
        return Err(EmbedError::RuntimeTaken { loaded: None, asked: library });
    }
    // What ort does not expect of a library makes it panic: a null where its interface should be.
    let refused = |reason: String| EmbedError::Runtime { path: library.clone(), reason };
    let panicked = |_| refused("it is not what ort expects".to_owned());
    let builder = catch_unwind(|| ort::init_from(&library)).map_err(panicked)?.map_err(|error| match error {
        LoadDynamicError::BadVersion { version_str, path } => {
            EmbedError::RuntimeVersion { path, found: version_str, oldest: ort::MINOR_VERSION }
        }
        // What the system said is the cause of an error that says no more than "dlopen failed".
        LoadDynamicError::Dlopen { error, .. } => {
            refused(error.source().map_or_else(|| error.to_string(), ToString::to_string))
        }
        LoadDynamicError::MissingApi { .. } => refused("it does not export OrtGetApiBase".to_owned()),
        error @ LoadDynamicError::InvalidVersionString => refused(error.to_string()),
    })?;
    let build = || builder.with_name("adage").with_telemetry(false).with_logger(Arc::new(log)).build();
    let environment = catch_unwind(std::panic::AssertUnwindSafe(build))
        .map_err(panicked)
        .and_then(|made| made.map_err(|error| refused(error.to_string())));
    if let Ok(environment) = &environment {
        environment.set_log_level(LogLevel::Warning);
    }
    *runtime = Some(Runtime { library: library.clone(), environment: environment.clone() });
    environment
}

/// Without a logger ONNX Runtime writes to standard error, and ort reads the environment for how much. Its warnings are about
/// devices and rewrites of the graph, nothing that a user of this crate could act on.
fn log(level: LogLevel, category: &str, _: &str, place: &str, message: &str) {
    match level {
        LogLevel::Error | LogLevel::Fatal => tracing::warn!(category, place, "ONNX Runtime: {message}"),
        LogLevel::Warning => tracing::debug!(category, place, "ONNX Runtime: {message}"),
        LogLevel::Verbose | LogLevel::Info => {}
    }
}
