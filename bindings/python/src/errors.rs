//! Errors, as instances of the classes of `python/adage/_errors.py`.

use std::error::Error as StdError;

use adage::embed::EmbedError;
use adage::redact::json_error;
use adage::vector_memory::{self, Error as DocumentsError};
use adage::{Error, FolderError, config, exchange, skills};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

/// Why a call failed.
pub(crate) enum Failure {
    Playbook(Error),
    Review(adage_review::Error),
    Documents(DocumentsError),
    /// An argument that cannot be read.
    Argument(String),
    Closed,
    Forked,
    WithinEmbedder,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Playbook(error)
    }
}

impl From<adage_review::Error> for Failure {
    fn from(error: adage_review::Error) -> Self {
        match error {
            adage_review::Error::Memory(error) => Self::Playbook(error),
            error => Self::Review(error),
        }
    }
}

impl From<DocumentsError> for Failure {
    fn from(error: DocumentsError) -> Self {
        Self::Documents(error)
    }
}

impl From<config::Error> for Failure {
    fn from(error: config::Error) -> Self {
        Self::Playbook(error.into())
    }
}

impl From<exchange::Error> for Failure {
    fn from(error: exchange::Error) -> Self {
        Self::Playbook(error.into())
    }
}

impl From<EmbedError> for Failure {
    fn from(error: EmbedError) -> Self {
        Self::Playbook(error.into())
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Argument(json_error(&error))
    }
}

