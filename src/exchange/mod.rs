//! Lessons to and from files that other programs read: a section of `MEMORY.md` or `AGENTS.md`, an ACE playbook, JSON lines.
//!
//! ```
//! use adage::{Listing, Playbook, build_lesson, exchange};
//! use adage::exchange::read_lessons;
//!
//! # let folder = tempfile::tempdir()?;
//! let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
//! playbook.learn_lesson(build_lesson("parsing CSV exports", "Use the csv module."))?;
//!
//! let text = playbook.export_text(exchange::Format::Ace, &Listing::everything())?;
//! let lessons = read_lessons(exchange::Format::Ace, &text);
//! assert_eq!(lessons[0].as_ref().unwrap().to_json()["trigger"], "parsing CSV exports");
//! // Text that anyone can edit is tainted until a person promotes it.
//! assert_eq!(lessons[0].as_ref().unwrap().to_json()["provenance"]["trust"], "tainted");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A pure stage: texts in, drafts out, and back. Whatever a file says about itself, its lessons are tainted until a person promotes
//! them. The exception is a user's own export as JSON lines, sealed under an [`ExportKey`] and unchanged: its lessons are restored
//! as they were.

mod ace;
mod field;
mod item;
mod json_lines;
mod other;
mod seal;
mod section;
mod target;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::Serialize;

use crate::lesson::{ChangeId, Lesson, LessonDraft};

pub use crate::error::exchange::{Error, ExportRefused};
pub use crate::user_key::ExportKey;
pub(crate) use item::says_the_same;
pub use other::OtherMemory;
pub use seal::Seal;
pub(crate) use seal::{backup_code, is_backup_code};
pub(crate) use target::into_file;

/// The result of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Exported {
    /// The number of lessons in the file now.
    pub n_lessons: usize,
    /// The id for [`Playbook::undo_export`](crate::Playbook::undo_export); none if the file already had this content.
    pub change: Option<ChangeId>,
}

/// A format in which lessons are exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Format {
    /// One lesson per line, with all fields; the first line seals an export that was made with a key.
    JsonLines,
    /// A marked section of a `MEMORY.md`; the rest of the file is not changed.
    Memory,
    /// The same in an `AGENTS.md`, headed as instructions.
    Agents,
    /// An ACE playbook: `[id] helpful=n harmful=n :: text`, under headings.
    Ace,
}

/// A part of a text that is not a lesson.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("line {line}: {reason}")]
#[non_exhaustive]
pub struct NotRead {
    /// The line, counted from 1; in a JSON list, the entry.
    pub line: usize,
    /// Why.
    pub reason: NotReadReason,
}

/// Why a part of a text is not a lesson.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NotReadReason {
    /// The text has no section of adage.
    #[error("there is no section between the marks of adage")]
    NoSection,
    /// A section has no end or no beginning, or there are several.
    #[error(transparent)]
    BadSection(#[from] BadSection),
    /// The line belongs to no lesson.
    #[error("it is not part of a lesson")]
    Stray,
    /// A lesson does not say when it applies.
    #[error("the lesson does not say when it holds")]
    NoTrigger,
    /// A lesson does not say what to do.
    #[error("the lesson does not say what to do")]
    NoSolution,
    /// A lesson has a field twice.
    #[error("the lesson has {label:?} twice")]
    Twice {
        /// The label.
        label: &'static str,
    },
    /// The comment with the id of a lesson cannot be parsed.
    #[error("the mark of the lesson cannot be read")]
    BadMark,
    /// It is not JSON.
    #[error("{reason}")]
    NotJson {
        /// What is wrong, and where in the line.
        reason: String,
    },
    /// It is JSON, but not an object.
    #[error("it is not a JSON object")]
    NotAnObject,
}

/// Why a file's marked section cannot be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BadSection {
    /// It begins and does not end.
    #[error("the section of adage that begins in line {line} does not end")]
    Unclosed {
        /// The line where it begins, counted from 1.
        line: usize,
    },
    /// It ends and does not begin.
    #[error("a section of adage ends in line {line} that did not begin")]
    Unopened {
        /// The line where it ends, counted from 1.
        line: usize,
    },
    /// There are two.
    #[error("a second section of adage begins in line {line}")]
    Second {
        /// The line where it begins, counted from 1.
        line: usize,
    },
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::JsonLines, Self::Memory, Self::Agents, Self::Ace];

    /// The format's word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::JsonLines => "jsonl",
            Self::Memory => "memory",
            Self::Agents => "agents",
            Self::Ace => "ace",
        }
    }

    /// Detects the format of a text. A section of any Markdown file is [`Memory`](Self::Memory).
    #[must_use]
    pub fn detect(text: &str) -> Option<Self> {
        let start = text.trim_start_matches('\u{feff}').trim_start();
        let is_list = start.strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with(['{', ']']));
        if start.starts_with('{') || is_list {
            Some(Self::JsonLines)
        } else if section::begins_in(text) {
            Some(Self::Memory)
        } else {
            text.lines().any(ace::is_bullet).then_some(Self::Ace)
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    /// # Errors
    /// [`Error::NoSuchFormat`].
    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| Error::NoSuchFormat { name: name.to_owned() })
    }
}

