//! A lesson before it is learned.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Lesson, LessonId, Provenance, Realm, Refusal, Trust};
use crate::clock::Clock;
use crate::setters::setters;

/// What a fresh lesson has not earned yet. Drafts from outside cannot bring it along.
const HISTORY: [&str; 13] = [
    "schema_version",
    "id",
    "timestamp",
    "frequency",
    "retrievals",
    "helpful_retrievals",
    "harmful_retrievals",
    "last_retrieved_at",
    "last_credited_at",
    "near",
    "graduated",
    "verification_attempted",
    "utility",
];

/// A lesson before it is learned: text, topics, realm, provenance. [`build_lesson`] starts one.
///
/// ```
/// let draft = adage::build_lesson("parsing CSV exports", "Use the csv module, not split(',').")
///     .mistake("quoted commas were cut")
///     .domains(["python", "csv"])
///     .confidence(0.8);
/// assert_eq!(draft.to_json()["trigger"], "parsing CSV exports");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LessonDraft {
    row: Map<String, Value>,
    origin: DraftOrigin,
    supersedes: Option<LessonId>,
}

/// Where a draft comes from, which decides what of its claims is believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DraftOrigin {
    /// The host speaks for it: it is learned now.
    #[default]
    Host,
    /// A program wrote it: it is learned now, without what it claims to have earned.
    Program,
    /// The host moves a row of another playbook, with its history.
    Moved,
    /// A row of the user's own export, with its history.
    OwnExport,
    /// A row of some file: it awaits review, whatever it says.
    File,
}

/// Starts a draft from the two texts that a lesson needs: when it holds, and what to do.
pub fn build_lesson(trigger: impl Into<String>, correct_pattern: impl Into<String>) -> LessonDraft {
    LessonDraft::default().set("trigger", trigger.into()).set("correct_pattern", correct_pattern.into())
}

impl Serialize for LessonDraft {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.row.serialize(serializer)
    }
}

impl LessonDraft {
    /// Reads a JSON object with the field names of a lesson. What a lesson has to earn (counts, id, times) is left out.
    #[must_use]
    pub fn from_json(row: Map<String, Value>) -> Self {
        let mut row = row;
        for key in HISTORY {
            row.remove(key);
        }
        Self { row, origin: DraftOrigin::Host, supersedes: None }
    }

    /// As [`LessonDraft::from_json`], for an object that a program or a model wrote: what it claims about checks, evidence and
    /// promotions is left out too, only a `source` of nothing or `user` makes it a person's, and it is tainted if it says so.
    #[must_use]
    pub fn from_program(row: Map<String, Value>) -> Self {
        Self { origin: DraftOrigin::Program, ..Self::from_json(row) }
    }

    /// A row of a file that anybody may have written.
    pub(crate) fn from_file(row: Map<String, Value>) -> Self {
        Self { origin: DraftOrigin::File, ..Self::from_row(row) }
    }

    /// A row of a file that the user's own key seals.
    pub(crate) fn from_own_export(row: Map<String, Value>) -> Self {
        Self { origin: DraftOrigin::OwnExport, ..Self::from_row(row) }
    }

    /// The draft as one that is imported: the host's word for a row does not make it the user's own.
    pub(crate) fn imported(self) -> Self {
        let origin = if self.origin == DraftOrigin::OwnExport { self.origin } else { DraftOrigin::File };
        Self { origin, supersedes: None, ..self }
    }

    /// Reads a row of another playbook, with its id, times and counts: for moving lessons, not for learning them.
    #[must_use]
    pub fn from_row(row: Map<String, Value>) -> Self {
        let mut row = row;
        row.remove("utility");
        Self { row, origin: DraftOrigin::Moved, supersedes: None }
    }

    /// A lesson of another playbook, with its id, times and counts.
    #[must_use]
    pub fn from_lesson(lesson: &Lesson) -> Self {
        match json!(lesson) {
            Value::Object(row) => Self::from_row(row),
            _ => Self::default(),
        }
    }

