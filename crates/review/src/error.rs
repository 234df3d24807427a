//! Errors of finding or applying a proposal.

use std::path::PathBuf;

use adage_redact::path_line;
use serde::Serialize;

use crate::patch_error::PatchError;
use adage::{FolderError, TextHash};

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a proposal cannot be shown, applied or dismissed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the playbook or its folder; [`Changed`](adage::Error::Changed) for what has changed since it was listed.
    #[error(transparent)]
    Memory(#[from] adage::Error),
    /// No such proposal awaits review.
    #[error("no proposal {name} awaits review")]
    NoSuch {
        /// The requested name or id.
        name: String,
    },
    /// A proposal cannot be applied.
    #[error("{name} cannot be applied")]
    CannotApply {
        /// The proposal.
        name: String,
        /// Why not.
        #[source]
        reason: Box<CannotApply>,
    },
}

impl Error {
    /// The error for `name` with this reason.
    pub(crate) fn cannot_apply(name: &impl ToString, reason: CannotApply) -> Self {
        Self::CannotApply { name: name.to_string(), reason: Box::new(reason) }
    }
}

impl From<FolderError> for Error {
    fn from(error: FolderError) -> Self {
        Self::Memory(error.into())
    }
}

fn content(hash: Option<&TextHash>) -> String {
    hash.map_or_else(|| "no file".to_owned(), |hash| format!("content {hash}"))
}

/// Why a proposal cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CannotApply {
    /// It is not a patch.
    #[error("it is not a patch that may be applied: {0}")]
    Patch(PatchError),
    /// A diff does not apply to its file.
    #[error("the diff of {} does not apply: {reason}", path_line(path))]
    Diff {
        /// The file.
        #[serde(serialize_with = "adage::extend::path_text::shown")]
        path: PathBuf,
        /// Why not.
        reason: PatchError,
    },
    /// It may not change a file.
    #[error("line {line} of the patch: {reason}")]
    Target {
        /// The line of the patch where the diff of that file begins, counted from 1.
        line: usize,
        /// Why not.
        reason: TargetError,
    },
    /// A file has changed since the proposal was made.
    #[error(
        "{} changed since: the proposal is for {}, it is {}",
        path_line(path), content(proposed_for.as_ref()), content(found.as_ref())
    )]
    Changed {
        /// The file.
        #[serde(serialize_with = "adage::extend::path_text::shown")]
        path: PathBuf,
        /// The hash of its content then; none if there was no file.
        proposed_for: Option<TextHash>,
        /// The hash of its present content; none if there is no file.
        found: Option<TextHash>,
    },
    /// A part of it looks like a secret and was masked where it was shown.
    #[error("{n_chars} characters that look like secrets are masked in what was shown: reveal and read them first")]
    Masked {
        /// How many characters.
        n_chars: usize,
    },
    /// A line was picked that it does not have.
    #[error("it has no line {line}, only {n_lines} lines")]
    NoSuchLine {
        /// The number that was asked for, from 1.
        line: usize,
        /// How many lines it has; 0 for what is applied as a whole.
        n_lines: usize,
    },
    /// It changes nothing.
    #[error("it changes nothing")]
    ChangesNothing,
    /// The entry's name or position in the inbox is not that of a proposal.
    #[error("it is not {expected}")]
    Misplaced {
        /// What is expected there.
        expected: &'static str,
    },
    /// The entry is not a regular file, or has several hard links.
    #[error("{} in it is not a regular file with one name", path_line(path))]
    NotAFile {
        /// Its path in the memory folder.
        #[serde(serialize_with = "adage::extend::path_text::shown")]
        path: PathBuf,
    },
    /// It is too large.
    #[error("it has {found} bytes, at most {limit} are read")]
    TooLarge {
        /// Its size.
        found: u64,
        /// The maximum size.
        limit: u64,
    },
    /// It cannot be read.
    #[error("it cannot be read: {reason}")]
    Unreadable {
        /// The error of the system.
        reason: String,
    },
    /// A new skill cannot be used.
    #[error("the skill cannot be used: {reason}")]
    Skill {
        /// Why not.
        reason: String,
    },
}

impl CannotApply {
    /// True if the cause is not the proposal itself: another handle, or this one later, may be able to apply it.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Unreadable { .. } | Self::Target { reason: TargetError::NoAllowedRoot { .. }, .. })
    }
}

