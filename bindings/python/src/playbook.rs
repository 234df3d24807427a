//! A playbook, as `python/adage/_playbook.py` calls it.

use std::path::PathBuf;

use adage::learn::Verification;
use adage::playbook::Check;
use adage::retrieve::NoMatchReason;
use adage::{Context, Feedback, Lesson, LessonDraft, Listing, Playbook, Realm, Request, exchange};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

use crate::embedder::{Choice, Vector};
use crate::errors::{Failure, raise};
use crate::handle::Handle;
use crate::learned::{Learned, Reason, imported};
use crate::logging;
use crate::request::{ContextRequest, Draft, ListingRequest, id, parse};
use crate::settings::{PlaybookSettings, duration};

/// An open playbook. Its arguments and results are JSON.
#[pyclass(frozen, module = "adage._native")]
pub(crate) struct NativePlaybook(Handle<Playbook>);

impl NativePlaybook {
    pub(crate) fn handle(&self) -> &Handle<Playbook> {
        &self.0
    }
}

#[pymethods]
impl NativePlaybook {
    #[new]
    fn open(py: Python<'_>, folder: PathBuf, settings: &str, embedder: Choice) -> PyResult<Self> {
        logging::start();
        let opened = py.detach(|| {
            let embedder = embedder.embedder()?;
            parse::<PlaybookSettings>(settings)?.open(folder, embedder)
        });
        opened.map(|playbook| Self(Handle::new(playbook))).map_err(|failure| raise(py, &failure))
    }

    fn close(&self, py: Python<'_>) {
        self.0.close(py);
    }

    fn is_open(&self) -> bool {
        self.0.is_open()
    }

    fn learn(&self, py: Python<'_>, drafts: &str) -> PyResult<String> {
        self.0.answer(py, |book| {
            let drafts: Vec<Draft> = parse(drafts)?;
            let learned = book.learn_lessons(drafts)?;
            Ok::<_, Failure>(learned.into_iter().map(Learned::from).collect::<Vec<_>>())
        })
    }

    fn context(&self, py: Python<'_>, request: &str, vector: Option<Vector<'_>>) -> PyResult<String> {
        let vector = vector.map(Vector::into_vec);
        self.0.answer(py, |book| {
            let request: Request = parse::<ContextRequest>(request)?.into_request(vector);
            Ok::<_, Failure>(with_reason(&book.get_playbook_context(request)?))
        })
    }

    fn outcome(&self, py: Python<'_>, receipt: &str, feedback: &str) -> PyResult<String> {
        self.0.answer(py, |book| Ok::<_, Failure>(book.record_outcome(id(receipt)?, word(feedback)?)?))
    }

    fn credit_recent(&self, py: Python<'_>, seconds: f64) -> PyResult<usize> {
        self.0.call(py, |book| Ok::<_, Failure>(book.credit_recent_retrievals(duration(seconds)?)?))
    }

    fn record_retrieval(&self, py: Python<'_>, lesson: &str) -> PyResult<String> {
        self.0.call(py, |book| book.record_retrieval(lesson).map(|receipt| receipt.to_string()))
    }

    fn credit(&self, py: Python<'_>, lesson: &str, is_helpful: bool) -> PyResult<String> {
        self.0.call(py, |book| {
            let credited =
                if is_helpful { book.record_helpful_retrieval(lesson) } else { book.record_harmful_retrieval(lesson) };
            credited.map(|id| id.to_string())
        })
    }

    fn record_missed(&self, py: Python<'_>, lesson: &str, request: &str) -> PyResult<String> {
        self.0.call(py, |book| book.record_missed(lesson, request).map(|id| id.to_string()))
    }

    fn list(&self, py: Python<'_>, listing: &str) -> PyResult<String> {
        self.0.answer(py, |book| {
            let listing: Listing = parse::<ListingRequest>(listing)?.into();
            let lessons = book.list_lessons(&listing)?;
            Ok::<_, Failure>(lessons.iter().map(|lesson| row(book, lesson)).collect::<Vec<_>>())
        })
    }

    fn find(&self, py: Python<'_>, lesson: &str) -> PyResult<String> {
        self.0.answer(py, |book| book.find(lesson).map(|lesson| row(book, &lesson)))
    }

    fn recent_failures(&self, py: Python<'_>, project: &str, role: &str, limit: usize) -> PyResult<String> {
        self.0.call(py, |book| book.get_recent_failures(&Realm::new(project, role), limit))
    }