/// The lessons as text; for a Markdown format, the marked section. Lessons that may not be shown are left out, except in JSON
/// lines.
///
/// A lesson's text cannot leave its place, whatever it contains. [`read_lessons`] restores it, except for blank lines around a
/// field and invisible characters.
#[must_use]
pub fn write_lessons(format: Format, lessons: &[Arc<Lesson>]) -> String {
    let shown = lessons.iter().filter(|lesson| lesson.is_admitted()).map(Arc::as_ref);
    match format {
        Format::JsonLines => json_lines::write(lessons.iter().map(Arc::as_ref)),
        Format::Memory => section::write(section::Reader::Person, shown),
        Format::Agents => section::write(section::Reader::Agent, shown),
        Format::Ace => ace::write(shown),
    }
}

/// The lessons of a text, in their order, and the parts that are not lessons.
///
/// ```
/// use adage::exchange;
/// use adage::exchange::read_lessons;
///
/// let text = "## OTHERS\n[shr-00007] helpful=3 harmful=1 :: Read the whole error before fixing it.\nnonsense\n";
/// let read = read_lessons(exchange::Format::Ace, text);
/// let lesson = read[0].as_ref().unwrap().to_json();
/// assert_eq!(lesson["correct_pattern"], "Read the whole error before fixing it.");
/// assert_eq!((&lesson["helpful_retrievals"], &lesson["provenance"]["trust"]), (&3.into(), &"tainted".into()));
/// assert_eq!(read[1].as_ref().unwrap_err().line, 3);
/// ```
#[must_use]
pub fn read_lessons(format: Format, text: &str) -> Vec<Result<LessonDraft, NotRead>> {
    read_export(format, text, None).lessons
}

/// The result of reading an export.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReadExport {
    /// Its lessons, in their order, and the parts that are not lessons.
    pub lessons: Vec<Result<LessonDraft, NotRead>>,
    /// Whether it is the user's own export. Only then are its claims accepted.
    pub seal: Seal,
}

/// As [`read_lessons`], with the user's key: an export that was sealed with it and not changed since is the user's own.
///
/// ```
/// use adage::exchange::{self, ExportKey, Seal};
/// use adage::{LearnOutcome, Listing, Playbook, build_lesson};
///
/// # let (one, other) = (tempfile::tempdir()?, tempfile::tempdir()?);
/// let key = ExportKey::generate();
/// let playbook = Playbook::builder(one.path()).without_embedder().with_export_key(key.clone()).open()?;
/// playbook.learn_lesson(build_lesson("parsing CSV exports", "Use the csv module."))?;
/// let text = playbook.export_text(exchange::Format::JsonLines, &Listing::everything())?;
///
/// let read = exchange::read_export(exchange::Format::JsonLines, &text, Some(&key));
/// assert_eq!(read.seal, Seal::Own);
/// let other = Playbook::builder(other.path()).without_embedder().open()?;
/// let imported = other.import(read.lessons.into_iter().flatten())?;
/// assert!(matches!(imported.outcomes[..], [LearnOutcome::Inserted { .. }]));
///
/// let read = exchange::read_export(exchange::Format::JsonLines, &text, Some(&ExportKey::generate()));
/// assert_eq!(read.seal, Seal::Broken);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn read_export(format: Format, text: &str, key: Option<&ExportKey>) -> ReadExport {
    let text = text.trim_start_matches('\u{feff}');
    let seal = if format == Format::JsonLines { seal::check(key, text) } else { Seal::None };
    let lessons = match format {
        Format::JsonLines => json_lines::read(text, seal),
        Format::Memory | Format::Agents => section::read(text),
        Format::Ace => ace::read(text),
    };
    ReadExport { lessons, seal }
}

/// The text of an export, sealed if the format can contain a seal and there are lessons.
pub(crate) fn sealed(format: Format, lessons: &[Arc<Lesson>], key: Option<&ExportKey>) -> String {
    let text = write_lessons(format, lessons);
    match key.filter(|_| format == Format::JsonLines && !text.is_empty()) {
        Some(key) => seal::seal(key, &text),
        None => text,
    }
}
