//! Past sessions, as `python/adage/_sessions.py` calls them.

use std::path::PathBuf;

use adage::model::{CancelToken, Completion, LanguageModel, ModelError};
use adage::playbook::SkipSelection;
use adage::transcript::{Format, Transcript, TranscriptReader};
use adage::{FolderError, LearnOutcome, Playbook};
use adage_sessions::extract::{Extracted, Extraction, Refused};
use adage_sessions::{
    DueSessions, LeftOut, Mined, NotDue, ReadState, RunOutcome, SessionEntry, SessionFile, SessionLessons, SessionScan,
    Sessions,
};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::embedder::keep_interrupt;
use crate::errors::Failure;
use crate::learned::{Learned, Reason};
use crate::playbook::NativePlaybook;

/// The past sessions of an agent, for an open playbook.
#[pyclass(frozen, module = "adage._native")]
pub(crate) struct NativeSessions(Py<NativePlaybook>);

/// A session to read.
#[derive(FromPyObject)]
pub(crate) enum Recorded {
    File(PathBuf),
    /// A list of messages in JSON, the session's id, its project.
    Messages(String, String, String),
}

impl Recorded {
    fn transcript(self, format: &str) -> Result<Transcript, Failure> {
        let format: Format = format.parse().map_err(adage::Error::from)?;
        match self {
            Self::File(path) => {
                let found = path.canonicalize().and_then(|path| SessionFile::look(&path));
                let file = found.map_err(FolderError::io("find", &path)).map_err(adage::Error::from)?;
                Ok(file.read(format)?.transcript)
            }
            Self::Messages(messages, session, project) => {
                let read = TranscriptReader::new().read(messages.as_bytes(), format).map_err(adage::Error::from)?;
                Ok(Transcript { session, project, ..read.transcript })
            }
        }
    }
}

/// A model: `function(system, user)` returns its answer.
struct Model {
    function: Py<PyAny>,
    cancel: CancelToken,
}

impl LanguageModel for Model {
    fn complete(&self, completion: &Completion) -> Result<String, ModelError> {
        Python::attach(|py| {
            let answer = self.function.bind(py).call1((&completion.system, &completion.user));
            answer.and_then(|answer| answer.extract()).map_err(|error| self.failed(py, &error))
        })
    }
}

impl Model {
    /// What is not an `Exception`, such as `KeyboardInterrupt`, ends the run and is raised after it.
    fn failed(&self, py: Python<'_>, error: &PyErr) -> ModelError {
        if !keep_interrupt(py, error) {
            return ModelError::Run { reason: error.to_string() };
        }
        self.cancel.cancel();
        ModelError::Cancelled
    }
}

fn as_language_model(model: Option<&Model>) -> Option<&dyn LanguageModel> {
    model.map(|model| model as _)
}

#[pymethods]
impl NativeSessions {
    #[new]
    fn of(book: Py<NativePlaybook>) -> Self {
        Self(book)
    }

    fn scan(&self, py: Python<'_>, folder: PathBuf) -> PyResult<String> {
        self.0.get().handle().answer(py, move |book| Sessions::of(book).scan(&folder).map(|scan| scanned(&scan)))
    }

    fn due(&self, py: Python<'_>, folder: PathBuf) -> PyResult<String> {
        self.0.get().handle().answer(py, move |book| {
            let sessions = Sessions::of(book);
            sessions.due(&sessions.scan(&folder)?).map(|due| match due {
                DueSessions::Sessions(due) => json!({ "sessions": due.iter().map(entry).collect::<Vec<_>>() }),
                DueSessions::NotDue(why) => json!({ "none_because": not_due(&why) }),
            })
        })
    }

    fn learn(&self, py: Python<'_>, folder: PathBuf, function: Option<Py<PyAny>>) -> PyResult<String> {
        self.0.get().handle().answer(py, move |book| {
            let cancel = CancelToken::default();
            let model = function.map(|function| Model { function, cancel: cancel.clone() });
            let ran = Sessions::of(book).learn(&folder, as_language_model(model.as_ref()), &cancel)?;
            Ok::<_, Failure>(match ran {
                RunOutcome::Ended(run) => json!({ "run": run }),
                RunOutcome::NotDue(why) => json!({ "none_because": not_due(&why) }),
            })
        })
    }

