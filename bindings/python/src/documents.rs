//! A vector memory, as `python/adage/_documents.py` calls it.

use std::path::PathBuf;

use adage::{Document, Lookup, VectorMemory};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::Value;

use crate::embedder::{Choice, Vector};
use crate::errors::{Failure, raise};
use crate::filter::filter;
use crate::handle::Handle;
use crate::logging;
use crate::request::parse;
use crate::settings::DocumentsSettings;

/// An open vector memory. Its arguments and results are JSON, vectors are arrays.
#[pyclass(frozen, module = "adage._native")]
pub(crate) struct NativeDocuments(Handle<VectorMemory>);

/// A query, beside its vector.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    text: String,
    limit: usize,
    within: f32,
    #[serde(rename = "where")]
    filter: Value,
    vectors_only: bool,
}

impl Question {
    fn lookup(self, vector: Option<Vec<f32>>) -> Result<Lookup, Failure> {
        let lookup = vector.map_or_else(|| Lookup::text(self.text), Lookup::vector);
        let lookup = lookup.limit(self.limit).within(self.within).filtered(filter(&self.filter)?);
        Ok(if self.vectors_only { lookup.vectors_only() } else { lookup })
    }
}

#[pymethods]
impl NativeDocuments {
    #[new]
    fn open(py: Python<'_>, folder: PathBuf, settings: &str, embedder: Choice) -> PyResult<Self> {
        logging::start();
        let opened = py.detach(|| {
            let embedder = embedder.embedder()?;
            parse::<DocumentsSettings>(settings)?.open(folder, embedder)
        });
        opened.map(|memory| Self(Handle::new(memory))).map_err(|failure| raise(py, &failure))
    }

    fn close(&self, py: Python<'_>) {
        self.0.close(py);
    }

    fn is_open(&self) -> bool {
        self.0.is_open()
    }

    fn add_all(&self, py: Python<'_>, documents: &str) -> PyResult<()> {
        self.0.call(py, |memory| Ok::<_, Failure>(memory.add_all(parse::<Vec<Document>>(documents)?)?))
    }

    fn put_all(&self, py: Python<'_>, documents: &str) -> PyResult<()> {
        self.0.call(py, |memory| Ok::<_, Failure>(memory.put_all(parse::<Vec<Document>>(documents)?)?))
    }

    fn update(&self, py: Python<'_>, document: &str) -> PyResult<()> {
        self.0.call(py, |memory| Ok::<_, Failure>(memory.update(parse(document)?)?))
    }

    fn remove(&self, py: Python<'_>, id: &str) -> PyResult<()> {
        self.0.call(py, |memory| memory.remove(id))
    }

    fn remove_all(&self, py: Python<'_>, wanted: &str) -> PyResult<usize> {
        self.0.call(py, |memory| Ok::<_, Failure>(memory.remove_all(&filter(&parse(wanted)?)?)?))
    }

    fn get(&self, py: Python<'_>, id: &str) -> PyResult<String> {
        self.0.answer(py, |memory| memory.get(id).map(|document| document.map(|document| (*document).clone())))
    }

    fn documents(&self, py: Python<'_>, wanted: &str) -> PyResult<String> {
        self.0.answer(py, |memory| {
            let documents = memory.documents(&filter(&parse(wanted)?)?)?;
            Ok::<_, Failure>(documents)
        })
    }

    fn count(&self, py: Python<'_>, wanted: &str) -> PyResult<usize> {
        self.0.call(py, |memory| Ok::<_, Failure>(memory.count(&filter(&parse(wanted)?)?)?))
    }

    fn query(&self, py: Python<'_>, question: &str, vector: Option<Vector<'_>>) -> PyResult<String> {
        let vector = vector.map(Vector::into_vec);
        self.0.answer(py, |memory| Ok::<_, Failure>(memory.query(&parse::<Question>(question)?.lookup(vector)?)?))
    }

    fn query_all(&self, py: Python<'_>, questions: &str) -> PyResult<String> {
        self.0.answer(py, |memory| {
            let questions: Vec<Question> = parse(questions)?;
            let lookups: Vec<Lookup> =
                questions.into_iter().map(|question| question.lookup(None)).collect::<Result<_, _>>()?;
            Ok::<_, Failure>(memory.query_all(&lookups)?)
        })
    }

    fn documents_without_vector(&self, py: Python<'_>) -> PyResult<String> {
        self.0.answer(py, VectorMemory::documents_without_vector)
    }

    fn warm_up(&self, py: Python<'_>) -> PyResult<usize> {
        self.0.call(py, VectorMemory::warm_up)
    }

    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        self.0.call(py, VectorMemory::compact)
    }

    fn snapshot(&self, py: Python<'_>) -> PyResult<()> {
        self.0.call(py, VectorMemory::snapshot)
    }

    fn recovery(&self, py: Python<'_>) -> PyResult<String> {
        self.0.answer(py, |memory| Ok::<_, Failure>(memory.recovery().cloned()))
    }

    fn folder(&self, py: Python<'_>) -> PyResult<PathBuf> {
        self.0.call(py, |memory| Ok::<_, Failure>(memory.folder().to_owned()))
    }
}
