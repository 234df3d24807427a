//! What can go wrong, each variant something a caller can do something about.
//!
//! A gate's refusal, a missing embedder and "nothing relevant" are values, not errors: see
//! [`LearnOutcome`](crate::LearnOutcome) and [`Context`](crate::Context).

mod embed;
mod inbox;
mod patch;

use std::path::{Path, PathBuf};

use adage_index::{InvalidSetting, VectorError};

use crate::lesson::{ChangeId, LessonId, LessonRef, ReceiptId, TextHash};

pub use embed::{EmbedError, HostError};
pub use inbox::{BadName, CannotApply, TargetError};
pub use patch::{Forbidden, Limit, PatchError};

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the playbook, the store or an embedder.
///
/// The message names the operation and the file; the cause, such as "permission denied", is the
/// [`source`](std::error::Error::source).
///
/// ```
/// use std::error::Error as _;
/// use std::io::ErrorKind;
///
/// use adage::{Error, Playbook, build_lesson};
///
/// fn advice(error: &Error) -> String {
///     match error {
///         Error::NoSuchLesson { lesson } => format!("list the lessons: there is none with {lesson}"),
///         Error::ReadOnly { path } => format!("{} was opened with read_only()", path.display()),
///         Error::Io { path, source, .. } if source.kind() == ErrorKind::PermissionDenied => format!("chmod {}", path.display()),
///         Error::Embed(error) => format!("{error}: {:?}", error.source()),
///         other => other.to_string(),
///     }
/// }
///
/// # let folder = tempfile::tempdir()?;
/// let playbook = Playbook::builder(folder.path()).without_embedder().read_only().open()?;
/// let error = playbook.find("pinning numpy").unwrap_err();
/// assert_eq!(advice(&error), "list the lessons: there is none with trigger \"pinning numpy\"");
/// let error = playbook.learn_lesson(build_lesson("pinning numpy", "Pin numpy below 2.0.")).unwrap_err();
/// assert!(advice(&error).ends_with("was opened with read_only()"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operation on a file failed; nothing was committed.
    #[error("could not {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The playbook file became unreadable while it was open, perhaps in the middle of a hand edit. It was not touched;
    /// mend it, or open the folder again to move it to quarantine and go on from the backup.
    #[error("{} cannot be read: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A newer version wrote the folder; it is open for reading only.
    #[error("the folder is of schema version {found}, this program writes {supported}: it is open for reading only")]
    NewerSchema {
        /// The version in the file.
        found: u64,
        /// The newest version that this program writes.
        supported: u64,
    },
    /// The handle was opened for reading. A folder that the operating system does not let this process write is
    /// [`Error::Io`] instead, at the write.
    #[error("{} is open for reading only", path.display())]
    ReadOnly {
        /// The folder.
        path: PathBuf,
    },
    /// A write could not be made safe on disk, so this handle writes no more. Open the folder again.
    #[error("an earlier write to {} could not be made safe; open the folder again", path.display())]
    WritesStopped {
        /// The folder.
        path: PathBuf,
    },
    /// Other processes changed the folder faster than this one could embed what they wrote.
    #[error("the playbook changed during each of {rounds} attempts to commit")]
    Contended {
        /// How many times it was tried.
        rounds: usize,
    },
    /// No lesson has this id or trigger.
    #[error("no lesson with {lesson}")]
    NoSuchLesson {
        /// What was asked for.
        lesson: LessonRef,
    },
    /// Several lessons have this trigger; name one by id. Nothing was changed.
    #[error("{} lessons have the trigger {trigger:?}: {}", ids.len(), list(ids))]
    Ambiguous {
        /// What was asked for.
        trigger: String,
        /// The lessons.
        ids: Vec<LessonId>,
    },
    /// The receipt is not known, or older than receipts are kept.
    #[error("no receipt {receipt}; receipts are kept for 7 days")]
    NoSuchReceipt {
        /// The receipt.
        receipt: ReceiptId,
    },
    /// No change with this id is on record.
    #[error("no change {change} on record")]
    NoSuchChange {
        /// The change.
        change: ChangeId,
    },
    /// No merge into this lesson is on record that still stands.
    #[error("no merge into lesson {lesson} is on record that still stands")]
    NoSuchMerge {
        /// The lesson.
        lesson: LessonId,
    },
    /// The change cannot be undone (any more).
    #[error("change {change} cannot be undone: {reason}")]
    CannotUndo {
        /// The change.
        change: ChangeId,
        /// Why not.
        reason: CannotUndo,
    },
    /// A file is no longer what an edit of it was made for. Nothing was changed.
    #[error("{} changed: the edit is for {}, it is {}", path.display(), content(expected.as_ref()), content(found.as_ref()))]
    FileChanged {
        /// The file.
        path: PathBuf,
        /// The hash of the content that the edit is for; none for no file.
        expected: Option<TextHash>,
        /// The hash of what it holds; none when there is no file.
        found: Option<TextHash>,
    },
    /// A proposal is no longer what was looked at. Nothing was changed.
    #[error("{what} changed: {expected} was looked at, it is {found}")]
    ProposalChanged {
        /// The proposal, or the lesson that waits.
        what: String,
        /// The hash of what was looked at.
        expected: TextHash,
        /// The hash of what it is.
        found: TextHash,
    },
    /// There is no such proposal.
    #[error("nothing called {name} waits for review")]
    NoSuchProposal {
        /// What was asked for.
        name: String,
    },
    /// A proposal cannot be applied. Nothing was changed.
    #[error("{name} cannot be applied")]
    CannotApply {
        /// The proposal.
        name: String,
        /// Why not.
        #[source]
        reason: Box<CannotApply>,
    },
    /// The configuration does not make sense.
    #[error("{setting} is {value}, it must be {expected}")]
    Config {
        /// The setting.
        setting: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        expected: &'static str,
    },
    /// A vector cannot be used.
    #[error(transparent)]
    Vector(#[from] VectorError),
    /// The embedder failed.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// A session could not be read.
    #[error(transparent)]
    Transcript(#[from] adage_transcript::Error),
    /// No exchange format has this name.
    #[error("no exchange format {name:?}; there are jsonl, memory, agents, ace")]
    NoSuchExchange {
        /// What was asked for.
        name: String,
    },
    /// The text is in no exchange format that can be told from its looks; name one.
    #[error("no known exchange format; name one: jsonl, memory, agents, ace")]
    UnknownExchange,
    /// The file's section of lessons cannot be replaced. The file was not touched.
    #[error("{} was not written: {reason}", path.display())]
    ExportRefused {
        /// The file.
        path: PathBuf,
        /// What is the matter with it.
        reason: ExportRefused,
    },
    /// The vector tier was asked for by name, or a vector memory was asked, and there is no embedder.
    #[error("vectors were asked for, but there is no embedder")]
    NoEmbedder,
    /// No document has this id.
    #[error("no document {id:?}")]
    NoSuchDocument {
        /// What was asked for.
        id: String,
    },
    /// A document with this id is there already. Nothing was changed.
    #[error("document {id:?} is there already")]
    DocumentExists {
        /// The id.
        id: String,
    },
    /// No skill has this name.
    #[error("no skill {name:?}")]
    NoSuchSkill {
        /// What was asked for.
        name: String,
    },
    /// Another text has this name; take another one. Nothing was changed.
    #[error("there is another skill {name:?} already, at {}", path.display())]
    SkillExists {
        /// The name.
        name: String,
        /// Where it is.
        path: PathBuf,
    },
    /// The text of a skill is not the one that was meant; look at it again. Nothing was changed.
    #[error("the text of skill {name:?} is {found}, not {expected}: it was changed")]
    SkillChanged {
        /// The name.
        name: String,
        /// The hash of the text that was meant.
        expected: TextHash,
        /// The hash of the text that is there.
        found: TextHash,
    },
    /// A skill is too large to be read again. Nothing was changed.
    #[error("skill {name:?} would have {n_bytes} bytes, at most {max} are read")]
    SkillTooLarge {
        /// The name.
        name: String,
        /// Its length.
        n_bytes: usize,
        /// The largest that is read.
        max: usize,
    },
    /// A document cannot be kept. Nothing was changed.
    #[error("document {id:?} cannot be kept: {reason}")]
    Document {
        /// Its id, shortened to 100 characters.
        id: String,
        /// Why not.
        reason: DocumentError,
    },
}

/// Why a change cannot be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CannotUndo {
    /// A later change touched the same lessons; undo that one first.
    #[error("the later change {0} touched the same lessons; undo that one first")]
    Newer(ChangeId),
    /// It is undone already.
    #[error("it is undone already")]
    Already,
    /// An undo is not undone; learn the lesson again.
    #[error("it is an undo itself")]
    IsUndo,
    /// The lesson was edited since.
    #[error("the text of lesson {0} is no longer what the change left")]
    Edited(LessonId),
    /// The text of a removal is kept for 30 days.
    #[error("the text of a removed lesson is kept for 30 days only")]
    Expired,
}