/// The name of an error's class, and its attributes.
type Described = (&'static str, Value);

/// The Python error of a failure. The error that an embedder raised is its cause.
pub(crate) fn raise(py: Python<'_>, failure: &Failure) -> PyErr {
    instance(py, failure).unwrap_or_else(|error| error)
}

fn instance(py: Python<'_>, failure: &Failure) -> PyResult<PyErr> {
    let ((name, attributes), message) = describe(failure);
    let attributes = py.import("json")?.call_method1("loads", (attributes.to_string(),))?;
    let class = py.import("adage._errors")?.getattr(name)?;
    let error = PyErr::from_value(class.call((message,), Some(attributes.cast::<PyDict>()?))?);
    if let Some(raised) = raised_by_embedder(failure) {
        error.set_cause(py, Some(raised.clone_ref(py)));
    }
    Ok(error)
}

fn describe(failure: &Failure) -> (Described, String) {
    match failure {
        Failure::Playbook(error) => (of_playbook(error), with_causes(error)),
        Failure::Review(error) => (of_proposal(error), with_causes(error)),
        Failure::Documents(error) => (of_documents(error), with_causes(error)),
        Failure::Argument(message) => (("ArgumentError", json!({})), message.clone()),
        Failure::Closed => plain("ClosedError", "the memory is closed; open it again"),
        Failure::Forked => plain(
            "ForkedError",
            "this process was forked after the memory was opened; open the memory in the new process, or start it by `spawn`",
        ),
        Failure::WithinEmbedder => {
            plain("ReentrantError", "an embedder cannot call a memory while the memory waits for it")
        }
    }
}

fn plain(name: &'static str, message: &str) -> (Described, String) {
    ((name, json!({})), message.to_owned())
}

fn with_causes(error: &(dyn StdError + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn of_playbook(error: &Error) -> Described {
    match error {
        Error::Folder(error) => of_folder(error),
        Error::Config(_) => ("ConfigError", json!({})),
        Error::Vector(_) => ("VectorError", json!({})),
        Error::Embed(error) => of_embedder(error),
        Error::Transcript(_) => ("TranscriptError", json!({})),
        Error::Skill(error) => of_skill(error),
        Error::Exchange(_) => ("ExchangeError", json!({})),
        Error::Calibrate(_) => ("CalibrateError", json!({})),
        Error::NoEmbedder => ("NoEmbedderError", json!({})),
        Error::Contended { rounds } => ("ContendedError", json!({ "rounds": rounds })),
        Error::NoSuchLesson { lesson } => ("NoSuchLessonError", json!({ "lesson": lesson.to_string() })),
        Error::Ambiguous { trigger, ids } => ("AmbiguousError", json!({ "trigger": trigger, "ids": ids })),
        Error::NoSuchReceipt { receipt } => ("NoSuchReceiptError", json!({ "receipt": receipt })),
        Error::NoSuchChange { change } => ("NoSuchChangeError", json!({ "change": change })),
        Error::NoSuchMerge { lesson } => ("NoSuchMergeError", json!({ "lesson": lesson })),
        Error::CannotUndo { change, reason } => {
            ("CannotUndoError", json!({ "change": change, "reason": reason.to_string() }))
        }
        Error::Changed { what, .. } => ("ProposalChangedError", json!({ "name": what })),
        Error::OutOfReach { what, .. } => ("CannotApplyError", json!({ "name": what })),
        Error::FileChanged { path, .. } => ("FileChangedError", json!({ "path": path.to_string_lossy() })),
        _ => ("Error", json!({})),
    }
}

fn of_documents(error: &DocumentsError) -> Described {
    match error {
        DocumentsError::Folder(error) => of_folder(error),
        DocumentsError::Config(_) => ("ConfigError", json!({})),
        DocumentsError::Vector(_) => ("VectorError", json!({})),
        DocumentsError::Embed(error) => of_embedder(error),
        DocumentsError::NoEmbedder => ("NoEmbedderError", json!({})),
        DocumentsError::NoSuchDocument { id } => ("NoSuchDocumentError", json!({ "id": id })),
        DocumentsError::DocumentExists { id } => ("DocumentExistsError", json!({ "id": id })),
        vector_memory::Error::Document { id, .. } => ("DocumentError", json!({ "id": id })),
        _ => ("Error", json!({})),
    }
}

fn of_folder(error: &FolderError) -> Described {
    let (name, path, more) = match error {
        FolderError::Io { path, source, .. } => ("FolderIOError", path, json!({ "errno": source.raw_os_error() })),
        FolderError::Irregular { path, .. } => ("IrregularFileError", path, json!({})),
        FolderError::Unreadable { path, .. } => ("UnreadableError", path, json!({})),
        FolderError::TooLarge { path, size, limit } => {
            ("FileTooLargeError", path, json!({ "size": size, "limit": limit }))
        }
        FolderError::NewerSchema { path, found, supported } => {
            ("NewerSchemaError", path, json!({ "found": found, "supported": supported }))
        }
        FolderError::ReadOnly { path } => ("ReadOnlyError", path, json!({})),
        FolderError::NotTrusted { path } => ("NotTrustedError", path, json!({})),
        FolderError::WrongKind { path, .. } => ("WrongKindError", path, json!({})),
        FolderError::Replaced { path } => ("FolderReplacedError", path, json!({})),
        FolderError::NoFolderId { path } => ("NoFolderIdError", path, json!({})),
        FolderError::NoTrustStore { path } => ("NoTrustStoreError", path, json!({})),
        FolderError::Locked { path, holder, waited } => {
            let pid = holder.as_ref().map(|holder| holder.pid);
            ("LockedError", path, json!({ "pid": pid, "waited": waited.as_secs_f64() }))
        }
        FolderError::WritesStopped { path } => ("WritesStoppedError", path, json!({})),
        _ => return ("FolderError", json!({})),
    };
    let mut attributes = more;
    if let Some(attributes) = attributes.as_object_mut() {
        attributes.insert("path".to_owned(), path.to_string_lossy().into());
    }
    (name, attributes)
}

fn of_embedder(error: &EmbedError) -> Described {
    match error {
        EmbedError::Load { .. } => ("ModelLoadError", json!({})),
        _ => ("EmbedError", json!({})),
    }
}

fn of_skill(error: &skills::Error) -> Described {
    match error {
        skills::Error::NoSuch { name } => ("NoSuchSkillError", json!({ "name": name })),
        skills::Error::Exists { name, .. } => ("SkillExistsError", json!({ "name": name })),
        _ => ("SkillError", json!({})),
    }
}

fn of_proposal(error: &adage_review::Error) -> Described {
    match error {
        adage_review::Error::NoSuch { name } => ("NoSuchProposalError", json!({ "name": name })),
        adage_review::Error::CannotApply { name, .. } => ("CannotApplyError", json!({ "name": name })),
        _ => ("ProposalError", json!({})),
    }
}

fn raised_by_embedder(failure: &Failure) -> Option<&PyErr> {
    let (Failure::Playbook(Error::Embed(error)) | Failure::Documents(DocumentsError::Embed(error))) = failure else {
        return None;
    };
    let EmbedError::Host { source } = error else { return None };
    source.downcast_ref::<PyErr>()
}
