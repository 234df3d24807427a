//! The lesson, schema v2 (docs/spec/playbook.md, 2): the unit that the playbook stores, shows and counts.
//!
//! ```
//! use adage::lesson::{Origin, Trust};
//! use adage::{Playbook, build_lesson};
//!
//! # let folder = tempfile::tempdir()?;
//! let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
//! playbook.learn_lesson(build_lesson("pinning numpy", "Pin numpy below 2.0.").domains(["python"]))?;
//! let lesson = playbook.find("pinning numpy")?;
//! assert_eq!((lesson.confidence, lesson.frequency), (0.5, 1));
//! assert_eq!((lesson.provenance.origin, lesson.provenance.trust), (Origin::Hand, Trust::Trusted));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod approval;
mod command_recovery;
mod draft;
mod for_reviewer;
mod former_recovery;
mod glob;
mod provenance;
mod recovery;
mod refusal;
mod removed_text;
mod row;
mod shown;
mod ways_in;

use std::cmp::Ordering;

use adage_redact::as_shown;
use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use crate::hash::TextHash;
pub use crate::id::{ChangeId, LessonId, ReceiptId};
pub(crate) use approval::Approval;
pub use command_recovery::{CommandRecovery, RecoveryStep};
pub(crate) use draft::DraftOrigin;
pub use draft::{LessonDraft, build_lesson};
pub use for_reviewer::{hidden_in_prompts, lesson_as_text};
pub(crate) use glob::{GlobOf, MAX_PATTERN_CHARS, MAX_PATTERNS, MAX_TEXT_CHARS, PatternFault, n_literal};
pub(crate) use provenance::PROVENANCE_KEYS;
pub use provenance::{Evidence, Origin, Provenance, Trust};
pub use recovery::{Passage, RecoveryEvidence};
pub use refusal::Refusal;
pub(crate) use removed_text::RemovedText;
pub(crate) use row::{KEYS, time_of};
pub(crate) use shown::ShownField;
pub use shown::for_prompt;
pub use ways_in::WaysIn;

/// The lesson schema that this crate writes. Older ones are read; folders with a newer one are opened read-only.
pub const SCHEMA_VERSION: u64 = 2;

/// The unknown key by which an earlier system disabled a lesson.
pub(crate) const QUARANTINED: &str = "quarantined";

/// Where a lesson applies: a project and a role. If both are empty, it is the global realm, which every request sees.
///
/// ```
/// use adage::{Playbook, Realm, Request, build_lesson};
///
/// # let folder = tempfile::tempdir()?;
/// let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
/// let (reviewer, implementer) = (Realm::new("shop", "reviewer"), Realm::new("shop", "implementer"));
/// playbook.learn_lesson(build_lesson("reviewing a schema migration", "Ask for the rollback.").in_realm(&reviewer))?;
/// playbook.learn_lesson(build_lesson("testing a schema migration", "Use a copy of the data.").project("shop"))?;
///
/// let n_shown = |realm| playbook.get_playbook_context(Request::cold_start().in_realm(realm)).map(|c| c.lessons.len());
/// assert_eq!(n_shown(&reviewer)?, 2); // its own, and the project's
/// assert_eq!(n_shown(&implementer)?, 1); // the project's
/// assert_eq!(n_shown(&Realm::new("bank", "reviewer"))?, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Realm {
    /// A repository's root, or a name chosen by the host. Do not use the base name of a folder: two projects may share it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub project: String,
    /// The role of the agent, such as `reviewer`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub role: String,
}

/// Ordered by project, then by role. Empty texts, the usual case, are not passed to the comparison of bytes: with AVX-512, its
/// masked vector load of a dangling pointer takes a third of a recall.
impl Ord for Realm {
    fn cmp(&self, other: &Self) -> Ordering {
        let text = |one: &str, other: &str| {
            if one.is_empty() || other.is_empty() { one.len().cmp(&other.len()) } else { one.cmp(other) }
        };
        text(&self.project, &other.project).then_with(|| text(&self.role, &other.role))
    }
}