/// Why an export did not touch a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportRefused {
    /// It is not certain where our section is.
    #[error("line {line} is a mark of adage's section that has no counterpart, or a second one")]
    Section {
        /// The line, from 1.
        line: usize,
    },
    /// The whole file would be replaced, and others wrote in it.
    #[error("line {line} was not written by adage, and this format takes the whole file")]
    Foreign {
        /// The line, from 1.
        line: usize,
    },
    /// It is not text.
    #[error("it is not a file of UTF-8 text")]
    NotText,
}

/// Why a document cannot be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// A part has to say something.
    #[error("the {part} is empty")]
    Empty {
        /// Which part.
        part: &'static str,
    },
    /// A part is too long.
    #[error("the {part} has {found} bytes, at most {limit} are kept")]
    TooLong {
        /// Which part.
        part: &'static str,
        /// Its length, in bytes.
        found: usize,
        /// The longest that is kept, in bytes.
        limit: usize,
    },
    /// There is too much metadata.
    #[error("the document has {found} fields, at most {limit} are kept")]
    TooManyFields {
        /// How many fields it has.
        found: usize,
        /// How many are kept.
        limit: usize,
    },
    /// Its id comes twice in one batch.
    #[error("its id comes twice in the batch")]
    Twice,
}

impl Error {
    /// Wraps an I/O error with what was tried and where.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

impl From<InvalidSetting> for Error {
    fn from(InvalidSetting { setting, value, expected }: InvalidSetting) -> Self {
        Self::Config { setting, value, expected }
    }
}

/// An error with its causes, on one line.
pub(crate) fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn content(hash: Option<&TextHash>) -> String {
    hash.map_or_else(|| "no file".to_owned(), |hash| format!("content {hash}"))
}

fn list(ids: &[LessonId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