    setters! {
        /// What was to be done, where that is not the trigger.
        task(task: impl Into<String>) => set("task", task.into());
        /// What went wrong.
        mistake(mistake: impl Into<String>) => set("mistake", mistake.into());
        /// When the lesson holds.
        trigger(trigger: impl Into<String>) => set("trigger", trigger.into());
        /// What to do.
        correct_pattern(correct_pattern: impl Into<String>) => set("correct_pattern", correct_pattern.into());
        /// What not to do, where that is not the mistake.
        anti_pattern(anti_pattern: impl Into<String>) => set("anti_pattern", anti_pattern.into());
        /// What solved it, where that is not the correct pattern.
        solution(solution: impl Into<String>) => set("solution", solution.into());
        /// Code that shows it. Without one, code is looked for in the correct pattern.
        code_example(code: impl Into<String>) => set("code_example", code.into());
        /// How sure the author is, clamped to [0, 1]; 0.5 unless said.
        confidence(confidence: f64) => set("confidence", confidence);
        /// Where it came from, in a word. Empty and `user` are a person's; every other word makes the lesson an automatic one,
        /// except `imported`.
        source(source: impl Into<String>) => set("source", source.into());
        /// The hash of the challenge it came from.
        source_challenge_hash(hash: impl Into<String>) => set("source_challenge_hash", hash.into());
        /// The project it holds for: a repository's root, or a name that the host gives.
        project(project: impl Into<String>) => set("project", project.into());
        /// The role it holds for.
        role(role: impl Into<String>) => set("role", role.into());
        /// Where it comes from and whether it may be shown.
        provenance(provenance: &Provenance) => set("provenance", json!(provenance));
    }

    /// The lesson that it replaces: that one is archived, and the outcome is
    /// [`Superseded`](crate::LearnOutcome::Superseded). What a program learns replaces nothing of a person's by itself: it waits
    /// for review.
    #[must_use]
    pub fn supersedes(self, lesson: LessonId) -> Self {
        Self { supersedes: Some(lesson), ..self }
    }

    /// Topics.
    #[must_use]
    pub fn domains<T: Into<String>>(self, domains: impl IntoIterator<Item = T>) -> Self {
        let domains: Vec<String> = domains.into_iter().map(Into::into).collect();
        self.set("domains", domains)
    }

    /// Patterns of files: `*` stays within a name, `**` crosses folders, `?` is one character. The lesson is shown first when a
    /// request [touches](crate::Request::touching) a file that matches. A pattern that matches everything is refused.
    #[must_use]
    pub fn paths<T: Into<String>>(self, globs: impl IntoIterator<Item = T>) -> Self {
        let globs: Vec<String> = globs.into_iter().map(Into::into).collect();
        self.set("paths", globs)
    }

    /// Patterns of command lines, in which `*` stands for anything. The lesson is shown first when a request
    /// [runs](crate::Request::running) one that matches. A pattern that matches everything is refused.
    #[must_use]
    pub fn commands<T: Into<String>>(self, globs: impl IntoIterator<Item = T>) -> Self {
        let globs: Vec<String> = globs.into_iter().map(Into::into).collect();
        self.set("commands", globs)
    }

    /// Marks the lesson as verified by an independent check.
    #[must_use]
    pub fn verified(self) -> Self {
        self.set("verified", true).set("verification_attempted", true)
    }

    /// Whether it may come from untrusted content; the rest of its provenance stays.
    #[must_use]
    pub fn trust(mut self, trust: Trust) -> Self {
        if let Value::Object(provenance) = self.row.entry("provenance").or_insert_with(|| json!({})) {
            provenance.insert("trust".to_owned(), json!(trust));
        }
        self
    }

    /// The draft as a JSON object.
    #[must_use]
    pub fn to_json(&self) -> Value {
        Value::Object(self.row.clone())
    }

    pub(crate) fn into_row(self) -> Map<String, Value> {
        self.row
    }

    /// The row as it was given.
    pub(crate) fn row(&self) -> &Map<String, Value> {
        &self.row
    }

    /// The lesson that the host says it replaces.
    pub(crate) fn superseded(&self) -> Option<LessonId> {
        self.supersedes
    }

    pub(crate) fn origin(&self) -> DraftOrigin {
        self.origin
    }

    /// The name that a row of another playbook brings along.
    pub(crate) fn id(&self) -> Option<LessonId> {
        let is_learned = matches!(self.origin, DraftOrigin::Host | DraftOrigin::Program);
        self.row.get("id").filter(|_| !is_learned)?.as_str()?.parse().ok()
    }

    /// The draft in a realm, unless it names its own.
    #[must_use]
    pub fn in_realm(self, realm: &Realm) -> Self {
        let parts = [("project", &realm.project), ("role", &realm.role)];
        parts.into_iter().fold(self, |draft, (key, value)| {
            if value.is_empty() || draft.row.contains_key(key) { draft } else { draft.set(key, value.as_str()) }
        })
    }

    pub(crate) fn into_lesson(self, clock: &dyn Clock) -> Result<Lesson, Refusal> {
        Lesson::from_row(Value::Object(self.row), clock)
    }

    fn set(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.row.insert(key.to_owned(), value.into());
        self
    }
}