impl PartialOrd for Realm {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Realm {
    /// The realm of a role in a project; empty values are global.
    pub fn new(project: impl Into<String>, role: impl Into<String>) -> Self {
        Self { project: project.into(), role: role.into() }
    }

    /// The realm as it is stored: with what the gate leaves of its names, so that a request for it finds its lessons.
    pub(crate) fn as_shown(&self) -> Self {
        Self { project: as_shown(&self.project), role: as_shown(&self.role) }
    }

    /// True if the project is one of these folders or a folder below one.
    pub(crate) fn is_project_of(&self, roots: &[String]) -> bool {
        roots.iter().any(|root| {
            let rest = self.project.strip_prefix(root.as_str());
            !root.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\']))
        })
    }

    /// True when a request from this realm sees lessons of `other`: its own and the global ones (docs/spec/playbook.md, 5.3).
    #[must_use]
    pub fn sees(&self, other: &Self) -> bool {
        let visible = |mine: &str, theirs: &str| theirs.is_empty() || mine == theirs;
        visible(&self.project, &other.project) && visible(&self.role, &other.role)
    }
}

/// A lesson. It is read-only for hosts; only a [`Playbook`](crate::Playbook) changes it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Lesson {
    /// 2, or 1 for a row of an older file that has not been migrated yet.
    pub schema_version: u64,
    /// Its id.
    pub id: LessonId,
    /// When it was learned or last merged into.
    pub timestamp: DateTime<FixedOffset>,
    /// The task.
    pub task: String,
    /// The situation in which the lesson applies; queries are compared with it.
    pub trigger: String,
    /// The mistake that was made.
    pub mistake: String,
    /// What not to do.
    pub anti_pattern: String,
    /// The solution that worked.
    pub solution: String,
    /// What to do.
    pub correct_pattern: String,
    /// An example as code; may be empty.
    pub code_example: String,
    /// Its topics.
    pub domains: Vec<String>,
    /// Glob patterns of files: the lesson is shown first when a matching file is touched (docs/spec/playbook.md, 5.9).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Patterns of command lines: the lesson is shown first when one of them is run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// How a later task may ask for it.
    #[serde(flatten)]
    pub ways_in: WaysIn,
    /// The recovery that its texts tell: the command that failed, and what mended it. Before a call that has what mended it, the
    /// lesson is not shown (docs/spec/playbook.md, 5.9).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<CommandRecovery>,
    /// How sure its author was, changed by feedback; in [0, 1].
    pub confidence: f64,
    /// The hash of the self-play challenge it came from; may be empty.
    pub source_challenge_hash: String,
    /// Where it came from, as one word: `self_play`, `user`, `mined`, `imported`, …; listings can be filtered by it.
    pub source: String,
    /// Where it applies.
    #[serde(flatten)]
    pub realm: Realm,
    /// Whether an independent check passed with this lesson in the prompt.
    pub verified: bool,
    /// Whether such a check was made.
    pub verification_attempted: bool,
    /// Whether another text covers the lesson: a skill, a page of rules.
    pub graduated: bool,
    /// How often it was shown.
    pub retrievals: u64,
    /// How many retrievals had the outcome helpful.
    pub helpful_retrievals: u64,
    /// How many retrievals had the outcome harmful.
    pub harmful_retrievals: u64,
    /// How many retrievals have an outcome: helpful, harmful or neutral.
    #[serde(skip_serializing_if = "is_zero")]
    pub settled_retrievals: u64,
    /// The number of recalls of its realm when it was learned (docs/spec/playbook.md, 4.1).
    #[serde(skip_serializing_if = "is_zero")]
    pub learned_at_recall: u64,
    /// The number of recalls of its realm when it was last shown or learned.
    #[serde(skip_serializing_if = "is_zero")]
    pub shown_at_recall: u64,
    /// How often it was learned, at least 1.
    pub frequency: u64,
    /// When it was last shown.
    pub last_retrieved_at: Option<DateTime<FixedOffset>>,
    /// When a retrieval of it was last credited.
    pub last_credited_at: Option<DateTime<FixedOffset>>,
    /// Lessons that are near to it but give different advice.
    pub near: Vec<LessonId>,
    /// Its origin, and whether it may be shown.
    pub provenance: Provenance,
    /// Unknown keys of the row; they are kept when it is written again.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Lesson {
    /// The text that duplicates are searched by: three lines, SITUATION, MISTAKE, SOLUTION (docs/spec/playbook.md, 3.2).
    #[must_use]
    pub fn whole_text(&self) -> String {
        format!("SITUATION: {}\nMISTAKE: {}\nSOLUTION: {}", self.trigger, self.anti_pattern, self.correct_pattern)
    }

