//! What awaits review, as `python/adage/_review.py` calls it.

use adage_review::{Applied, Inbox, Proposal, ProposalName};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::errors::Failure;
use crate::learned::Learned;
use crate::playbook::NativePlaybook;
use crate::request::{id, parse};

/// The inbox of an open playbook.
#[pyclass(frozen, module = "adage._native")]
pub(crate) struct NativeReview(Py<NativePlaybook>);

/// A proposal as it was listed: only this text is shown, applied or dismissed.
#[derive(Deserialize)]
struct Listed {
    name: String,
    text: String,
}

impl Listed {
    fn proposal(&self, inbox: &Inbox) -> Result<Proposal, Failure> {
        let name = self.name.parse::<ProposalName>().map_err(|error| Failure::Argument(error.to_string()))?;
        Ok(Proposal { text: id(&self.text)?, ..inbox.find(&name)? })
    }
}

fn proposals(inbox: &Inbox, listed: &str) -> Result<Vec<Proposal>, Failure> {
    parse::<Vec<Listed>>(listed)?.iter().map(|listed| listed.proposal(inbox)).collect()
}

#[pymethods]
impl NativeReview {
    #[new]
    fn of(book: Py<NativePlaybook>) -> Self {
        Self(book)
    }

    fn list(&self, py: Python<'_>) -> PyResult<String> {
        self.0.get().handle().answer(py, |book| Inbox::of(book).list())
    }

    fn inapplicable(&self, py: Python<'_>) -> PyResult<String> {
        self.0.get().handle().answer(py, |book| Inbox::of(book).inapplicable())
    }

    fn show(&self, py: Python<'_>, listed: &str, is_revealing: bool) -> PyResult<String> {
        self.0.get().handle().call(py, |book| {
            let inbox = if is_revealing { Inbox::of(book).revealing() } else { Inbox::of(book) };
            Ok::<_, Failure>(inbox.show(&parse::<Listed>(listed)?.proposal(&inbox)?)?)
        })
    }

    fn apply(&self, py: Python<'_>, listed: &str) -> PyResult<String> {
        self.0.get().handle().answer(py, |book| {
            let inbox = Inbox::of(book);
            Ok::<_, Failure>(applied(inbox.apply(&proposals(&inbox, listed)?)?))
        })
    }

    fn apply_lines(&self, py: Python<'_>, listed: &str, lines: Vec<usize>) -> PyResult<String> {
        self.0.get().handle().answer(py, move |book| {
            let inbox = Inbox::of(book);
            Ok::<_, Failure>(applied(inbox.apply_lines(&parse::<Listed>(listed)?.proposal(&inbox)?, &lines)?))
        })
    }

    fn dismiss(&self, py: Python<'_>, listed: &str) -> PyResult<String> {
        self.0.get().handle().answer(py, |book| {
            let inbox = Inbox::of(book);
            Ok::<_, Failure>(inbox.dismiss(&proposals(&inbox, listed)?)?)
        })
    }

    fn propose_skill(&self, py: Python<'_>, name: &str, text: &str) -> PyResult<String> {
        self.0.get().handle().answer(py, |book| {
            let name = name.parse().map_err(|error| Failure::Argument(format!("{name:?}: {error}")))?;
            Ok::<_, Failure>(Inbox::of(book).propose_skill(&name, text)?)
        })
    }

    fn history(&self, py: Python<'_>) -> PyResult<String> {
        self.0.get().handle().answer(py, |book| Inbox::of(book).changes())
    }

    fn undo(&self, py: Python<'_>, change: &str) -> PyResult<String> {
        self.0.get().handle().answer(py, |book| Ok::<_, Failure>(Inbox::of(book).undo(id(change)?)?))
    }
}

fn applied(applied: Applied) -> Value {
    let lessons: Vec<Learned> = applied.lessons.into_iter().map(Learned::from).collect();
    json!({ "change": applied.change, "files": applied.files, "lessons": lessons })
}
