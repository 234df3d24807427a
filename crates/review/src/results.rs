//! What the inbox returns.

use std::fmt;
use std::path::PathBuf;

use chrono::{DateTime, FixedOffset};
use serde::Serialize;

use crate::error::CannotApply;
use crate::proposal::ProposalName;
use adage::learn::{LearnOutcome, RemovedLesson};
use adage::{ChangeId, LessonId, TextHash};

/// A proposal that awaits review and can be applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proposal {
    /// Its name.
    pub name: ProposalName,
    /// The hash of exactly the content that was listed.
    pub text: TextHash,
    /// The files that it creates or changes; empty for a lesson.
    #[serde(serialize_with = "adage::extend::path_text::shown")]
    pub files: Vec<PathBuf>,
    /// Its subject, on one line.
    pub summary: String,
    /// The candidates of a session, those of highest confidence first, or of a file: [`Inbox::apply_lines`](crate::Inbox::apply_lines) takes them by
    /// number. Empty for what is applied as a whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// The lessons of these candidates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lessons: Vec<LessonId>,
}

/// An entry of the inbox that cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Inapplicable {
    /// Its path below the inbox.
    pub name: String,
    /// The reason.
    pub reason: CannotApply,
}

/// The number of proposals that await review, by kind. Their sum is the length of [`Inbox::list`](crate::Inbox::list).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Notice {
    /// Patches of notes and skills.
    pub n_patches: usize,
    /// New skills.
    pub n_skills: usize,
    /// Sessions in which something was found.
    pub n_sessions: usize,
    /// Files from which something was imported.
    pub n_files: usize,
    /// Lessons.
    pub n_lessons: usize,
}

/// The result of [`Inbox::apply`](crate::Inbox::apply).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Applied {
    /// The id for [`Inbox::undo`](crate::Inbox::undo); none when no file changed.
    pub change: Option<ChangeId>,
    /// The files that were created or changed.
    #[serde(serialize_with = "adage::extend::path_text::shown")]
    pub files: Vec<PathBuf>,
    /// The outcomes of the lessons.
    pub lessons: Vec<LearnOutcome>,
}

/// The result of [`Inbox::dismiss`](crate::Inbox::dismiss).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Dismissed {
    /// The id for [`Inbox::undo`](crate::Inbox::undo), which returns patches and skills to the inbox; none when there were none.
    pub change: Option<ChangeId>,
    /// The dismissed lessons. [`Playbook::undo`](adage::Playbook::undo) returns each to review.
    pub lessons: Vec<RemovedLesson>,
}

/// Files with their former content, after an undo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UndoneFiles {
    /// The id of this change, which can be undone too.
    pub change: ChangeId,
    /// The files.
    #[serde(serialize_with = "adage::extend::path_text::shown")]
    pub files: Vec<PathBuf>,
}

/// A recorded change of files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct InboxChange {
    /// The id for [`Inbox::undo`](crate::Inbox::undo).
    pub id: ChangeId,
    /// When it was made.
    pub at: DateTime<FixedOffset>,
    /// A description of it.
    pub what: String,
    /// The files that it changed, including those of the inbox.
    #[serde(serialize_with = "adage::extend::path_text::shown")]
    pub files: Vec<PathBuf>,
}

impl fmt::Display for Notice {
    /// For example `2 patches and 1 lesson wait for review`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.n_patches, "patch", "patches"),
            (self.n_skills, "skill", "skills"),
            (self.n_sessions, "session", "sessions"),
            (self.n_files, "file", "files"),
            (self.n_lessons, "lesson", "lessons"),
        ];
        let n_proposals: usize = counts.iter().map(|(count, ..)| count).sum();
        let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
        let parts: Vec<String> =
            counts.map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many })).collect();
        let verb = if n_proposals == 1 { "waits" } else { "wait" };
        match parts.split_last() {
            None => f.write_str("nothing awaits review"),
            Some((last, [])) => write!(f, "{last} {verb} for review"),
            Some((last, first)) => write!(f, "{} and {last} {verb} for review", first.join(", ")),
        }
    }
}
