//! Embedders: the bundled one, and a host's own.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, LazyLock};

use adage::embed::{EmbedError, Engine, Model, Role};
use adage::ndarray::Array2;
use adage::{Embedder, HashingEmbedder, OnnxEmbedder, TextHash};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::errors::{Failure, raise};

thread_local! {
    /// True while an embedder of this thread runs.
    static RUNNING: Cell<bool> = const { Cell::new(false) };
    /// What interrupted an embedder or a model on this thread, such as `KeyboardInterrupt`. The memory takes it for a failure.
    static INTERRUPT: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// True if an embedder of this thread is running.
pub(crate) fn is_running() -> bool {
    RUNNING.get()
}

/// Keeps what interrupted a function that the memory called: an error that is no `Exception`. True if it is one.
pub(crate) fn keep_interrupt(py: Python<'_>, error: &PyErr) -> bool {
    let is_interrupt = !error.is_instance_of::<PyException>(py);
    if is_interrupt {
        INTERRUPT.set(Some(error.clone_ref(py)));
    }
    is_interrupt
}

/// What interrupted a function that the memory called on this thread, since it was asked last.
pub(crate) fn take_interrupt() -> Option<PyErr> {
    INTERRUPT.take()
}

/// A vector: an array of `float32`, or a list of numbers.
#[derive(FromPyObject)]
pub(crate) enum Vector<'py> {
    List(Vec<f32>),
    Array(PyReadonlyArray1<'py, f32>),
}

impl Vector<'_> {
    pub(crate) fn into_vec(self) -> Vec<f32> {
        match self {
            Self::List(values) => values,
            Self::Array(array) => array.as_array().to_vec(),
        }
    }
}

/// One row per text: an array of `float32`, or a list of lists.
#[derive(FromPyObject)]
enum Rows<'py> {
    Lists(Vec<Vec<f32>>),
    Array(PyReadonlyArray2<'py, f32>),
}

impl Rows<'_> {
    fn into_array(self) -> Result<Array2<f32>, EmbedError> {
        let lists = match self {
            Self::Array(array) => return Ok(array.as_array().to_owned()),
            Self::Lists(lists) => lists,
        };
        let (n_rows, n_columns) = (lists.len(), lists.first().map_or(0, Vec::len));
        let values: Vec<f32> = lists.into_iter().flatten().collect();
        Array2::from_shape_vec((n_rows, n_columns), values).map_err(EmbedError::host)
    }
}

/// A host's own embedder.
struct PythonEmbedder {
    function: Py<PyAny>,
    fingerprint: TextHash,
    dimension: usize,
}

impl PythonEmbedder {
    fn call(&self, texts: &[&str], role: Role) -> PyResult<Result<Array2<f32>, EmbedError>> {
        let role = if role == Role::Query { "query" } else { "document" };
        Python::attach(|py| {
            let rows = self.function.bind(py).call1((texts.to_vec(), role))?;
            Ok(rows.extract::<Rows<'_>>()?.into_array())
        })
    }
}

impl Embedder for PythonEmbedder {
    fn embed(&self, texts: &[&str], role: Role) -> Result<Array2<f32>, EmbedError> {
        RUNNING.set(true);
        let rows = self.call(texts, role);
        RUNNING.set(false);
        rows.unwrap_or_else(|error| {
            Python::attach(|py| keep_interrupt(py, &error));
            Err(EmbedError::host(error))
        })
    }

    fn fingerprint(&self) -> TextHash {
        self.fingerprint
    }

    fn dimension(&self) -> Result<usize, EmbedError> {
        Ok(self.dimension)
    }
}

/// How texts become vectors, as the Python part names it.
#[derive(FromPyObject)]
pub(crate) enum Choice {
    /// `bundled`, `hashing` or `none`.
    Named(String),
    /// A function, the name of its model, and its number of columns.
    Own(Py<PyAny>, String, usize),
}

impl Choice {
    /// The embedder; none if only words are compared.
    pub(crate) fn embedder(self) -> Result<Option<Arc<dyn Embedder>>, Failure> {
        match self {
            Self::Own(function, name, dimension) => {
                let fingerprint = TextHash::of(&["python", &name, &dimension.to_string()]);
                Ok(Some(Arc::new(PythonEmbedder { function, fingerprint, dimension })))
            }
            Self::Named(name) => match name.as_str() {
                "bundled" => Ok(Some(Arc::clone(&BUNDLED) as Arc<dyn Embedder>)),
                "hashing" => Ok(Some(Arc::new(HashingEmbedder))),
                "none" => Ok(None),
                _ => Err(Failure::Argument(format!("no embedder {name:?}; there are bundled, hashing, none"))),
            },
        }
    }
}

/// The bundled model, which every memory of the process shares.
static BUNDLED: LazyLock<Arc<OnnxEmbedder>> =
    LazyLock::new(|| Arc::new(OnnxEmbedder::new(Model::bundled(), Engine::BuiltIn)));

/// The vectors of texts by the bundled model, one row per text.
#[pyfunction]
pub(crate) fn embed(py: Python<'_>, texts: Vec<String>, is_query: bool) -> PyResult<Bound<'_, PyArray2<f32>>> {
    let role = if is_query { Role::Query } else { Role::Document };
    let rows = py.detach(move || {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        if texts.is_empty() { Ok(Array2::zeros((0, BUNDLED.dimension()?))) } else { BUNDLED.embed(&texts, role) }
    });
    rows.map(|rows| rows.into_pyarray(py)).map_err(|error| raise(py, &Failure::from(error)))
}
