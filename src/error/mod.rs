//! The errors of the crate. Each variant is one that a caller can act on.
//!
//! A gate's refusal, a missing embedder and "nothing relevant" are values, not errors: see
//! [`LearnOutcome`](crate::LearnOutcome) and [`Context`](crate::Context).

pub(crate) mod calibrate;
pub(crate) mod config;
mod embed;
pub(crate) mod exchange;
pub(crate) mod folder;
pub(crate) mod skills;
mod store;
pub(crate) mod vector_memory;

use std::path::PathBuf;

use adage_index::VectorError;
use adage_redact::path_line;

use crate::lesson::{ChangeId, LessonId, LessonRef, ReceiptId, TextHash};

pub use embed::{EmbedError, HostError};
pub use folder::{FolderError, FolderKind, Holder, Unusable};
pub use store::StoreError;

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a [`Playbook`](crate::Playbook).
///
/// The message names the operation and the file; the cause, such as "permission denied", is the
/// [`source`](std::error::Error::source).
///
/// ```
/// use std::error::Error as _;
/// use std::io::ErrorKind;
///
/// use adage::{Error, FolderError, Playbook, build_lesson};
///
/// fn advice(error: &Error) -> String {
///     match error {
///         Error::NoSuchLesson { lesson } => format!("list the lessons: there is none with {lesson}"),
///         Error::Folder(FolderError::ReadOnly { path }) => format!("{} was opened with read_only()", path.display()),
///         Error::Folder(FolderError::Io { path, source, .. }) if source.kind() == ErrorKind::PermissionDenied => {
///             format!("chmod {}", path.display())
///         }
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
    /// The folder or one of its files.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A store that is not a folder.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A setting cannot be used.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// A vector cannot be used.
    #[error(transparent)]
    Vector(#[from] VectorError),
    /// The embedder failed.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// A session could not be read.
    #[error(transparent)]
    Transcript(#[from] adage_transcript::Error),
    /// A skill could not be read or written.
    #[error(transparent)]
    Skill(#[from] skills::Error),
    /// Lessons could not be exchanged.
    #[error(transparent)]
    Exchange(#[from] exchange::Error),
    /// Labelled queries cannot be fitted to.
    #[error(transparent)]
    Calibrate(#[from] calibrate::Error),
    /// The vector tier was requested, and there is no embedder.
    #[error("the vector tier needs an embedder; give one to the builder, or request another tier")]
    NoEmbedder,
    /// Other processes changed the folder faster than this one could embed their lessons.
    #[error("the playbook changed during each of {rounds} attempts to commit")]
    Contended {
        /// The number of attempts.
        rounds: usize,
    },
    /// No lesson has this id or trigger.
    #[error("no lesson with {lesson}")]
    NoSuchLesson {
        /// The requested name or id.
        lesson: LessonRef,
    },
    /// Several lessons have this trigger; name one by id. Nothing was changed.
    #[error("{} lessons have the trigger {trigger:?}: {}", ids.len(), list(ids))]
    Ambiguous {
        /// The requested name or id.
        trigger: String,
        /// The lessons.
        ids: Vec<LessonId>,
    },
    /// The receipt is unknown or expired.
    #[error("no receipt {receipt}; receipts are kept for 7 days")]
    NoSuchReceipt {
        /// The receipt.
        receipt: ReceiptId,
    },
    /// No change with this id is recorded.
    #[error("no change {change} on record")]
    NoSuchChange {
        /// The change.
        change: ChangeId,
    },
    /// There is no merge into this lesson to undo.
    #[error("no merge into lesson {lesson} is left to undo")]
    NoSuchMerge {
        /// The lesson.
        lesson: LessonId,
    },
    /// The change cannot be undone.
    #[error("change {change} cannot be undone: {reason}")]
    CannotUndo {
        /// The change.
        change: ChangeId,
        /// Why not.
        reason: CannotUndo,
    },
    /// What a person was shown has changed since; list it again. Nothing was changed.
    #[error("{what} changed: {expected} was listed, it is {found}; list it again")]
    Changed {
        /// A lesson that awaits review, or another item.
        what: String,
        /// The hash of the listed content.
        expected: TextHash,
        /// The hash of the present content.
        found: TextHash,
    },
    /// Edits of files cannot be undone: one of the files is not where this playbook may write. Nothing was changed.
    #[error("{what} cannot be undone: {} is not where this playbook was told that it may write", path_line(path))]
    OutOfReach {
        /// The edits.
        what: String,
        /// The file.
        path: PathBuf,
    },
    /// A file has changed since its edit was prepared. Nothing was changed.
    #[error("{} changed: the edit is for {}, it is {}", path_line(path), content(expected.as_ref()), content(found.as_ref()))]
    FileChanged {
        /// The file.
        path: PathBuf,
        /// The hash of the content that the edit was prepared for; none for a missing file.
        expected: Option<TextHash>,
        /// The hash of its present content; none if there is no file.
        found: Option<TextHash>,
    },
}

/// Why a change cannot be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CannotUndo {
    /// A later change affected the same lessons; undo that one first.
    #[error("the later change {0} touched the same lessons; undo that one first")]
    Newer(ChangeId),
    /// It is undone already.
    #[error("it was undone already")]
    Already,
    /// It is an undo, which cannot be undone; learn the lesson again.
    #[error("it is an undo itself")]
    IsUndo,
    /// The lesson was edited since.
    #[error("the text of lesson {0} is no longer what the change left")]
    Edited(LessonId),
    /// The text of a removal is kept for 30 days.
    #[error("the text of a removed lesson is kept for 30 days only")]
    Expired,
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