    fn waiting(&self, py: Python<'_>) -> PyResult<String> {
        self.0.answer(py, |book| {
            let waiting = book.waiting_lessons()?.into_iter().map(|waiting| {
                let (shown, reason) = (waiting.lesson.shown_hash(), Reason::of(&waiting.reason, "reason"));
                json!({ "lesson": row(book, &waiting.lesson), "reason": reason, "shown_hash": shown })
            });
            Ok::<_, Failure>(waiting.collect::<Vec<_>>())
        })
    }

    fn promote(&self, py: Python<'_>, lesson: &str, shown: &str) -> PyResult<String> {
        self.0.answer(py, |book| Ok::<_, Failure>(Learned::from(book.promote(id(lesson)?, id(shown)?)?)))
    }

    fn dismiss(&self, py: Python<'_>, lesson: &str, shown: &str) -> PyResult<String> {
        self.0.answer(py, |book| Ok::<_, Failure>(book.dismiss(id(lesson)?, id(shown)?)?))
    }

    fn edit(&self, py: Python<'_>, lesson: &str, changes: &str) -> PyResult<String> {
        self.0.answer(py, |book| {
            let changes = LessonDraft::from_json(parse::<Map<String, Value>>(changes)?);
            Ok::<_, Failure>(Learned::from(book.edit(lesson, changes)?))
        })
    }

    fn verify(&self, py: Python<'_>, lesson: &str, has_passed: bool) -> PyResult<String> {
        let verification = if has_passed { Verification::Passed } else { Verification::Failed };
        self.0.call(py, |book| book.mark_verified(lesson, verification).map(|id| id.to_string()))
    }

    fn graduate(&self, py: Python<'_>, lesson: &str, is_graduated: bool) -> PyResult<String> {
        self.0.call(py, |book| {
            let marked = if is_graduated { book.mark_graduated(lesson) } else { book.unmark_graduated(lesson) };
            marked.map(|id| id.to_string())
        })
    }

    fn remove(&self, py: Python<'_>, lesson: &str) -> PyResult<String> {
        self.0.answer(py, |book| book.remove(lesson))
    }

    fn forget(&self, py: Python<'_>, lesson: &str) -> PyResult<String> {
        self.0.answer(py, |book| book.forget(lesson))
    }

    fn retract_session(&self, py: Python<'_>, session: &str) -> PyResult<String> {
        self.0.answer(py, |book| book.retract_session(session))
    }

    fn prunable(&self, py: Python<'_>) -> PyResult<String> {
        self.0.answer(py, Playbook::prunable)
    }

    fn kept_from_pruning(&self, py: Python<'_>) -> PyResult<String> {
        self.0.answer(py, Playbook::kept_from_pruning)
    }

    fn prune(&self, py: Python<'_>) -> PyResult<String> {
        self.0.answer(py, Playbook::prune_low_utility)
    }

    fn accept_edits(&self, py: Python<'_>) -> PyResult<usize> {
        self.0.call(py, Playbook::accept_edits)
    }

    fn history(&self, py: Python<'_>) -> PyResult<String> {
        self.0.answer(py, Playbook::changes)
    }

    fn undo(&self, py: Python<'_>, change: &str) -> PyResult<String> {
        self.0.answer(py, |book| Ok::<_, Failure>(book.undo(id(change)?)?))
    }

    fn undo_merge(&self, py: Python<'_>, lesson: &str) -> PyResult<String> {
        self.0.answer(py, |book| book.undo_merge(lesson))
    }

    fn stats(&self, py: Python<'_>) -> PyResult<String> {
        self.0.answer(py, Playbook::stats)
    }

    fn check(&self, py: Python<'_>) -> PyResult<String> {
        self.0.answer(py, |book| -> Result<Check, Failure> { Ok(book.check()?) })
    }

    fn effect(&self, py: Python<'_>, lesson: &str) -> PyResult<String> {
        self.0.answer(py, |book| book.effect(lesson))
    }

    fn export_text(&self, py: Python<'_>, format: &str, listing: &str) -> PyResult<String> {
        self.0.call(py, |book| {
            let listing = parse::<ListingRequest>(listing)?.into();
            Ok::<_, Failure>(book.export_text(format.parse()?, &listing)?)
        })
    }

    fn export_into(&self, py: Python<'_>, format: &str, listing: &str, file: PathBuf) -> PyResult<String> {
        self.0.answer(py, move |book| {
            let listing = parse::<ListingRequest>(listing)?.into();
            Ok::<_, Failure>(book.export_into(format.parse()?, &listing, &file)?)
        })
    }

