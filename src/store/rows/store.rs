//! The seam for engines other than a folder: what a store has to do for a playbook that is kept in it as rows.

use std::time::Duration;

use serde_json::Value;

use crate::error::StoreError;
use crate::folder::Lock;
use crate::hash::TextHash;

/// Keeps one playbook as rows of JSON, for any number of processes and machines.
///
/// The library decides; a store only keeps. A commit is atomic, and takes effect only if nothing was committed since the state that it
/// was decided on. Usage is appended beside commits and numbered by the commit that folds it in.
///
/// # Errors
/// Every method returns [`StoreError`]: `Unreachable` when there is no answer and nothing was written; `Refused`; methods that write
/// also `ReadOnly`.
pub trait Store: Send + Sync {
    /// The store for messages, such as `postgres://host/database`; without a password.
    fn name(&self) -> &str;

    /// False for a store that was opened for reading.
    fn may_write(&self) -> bool;

    /// What was committed since a state, and usage, all as of one moment.
    #[expect(clippy::missing_errors_doc, reason = "the errors of the trait")]
    fn read(&self, known: Known) -> Result<Changes, StoreError>;

    /// Writes a commit as a whole. False, and nothing is written, if another commit has taken effect since `known`. A commit with an id
    /// that took effect already is not written again, and is true.
    ///
    /// # Errors
    /// `Unresolved` when it is not known whether the commit took effect.
    fn commit(&self, commit: &Commit) -> Result<bool, StoreError>;

    /// Appends retrievals. One whose key is there already is left out.
    #[expect(clippy::missing_errors_doc, reason = "the errors of the trait")]
    fn append(&self, retrievals: &[UsageEvent]) -> Result<(), StoreError>;

    /// Appends feedback. False, and nothing is written, if other feedback was appended after `known`. Feedback whose key is there
    /// already is not written again, and is true.
    #[expect(clippy::missing_errors_doc, reason = "the errors of the trait")]
    fn append_feedback(&self, feedback: &UsageEvent, known: i64) -> Result<bool, StoreError>;

    /// The lines of the history, oldest first.
    #[expect(clippy::missing_errors_doc, reason = "the errors of the trait")]
    fn history(&self) -> Result<Vec<String>, StoreError>;

    /// The lines that were logged with usage, oldest first.
    #[expect(clippy::missing_errors_doc, reason = "the errors of the trait")]
    fn logged(&self) -> Result<Vec<String>, StoreError>;

    /// The vectors of a model that were written after the one with this number; 0 for all.
    #[expect(clippy::missing_errors_doc, reason = "the errors of the trait")]
    fn vectors(&self, model: TextHash, after: u64) -> Result<Vec<StoredVector>, StoreError>;

    /// Writes vectors of a model.
    #[expect(clippy::missing_errors_doc, reason = "the errors of the trait")]
    fn save_vectors(&self, model: TextHash, vectors: &[StoredVector]) -> Result<(), StoreError>;

    /// The record of this name; none if there is none.
    #[expect(clippy::missing_errors_doc, reason = "the errors of the trait")]
    fn record(&self, name: &str) -> Result<Option<Value>, StoreError>;

    /// Replaces the newest version of a record by what `change` returns; nothing is written if that is none. No other change of the
    /// record happens meanwhile.
    #[expect(clippy::missing_errors_doc, reason = "the errors of the trait")]
    fn change_record(
        &self,
        name: &str,
        change: &mut dyn FnMut(Option<Value>) -> Result<Option<Value>, StoreError>,
    ) -> Result<(), StoreError>;

    /// A lock of the playbook with this name, held until it is dropped, or until its process or connection ends; none if another holds
    /// it for as long as `patience`.
    #[expect(clippy::missing_errors_doc, reason = "the errors of the trait")]
    fn lock(&self, name: &str, patience: Duration) -> Result<Option<Lock>, StoreError>;
}

/// What a process knows of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The generation of its state: the number of commits; 0 for none.
    pub generation: u64,
    /// The number of the last folded event that it has.
    pub usage: u64,
    /// True if usage is read although nothing was committed since.
    pub wants_usage: bool,
}

/// What a store has that a process does not know.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The generation now; 0 if nothing was ever committed.
    pub generation: u64,
    /// The number of the last event that is folded in.
    pub folded: u64,
    /// The id of the last feedback; 0 if there is none.
    pub last_feedback: i64,
    /// True if `rows` are all rows, because the known state is too old or there is none.
    pub is_whole: bool,
    /// The rows that were written since. Empty if nothing was committed.
    pub rows: Vec<Row>,
    /// The events that were folded in after the known number, in the order of their numbers, then those that are not folded in yet, in
    /// the order of their ids. Empty if nothing was committed and usage is not wanted.
    pub events: Vec<StoredEvent>,
}

/// A list of a playbook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum List {
    /// The lessons in use, by id.
    Lessons,
    /// The lessons that await review, in the order of their keys.
    Waiting,
    /// The removals, in the order of their keys.
    Removed,
    /// Everything else, by name.
    Others,
}

/// A row of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The list.
    pub list: List,
    /// Its key in the list: letters, digits, `-`, `_`, at most 100 bytes.
    pub key: String,
    /// What it has; none if it was removed.
    pub value: Option<Value>,
}

/// A retrieval or feedback that is to be appended.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageEvent {
    /// What identifies it: an event is appended once, however often it is tried.
    pub key: String,
    /// The event.
    pub event: Value,
    /// A line for the log, which outlives the event.
    pub line: Option<String>,
}

/// An event of a store.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEvent {
    /// Its id: larger for later feedback.
    pub id: i64,
    /// Its number, if it is folded in.
    pub number: Option<u64>,
    /// The event.
    pub event: Value,
}

/// A vector of a text: components of a unit vector.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredVector {
    /// Its number; ignored where vectors are written.
    pub number: u64,
    /// The text's hash.
    pub text: TextHash,
    /// The components.
    pub components: Vec<f32>,
}

/// A commit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Commit {
    /// What identifies it: it takes effect once, however often it is tried.
    pub id: u128,
    /// The generation that it was decided on.
    pub known: u64,
    /// The next generation.
    pub generation: u64,
    /// The rows that it writes.
    pub rows: Vec<Row>,
    /// The lines that it adds to the history, or that replace the history.
    pub history: Vec<String>,
    /// True if its lines replace the history.
    pub replaces_history: bool,
    /// The events that it folds in, which get the next numbers in this order.
    pub folded: Vec<i64>,
    /// The model of its vectors, and the vectors.
    pub vectors: Option<(TextHash, Vec<StoredVector>)>,
    /// The texts whose vectors are kept, of any model; all if there is no list.
    pub kept_texts: Option<Vec<TextHash>>,
    /// True if its process holds the lock `commit`, which every other commit waits for.
    pub has_lock: bool,
}