/// Why a proposal may not change a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TargetError {
    /// The two names of a diff are not the same.
    #[error("its names differ: {old:?} and {new:?}")]
    NamesDiffer {
        /// The name after `---`.
        old: String,
        /// The name after `+++`.
        new: String,
    },
    /// The name is not an absolute path.
    #[error("{name:?} is not an absolute path")]
    NotAbsolute {
        /// The name.
        name: String,
    },
    /// The name is unsafe or ambiguous.
    #[error("{name:?} {why}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: BadName,
    },
    /// The host named no folder for proposals of this kind.
    #[error("no folder for {patch_kind} patches was named")]
    NoAllowedRoot {
        /// The kind of patch.
        patch_kind: &'static str,
    },
    /// It is not a file that a proposal of this kind may change.
    #[error("{} is not {expected}", path_line(path))]
    Outside {
        /// The path.
        #[serde(serialize_with = "adage::extend::path_text::shown")]
        path: PathBuf,
        /// The files that it may change.
        expected: &'static str,
    },
    /// Agents read it as instructions.
    #[error("{} holds instructions of a project", path_line(path))]
    Instructions {
        /// The path.
        #[serde(serialize_with = "adage::extend::path_text::shown")]
        path: PathBuf,
    },
    /// It, or a folder above it, is a symbolic link or resolves to another path.
    #[error("{} leads elsewhere", path_line(path))]
    Link {
        /// The path.
        #[serde(serialize_with = "adage::extend::path_text::shown")]
        path: PathBuf,
    },
    /// It is not a regular file, or a part above it is not a folder.
    #[error("{} is not a {expected}", path_line(path))]
    Kind {
        /// The path.
        #[serde(serialize_with = "adage::extend::path_text::shown")]
        path: PathBuf,
        /// `regular file` or `folder`.
        expected: &'static str,
    },
    /// The file has several hard links.
    #[error("{} has {n_links} hard links", path_line(path))]
    HardLinked {
        /// The path.
        #[serde(serialize_with = "adage::extend::path_text::shown")]
        path: PathBuf,
        /// The number of hard links.
        n_links: u64,
    },
    /// The file may not be written.
    #[error("{} may not be written", path_line(path))]
    WriteProtected {
        /// The path.
        #[serde(serialize_with = "adage::extend::path_text::shown")]
        path: PathBuf,
    },
    /// The patch changes a file that does not exist.
    #[error("{} does not exist", path_line(path))]
    Missing {
        /// The path.
        #[serde(serialize_with = "adage::extend::path_text::shown")]
        path: PathBuf,
    },
    /// The patch creates a file that exists.
    #[error("{} exists already", path_line(path))]
    Exists {
        /// The path.
        #[serde(serialize_with = "adage::extend::path_text::shown")]
        path: PathBuf,
    },
    /// The patch creates a file with a name that some systems, or people, do not distinguish from an existing one.
    #[error(
        "{} would be in the same folder as {found:?}, which some systems or readers take for the same name",
        path_line(path)
    )]
    Alike {
        /// The path.
        #[serde(serialize_with = "adage::extend::path_text::shown")]
        path: PathBuf,
        /// The name that exists.
        found: String,
    },
}

/// Why a name is unsafe or ambiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BadName {
    /// It has an empty part, as in `//` or with a slash at the end.
    #[error("has an empty part")]
    Empty,
    /// It has a part `.` or `..`.
    #[error("has a part `.` or `..`")]
    Dots,
    /// A part begins with a dot.
    #[error("is hidden")]
    Hidden,
    /// A part begins or ends with a space, or ends with a dot.
    #[error("has a dot or a space at the edge of a part")]
    Edge,
    /// It has an invisible character, or one that changes the direction of text.
    #[error("has an invisible or a bidirectional character")]
    Invisible,
    /// It is not in Unicode normal form C: another file may look the same.
    #[error("is not in Unicode normal form C")]
    NotNormal,
    /// A word of a new file's name mixes scripts, as Latin and Cyrillic, or has a letter that hardly any word has: it may be taken
    /// for another name.
    #[error("has a word of mixed scripts, or with an unusual letter, which may be taken for another")]
    LookAlike,
    /// It has a character that is a separator on some systems.
    #[error("has a backslash or a colon")]
    Separator,
    /// It is the name of a device on some systems.
    #[error("is a device on some systems")]
    Device,
    /// It is too long.
    #[error("is too long")]
    TooLong,
}