    fn undo_export(&self, py: Python<'_>, change: &str, file: PathBuf) -> PyResult<String> {
        self.0.call(py, move |book| Ok::<_, Failure>(book.undo_export(id(change)?, &file)?.to_string()))
    }

    fn import_text(
        &self,
        py: Python<'_>,
        text: &str,
        format: Option<&str>,
        key: Option<&str>,
        is_preview: bool,
    ) -> PyResult<String> {
        self.0.answer(py, |book| import_text(book, text, format, key, is_preview))
    }

    fn warm_up(&self, py: Python<'_>) -> PyResult<usize> {
        self.0.call(py, Playbook::warm_up)
    }

    fn texts_without_vector(&self, py: Python<'_>) -> PyResult<usize> {
        self.0.call(py, Playbook::texts_without_vector)
    }

    fn flush(&self, py: Python<'_>) -> PyResult<bool> {
        self.0.call(py, Playbook::flush)
    }

    fn check_writable(&self, py: Python<'_>) -> PyResult<()> {
        self.0.call(py, Playbook::check_writable)
    }

    fn check_folder(&self, py: Python<'_>) -> PyResult<()> {
        self.0.call(py, Playbook::check_folder)
    }

    fn back_up(&self, py: Python<'_>, folder: PathBuf) -> PyResult<String> {
        self.0.answer(py, move |book| book.back_up(folder))
    }

    fn restore(&self, py: Python<'_>, folder: PathBuf) -> PyResult<String> {
        self.0.answer(py, move |book| book.restore(folder))
    }

    fn repair(&self, py: Python<'_>, is_preview: bool) -> PyResult<String> {
        self.0.answer(py, |book| if is_preview { book.preview_repair() } else { book.repair() })
    }

    fn recovery(&self, py: Python<'_>) -> PyResult<String> {
        self.0.answer(py, |book| Ok::<_, Failure>(book.recovery().cloned()))
    }

    fn exists(&self, py: Python<'_>) -> PyResult<bool> {
        self.0.call(py, |book| Ok::<_, Failure>(book.exists()))
    }

    fn folder(&self, py: Python<'_>) -> PyResult<PathBuf> {
        self.0.call(py, |book| Ok::<_, Failure>(book.folder().to_owned()))
    }

    fn config(&self, py: Python<'_>) -> PyResult<String> {
        self.0.answer(py, |book| Ok::<_, Failure>(book.config().clone()))
    }

    fn folder_config(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.0.call(py, Playbook::folder_config)
    }

    fn set_folder_config(&self, py: Python<'_>, text: &str) -> PyResult<()> {
        self.0.call(py, |book| book.set_folder_config(text))
    }
}

/// A context whose reason has its sentence.
fn with_reason(context: &Context) -> Value {
    let reason = context.none_because.as_ref().map(|reason: &NoMatchReason| Reason::of(reason, "reason"));
    let mut object = json!(context);
    if let Some(fields) = object.as_object_mut() {
        fields.insert("none_because".to_owned(), json!(reason));
    }
    object
}

/// A lesson with its utility.
fn row(book: &Playbook, lesson: &Lesson) -> Value {
    let mut object = json!(lesson);
    if let Some(fields) = object.as_object_mut() {
        fields.insert("utility".to_owned(), book.utility(lesson).into());
    }
    object
}

/// A word of a closed set, such as `helpful`.
fn word(text: &str) -> Result<Feedback, Failure> {
    parse(&Value::from(text).to_string())
}

fn import_text(
    book: &Playbook,
    text: &str,
    format: Option<&str>,
    key: Option<&str>,
    is_preview: bool,
) -> Result<Value, Failure> {
    let key = key.map(exchange::ExportKey::from_hex).transpose()?;
    let named = format.map(str::parse::<exchange::Format>).transpose()?;
    let format = named.or_else(|| exchange::Format::detect(text)).ok_or(exchange::Error::UnknownFormat)?;
    let (mut drafts, mut not_read) = (Vec::new(), Vec::new());
    for lesson in exchange::read_export(format, text, key.as_ref()).lessons {
        match lesson {
            Ok(draft) => drafts.push(draft),
            Err(reason) => not_read.push(reason.to_string()),
        }
    }
    let result = if is_preview { book.preview_import(drafts)? } else { book.import(drafts)? };
    Ok(imported(result, &not_read))
}