    fn learn_from(
        &self,
        py: Python<'_>,
        session: Recorded,
        format: &str,
        function: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        self.0.get().handle().answer(py, |book| {
            let cancel = CancelToken::default();
            let model = function.map(|function| Model { function, cancel: cancel.clone() });
            let transcript = session.transcript(format)?;
            let model = as_language_model(model.as_ref());
            Ok::<_, Failure>(lessons(Sessions::of(book).learn_from(&transcript, model, &cancel)?))
        })
    }

    fn mine(&self, py: Python<'_>, session: Recorded, format: &str) -> PyResult<String> {
        self.0
            .get()
            .handle()
            .answer(py, |book| -> Result<Mined, Failure> { Ok(Sessions::of(book).mine(&session.transcript(format)?)?) })
    }

    fn queue(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.0.get().handle().call(py, move |book| Sessions::of(book).queue(&path))
    }

    fn history(&self, py: Python<'_>) -> PyResult<String> {
        self.0.get().handle().answer(py, |book| Sessions::of(book).history())
    }

    fn skip(&self, py: Python<'_>, name: &str) -> PyResult<u64> {
        self.0.get().handle().call(py, |book| book.skip(name))
    }

    fn skips(&self, py: Python<'_>) -> PyResult<String> {
        self.0.get().handle().answer(py, Playbook::skips)
    }

    fn reset_skips(&self, py: Python<'_>, name: Option<&str>) -> PyResult<usize> {
        self.0.get().handle().call(py, |book| book.reset_skips(name.map_or(SkipSelection::All, SkipSelection::Of)))
    }
}

fn scanned(scan: &SessionScan) -> Value {
    let left_out = |left: &LeftOut| {
        let mut object = json!(left);
        set(&mut object, "reason", json!(Reason::of(&left.reason, "reason")));
        object
    };
    json!({
        "entries": scan.entries.iter().map(entry).collect::<Vec<_>>(),
        "left_out": scan.left_out.iter().map(left_out).collect::<Vec<_>>(),
    })
}

/// An entry whose reason has its sentence.
fn entry(entry: &SessionEntry) -> Value {
    let (standing, n_attempts) = match entry.read_state {
        ReadState::New { n_attempts } => ("new", Some(n_attempts)),
        ReadState::GivenUp { n_attempts } => ("given_up", Some(n_attempts)),
        ReadState::Read => ("read", None),
    };
    let mut object = json!(entry);
    set(&mut object, "standing", json!(standing));
    set(&mut object, "n_attempts", json!(n_attempts));
    set(&mut object, "hurdle", json!(entry.ineligible.map(|hurdle| Reason::of(&hurdle, "reason"))));
    object
}

fn not_due(why: &NotDue) -> Reason {
    Reason::of(why, "reason")
}

fn set(object: &mut Value, name: &str, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
}

fn lessons(learned: SessionLessons) -> Value {
    let outcomes = |outcomes: Vec<LearnOutcome>| outcomes.into_iter().map(Learned::from).collect::<Vec<_>>();
    json!({
        "suggested": learned.suggested,
        "mined": outcomes(learned.mined),
        "extraction": learned.extraction.as_ref().map(extraction),
        "extracted": outcomes(learned.extracted),
        "skills": learned.skills,
    })
}

/// What a model answered, on one level.
fn extraction(extraction: &Extraction) -> Value {
    let (kind, lessons, refused): (&str, &[Extracted], &[Refused]) = match extraction {
        Extraction::Proposed { lessons, refused } => ("proposed", lessons, refused),
        Extraction::NothingToLearn => ("nothing_to_learn", &[], &[]),
        Extraction::NobodyTyped => ("nobody_typed", &[], &[]),
        Extraction::Unreadable { .. } => ("unreadable", &[], &[]),
        Extraction::ModelFailed { .. } => ("model_failed", &[], &[]),
        _ => ("unknown", &[], &[]),
    };
    let refusal = |refused: &Refused| json!({ "rule": refused.rule, "because": refused.because.to_string() });
    json!({
        "kind": kind,
        "failure": extraction.failure(),
        "lessons": lessons,
        "refused": refused.iter().map(refusal).collect::<Vec<_>>(),
    })
}
