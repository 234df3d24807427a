//! A lesson before it is learned.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{CommandRecovery, Evidence, Lesson, LessonId, Origin, Provenance, Realm, Refusal, Trust};
use crate::clock::Clock;
use crate::setters::setters;

/// Fields that only use can give a lesson. Drafts from outside cannot set them.
const HISTORY: [&str; 18] = [
    "schema_version",
    "id",
    "timestamp",
    "frequency",
    "retrievals",
    "helpful_retrievals",
    "harmful_retrievals",
    "succeeded_retrievals",
    "failed_retrievals",
    "settled_retrievals",
    "learned_at_recall",
    "shown_at_recall",
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
    file: Option<String>,
}

/// The origin of a draft, which decides which of its claims are accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DraftOrigin {
    /// The host vouches for it: it is learned now.
    #[default]
    Host,
    /// The host's settings admit it although it was mined, because it quotes the user.
    Quoted,
    /// A program wrote it: it is learned now, without claims about checks, evidence and promotions.
    Program,
    /// The host moves a row of another playbook, with its history.
    Moved,
    /// A row of the user's own export, with its history.
    OwnExport,
    /// A row of a file: it awaits review, whatever it claims.
    File,
}

/// Starts a draft from the two required texts: when the lesson applies, and what to do.
pub fn build_lesson(trigger: impl Into<String>, correct_pattern: impl Into<String>) -> LessonDraft {
    LessonDraft::default().set("trigger", trigger.into()).set("correct_pattern", correct_pattern.into())
}

impl Serialize for LessonDraft {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.row.serialize(serializer)
    }
}

impl LessonDraft {
    /// Reads a JSON object with the field names of a lesson. Fields that only use can give a lesson (counts, id, times) are
    /// ignored.
    #[must_use]
    pub fn from_json(row: Map<String, Value>) -> Self {
        let mut row = row;
        for key in HISTORY {
            row.remove(key);
        }
        Self { row, origin: DraftOrigin::Host, supersedes: None, file: None }
    }

    /// As [`LessonDraft::from_json`], for an object that a program or a model wrote. Its claims about checks, evidence and
    /// promotions are ignored as well. It counts as a person's only if its `source` is empty or `user`, and it is tainted if it
    /// says so.
    #[must_use]
    pub fn from_program(row: Map<String, Value>) -> Self {
        Self { origin: DraftOrigin::Program, ..Self::from_json(row) }
    }

    /// A row of a file that anyone may have written.
    pub(crate) fn from_file(row: Map<String, Value>) -> Self {
        Self { origin: DraftOrigin::File, ..Self::from_row(row) }
    }

    /// A row of a file that is sealed with the user's own key.
    pub(crate) fn from_own_export(row: Map<String, Value>) -> Self {
        Self { origin: DraftOrigin::OwnExport, ..Self::from_row(row) }
    }

    /// The draft as one of a file with this name: what awaits review of one file is one item of the inbox. Only an import reads the name.
    #[must_use]
    pub fn of_file(self, name: &str) -> Self {
        Self { file: Some(name.to_owned()), ..self }
    }

    /// The file of an imported draft; empty if none was named.
    pub(crate) fn file(&self) -> String {
        self.file.clone().unwrap_or_default()
    }

    /// The draft as an imported one: that the host passes the row does not make it the user's own.
    pub(crate) fn imported(self) -> Self {
        let origin = if self.origin == DraftOrigin::OwnExport { self.origin } else { DraftOrigin::File };
        Self { origin, supersedes: None, ..self }
    }

    /// Reads a row of another playbook with its id, times and counts: for moving lessons, not for learning them.
    #[must_use]
    pub fn from_row(row: Map<String, Value>) -> Self {
        let mut row = row;
        row.remove("utility");
        Self { row, origin: DraftOrigin::Moved, supersedes: None, file: None }
    }

    /// The draft of another playbook's lesson, with its id, times and counts.
    #[must_use]
    pub fn from_lesson(lesson: &Lesson) -> Self {
        match json!(lesson) {
            Value::Object(row) => Self::from_row(row),
            _ => Self::default(),
        }
    }

    setters! {
        /// The task, if it differs from the trigger.
        task(task: impl Into<String>) => set("task", task.into());
        /// What went wrong.
        mistake(mistake: impl Into<String>) => set("mistake", mistake.into());
        /// When the lesson applies.
        trigger(trigger: impl Into<String>) => set("trigger", trigger.into());
        /// What to do.
        correct_pattern(correct_pattern: impl Into<String>) => set("correct_pattern", correct_pattern.into());
        /// What not to do, if it differs from the mistake.
        anti_pattern(anti_pattern: impl Into<String>) => set("anti_pattern", anti_pattern.into());
        /// The solution, if it differs from the correct pattern.
        solution(solution: impl Into<String>) => set("solution", solution.into());
        /// An example as code. Without one, code in the correct pattern is used.
        code_example(code: impl Into<String>) => set("code_example", code.into());
        /// How sure the author is, clamped to [0, 1]; 0.5 by default.
        confidence(confidence: f64) => set("confidence", confidence);
        /// Where it came from, as one word. Empty and `user` stand for a person; any other word except `imported` makes the
        /// lesson automatic.
        source(source: impl Into<String>) => set("source", source.into());
        /// The hash of the challenge it came from.
        source_challenge_hash(hash: impl Into<String>) => set("source_challenge_hash", hash.into());
        /// The project that it applies to: a repository's root, or a name chosen by the host.
        project(project: impl Into<String>) => set("project", project.into());
        /// The role that it applies to.
        role(role: impl Into<String>) => set("role", role.into());
        /// The recovery that the texts tell. It is left out where they do not.
        recovery(recovery: &CommandRecovery) => set("recovery", json!(recovery));
        /// Its origin, and whether it may be shown.
        provenance(provenance: &Provenance) => set("provenance", json!(provenance));
    }