    /// The text that queries are compared with besides the trigger (docs/spec/playbook.md, 5.1). If the lesson gives only one
    /// of mistake and anti-pattern, it equals [`whole_text`](Self::whole_text).
    pub(crate) fn searched_text(&self) -> String {
        format!("SITUATION: {}\nMISTAKE: {}\nSOLUTION: {}", self.trigger, self.mistake, self.correct_pattern)
    }

    /// The mistake, which queries are also compared with; the searched text if the lesson names none.
    pub(crate) fn searched_mistake(&self) -> String {
        if self.mistake.trim().is_empty() { self.searched_text() } else { self.mistake.clone() }
    }

    /// True if the lesson may be shown: it is not disabled, and either a person promoted exactly the text that is shown, or
    /// it is trusted and needs no promotion.
    #[must_use]
    pub fn is_admitted(&self) -> bool {
        !self.is_disabled()
            && match self.provenance.promoted {
                Some(shown) => shown == self.shown_hash(),
                None => self.provenance.trust == Trust::Trusted,
            }
    }

    /// True if an earlier system disabled the lesson: its row is kept, but it is never shown.
    #[must_use]
    pub fn is_disabled(&self) -> bool {
        match self.extra.get(QUARANTINED) {
            None | Some(Value::Null | Value::Bool(false)) => false,
            Some(Value::Number(number)) => number.as_f64() != Some(0.0),
            Some(Value::String(word)) => !word.is_empty() && !word.eq_ignore_ascii_case("false"),
            Some(_) => true,
        }
    }

    /// True for a recovery that comes before its command. One that is mended by an edit comes with the task.
    pub(crate) fn comes_before_its_command(&self) -> bool {
        !self.commands.is_empty() && self.recovery.as_ref().is_some_and(|recovery| !recovery.is_by_edit())
    }

    /// True when a person wrote it.
    #[must_use]
    pub fn is_by_hand(&self) -> bool {
        self.provenance.origin == Origin::Hand
    }

    /// Who vouches for it.
    pub(crate) fn backing(&self) -> Backing {
        if self.is_by_hand() {
            Backing::ByHand
        } else if !self.provenance.origin.is_automatic() || self.verified || self.is_promoted() {
            Backing::Checked
        } else {
            Backing::Nobody
        }
    }

    /// True if a person promoted exactly the text that is shown.
    pub(crate) fn is_promoted(&self) -> bool {
        self.provenance.promoted.is_some() && self.is_admitted()
    }

    /// True if it was mined from a transcript and was not promoted with its present text.
    pub(crate) fn is_unreviewed(&self) -> bool {
        self.provenance.origin == Origin::Mined && !self.is_promoted()
    }

    /// True if who proposes it is at least as sure of it as a person who writes one; specified.
    pub(crate) fn is_confident(&self) -> bool {
        self.confidence >= 0.5
    }

    /// True if at least 5 of its uses were reported to have helped or done harm, and most of them did harm.
    pub(crate) fn did_mostly_harm(&self) -> bool {
        /// Fewer reports may be of one bad day; chosen.
        const MIN_REPORTS: u64 = 5;
        let (helpful, harmful) = (self.helpful_retrievals, self.harmful_retrievals);
        helpful.saturating_add(harmful) >= MIN_REPORTS && harmful > helpful
    }

