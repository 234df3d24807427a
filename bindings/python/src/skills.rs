//! Skills, as `python/adage/_skills.py` calls them.

use std::path::PathBuf;

use adage::learn::Verification;
use adage::skills::Skills;
use pyo3::prelude::*;

use crate::errors::Failure;
use crate::playbook::NativePlaybook;
use crate::request::{id, parse};

/// The skills of an open playbook.
#[pyclass(frozen, module = "adage._native")]
pub(crate) struct NativeSkills(Py<NativePlaybook>);

#[pymethods]
impl NativeSkills {
    #[new]
    fn of(book: Py<NativePlaybook>) -> Self {
        Self(book)
    }

    fn list(&self, py: Python<'_>) -> PyResult<String> {
        self.0.get().handle().answer(py, |book| book.skills().list())
    }

    fn get(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        self.0.get().handle().answer(py, |book| book.skills().get(name))
    }

    fn match_text(&self, py: Python<'_>, text: &str) -> PyResult<String> {
        self.0.get().handle().answer(py, |book| book.skills().match_skills(text))
    }

    fn for_task(&self, py: Python<'_>, text: &str) -> PyResult<String> {
        self.0.get().handle().answer(py, |book| book.skills().for_task(text))
    }

    fn import_from(&self, py: Python<'_>, path: PathBuf) -> PyResult<String> {
        self.0.get().handle().answer(py, move |book| book.skills().import(&path))
    }

    fn export(&self, py: Python<'_>, lessons: &str, folder: PathBuf, name: Option<&str>) -> PyResult<String> {
        self.0.get().handle().answer(py, move |book| {
            let (skills, lessons): (Skills, Vec<String>) = (book.skills(), parse(lessons)?);
            let Some(name) = name else { return Ok::<_, Failure>(skills.export(lessons, &folder)?) };
            let name = name.parse().map_err(|error| Failure::Argument(format!("{name:?}: {error}")))?;
            Ok(skills.export_as(lessons, &name, &folder)?)
        })
    }

    fn promote(&self, py: Python<'_>, name: &str, text_hash: Option<&str>) -> PyResult<String> {
        self.0.get().handle().answer(py, |book| {
            let skills = book.skills();
            Ok::<_, Failure>(match text_hash {
                Some(hash) => skills.promote_text(name, id(hash)?)?,
                None => skills.promote(name)?,
            })
        })
    }

    fn verify(&self, py: Python<'_>, name: &str, has_passed: bool) -> PyResult<String> {
        let verification = if has_passed { Verification::Passed } else { Verification::Failed };
        self.0.get().handle().answer(py, |book| book.skills().verify(name, verification))
    }

    fn used(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        self.0.get().handle().answer(py, |book| book.skills().used(name))
    }

    fn curation_plan(&self, py: Python<'_>) -> PyResult<String> {
        self.0.get().handle().answer(py, |book| book.skills().curation_plan())
    }

    fn curate(&self, py: Python<'_>) -> PyResult<String> {
        self.0.get().handle().answer(py, |book| book.skills().curate())
    }

    fn undo_curation(&self, py: Python<'_>, change: &str) -> PyResult<String> {
        self.0.get().handle().call(py, |book| {
            let change = book.skills().undo_curation(id(change)?)?;
            Ok::<_, Failure>(change.to_string())
        })
    }
}