    /// The lesson that it replaces. That one is archived, and the outcome is [`Superseded`](crate::LearnOutcome::Superseded). A
    /// program's lesson does not replace a person's: it awaits review.
    #[must_use]
    pub fn supersedes(self, lesson: LessonId) -> Self {
        Self { supersedes: Some(lesson), ..self }
    }

    /// Its topics.
    #[must_use]
    pub fn domains<T: Into<String>>(self, domains: impl IntoIterator<Item = T>) -> Self {
        self.set_list("domains", domains)
    }

    /// Glob patterns of files: `*` matches within a name, `**` across folders, `?` one character. The lesson is shown first
    /// when a request [touches](crate::Request::touching) a matching file. A pattern that matches everything is refused.
    #[must_use]
    pub fn paths<T: Into<String>>(self, globs: impl IntoIterator<Item = T>) -> Self {
        self.set_list("paths", globs)
    }

    /// Patterns of command lines, in which `*` matches any characters. The lesson is shown first when a request
    /// [runs](crate::Request::running) a matching command. A pattern that matches everything is refused.
    #[must_use]
    pub fn commands<T: Into<String>>(self, globs: impl IntoIterator<Item = T>) -> Self {
        self.set_list("commands", globs)
    }

    /// What the lesson is called: short aliases, found where a query contains one whole.
    #[must_use]
    pub fn names<T: Into<String>>(self, names: impl IntoIterator<Item = T>) -> Self {
        self.set_list("names", names)
    }

    /// How a later task may put the situation, in other words than the trigger. Two or three of them find the lesson about twice as
    /// often.
    #[must_use]
    pub fn situations<T: Into<String>>(self, situations: impl IntoIterator<Item = T>) -> Self {
        self.set_list("situations", situations)
    }

    /// By what the situation is recognised: the text of an error, a line of a log, a file, an effect.
    #[must_use]
    pub fn signs<T: Into<String>>(self, signs: impl IntoIterator<Item = T>) -> Self {
        self.set_list("signs", signs)
    }

    /// Marks the lesson as verified by an independent check.
    #[must_use]
    pub fn verified(self) -> Self {
        self.set("verified", true).set("verification_attempted", true)
    }

    /// Whether it may come from untrusted content. The rest of its provenance is unchanged.
    #[must_use]
    pub fn trust(mut self, trust: Trust) -> Self {
        if let Value::Object(provenance) = self.row.entry("provenance").or_insert_with(|| json!({})) {
            provenance.insert("trust".to_owned(), json!(trust));
        }
        self
    }

    /// The quotes that it claims.
    #[must_use]
    pub fn evidence(&self) -> Vec<Evidence> {
        Provenance::from_row(self.row.get("provenance"), Origin::Hand).evidence
    }

    /// A mined draft that is learned without review, because it quotes the user.
    pub(crate) fn admitted_by_quote(self) -> Self {
        Self { origin: DraftOrigin::Quoted, ..self }
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
    /// Its fields.
    #[must_use]
    pub fn row(&self) -> &Map<String, Value> {
        &self.row
    }

    /// The lesson that it replaces, according to the host.
    pub(crate) fn superseded(&self) -> Option<LessonId> {
        self.supersedes
    }

    pub(crate) fn origin(&self) -> DraftOrigin {
        self.origin
    }

    /// The id of an imported row.
    pub(crate) fn id(&self) -> Option<LessonId> {
        let is_learned = matches!(self.origin, DraftOrigin::Host | DraftOrigin::Program);
        self.row.get("id").filter(|_| !is_learned)?.as_str()?.parse().ok()
    }

    /// Sets the realm, unless the draft has one.
    #[must_use]
    pub fn in_realm(self, realm: &Realm) -> Self {
        let parts = [("project", &realm.project), ("role", &realm.role)];
        parts.into_iter().fold(self, |draft, (key, value)| {
            if value.is_empty() || draft.row.contains_key(key) { draft } else { draft.set(key, value.as_str()) }
        })
    }

    /// The lesson that its fields say, for comparing: the gate has not seen it.
    ///
    /// # Errors
    /// [`Refusal`] for a field that cannot be read.
    pub fn into_lesson(self, clock: &dyn Clock) -> Result<Lesson, Refusal> {
        Lesson::from_row(Value::Object(self.row), clock)
    }

    fn set_list<T: Into<String>>(self, key: &str, texts: impl IntoIterator<Item = T>) -> Self {
        self.set(key, texts.into_iter().map(Into::into).collect::<Vec<String>>())
    }

    fn set(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.row.insert(key.to_owned(), value.into());
        self
    }
}