    /// True if this lesson may replace `old` automatically: both have the same realm, `old` is mined and not verified, and no person
    /// has more to do with its text than with this one.
    pub(crate) fn may_supersede(&self, old: &Self) -> bool {
        let is_automatic = old.provenance.origin == Origin::Mined && !old.verified;
        is_automatic && old.realm == self.realm && old.approval() <= self.approval()
    }

    /// When it was learned; none if its row in an earlier file had no time, so that it counts as older than all others.
    #[must_use]
    pub fn dated(&self) -> Option<DateTime<FixedOffset>> {
        Some(self.timestamp).filter(|time| *time != DateTime::<FixedOffset>::default())
    }

    /// Orders newest first; at equal times the later id is first.
    pub(crate) fn newest_first(&self, other: &Self) -> std::cmp::Ordering {
        other.timestamp.cmp(&self.timestamp).then(other.id.cmp(&self.id))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Lesson {
    /// True if a pattern of paths or commands is not compared. The gate refuses such patterns; a row of a file may have them.
    pub(crate) fn has_unfit_patterns(&self) -> bool {
        self.paths.len() + self.commands.len() > MAX_PATTERNS
            || self.paths.iter().any(|glob| GlobOf::Path.fault(glob).is_some())
            || self.commands.iter().any(|glob| GlobOf::Command.fault(glob).is_some())
    }
}

/// Who vouches for a lesson. A lesson evicts only others with at most its own backing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Backing {
    /// No one: it is automatic, not verified, and not promoted with this text.
    Nobody,
    /// It was imported, verified or promoted.
    Checked,
    /// A person wrote it.
    ByHand,
}

/// A reference to a lesson: by id, or by its trigger without regard to case; in any realm, or within one.
///
/// ```
/// use adage::{LessonRef, Playbook, Realm, build_lesson};
///
/// # let folder = tempfile::tempdir()?;
/// let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
/// playbook.learn_lesson(build_lesson("deploying", "Tag first.").project("bank"))?;
/// let named = |project: &str| LessonRef::from("deploying").within(&Realm::new(project, ""));
/// assert!(playbook.remove(named("shop")).is_err());
/// assert!(playbook.remove(named("bank")).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LessonRef {
    /// The lesson with this id.
    Id(LessonId),
    /// The lesson with this trigger; for rows without one, with this task. If none has it, the lesson whose id begins with this
    /// text of at least 4 hexadecimal digits. If several match, the error is `Ambiguous`.
    Trigger(String),
    /// Only a lesson that this realm sees; if several match, the realm's own.
    Within {
        /// The realm.
        realm: Realm,
        /// The lesson.
        lesson: Box<LessonRef>,
    },
}

impl LessonRef {
    /// The same reference, restricted to lessons that this realm sees.
    #[must_use]
    pub fn within(self, realm: &Realm) -> Self {
        Self::Within { realm: realm.clone(), lesson: Box::new(self) }
    }

    /// The trigger of the reference; empty if it is by id.
    pub(crate) fn trigger(&self) -> &str {
        match self {
            Self::Id(_) => "",
            Self::Trigger(trigger) => trigger,
            Self::Within { lesson, .. } => lesson.trigger(),
        }
    }
}

impl From<LessonId> for LessonRef {
    fn from(id: LessonId) -> Self {
        Self::Id(id)
    }
}

impl From<&str> for LessonRef {
    /// A text in the form of a UUID is an id; any other text is a trigger.
    fn from(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Trigger(text.trim().to_owned()), Self::Id)
    }
}

impl From<String> for LessonRef {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl std::fmt::Display for LessonRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(id) => write!(f, "id {id}"),
            Self::Trigger(trigger) => write!(f, "trigger {trigger:?}"),
            Self::Within { realm, lesson } => {
                let named = [("project", &realm.project), ("role", &realm.role)];
                write!(f, "{lesson}")?;
                named
                    .into_iter()
                    .filter(|(_, name)| !name.is_empty())
                    .try_for_each(|(kind, name)| write!(f, ", {kind} {name:?}"))
            }
        }
    }
}
